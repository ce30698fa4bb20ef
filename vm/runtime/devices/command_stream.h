// The commands of a session on a device. They are recorded once and submitted
// again as long as a program issues the same ones.
//
//   stream.Restart();                                  // a run begins
//   EMBER_RETURN_IF_ERROR(stream.Append(command));     // tens of nanoseconds
//   ...
//   EMBER_RETURN_IF_ERROR(stream.Flush());             // submits and waits
//
// The commands between two flushes form a segment. Each command is compared
// with the one at its position in a recorded segment: the one that followed the
// previous segment the last time. If all commands are equal, the recorded
// segment is submitted as it is. At the first difference the stream switches to
// another recorded segment that begins with the same commands, if there is one
// (other shapes, back again, the next iteration of a loop). Otherwise the
// segment is recorded anew. If there are many segments, the least recently used
// ones are dropped.
//
// There is a barrier before a command that writes memory touched since the last
// barrier, or that reads memory written since then.
//
// Ownership: buffers must outlive the segments that use them: call Forget
// before a buffer is freed. Kernels must outlive the stream. Not thread-safe.
// Errors: those of recording and of the device; after a flush, the first failed
// check in the order of the commands (failed_site is its dispatch).
#ifndef EMBER_VM_RUNTIME_DEVICES_COMMAND_STREAM_H_
#define EMBER_VM_RUNTIME_DEVICES_COMMAND_STREAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/device_scratch.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

// A call of a recorded kernel, or a copy.
struct StreamCommand {
  const RecordedKernel* kernel =
      nullptr;  // kernel that is called; null: ranges[0] is copied to ranges[1]
  uint32_t site = 0;  // number of the dispatch site that makes the call
  // number of ranges that are only read; the ranges after them are written
  uint32_t input_count = 0;
  std::span<const int64_t> parameters;
  // operands of the call (see RecordCall), or source and destination of a copy
  std::span<const hal::BufferRange> ranges;
};

struct StreamCounters {
  int64_t submissions = 0;
  int64_t commands = 0;  // submitted commands: calls of kernels and copies
  int64_t barriers = 0;  // submitted barriers between commands
  int64_t recorded = 0;  // number of times that a command was recorded
  int64_t host_ns = 0;   // the thread's CPU time from Restart or the end of a
                         // wait to the next submission's return
};

class CommandStream {
 public:
  explicit CommandStream(std::shared_ptr<hal::Device> device);
  ~CommandStream();
  CommandStream(const CommandStream&) = delete;
  CommandStream& operator=(const CommandStream&) = delete;

  // Sets the limit of device memory for temporaries of recorded calls.
  void set_scratch_limit(int64_t bytes) { scratch_.set_limit(bytes); }

  // Begins a run: its commands are compared with those at the beginning of the
  // last run.
  void Restart();
  // Appends a command. Unimplemented: the kernel cannot be recorded with these
  // ranges; the earlier commands stay.
  Status Append(const StreamCommand& command);
  // Submits the appended commands and waits for them.
  Status Flush();
  // True if appended commands have not been flushed.
  bool is_pending() const { return segment_ != nullptr; }
  // True if a command that was appended and not flushed writes to the range or,
  // if for_writing, reads from it.
  bool Touches(const hal::BufferRange& range, bool for_writing) const;
  // Call it before memory is freed. Flushes pending commands (the next Flush
  // returns an error of that flush), and drops all recordings.
  void Forget();

  // Returns the site whose check failed in the last Flush that returned an
  // error; -1 if the error is the device's.
  int64_t failed_site() const { return failed_site_; }
  const StreamCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }
  // Bytes of device memory for temporaries of recorded calls.
  int64_t scratch_bytes() const { return scratch_.device_bytes(); }
  int64_t segment_count() const {
    return static_cast<int64_t>(segments_.size());
  }

 private:
  struct Entry {
    const RecordedKernel* kernel;
    uint32_t site, input_count;
    uint32_t first_range, range_count;
    uint32_t first_parameter, parameter_count;
  };
  struct Segment {
    std::vector<Entry> entries;
    std::vector<hal::BufferRange> ranges;
    std::vector<int64_t> parameters;
    // Recordings of the segment's commands, only of those with checks.
    std::vector<std::unique_ptr<Recording>> recordings;
    std::vector<uint32_t> recording_sites;
    std::unique_ptr<hal::CommandList> list;
    int64_t barriers = 0;
    int64_t device_bytes = 0;  // bytes of device memory that the recordings own
    uint64_t last_use = 0;
    Segment* next = nullptr;  // segment that followed this one the last time

    StreamCommand At(size_t position) const;
    bool Matches(size_t position, const StreamCommand& command) const;
    void Add(const StreamCommand& command);
  };
  struct Touch {
    hal::BufferRange range;
    bool is_write;
  };

  // Finds a segment that begins with the first `count` commands of the current
  // one and then has `command` (null: has no more commands). Null if none was
  // recorded.
  Segment* Find(size_t count, const StreamCommand* command) const;
  // Records the first position_ commands of the current segment into a new one,
  // which becomes the current one.
  Status StartRecording();
  Status Record(Segment& segment, const StreamCommand& command);
  Status PutBarrier(Segment& segment, const StreamCommand& command);
  Status Submit();
  Status CheckOutcomes();
  void DropOldSegments();
  void DropAll();

  const std::shared_ptr<hal::Device> device_;
  // Temporaries of all segments. One scratch is enough, because one segment
  // runs at a time.
  DeviceScratch scratch_;
  std::vector<std::unique_ptr<Segment>> segments_;
  Segment root_;                // comes before the first segment of a run
  Segment* previous_ = &root_;  // the segment before the current one
  Segment* segment_ = nullptr;  // the current segment; null: nothing is pending
  // number of the current segment's commands that this run has appended
  size_t position_ = 0;
  bool is_recording_ = false;
  // accesses since the last barrier, while recording
  std::vector<Touch> touches_;
  uint64_t clock_ = 0;
  int64_t thread_ns_ = 0;
  int64_t failed_site_ = -1;
  // error of a flush in Forget, which the next Flush returns
  Status forgotten_;
  StreamCounters counters_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_COMMAND_STREAM_H_

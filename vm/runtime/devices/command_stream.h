// The commands of a session on a device. They are recorded once, and the
// recording is submitted again as long as the program issues the same commands.
//
//   stream.Restart();                                  // a run begins
//   EMBER_RETURN_IF_ERROR(stream.Append(command));     // tens of nanoseconds
//   ...
//   EMBER_RETURN_IF_ERROR(stream.Flush());             // submits and waits
//
// The commands between two flushes form a segment. Each command is compared
// with the command at the same position in a recorded segment, namely the
// segment that followed the previous one the last time. If all commands are
// equal, the recorded segment is submitted as it is. At the first difference
// the stream switches to another recorded segment that begins with the same
// commands, if there is one (for example if shapes change or change back, or in
// the next iteration of a loop). Otherwise the segment is recorded as a new
// one. If there are many segments, the least recently used ones are dropped.
//
// There is a barrier before a command that writes memory which was read or
// written since the last barrier, or that reads memory which was written since
// then.
//
// Ownership: buffers must outlive the segments that use them: call Forget
// before a buffer is freed. Kernels must outlive the stream. Not thread-safe.
// Errors: those of recording and of the device; Flush returns the first failed
// check in the order of the commands; failed_site is then the site of its
// dispatch.
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
      nullptr;  // Kernel that is called. If it is null, the command copies
                // ranges[0] to ranges[1].
  uint32_t site = 0;  // number of the dispatch site that makes the call
  // number of ranges that are only read; the ranges after them are written
  uint32_t input_count = 0;
  std::span<const int64_t> parameters;
  // operands of the call (see RecordCall), or source and destination of a copy
  std::span<const hal::BufferRange> ranges;
};

struct StreamCounters {
  int64_t submissions = 0;
  int64_t commands = 0;  // number of submitted commands: calls of kernels and
                         // copies
  int64_t barriers = 0;  // number of submitted barriers between commands
  int64_t recorded = 0;  // number of times that a command was recorded
  int64_t host_ns = 0;   // CPU time in nanoseconds that the thread spends
                         // between Restart, or the end of a wait, and the
                         // return of the next submission
};

class CommandStream {
 public:
  explicit CommandStream(std::shared_ptr<hal::Device> device);
  ~CommandStream();
  CommandStream(const CommandStream&) = delete;
  CommandStream& operator=(const CommandStream&) = delete;

  // Sets the largest number of bytes of device memory for temporaries of
  // recorded calls.
  void set_scratch_limit(int64_t bytes) { scratch_.set_limit(bytes); }

  // Begins a run. Its commands are compared with those of the segments of
  // earlier runs, from the first one on.
  void Restart();
  // Appends a command. Returns Unimplemented if the kernel cannot be recorded
  // with these ranges; the earlier commands then stay appended.
  Status Append(const StreamCommand& command);
  // Submits the appended commands and waits until they are complete.
  Status Flush();
  // True if appended commands have not been flushed.
  bool is_pending() const { return segment_ != nullptr; }
  // True if a command that was appended but not flushed writes to the range. If
  // for_writing, also true if such a command reads from the range.
  bool Touches(const hal::BufferRange& range, bool for_writing) const;
  // Flushes pending commands and drops all recordings. It must be called before
  // memory is freed that recordings use. If the flush fails, the next Flush
  // returns its error.
  void Forget();

  // Returns the site whose check failed in the last Flush that returned an
  // error; -1 if it was an error of the device.
  int64_t failed_site() const { return failed_site_; }
  const StreamCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }
  // Returns the number of bytes of device memory for temporaries of recorded
  // calls.
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
    // recordings of the commands that check indices; they hold the results of
    // the checks
    std::vector<std::unique_ptr<Recording>> recordings;
    std::vector<uint32_t> recording_sites;
    std::unique_ptr<hal::CommandList> list;
    int64_t barriers = 0;
    int64_t device_bytes = 0;  // number of bytes of device memory that the
                               // recordings own
    uint64_t last_use = 0;
    Segment* next = nullptr;  // segment that came after this one the last time;
                              // it is compared first

    StreamCommand At(size_t position) const;
    bool Matches(size_t position, const StreamCommand& command) const;
    void Add(const StreamCommand& command);
  };
  struct Touch {
    hal::BufferRange range;
    bool is_write;
  };

  // Finds a segment that begins with the first `count` commands of the current
  // one, followed by `command`; if `command` is null, the segment must have no
  // more commands. Returns null if there is none.
  Segment* Find(size_t count, const StreamCommand* command) const;
  // Makes a new segment the current one, and records in it again the first
  // position_ commands of the segment that was current before.
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
  // An empty segment that represents the start of a run: its `next` is the
  // first segment of the last run.
  Segment root_;
  Segment* previous_ = &root_;  // segment that was submitted last in this run
  Segment* segment_ = nullptr;  // the current segment; null if no command is
                                // pending
  // number of commands of the current segment that this run has appended so far
  size_t position_ = 0;
  bool is_recording_ = false;
  // memory that the recorded commands have accessed since the last barrier
  std::vector<Touch> touches_;
  uint64_t clock_ = 0;
  int64_t thread_ns_ = 0;
  int64_t failed_site_ = -1;
  // Error of the flush in Forget. The next call of Flush returns it.
  Status forgotten_;
  StreamCounters counters_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_COMMAND_STREAM_H_

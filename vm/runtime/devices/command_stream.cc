#include "vm/runtime/devices/command_stream.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace ember::vm {
namespace {

// Largest number of recorded segments (a segment is the commands between two
// waits). It is enough for a program that waits in every iteration of a loop,
// or for a hundred different shapes of a large model.
constexpr size_t kMaxSegments = 1024;
constexpr int64_t kMaxCommands = 64 * 1024;
// largest total number of bytes that the kept recordings may have
constexpr int64_t kMaxBytes = int64_t{256} << 20;
// Largest number of earlier accesses to memory that are compared with those of
// a new command, to find if a barrier is needed between them. If there have
// been more since the last barrier, a barrier costs less than the comparison
// and is recorded without it.
constexpr size_t kMaxTouches = 256;

int64_t ThreadNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool Same(const hal::BufferRange& a, const hal::BufferRange& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.length == b.length;
}

bool Overlap(const hal::BufferRange& a, const hal::BufferRange& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length &&
         b.offset < a.offset + a.length;
}

}  // namespace

StreamCommand CommandStream::Segment::At(size_t position) const {
  const Entry& entry = entries[position];
  return {entry.kernel,
          entry.site,
          entry.input_count,
          {parameters.data() + entry.first_parameter, entry.parameter_count},
          {ranges.data() + entry.first_range, entry.range_count}};
}

bool CommandStream::Segment::Matches(size_t position,
                                     const StreamCommand& command) const {
  if (position >= entries.size()) return false;
  const Entry& entry = entries[position];
  if (entry.kernel != command.kernel || entry.site != command.site ||
      entry.range_count != command.ranges.size() ||
      entry.parameter_count != command.parameters.size())
    return false;
  const hal::BufferRange* range = ranges.data() + entry.first_range;
  for (const hal::BufferRange& wanted : command.ranges) {
    if (!Same(*range++, wanted)) return false;
  }
  return std::equal(command.parameters.begin(), command.parameters.end(),
                    parameters.data() + entry.first_parameter);
}

void CommandStream::Segment::Add(const StreamCommand& command) {
  entries.push_back({command.kernel, command.site, command.input_count,
                     static_cast<uint32_t>(ranges.size()),
                     static_cast<uint32_t>(command.ranges.size()),
                     static_cast<uint32_t>(parameters.size()),
                     static_cast<uint32_t>(command.parameters.size())});
  ranges.insert(ranges.end(), command.ranges.begin(), command.ranges.end());
  parameters.insert(parameters.end(), command.parameters.begin(),
                    command.parameters.end());
}

CommandStream::CommandStream(std::shared_ptr<hal::Device> device)
    : device_(std::move(device)), scratch_(device_) {}

CommandStream::~CommandStream() = default;

void CommandStream::Restart() {
  previous_ = &root_;
  segment_ = nullptr;
  failed_site_ = -1;
  forgotten_ = OkStatus();
  thread_ns_ = ThreadNs();
}

Status CommandStream::Append(const StreamCommand& command) {
  if (segment_ == nullptr) {
    position_ = 0;
    is_recording_ = false;
    segment_ = previous_->next;
  }
  if (!is_recording_) {
    if (segment_ != nullptr && segment_->Matches(position_, command)) {
      ++position_;
      return OkStatus();
    }
    Segment* const other = Find(position_, &command);
    if (other != nullptr) {
      segment_ = other;
      ++position_;
      return OkStatus();
    }
    EMBER_RETURN_IF_ERROR(StartRecording());
  }
  Status status = Record(*segment_, command);
  if (status.ok()) {
    ++position_;
    return status;
  }
  // The command list may contain a part of the failed command, so it is
  // replaced by a new list, in which the commands before the failed one are
  // recorded again.
  const Status restored = StartRecording();
  if (restored.ok() && position_ == 0) {
    segments_.pop_back();
    segment_ = nullptr;
    is_recording_ = false;
  }
  EMBER_RETURN_IF_ERROR(restored);
  if (status.code() != StatusCode::kResourceExhausted ||
      scratch_.device_bytes() == 0)
    return status;
  // The device had no memory left for the temporaries of this call. The
  // temporaries of all other calls are freed, and the call is tried again.
  EMBER_RETURN_IF_ERROR(Flush());
  DropAll();
  scratch_.Clear();
  return Append(command);
}

CommandStream::Segment* CommandStream::Find(
    size_t count, const StreamCommand* command) const {
  for (const std::unique_ptr<Segment>& candidate : segments_) {
    if (candidate.get() == segment_) continue;
    if (command == nullptr ? candidate->entries.size() != count
                           : !candidate->Matches(count, *command))
      continue;
    bool is_same = true;
    // Two segments are compared from their last commands backwards, because
    // later commands differ more often.
    for (size_t i = count; i > 0 && is_same; --i)
      is_same = candidate->Matches(i - 1, segment_->At(i - 1));
    if (is_same) return candidate.get();
  }
  return nullptr;
}

Status CommandStream::StartRecording() {
  auto recorded = std::make_unique<Segment>();
  // The incomplete segment is kept until its commands have been recorded in the
  // new one, because the commands refer to the old segment's data.
  std::unique_ptr<Segment> spoiled;
  const Segment* const old = segment_;
  if (is_recording_) {
    spoiled = std::move(segments_.back());
    segments_.pop_back();
  }
  segment_ = recorded.get();
  segments_.push_back(std::move(recorded));
  is_recording_ = true;
  touches_.clear();
  scratch_.Reuse();
  Status status;
  StatusOr<std::unique_ptr<hal::CommandList>> list =
      device_->CreateCommandList();
  if (list.ok()) {
    segment_->list = *std::move(list);
  } else {
    status = list.status();
  }
  for (size_t i = 0; i < position_ && status.ok(); ++i)
    status = Record(*segment_, old->At(i));
  if (status.ok()) return status;
  // The new segment is dropped, because recording one of its commands failed
  // and the segment cannot be continued.
  segments_.pop_back();
  segment_ = nullptr;
  is_recording_ = false;
  return status;
}

Status CommandStream::PutBarrier(Segment& segment,
                                 const StreamCommand& command) {
  const auto is_write = [&](size_t i) { return i >= command.input_count; };
  bool conflicts = touches_.size() > kMaxTouches;
  for (size_t i = 0; i < command.ranges.size() && !conflicts; ++i) {
    for (const Touch& touch : touches_) {
      if ((touch.is_write || is_write(i)) &&
          Overlap(touch.range, command.ranges[i])) {
        conflicts = true;
        break;
      }
    }
  }
  if (conflicts) {
    EMBER_RETURN_IF_ERROR(segment.list->Barrier());
    ++segment.barriers;
    touches_.clear();
    scratch_.Reuse();
  }
  for (size_t i = 0; i < command.ranges.size(); ++i) {
    if (command.ranges[i].buffer != nullptr)
      touches_.push_back({command.ranges[i], is_write(i)});
  }
  return OkStatus();
}

Status CommandStream::Record(Segment& segment, const StreamCommand& command) {
  EMBER_RETURN_IF_ERROR(PutBarrier(segment, command));
  ++counters_.recorded;
  if (command.kernel == nullptr) {
    EMBER_RETURN_IF_ERROR(
        segment.list->Copy(command.ranges[0], command.ranges[1]));
  } else {
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<Recording> recording,
        command.kernel->Record(
            {command.parameters, command.ranges, *segment.list, &scratch_}));
    if (recording != nullptr) {
      segment.device_bytes += recording->device_bytes();
      segment.recordings.push_back(std::move(recording));
      segment.recording_sites.push_back(command.site);
    }
  }
  segment.Add(command);
  return OkStatus();
}

bool CommandStream::Touches(const hal::BufferRange& range,
                            bool for_writing) const {
  for (size_t i = 0; segment_ != nullptr && i < position_; ++i) {
    const Entry& entry = segment_->entries[i];
    for (uint32_t r = for_writing ? 0 : entry.input_count;
         r < entry.range_count; ++r) {
      if (Overlap(segment_->ranges[entry.first_range + r], range)) return true;
    }
  }
  return false;
}

Status CommandStream::Flush() {
  if (!forgotten_.ok()) return std::exchange(forgotten_, OkStatus());
  if (segment_ == nullptr) return OkStatus();
  if (!is_recording_ && position_ < segment_->entries.size()) {
    // The recorded segment has more commands than this run has appended before
    // the flush, so it cannot be submitted. Another segment is needed that has
    // exactly the appended commands.
    Segment* const other = Find(position_, nullptr);
    if (other != nullptr) {
      segment_ = other;
    } else {
      EMBER_RETURN_IF_ERROR(StartRecording());
    }
  }
  const Status status = Submit();
  if (!status.ok()) {
    // All recordings are dropped after a failed submission, because it is
    // unknown if their commands are still running.
    DropAll();
    return status;
  }
  const Status outcome = CheckOutcomes();
  segment_->last_use = ++clock_;
  previous_->next = segment_;
  previous_ = segment_;
  segment_ = nullptr;
  if (is_recording_) DropOldSegments();
  is_recording_ = false;
  thread_ns_ = ThreadNs();
  return outcome;
}

Status CommandStream::Submit() {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Fence> fence,
                         device_->Submit(*segment_->list));
  counters_.host_ns += ThreadNs() - thread_ns_;
  ++counters_.submissions;
  counters_.commands += static_cast<int64_t>(segment_->entries.size());
  counters_.barriers += segment_->barriers;
  return fence->Wait();
}

// Returns the first failed check of the segment. All recordings are read even
// after a failure, because reading clears their records.
Status CommandStream::CheckOutcomes() {
  Status first;
  for (size_t i = 0; i < segment_->recordings.size(); ++i) {
    Status outcome = segment_->recordings[i]->Outcome();
    if (outcome.ok() || !first.ok()) continue;
    failed_site_ = segment_->recording_sites[i];
    first = std::move(outcome);
  }
  return first;
}

void CommandStream::DropOldSegments() {
  int64_t commands = 0, bytes = 0;
  for (const std::unique_ptr<Segment>& segment : segments_) {
    commands += static_cast<int64_t>(segment->entries.size());
    bytes += segment->device_bytes;
  }
  while (segments_.size() > 1 &&
         (segments_.size() > kMaxSegments || commands > kMaxCommands ||
          bytes > kMaxBytes)) {
    const auto oldest = std::ranges::min_element(
        segments_, {}, [](const auto& segment) { return segment->last_use; });
    commands -= static_cast<int64_t>((*oldest)->entries.size());
    bytes -= (*oldest)->device_bytes;
    for (const std::unique_ptr<Segment>& segment : segments_) {
      if (segment->next == oldest->get()) segment->next = nullptr;
    }
    if (root_.next == oldest->get()) root_.next = nullptr;
    segments_.erase(oldest);
  }
}

void CommandStream::DropAll() {
  segments_.clear();
  root_.next = nullptr;
  previous_ = &root_;
  segment_ = nullptr;
  is_recording_ = false;
}

void CommandStream::Forget() {
  if (is_pending()) {
    const Status status = Flush();
    if (forgotten_.ok()) forgotten_ = status;
  }
  DropAll();
}

}  // namespace ember::vm

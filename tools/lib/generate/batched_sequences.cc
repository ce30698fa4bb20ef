#include "tools/lib/generate/batched_sequences.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace ember::tools {

BatchedSequences::BatchedSequences(SequenceBatch& batch)
    : batch_(batch), entries_(batch.size()) {}

void BatchedSequences::RunIfAllWait() {
  std::vector<SequencePart> parts;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].is_used) continue;
    if (!entries_[i].is_waiting) return;
    parts.push_back({i, entries_[i].tokens});
  }
  if (parts.empty()) return;
  const auto rows = batch_.Append(parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    Entry& entry = entries_[parts[i].sequence];
    entry.is_waiting = false;
    entry.status = rows.status();
    if (rows.ok()) entry.logits = (*rows)[i];
  }
  changed_.notify_all();
}

BatchedSequences::Member::Member(BatchedSequences& all) : all_(all) {
  const std::scoped_lock lock(all.mutex_);
  const auto unused = std::ranges::find(all.entries_, false, &Entry::is_used);
  EMBER_CHECK(unused != all.entries_.end());
  sequence_ = static_cast<size_t>(unused - all.entries_.begin());
  unused->is_used = true;
  EMBER_CHECK(all.batch_.Truncate(sequence_, 0).ok());
}

BatchedSequences::Member::~Member() {
  const std::scoped_lock lock(all_.mutex_);
  all_.entries_[sequence_].is_used = false;
  // The other members may be waiting for this one. Without it they may all have
  // appended, so their step can run.
  all_.RunIfAllWait();
}

StatusOr<std::span<const float>> BatchedSequences::Member::Append(
    std::span<const int32_t> ids) {
  std::unique_lock<std::mutex> lock(all_.mutex_);
  const auto count = static_cast<int64_t>(ids.size());
  // The room is checked before the step, because an error of the step would be
  // returned to all members that take part in it.
  if (count < 1 || count > all_.batch_.room(sequence_)) {
    return ResourceExhaustedError(
        "the context is full: expected at most " +
        std::to_string(all_.batch_.room(sequence_)) + " more tokens, found " +
        std::to_string(count) + "; give a larger --context");
  }
  Entry& entry = all_.entries_[sequence_];
  entry.tokens = ids;
  entry.is_waiting = true;
  all_.RunIfAllWait();
  all_.changed_.wait(lock, [&] { return !entry.is_waiting; });
  EMBER_RETURN_IF_ERROR(entry.status);
  return entry.logits;
}

int64_t BatchedSequences::Member::room() const {
  const std::scoped_lock lock(all_.mutex_);
  return all_.batch_.room(sequence_);
}

// Other members do not change this sequence, so its ids are read without the
// mutex.
std::span<const int32_t> BatchedSequences::Member::ids() const {
  return all_.batch_.ids(sequence_);
}

Status BatchedSequences::Member::Truncate(int64_t length) {
  const std::scoped_lock lock(all_.mutex_);
  return all_.batch_.Truncate(sequence_, length);
}

}  // namespace ember::tools

// Lets several threads generate with the sequences of one SequenceBatch: each
// thread uses its sequence as if it were alone, and the next tokens of all
// threads are computed by one run of the model (a step).
//
//   BatchedSequences batched(batch);
//   // in each thread:
//   BatchedSequences::Member member(batched);
//   llm::Generate(tokenizer, member, prompt, options);
//
// A step begins when all members wait for one, so members should be destroyed
// soon after their last step. At most batch.size() members exist at a time.
// BatchedSequences is thread-safe; a member belongs to one thread. Members do
// not outlive it, and it does not own the batch.
#ifndef EMBER_TOOLS_LIB_GENERATE_BATCHED_SEQUENCES_H_
#define EMBER_TOOLS_LIB_GENERATE_BATCHED_SEQUENCES_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.h"
#include "llm/generate/logit_source.h"
#include "tools/lib/generate/sequence_batch.h"

namespace ember::tools {

class BatchedSequences {
 public:
  explicit BatchedSequences(SequenceBatch& batch);

  class Member : public llm::LogitSource {
   public:
    // Reserves a sequence of the batch that no other member uses, and empties
    // it.
    explicit Member(BatchedSequences& all);
    ~Member() override;
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Waits until all members have called Append, and then runs a step. If the
    // step fails, every member that took part gets the error.
    StatusOr<std::span<const float>> Append(
        std::span<const int32_t> ids) override;
    int64_t room() const override;
    std::span<const int32_t> ids() const override;
    Status Truncate(int64_t length) override;

   private:
    BatchedSequences& all_;
    size_t sequence_ = 0;
  };

 private:
  // The state of one sequence of the batch.
  struct Entry {
    bool is_used = false, is_waiting = false;
    std::span<const int32_t> tokens;  // tokens that its member wants to append
    Status status;                    // Error or success of the last step.
    std::span<const float> logits;
  };

  // Runs a step if all members wait for one. The caller must hold mutex_.
  void RunIfAllWait();

  SequenceBatch& batch_;
  std::mutex mutex_;  // guards batch_ and entries_
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_BATCHED_SEQUENCES_H_

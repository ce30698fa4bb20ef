// Runs several sequences of a language model at once: a step reads the weights
// once for the new tokens of all of them.
//
//   EMBER_ASSIGN_OR_RETURN(SequenceBatch batch,
//                          SequenceBatch::Create(shared, /*context=*/512));
//   // The prompt of sequence 0 and the next token of sequence 3.
//   EMBER_ASSIGN_OR_RETURN(auto logits, batch.Append({{0, prompt}, {3, next}}));
//   Likeliest(logits[1]);   // of sequence 3
//
// The module is one of the entry "sequences:N" (frontends/language_models). Its
// N sequences have lengths and state of their own, and memory for the same
// number of positions.
//
// Errors: a module with other inputs; a full context; a sequence that occurs
// twice in a step; those of the session. After an error the sequences are as
// before. Does not own the SharedSession. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_SEQUENCE_BATCH_H_
#define EMBER_TOOLS_LIB_GENERATE_SEQUENCE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tools/lib/generate/language_model.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// The new tokens of one sequence in a step, at least one.
struct SequencePart {
  size_t sequence = 0;
  std::span<const int32_t> tokens;
};

class SequenceBatch {
 public:
  // True if the module computes several sequences in one run.
  static bool IsFor(const vm::Module& module);
  // `context`: number of tokens for which each sequence's state has memory.
  static StatusOr<SequenceBatch> Create(SharedSession& session,
                                        int64_t context);

  // Number of sequences.
  size_t size() const { return ids_.size(); }
  // Appends tokens to some of the sequences, in one run of the model. Returns
  // for each part the logits after its last token, which are valid until the
  // next call.
  StatusOr<std::vector<std::span<const float>>> Append(
      std::span<const SequencePart> parts);

  std::span<const int32_t> ids(size_t sequence) const { return ids_[sequence]; }
  // Number of tokens that can still be appended to a sequence.
  int64_t room(size_t sequence) const {
    return context_ - static_cast<int64_t>(ids_[sequence].size());
  }
  // Removes all tokens of a sequence except the first `length`. The state of a
  // model with convolutions has only the last tokens, so such a sequence can
  // only be emptied (length 0).
  Status Truncate(size_t sequence, int64_t length);

 private:
  SequenceBatch(SharedSession& session, int64_t context)
      : session_(&session), context_(context) {}
  Status CheckParts(std::span<const SequencePart> parts) const;

  SharedSession* session_;
  int64_t context_ = 0;
  std::vector<std::vector<int32_t>> ids_;
  // The input tensors of the next run: tokens, past, the state of all
  // sequences, and counts (number of new tokens of each sequence).
  std::vector<vm::Tensor> inputs_;
  // The result tensors of the last run: logits, past, and the new state.
  std::vector<vm::Tensor> results_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_SEQUENCE_BATCH_H_

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

// New tokens of a sequence, at least one.
struct SequencePart {
  size_t sequence = 0;
  std::span<const int32_t> tokens;
};

class SequenceBatch {
 public:
  // True if the module has several sequences.
  static bool IsFor(const vm::Module& module);
  // context: number of tokens of each sequence that the state has memory for.
  static StatusOr<SequenceBatch> Create(SharedSession& session,
                                        int64_t context);

  // Number of sequences.
  size_t size() const { return ids_.size(); }
  // Appends tokens to some of the sequences. Returns for each part the logits
  // behind its last token, which are valid until the next call.
  StatusOr<std::vector<std::span<const float>>> Append(
      std::span<const SequencePart> parts);

  std::span<const int32_t> ids(size_t sequence) const { return ids_[sequence]; }
  // Number of tokens that can still be appended to a sequence.
  int64_t room(size_t sequence) const {
    return context_ - static_cast<int64_t>(ids_[sequence].size());
  }
  // Removes all tokens but the first `length` of a sequence. A state of the
  // last tokens, as that of convolutions, can only be emptied.
  Status Truncate(size_t sequence, int64_t length);

 private:
  SequenceBatch(SharedSession& session, int64_t context)
      : session_(&session), context_(context) {}
  Status CheckParts(std::span<const SequencePart> parts) const;

  SharedSession* session_;
  int64_t context_ = 0;
  std::vector<std::vector<int32_t>> ids_;
  // Inputs of the next run: tokens, past, state of all sequences, counts.
  std::vector<vm::Tensor> inputs_;
  // Results of the last run: logits, past, state.
  std::vector<vm::Tensor> results_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_SEQUENCE_BATCH_H_

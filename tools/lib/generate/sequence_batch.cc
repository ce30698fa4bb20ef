#include "tools/lib/generate/sequence_batch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/dtype.h"
#include "vm/runtime/module.h"

namespace ember::tools {
namespace {

constexpr std::string_view kCounts = "counts";
// State tensors with keys or values have the dims [1, heads, context, size].
// The module leaves `context` open.
constexpr size_t kStateRank = 4, kContextDim = 2;

}  // namespace

bool SequenceBatch::IsFor(const vm::Module& module) {
  const auto& inputs = module.inputs();
  return inputs.size() > 3 && inputs[0].name == "tokens" &&
         inputs[1].name == "past" && inputs.back().name == kCounts &&
         inputs[1].dims.size() == 1 && inputs[1].dims[0] > 0 &&
         module.results().size() + 1 == inputs.size() &&
         module.results()[0].type == DType::kF32;
}

StatusOr<SequenceBatch> SequenceBatch::Create(SharedSession& session,
                                              int64_t context) {
  const vm::Module& module = session.module();
  if (!IsFor(module)) {
    return InvalidArgumentError(
        "expected a language model of several sequences, found one without the "
        "input 'counts'; compile it with --entry=sequences:8");
  }
  SequenceBatch batch(session, context);
  const auto& inputs = module.inputs();
  batch.inputs_.resize(inputs.size());
  for (size_t i = 1; i < inputs.size(); ++i) {
    std::vector<int64_t> dims = inputs[i].dims;
    for (int64_t& dim : dims) {
      if (dim < 0) dim = context;
    }
    if (dims.size() == kStateRank) batch.context_ = dims[kContextDim];
    EMBER_ASSIGN_OR_RETURN(batch.inputs_[i],
                           vm::Tensor::Allocate(inputs[i].type, dims));
  }
  batch.ids_.resize(static_cast<size_t>(inputs[1].dims[0]));
  return batch;
}

Status SequenceBatch::CheckParts(std::span<const SequencePart> parts) const {
  if (parts.empty())
    return InvalidArgumentError("sequences: expected new tokens, found none");
  std::vector<bool> seen(size());
  for (const SequencePart& part : parts) {
    const std::string name = "sequence " + std::to_string(part.sequence);
    if (part.sequence >= size()) {
      return InvalidArgumentError(name + ": expected one below " +
                                  std::to_string(size()));
    }
    if (part.tokens.empty() || seen[part.sequence]) {
      return InvalidArgumentError(
          name + ": expected new tokens once in a step, found " +
          (part.tokens.empty() ? "none" : "them twice"));
    }
    seen[part.sequence] = true;
    const auto count = static_cast<int64_t>(part.tokens.size());
    if (count > room(part.sequence)) {
      return ResourceExhaustedError(
          name + ": the context is full: expected at most " +
          std::to_string(context_) + " tokens, found " +
          std::to_string(context_ - room(part.sequence) + count) +
          "; give a larger --context");
    }
  }
  return OkStatus();
}

StatusOr<std::vector<std::span<const float>>> SequenceBatch::Append(
    std::span<const SequencePart> parts) {
  EMBER_RETURN_IF_ERROR(CheckParts(parts));
  std::vector<SequencePart> ordered(parts.begin(), parts.end());
  std::ranges::sort(ordered, {}, &SequencePart::sequence);
  const std::span<int64_t> past = inputs_[1].elements<int64_t>();
  const std::span<int64_t> counts = inputs_.back().elements<int64_t>();
  for (size_t i = 0; i < size(); ++i)
    past[i] = static_cast<int64_t>(ids_[i].size());
  std::ranges::fill(counts, 0);
  std::vector<int32_t> tokens;
  for (const SequencePart& part : ordered) {
    tokens.insert(tokens.end(), part.tokens.begin(), part.tokens.end());
    counts[part.sequence] = static_cast<int64_t>(part.tokens.size());
  }
  inputs_[0] = vm::Tensor::Borrow(
      DType::kI32, {1, static_cast<int64_t>(tokens.size())}, tokens.data());
  EMBER_RETURN_IF_ERROR(session_->Run(this, inputs_, &results_));
  for (size_t i = 2; i < results_.size(); ++i)
    std::swap(inputs_[i], results_[i]);
  const std::span<const float> logits =
      std::as_const(results_[0]).elements<float>();
  const auto vocabulary = static_cast<size_t>(results_[0].dims.back());
  std::vector<std::span<const float>> rows;
  for (const SequencePart& part : parts) {
    std::vector<int32_t>& ids = ids_[part.sequence];
    ids.insert(ids.end(), part.tokens.begin(), part.tokens.end());
    rows.push_back(logits.subspan(part.sequence * vocabulary, vocabulary));
  }
  return rows;
}

Status SequenceBatch::Truncate(size_t sequence, int64_t length) {
  if (sequence >= size() || length < 0 ||
      length > static_cast<int64_t>(ids_[sequence].size())) {
    return InvalidArgumentError(
        "sequence " + std::to_string(sequence) +
        ": expected at most as many tokens as it has, found " +
        std::to_string(length));
  }
  const std::string suffix = "." + std::to_string(sequence);
  for (size_t i = 2; i + 1 < inputs_.size(); ++i) {
    vm::Tensor& state = inputs_[i];
    const std::string& name = session_->module().inputs()[i].name;
    // Keys and values need no change, because the model does not read positions
    // from `length` on.
    if (state.dims.size() == kStateRank || !name.ends_with(suffix)) continue;
    if (length > 0 && length < static_cast<int64_t>(ids_[sequence].size())) {
      return UnimplementedError("sequence " + std::to_string(sequence) +
                                ": expected the length 0, because the state '" +
                                name + "' is that of the last tokens, found " +
                                std::to_string(length));
    }
    if (length == 0) {
      std::memset(state.data, 0, static_cast<size_t>(state.byte_size));
    }
  }
  ids_[sequence].resize(static_cast<size_t>(length));
  return OkStatus();
}

}  // namespace ember::tools

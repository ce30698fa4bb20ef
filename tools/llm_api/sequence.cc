// Implements sequences.
#include <span>
#include <utility>

#include "tools/lib/generate/state_file.h"
#include "tools/llm_api/objects.h"
#include "vm/format/module_identity.h"

namespace ember::llm_api {
namespace {

int64_t LengthOf(const EmberLlmSequence& sequence) {
  return sequence.state.past() + static_cast<int64_t>(sequence.pending.size());
}

Status CheckIds(const EmberLlmSequence& sequence,
                std::span<const int32_t> ids) {
  const llm::Vocabulary& vocabulary = sequence.model->tokenizer.vocabulary();
  for (const int32_t id : ids) {
    if (vocabulary.Has(id)) continue;
    return InvalidArgumentError("ids: expected ids below " +
                                std::to_string(vocabulary.size()) + ", found " +
                                std::to_string(id));
  }
  const int64_t most = sequence.state.max_context();
  const int64_t length = LengthOf(sequence) + static_cast<int64_t>(ids.size());
  if (length <= most) return OkStatus();
  return ResourceExhaustedError(
      "the context is full: expected at most " + std::to_string(most) +
      " tokens, found " + std::to_string(length) +
      "; load the model with a larger context, or truncate the sequence");
}

// Computes the state of the tokens `all`, which begin with the pending ones,
// and keeps the logits after the last one.
Status Compute(EmberLlmSequence& sequence, const std::vector<int32_t>& all) {
  sequence.logits.clear();
  // A long prompt is computed in chunks, because the memory of a run grows with
  // its number of tokens.
  constexpr size_t kChunk = 512;
  std::span<const int32_t> rest = all;
  std::span<const float> row;
  const int64_t before = sequence.state.past();
  while (!rest.empty()) {
    const size_t count = std::min(kChunk, rest.size());
    StatusOr<std::span<const float>> computed =
        sequence.state.Append(rest.first(count));
    if (!computed.ok()) {
      // After an error the state is shortened to its old length. If the model
      // cannot do that, the chunks before the error stay.
      if (sequence.state.Truncate(before).ok()) return computed.status();
      sequence.pending.clear();
      return computed.status();
    }
    row = *computed;
    rest = rest.subspan(count);
  }
  sequence.pending.clear();
  const auto tokens =
      static_cast<size_t>(sequence.model->tokenizer.vocabulary().size());
  sequence.logits.assign(row.begin(),
                         row.begin() + static_cast<std::ptrdiff_t>(tokens));
  return OkStatus();
}

Status Append(EmberLlmSequence& sequence, std::span<const int32_t> ids,
              float* logits) {
  if (ids.empty())
    return InvalidArgumentError("ids: expected one or more, found none");
  EMBER_RETURN_IF_ERROR(CheckIds(sequence, ids));
  std::vector<int32_t> all = sequence.pending;
  all.insert(all.end(), ids.begin(), ids.end());
  EMBER_RETURN_IF_ERROR(Compute(sequence, all));
  if (logits != nullptr)
    std::copy(sequence.logits.begin(), sequence.logits.end(), logits);
  return OkStatus();
}

Status Truncate(EmberLlmSequence& sequence, int64_t length) {
  const int64_t now = LengthOf(sequence);
  if (length < 0 || length > now) {
    return InvalidArgumentError("length: expected 0 to " + std::to_string(now) +
                                ", found " + std::to_string(length));
  }
  if (length == now) return OkStatus();
  const int64_t kept = std::min(length, sequence.state.past());
  EMBER_RETURN_IF_ERROR(sequence.state.Truncate(kept));
  sequence.pending.resize(static_cast<size_t>(length - kept));
  sequence.logits.clear();
  return OkStatus();
}

// Makes sure that there are pending tokens or logits, so that a generation can
// begin.
Status Prepare(EmberLlmSequence& sequence) {
  if (LengthOf(sequence) == 0) {
    return FailedPreconditionError(
        "sequence: expected one or more tokens to continue, found none; append "
        "some");
  }
  if (!sequence.pending.empty() || !sequence.logits.empty()) return OkStatus();
  // The logits are unknown because the sequence was truncated. The last token
  // becomes pending, so that it is computed again.
  const int32_t last = sequence.state.ids().back();
  EMBER_RETURN_IF_ERROR(sequence.state.Truncate(sequence.state.past() - 1));
  sequence.pending = {last};
  return OkStatus();
}

Status Generate(EmberLlmSequence& sequence, llm::GenerateOptions options,
                EmberLlmGeneration* result) {
  EMBER_RETURN_IF_ERROR(Prepare(sequence));
  const std::vector<int32_t> prompt = std::exchange(sequence.pending, {});
  const std::vector<float> logits = std::exchange(sequence.logits, {});
  if (prompt.empty()) options.first_logits = logits;
  const int64_t before = sequence.state.past();
  StatusOr<llm::Generation> generation =
      llm::Generate(sequence.model->tokenizer, sequence.state, prompt, options);
  // Tokens of the sequence whose state is not computed become pending: at most
  // the last token of the text, or the prompt if the call failed.
  std::vector<int32_t> tokens = prompt;
  if (generation.ok())
    tokens.insert(tokens.end(), generation->ids.begin(), generation->ids.end());
  const auto computed = static_cast<size_t>(sequence.state.past() - before);
  if (computed < tokens.size()) {
    sequence.pending.assign(
        tokens.begin() + static_cast<std::ptrdiff_t>(computed), tokens.end());
  } else if (computed == 0) {
    sequence.logits = logits;
  }
  if (!generation.ok()) return generation.status();
  KeepResult(*generation, sequence, result);
  return OkStatus();
}

vm::ModuleIdentity IdentityOf(const EmberLlmSequence& sequence) {
  return vm::IdentityOf(sequence.model->module.module->definition());
}

Status Save(EmberLlmSequence& sequence, const std::string& path) {
  if (!sequence.pending.empty()) {
    const std::vector<int32_t> pending = sequence.pending;
    EMBER_RETURN_IF_ERROR(Compute(sequence, pending));
  }
  return tools::SaveState(sequence.state, IdentityOf(sequence), path);
}

Status Restore(const std::string& path, EmberLlmSequence& sequence) {
  sequence.pending.clear();
  sequence.logits.clear();
  return tools::RestoreState(path, IdentityOf(sequence), sequence.state);
}

}  // namespace

EmberStatus SequenceCreate(EmberLlm* model, EmberLlmSequence** sequence) {
  return Guarded([&]() -> Status {
    if (model == nullptr || sequence == nullptr)
      return api::NullError("sequence_create");
    *sequence = nullptr;
    EMBER_ASSIGN_OR_RETURN(tools::LanguageModel state,
                           CreateState(*model->model));
    *sequence = new EmberLlmSequence(model->model, std::move(state));
    return OkStatus();
  });
}

EmberStatus SequenceFork(const EmberLlmSequence* sequence,
                         EmberLlmSequence** fork) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr || fork == nullptr)
      return api::NullError("sequence_fork");
    *fork = nullptr;
    EMBER_ASSIGN_OR_RETURN(tools::LanguageModel state, sequence->state.Fork());
    auto made =
        std::make_unique<EmberLlmSequence>(sequence->model, std::move(state));
    made->pending = sequence->pending;
    made->logits = sequence->logits;
    *fork = made.release();
    return OkStatus();
  });
}

void SequenceRelease(EmberLlmSequence* sequence) { delete sequence; }

EmberStatus SequenceAppend(EmberLlmSequence* sequence, const int32_t* ids,
                           size_t count, float* logits) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr || (ids == nullptr && count > 0))
      return api::NullError("sequence_append");
    return Append(*sequence, {ids, count}, logits);
  });
}

EmberStatus SequenceTruncate(EmberLlmSequence* sequence, int64_t length) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr) return api::NullError("sequence_truncate");
    return Truncate(*sequence, length);
  });
}

int64_t SequenceLength(const EmberLlmSequence* sequence) {
  return sequence == nullptr ? 0 : LengthOf(*sequence);
}

EmberStatus SequenceGenerate(EmberLlmSequence* sequence,
                             const EmberLlmGenerateOptions* options,
                             EmberLlmOnText on_text, void* context,
                             EmberLlmGeneration* generation) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr) return api::NullError("sequence_generate");
    EMBER_ASSIGN_OR_RETURN(llm::GenerateOptions read,
                           ReadGenerateOptions(*sequence->model, options));
    Connect(*sequence, on_text, context, read);
    return Generate(*sequence, std::move(read), generation);
  });
}

void SequenceCancel(EmberLlmSequence* sequence) {
  if (sequence == nullptr) return;
  sequence->is_cancelled = true;
  sequence->state.Cancel();
}

EmberStatus SequenceSave(EmberLlmSequence* sequence, const char* path) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr || path == nullptr)
      return api::NullError("sequence_save");
    return Save(*sequence, path);
  });
}

EmberStatus SequenceRestore(EmberLlmSequence* sequence, const char* path) {
  return Guarded([&]() -> Status {
    if (sequence == nullptr || path == nullptr)
      return api::NullError("sequence_restore");
    return Restore(path, *sequence);
  });
}

}  // namespace ember::llm_api

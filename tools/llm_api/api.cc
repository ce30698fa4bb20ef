// Defines the table of the C API of language models.
#include "tools/llm_api/objects.h"

namespace ember::llm_api {
namespace {

int32_t VocabularySize(const EmberLlm* model) {
  return model == nullptr ? 0 : model->model->tokenizer.vocabulary().size();
}

int64_t Context(const EmberLlm* model) {
  return model == nullptr ? 0 : model->model->context;
}

constexpr EmberLlmApi kApi = {
    sizeof(EmberLlmApi),
    EMBER_LLM_API_VERSION,
    api::ErrorMessage,
    Load,
    Release,
    VocabularySize,
    Context,
    Encode,
    IdsRelease,
    Decode,
    SequenceCreate,
    SequenceFork,
    SequenceRelease,
    SequenceAppend,
    SequenceTruncate,
    SequenceLength,
    SequenceGenerate,
    SequenceCancel,
    ApplyTemplate,
    TextRelease,
    ChatCreate,
    ChatRelease,
    ChatAdd,
    ChatAddJson,
    ChatGenerate,
    ChatCancel,
    SequenceSave,
    SequenceRestore,
};

}  // namespace
}  // namespace ember::llm_api

const EmberLlmApi* ember_llm_get_api(uint32_t version) {
  return version >= 1 && version <= EMBER_LLM_API_VERSION
             ? &ember::llm_api::kApi
             : nullptr;
}

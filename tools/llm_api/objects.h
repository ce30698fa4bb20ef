// The objects behind the handles of the C API of language models, and the
// functions that its table has.
//
// The bodies of the functions run in Guarded, so that no C++ exception leaves
// the library.
#ifndef EMBER_TOOLS_LLM_API_OBJECTS_H_
#define EMBER_TOOLS_LLM_API_OBJECTS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/chat.h"
#include "llm/generate/generate.h"
#include "llm/grammar/vocabulary_trie.h"
#include "llm/template/chat_template.h"
#include "llm/tokenizer/tokenizer.h"
#include "tools/lib/generate/language_model.h"
#include "tools/llm_api/ember_llm.h"
#include "vm/api/handles.h"

namespace ember::llm_api {

struct ReleaseSession {
  void operator()(EmberSession* session) const { api::SessionRelease(session); }
};

// A loaded model. After loading it never changes, except for the trie, which
// mutex_ guards.
struct Model {
  explicit Model(llm::Tokenizer read) : tokenizer(std::move(read)) {}

  llm::Tokenizer tokenizer;
  std::optional<llm::ChatTemplate> chat_template;
  Status template_status;  // error of reading the template; OK if there is one
  // The objects that run the model. `session` refers to `module`, and `shared`
  // refers to `session`.
  EmberModule module;
  std::unique_ptr<EmberSession, ReleaseSession> session;
  std::optional<tools::SharedSession> shared;
  int64_t context = 0;

  // Returns the trie of the vocabulary, which JSON output needs. The first call
  // builds it.
  const llm::VocabularyTrie& Trie();

 private:
  std::mutex mutex_;
  std::optional<llm::VocabularyTrie> trie_;
};

}  // namespace ember::llm_api

struct EmberLlm {
  std::shared_ptr<ember::llm_api::Model> model;
};

struct EmberLlmSequence {
  EmberLlmSequence(std::shared_ptr<ember::llm_api::Model> of,
                   ember::tools::LanguageModel made)
      : model(std::move(of)), state(std::move(made)) {}

  std::shared_ptr<ember::llm_api::Model> model;
  ember::tools::LanguageModel state;
  // Tokens at the end of the sequence whose state is not computed yet: the last
  // token of a generation, for example. The next call that needs logits
  // computes them first.
  std::vector<int32_t> pending;
  // Logits of the token that follows the sequence; empty if they have to be
  // computed again.
  std::vector<float> logits;
  std::atomic<bool> is_cancelled{false};
  std::string text;  // text of the last generation, to which its result points
};

struct EmberLlmChat {
  EmberLlmChat(std::shared_ptr<ember::llm_api::Model> of,
               ember::tools::LanguageModel made,
               ember::llm::ChatOptions options)
      : sequence(std::move(of), std::move(made)),
        chat(sequence.model->tokenizer, *sequence.model->chat_template,
             std::move(options)) {}

  EmberLlmSequence sequence;
  ember::llm::Chat chat;
};

namespace ember::llm_api {

// Runs `work`, which returns a Status, and reports that as the call's error.
// Exceptions of libraries and of operator new become errors, too.
template <typename Work>
EmberStatus Guarded(const Work& work) noexcept {
  try {
    return api::Report(work());
  } catch (const std::bad_alloc&) {
    return api::Report(
        ResourceExhaustedError("expected memory for the call, found none"));
  } catch (const std::exception& error) {
    return api::Report(InternalError(error.what()));
  } catch (...) {
    return api::Report(InternalError("an exception of an unknown type"));
  }
}

// Returns a copy of the caller's options. Fields that the caller's version of
// the struct does not have are 0.
template <typename Struct>
Struct CopyOptions(const Struct* given) {
  Struct copy = {};
  if (given != nullptr) {
    std::memcpy(&copy, given, std::min(given->struct_size, sizeof(copy)));
  }
  return copy;
}

// The functions of generation.cc.
//
// Converts the options of the C API. The result may point to the model's trie.
StatusOr<llm::GenerateOptions> ReadGenerateOptions(
    Model& model, const EmberLlmGenerateOptions* options);
// Sets the callbacks of `options`: they pass the text of a generation to
// on_text, and end it when the sequence is cancelled.
void Connect(EmberLlmSequence& sequence, EmberLlmOnText on_text, void* context,
             llm::GenerateOptions& options);
// Keeps the text of a generation in the sequence, and describes it in `result`,
// which may be null.
void KeepResult(const llm::Generation& generation, EmberLlmSequence& sequence,
                EmberLlmGeneration* result);

// The functions of load.cc.
EmberStatus Load(const char* path, const EmberLlmOptions* options,
                 EmberLlm** model);
void Release(EmberLlm* model);

// Creates an empty sequence of the model. At first it has memory for at most
// 4096 tokens, which grows when needed.
StatusOr<tools::LanguageModel> CreateState(Model& model);

// The functions of text.cc.
EmberStatus Encode(const EmberLlm* model, const char* text, size_t size,
                   int32_t add_special, int32_t parse_special, int32_t** ids,
                   size_t* count);
void IdsRelease(int32_t* ids);
EmberStatus Decode(const EmberLlm* model, const int32_t* ids, size_t count,
                   char* buffer, size_t capacity, size_t* size);
EmberStatus ApplyTemplate(const EmberLlm* model, const char* messages,
                          const char* tools, int32_t add_generation_prompt,
                          char** text);
void TextRelease(char* text);

// The functions of sequence.cc.
EmberStatus SequenceCreate(EmberLlm* model, EmberLlmSequence** sequence);
EmberStatus SequenceFork(const EmberLlmSequence* sequence,
                         EmberLlmSequence** fork);
void SequenceRelease(EmberLlmSequence* sequence);
EmberStatus SequenceAppend(EmberLlmSequence* sequence, const int32_t* ids,
                           size_t count, float* logits);
EmberStatus SequenceTruncate(EmberLlmSequence* sequence, int64_t length);
int64_t SequenceLength(const EmberLlmSequence* sequence);
EmberStatus SequenceGenerate(EmberLlmSequence* sequence,
                             const EmberLlmGenerateOptions* options,
                             EmberLlmOnText on_text, void* context,
                             EmberLlmGeneration* generation);
void SequenceCancel(EmberLlmSequence* sequence);
EmberStatus SequenceSave(EmberLlmSequence* sequence, const char* path);
EmberStatus SequenceRestore(EmberLlmSequence* sequence, const char* path);

// The functions of chat.cc.
EmberStatus ChatCreate(EmberLlm* model, const char* tools, EmberLlmChat** chat);
void ChatRelease(EmberLlmChat* chat);
EmberStatus ChatAdd(EmberLlmChat* chat, const char* role, const char* content);
EmberStatus ChatAddJson(EmberLlmChat* chat, const char* message);
EmberStatus ChatGenerate(EmberLlmChat* chat,
                         const EmberLlmGenerateOptions* options,
                         EmberLlmOnText on_text, void* context,
                         EmberLlmGeneration* generation);
void ChatCancel(EmberLlmChat* chat);

}  // namespace ember::llm_api

#endif  // EMBER_TOOLS_LLM_API_OBJECTS_H_

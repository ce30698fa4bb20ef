// Implements chats.
#include <ctime>
#include <utility>

#include "tools/llm_api/objects.h"

namespace ember::llm_api {

EmberStatus ChatCreate(EmberLlm* model, const char* tools,
                       EmberLlmChat** chat) {
  return Guarded([&]() -> Status {
    if (model == nullptr || chat == nullptr)
      return api::NullError("chat_create");
    *chat = nullptr;
    Model& loaded = *model->model;
    if (!loaded.chat_template) return loaded.template_status;
    EMBER_ASSIGN_OR_RETURN(tools::LanguageModel state, CreateState(loaded));
    llm::ChatOptions options;
    if (tools != nullptr) options.tools = tools;
    const std::time_t now = std::time(nullptr);
    localtime_r(&now, &options.now);
    *chat =
        new EmberLlmChat(model->model, std::move(state), std::move(options));
    return OkStatus();
  });
}

void ChatRelease(EmberLlmChat* chat) { delete chat; }

EmberStatus ChatAdd(EmberLlmChat* chat, const char* role, const char* content) {
  return Guarded([&]() -> Status {
    if (chat == nullptr || role == nullptr || content == nullptr)
      return api::NullError("chat_add");
    chat->chat.Add(role, content);
    return OkStatus();
  });
}

EmberStatus ChatAddJson(EmberLlmChat* chat, const char* message) {
  return Guarded([&]() -> Status {
    if (chat == nullptr || message == nullptr)
      return api::NullError("chat_add_json");
    return chat->chat.AddJson(message);
  });
}

EmberStatus ChatGenerate(EmberLlmChat* chat,
                         const EmberLlmGenerateOptions* options,
                         EmberLlmOnText on_text, void* context,
                         EmberLlmGeneration* generation) {
  return Guarded([&]() -> Status {
    if (chat == nullptr) return api::NullError("chat_generate");
    EmberLlmSequence& sequence = chat->sequence;
    EMBER_ASSIGN_OR_RETURN(llm::GenerateOptions read,
                           ReadGenerateOptions(*sequence.model, options));
    Connect(sequence, on_text, context, read);
    EMBER_ASSIGN_OR_RETURN(const llm::Generation reply,
                           chat->chat.Generate(sequence.state, read));
    KeepResult(reply, sequence, generation);
    return OkStatus();
  });
}

void ChatCancel(EmberLlmChat* chat) {
  if (chat != nullptr) SequenceCancel(&chat->sequence);
}

}  // namespace ember::llm_api

// Implements encoding, decoding and templates.
#include <ctime>

#include "tools/llm_api/objects.h"

namespace ember::llm_api {

EmberStatus Encode(const EmberLlm* model, const char* text, size_t size,
                   int32_t add_special, int32_t parse_special, int32_t** ids,
                   size_t* count) {
  return Guarded([&]() -> Status {
    if (model == nullptr || (text == nullptr && size > 0) || ids == nullptr ||
        count == nullptr) {
      return api::NullError("encode");
    }
    *ids = nullptr;
    *count = 0;
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<int32_t> encoded,
        model->model->tokenizer.Encode({text, size},
                                       {.add_special = add_special != 0,
                                        .parse_special = parse_special != 0}));
    // An array is allocated even for no tokens, because a null pointer would
    // look like an error.
    *ids = new int32_t[encoded.size() + 1];
    std::copy(encoded.begin(), encoded.end(), *ids);
    *count = encoded.size();
    return OkStatus();
  });
}

void IdsRelease(int32_t* ids) { delete[] ids; }

EmberStatus Decode(const EmberLlm* model, const int32_t* ids, size_t count,
                   char* buffer, size_t capacity, size_t* size) {
  return Guarded([&]() -> Status {
    if (model == nullptr || (ids == nullptr && count > 0) || size == nullptr ||
        (buffer == nullptr && capacity > 0)) {
      return api::NullError("decode");
    }
    const std::string text = model->model->tokenizer.Decode({ids, count});
    std::copy_n(text.begin(), std::min(text.size(), capacity), buffer);
    *size = text.size();
    return OkStatus();
  });
}

EmberStatus ApplyTemplate(const EmberLlm* model, const char* messages,
                          const char* tools, int32_t add_generation_prompt,
                          char** text) {
  return Guarded([&]() -> Status {
    if (model == nullptr || messages == nullptr || text == nullptr)
      return api::NullError("apply_template");
    *text = nullptr;
    const Model& loaded = *model->model;
    if (!loaded.chat_template) return loaded.template_status;
    llm::RenderOptions options;
    options.messages = messages;
    if (tools != nullptr) options.tools = tools;
    options.add_generation_prompt = add_generation_prompt != 0;
    const std::time_t now = std::time(nullptr);
    localtime_r(&now, &options.now);
    EMBER_ASSIGN_OR_RETURN(
        const std::string marked,
        llm::RenderChat(loaded.tokenizer, *loaded.chat_template, options));
    const std::string rendered = llm::WithoutTextMarks(marked);
    *text = new char[rendered.size() + 1];
    std::copy_n(rendered.c_str(), rendered.size() + 1, *text);
    return OkStatus();
  });
}

void TextRelease(char* text) { delete[] text; }

}  // namespace ember::llm_api

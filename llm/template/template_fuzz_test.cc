// Fuzzes chat templates from strangers: parsing and rendering must end within
// the limits. An input is a template, a zero byte and the messages as JSON,
// which may be missing.
//
//   ./dev fuzz --seconds=3600 //llm/template:template_fuzz_test
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "llm/template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::llm;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), size);
  const auto chat_template = ChatTemplate::Parse(input.substr(0, zero));
  if (!chat_template.ok()) {
    if (chat_template.status().message().find('\n') != std::string::npos) {
      std::abort();
    }
    return 0;
  }
  ChatInput chat;
  chat.messages = input.substr(std::min(zero + 1, size));
  if (chat.messages.empty()) {
    chat.messages =
        R"([{"role": "user", "content": "Hi é"}, {"role": "assistant"}])";
  }
  chat.tools = R"([{"function": {"name": "f", "parameters": {"a": [1]}}}])";
  chat.begin_of_text = "<s>";
  TemplateLimits limits;
  limits.steps = 50'000;
  limits.bytes = 4 << 20;
  limits.output_bytes = 1 << 20;
  const auto text = chat_template->Render(chat, limits);
  if (!text.ok() && text.status().message().find('\n') != std::string::npos) {
    std::abort();
  }
  return 0;
}

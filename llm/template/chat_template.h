// Chat templates: from messages to the text that a model continues.
//
//   EMBER_ASSIGN_OR_RETURN(const ChatTemplate chat_template,
//                          ChatTemplate::Parse(definition.chat_template));
//   ChatInput input;
//   input.messages = R"([{"role": "user", "content": "Hello"}])";
//   input.begin_of_text = "<s>";
//   EMBER_ASSIGN_OR_RETURN(std::string prompt, chat_template.Render(input));
//
// A template is a Jinja template as the transformers library runs it: with
// white space control, the functions raise_exception and strftime_now, the
// blocks break, continue and generation, and constant lists and dicts. It comes
// from a stranger, so its steps, memory, output and depth are limited
// (llm/template/evaluator.h). Errors are one line, "chat template: line N:
// ...". Encode the result with EncodeOptions{.add_special = false,
// .parse_special = true}, because the template writes the special tokens.
//
// Move-only; thread-safe after parsing.
#ifndef EMBER_LLM_TEMPLATE_CHAT_TEMPLATE_H_
#define EMBER_LLM_TEMPLATE_CHAT_TEMPLATE_H_

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "llm/template/evaluator.h"
#include "llm/template/syntax.h"

namespace ember::llm {

// The variables of a template. The fields with JSON texts may be empty, which
// the template sees as undefined (messages: an empty list).
struct ChatInput {
  std::string messages;   // JSON array of objects with role and content.
  std::string tools;      // JSON array of tool descriptions.
  std::string documents;  // JSON array.
  std::string extra;      // JSON object; each field becomes a variable.
  bool add_generation_prompt = true;
  std::string begin_of_text, end_of_text;  // Names of the special tokens.
  std::string unknown, padding;
  // The time of strftime_now.
  std::tm now = {};
};

class ChatTemplate {
 public:
  static StatusOr<ChatTemplate> Parse(std::string_view source);

  StatusOr<std::string> Render(const ChatInput& input,
                               const TemplateLimits& limits = {}) const;

 private:
  explicit ChatTemplate(Statements statements);
  Statements statements_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_CHAT_TEMPLATE_H_

// Renders chat templates, which make of a chat's messages the text that a
// language model continues.
//
//   EMBER_ASSIGN_OR_RETURN(const ChatTemplate chat_template,
//                          ChatTemplate::Parse(definition.chat_template));
//   ChatInput input;
//   input.messages = R"([{"role": "user", "content": "Hello"}])";
//   input.begin_of_text = "<s>";
//   EMBER_ASSIGN_OR_RETURN(std::string prompt, chat_template.Render(input));
//
// A template is a Jinja template with the features and settings of the
// transformers library: trim_blocks and lstrip_blocks, the functions
// raise_exception and strftime_now, and the blocks break, continue and
// generation. Lists and dicts cannot be changed by methods. It comes from a
// stranger, so its steps, memory, output and depth are limited
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

// The variables that a template can use. A field with JSON text may be empty.
// Then `messages` is an empty list, `tools` and `documents` are None, and
// `extra` adds no variables.
struct ChatInput {
  std::string messages;   // text of a JSON array of objects with the fields
                          // role and content
  std::string tools;      // text of a JSON array of tool descriptions
  std::string documents;  // JSON array.
  std::string extra;      // Text of a JSON object whose fields become further
                          // variables.
  bool add_generation_prompt = true;
  std::string begin_of_text, end_of_text;  // Texts of the special tokens, which
                                           // the template may write.
  std::string unknown, padding;
  // time that strftime_now returns
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

// A chat with a language model: its messages, and the tokens that the model has
// processed for them.
//
//   Chat chat(tokenizer, chat_template, {});
//   chat.Add("user", "Hello");
//   EMBER_ASSIGN_OR_RETURN(Generation reply, chat.Generate(source, options));
//
// Generate renders all messages by the template, but computes only tokens that
// the source does not have yet. So each new message costs only its own tokens.
// If a template renders earlier messages differently than before, as some do
// with thoughts, the sequence is first shortened to the part that is the same.
//
// Messages are JSON objects with the fields that the template reads, usually
// role and content. The names of control tokens in them are text
// (plain_text.h). Errors: JSON that is no message, those of the template, of
// the tokenizer and of the source; the messages then stay as they were. The
// tokenizer and the template must outlive the chat. Thread-compatible.
#ifndef EMBER_LLM_CHAT_CHAT_H_
#define EMBER_LLM_CHAT_CHAT_H_

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/plain_text.h"
#include "llm/generate/generate.h"
#include "llm/generate/logit_source.h"
#include "llm/template/chat_template.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {

struct RenderOptions {
  std::string messages;  // text of a JSON array of messages
  std::string tools;     // text of a JSON array of tool descriptions; empty:
                         // the template sees None
  bool add_generation_prompt = true;
  std::tm now = {};  // time that strftime_now returns to the template
};

// Renders messages by the template. Texts of messages contain kTextMark, which
// Encode removes (EncodeOptions::text_mark). Errors: those of the template;
// `messages` is no JSON array of objects.
StatusOr<std::string> RenderChat(const Tokenizer& tokenizer,
                                 const ChatTemplate& chat_template,
                                 const RenderOptions& options);

struct ChatOptions {
  std::string tools;  // text of a JSON array of tool descriptions; empty: the
                      // template sees None
  std::tm now = {};   // time that strftime_now returns to the template
};

class Chat {
 public:
  Chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
       ChatOptions options);
  Chat(Chat&&) noexcept;
  ~Chat();

  // Adds a message. Bytes of `content` that are not UTF-8 become U+FFFD.
  void Add(std::string_view role, std::string_view content);
  // Adds a message that is given as the text of a JSON object.
  Status AddJson(std::string_view message);

  // Returns the tokens of the prompt: all messages, and the beginning of the
  // assistant's reply.
  StatusOr<std::vector<int32_t>> Prompt() const;
  // Generates the reply and adds it as a message of the role "assistant", even
  // if it was cut off by a limit.
  StatusOr<Generation> Generate(LogitSource& source,
                                const GenerateOptions& options);

 private:
  struct Messages;

  const Tokenizer* tokenizer_;
  const ChatTemplate* template_;
  ChatOptions options_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_CHAT_CHAT_H_

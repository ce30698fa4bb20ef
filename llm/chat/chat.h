// A chat: messages, and the sequence of tokens that a model has of them.
//
//   Chat chat(tokenizer, chat_template, {});
//   chat.Add("user", "Hello");
//   EMBER_ASSIGN_OR_RETURN(Generation reply, chat.Generate(source, options));
//
// Generate renders all messages and computes only the tokens that the source
// does not have yet, so that a further message costs its own tokens. If a
// template changes earlier messages, as some do with thoughts, the sequence is
// shortened to what is the same.
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
  std::string messages;  // JSON array of objects.
  std::string tools;     // JSON array; empty: undefined.
  bool add_generation_prompt = true;
  std::tm now = {};  // The time of strftime_now.
};

// Renders messages. The text has marks for Encode's text_mark; errors are those
// of the template, and JSON that is no array of objects.
StatusOr<std::string> RenderChat(const Tokenizer& tokenizer,
                                 const ChatTemplate& chat_template,
                                 const RenderOptions& options);

struct ChatOptions {
  std::string tools;  // JSON array of tool descriptions; empty: undefined.
  std::tm now = {};   // The time of strftime_now.
};

class Chat {
 public:
  Chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
       ChatOptions options);
  Chat(Chat&&) noexcept;
  ~Chat();

  // Bytes of `content` that are no UTF-8 become U+FFFD.
  void Add(std::string_view role, std::string_view content);
  // Adds a message that is a JSON object.
  Status AddJson(std::string_view message);

  // Returns the tokens of all messages and of the begin of the reply.
  StatusOr<std::vector<int32_t>> Prompt() const;
  // Generates the reply and adds it as a message of the role "assistant", also
  // if it was cut off.
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

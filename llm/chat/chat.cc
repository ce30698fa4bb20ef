#include "llm/chat/chat.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"

namespace ember::llm {
namespace {

// An ordered JSON type is used, because templates may print objects, whose
// fields must keep their order.
using Json = nlohmann::ordered_json;

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Parses JSON text from a caller. Deeper nesting than kMaxDepth is an error,
// because recursive parsers and printers would overflow the stack.
StatusOr<Json> Parse(std::string_view text, std::string_view what) {
  constexpr int kMaxDepth = 100;
  bool is_too_deep = false;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep = is_too_deep || depth > kMaxDepth;
    return !is_too_deep;
  };
  Json json = Json::parse(text, check, /*allow_exceptions=*/false);
  if (is_too_deep) {
    return ResourceExhaustedError(Concat({what, ": expected JSON of at most ",
                                          kMaxDepth, " levels, found more"}));
  }
  if (json.is_discarded()) {
    return InvalidArgumentError(Concat({what, ": expected JSON, found '",
                                        OnOneLine(Shortened(text, 60)), "'"}));
  }
  return json;
}

// Returns a copy of the value in which all texts, also keys of objects, are
// protected by PlainText.
Json Protected(const PlainText& plain, const Json& value) {
  if (value.is_string()) {
    return plain.Protect(value.get_ref<const std::string&>());
  }
  if (!value.is_structured()) return value;
  Json result = value.is_array() ? Json::array() : Json::object();
  for (const auto& item : value.items()) {
    Json safe = Protected(plain, item.value());
    if (value.is_array()) {
      result.push_back(std::move(safe));
    } else {
      result[plain.Protect(item.key())] = std::move(safe);
    }
  }
  return result;
}

std::string NameOf(const Vocabulary& vocabulary, int32_t id) {
  return vocabulary.Has(id) ? vocabulary.token(id).text : "";
}

StatusOr<std::string> ProtectedArray(const PlainText& plain,
                                     std::string_view text,
                                     std::string_view what) {
  EMBER_ASSIGN_OR_RETURN(const Json json, Parse(text, what));
  const auto is_object = [](const Json& item) { return item.is_object(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_object)) {
    return InvalidArgumentError(
        Concat({what, ": expected a JSON array of objects, found '",
                OnOneLine(Shortened(text, 60)), "'"}));
  }
  return TextOf(Protected(plain, json));
}

}  // namespace

StatusOr<std::string> RenderChat(const Tokenizer& tokenizer,
                                 const ChatTemplate& chat_template,
                                 const RenderOptions& options) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const TokenizerDefinition& definition = tokenizer.definition();
  const PlainText plain(vocabulary);
  ChatInput input;
  EMBER_ASSIGN_OR_RETURN(input.messages,
                         ProtectedArray(plain, options.messages, "messages"));
  if (!options.tools.empty()) {
    EMBER_ASSIGN_OR_RETURN(input.tools,
                           ProtectedArray(plain, options.tools, "tools"));
  }
  input.add_generation_prompt = options.add_generation_prompt;
  input.begin_of_text = NameOf(vocabulary, definition.begin_of_text);
  input.end_of_text = NameOf(vocabulary, definition.end_of_text);
  input.unknown = NameOf(vocabulary, definition.unknown);
  input.padding = NameOf(vocabulary, definition.padding);
  input.now = options.now;
  return chat_template.Render(input);
}

struct Chat::Messages {
  Json list = Json::array();
};

Chat::Chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
           ChatOptions options)
    : tokenizer_(&tokenizer),
      template_(&chat_template),
      options_(std::move(options)),
      messages_(std::make_unique<Messages>()) {}

Chat::Chat(Chat&&) noexcept = default;
Chat::~Chat() = default;

void Chat::Add(std::string_view role, std::string_view content) {
  messages_->list.push_back(
      {{"role", std::string(role)}, {"content", std::string(content)}});
}

Status Chat::AddJson(std::string_view message) {
  EMBER_ASSIGN_OR_RETURN(Json json, Parse(message, "message"));
  if (!json.is_object()) {
    return InvalidArgumentError(
        Concat({"message: expected a JSON object, found '",
                OnOneLine(Shortened(message, 60)), "'"}));
  }
  messages_->list.push_back(std::move(json));
  return OkStatus();
}

StatusOr<std::vector<int32_t>> Chat::Prompt() const {
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         RenderChat(*tokenizer_, *template_,
                                    {.messages = TextOf(messages_->list),
                                     .tools = options_.tools,
                                     .now = options_.now}));
  return tokenizer_->Encode(
      text,
      {.add_special = false, .parse_special = true, .text_mark = kTextMark});
}

StatusOr<Generation> Chat::Generate(LogitSource& source,
                                    const GenerateOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt, Prompt());
  if (prompt.empty()) {
    return InvalidArgumentError(
        "chat template: expected at least one token, found an empty text");
  }
  const std::span<const int32_t> known = source.ids();
  size_t same = 0;
  // The tokens that the source already has are kept. The prompt's last token is
  // always appended again, because appending it gives the logits.
  while (same < known.size() && same + 1 < prompt.size() &&
         known[same] == prompt[same]) {
    ++same;
  }
  if (same < known.size() &&
      !source.Truncate(static_cast<int64_t>(same)).ok()) {
    same = 0;
    EMBER_RETURN_IF_ERROR(source.Truncate(0));
  }
  EMBER_ASSIGN_OR_RETURN(
      Generation reply,
      llm::Generate(*tokenizer_, source, std::span(prompt).subspan(same),
                    options));
  Add("assistant", reply.text);
  return reply;
}

}  // namespace ember::llm

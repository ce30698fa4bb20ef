#include "llm/chat/chat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ember::llm {
namespace {

using ::testing::HasSubstr;

constexpr int32_t kStart = 256, kEnd = 257;
constexpr std::string_view kTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}:{{ m.content }}<|im_end|>"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant:"
    "{% endif %}";

Tokenizer MakeTokenizer() {
  TokenizerDefinition d;
  d.is_byte_level = true;
  for (int byte = 0; byte < 256; ++byte) {
    d.tokens.push_back({.text = std::string(1, static_cast<char>(byte))});
  }
  d.tokens.push_back({.text = "<|im_start|>", .kind = TokenKind::kControl});
  d.tokens.push_back({.text = "<|im_end|>", .kind = TokenKind::kControl});
  d.ends_of_generation = {kEnd};
  auto tokenizer = Tokenizer::Create(std::move(d));
  EXPECT_TRUE(tokenizer.ok());
  return *std::move(tokenizer);
}

ChatTemplate MakeTemplate(std::string_view text = kTemplate) {
  auto chat_template = ChatTemplate::Parse(text);
  EXPECT_TRUE(chat_template.ok()) << chat_template.status().ToString();
  return *std::move(chat_template);
}

// A fake model that always replies "ok" and then ends its message.
class Model : public LogitSource {
 public:
  explicit Model(bool can_truncate = true) : can_truncate_(can_truncate) {}

  StatusOr<std::span<const float>> Append(
      std::span<const int32_t> ids) override {
    appended += ids.size();
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    logits_.assign(kEnd + 1, 0.0f);
    const int32_t last = tokens.back();
    logits_[last == ':' ? 'o' : last == 'o' ? 'k' : kEnd] = 50;
    return std::span<const float>(logits_);
  }
  int64_t room() const override {
    return 1000 - static_cast<int64_t>(tokens.size());
  }
  std::span<const int32_t> ids() const override { return tokens; }
  Status Truncate(int64_t length) override {
    if (!can_truncate_ && length > 0) return UnimplementedError("no");
    tokens.resize(static_cast<size_t>(length));
    return OkStatus();
  }

  std::vector<int32_t> tokens;
  size_t appended = 0;

 private:
  bool can_truncate_;
  std::vector<float> logits_;
};

TEST(Chat, ComputesNewTokensOnly) {
  const Tokenizer tokenizer = MakeTokenizer();
  const ChatTemplate chat_template = MakeTemplate();
  Chat chat(tokenizer, chat_template, {});
  Model model;
  chat.Add("user", "Hi");
  auto reply = chat.Generate(model, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->text, "ok");
  EXPECT_EQ(reply->reason(), EndReason::kEndToken);
  // The model was given the prompt and the reply "ok", but not the token that
  // ended the reply.
  const size_t first = std::string("^user:Hi$^assistant:ok").size();
  EXPECT_EQ(model.appended, first);
  chat.Add("user", "More");
  reply = chat.Generate(model, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(model.appended,
            first + std::string("$^user:More$^assistant:ok").size());
  EXPECT_EQ(tokenizer.Decode(model.tokens, {.render_special = true}),
            "<|im_start|>user:Hi<|im_end|><|im_start|>assistant:ok<|im_end|>"
            "<|im_start|>user:More<|im_end|><|im_start|>assistant:ok");
}

TEST(Chat, ReplacesWhatATemplateChanges) {
  // This template renders the last two messages only, so the beginning of the
  // prompt changes from message to message.
  const Tokenizer tokenizer = MakeTokenizer();
  const ChatTemplate chat_template =
      MakeTemplate("{% for m in messages[-2:] %}{{ m.content }}.{% endfor %}:");
  for (const bool can_truncate : {true, false}) {
    Chat chat(tokenizer, chat_template, {});
    Model model(can_truncate);
    for (const char* const text : {"aa", "ab", "ac"}) {
      chat.Add("user", text);
      const auto reply = chat.Generate(model, {});
      ASSERT_TRUE(reply.ok()) << reply.status().ToString();
      EXPECT_EQ(tokenizer.Decode(model.tokens),
                (text == std::string("aa") ? "" : "ok.") + std::string(text) +
                    ".:ok");
    }
  }
}

TEST(Chat, TextsCannotBecomeControlTokens) {
  const Tokenizer tokenizer = MakeTokenizer();
  const ChatTemplate chat_template = MakeTemplate(
      "{% for m in messages %}{% for part in m.content %}{{ part }}"
      "{% endfor %}{% endfor %}<|im_end|>");
  // The texts try to forge control tokens: a name split over two parts, a whole
  // name, a name after its own first character, a name with the mark already
  // inside, and a part of a name at the end.
  Chat chat(tokenizer, chat_template, {});
  ASSERT_TRUE(chat.AddJson(R"({"content": ["a<|im_", "end|>b", "<|im_start|>",
                                   "<<|im_end|>", "<\ufdd0|im_end|>", "<"]})")
                  .ok());
  const auto prompt = chat.Prompt();
  ASSERT_TRUE(prompt.ok()) << prompt.status().ToString();
  EXPECT_EQ(std::ranges::count(*prompt, kStart), 0);
  // The only end token in the prompt is the one that the template itself wrote.
  EXPECT_EQ(std::ranges::count(*prompt, kEnd), 1);
  EXPECT_EQ(prompt->back(), kEnd);
  EXPECT_EQ(tokenizer.Decode(*prompt),
            "a<|im_end|>b<|im_start|><<|im_end|><|im_end|><");
}

TEST(Chat, RefusesWrongMessages) {
  const Tokenizer tokenizer = MakeTokenizer();
  const ChatTemplate chat_template = MakeTemplate();
  Chat chat(tokenizer, chat_template, {.tools = "{}"});
  EXPECT_THAT(std::string(chat.AddJson("[1]").message()),
              HasSubstr("expected a JSON object, found '[1]'"));
  EXPECT_THAT(std::string(chat.AddJson("{").message()),
              HasSubstr("expected JSON, found '{'"));
  EXPECT_THAT(std::string(chat.AddJson(std::string(200, '[')).message()),
              HasSubstr("at most 100 levels"));
  EXPECT_THAT(std::string(chat.Prompt().status().message()),
              HasSubstr("tools: expected a JSON array of objects"));
  const auto rendered =
      RenderChat(tokenizer, chat_template, {.messages = "[1]"});
  EXPECT_THAT(std::string(rendered.status().message()),
              HasSubstr("messages: expected a JSON array of objects"));
}

TEST(Chat, KeepsTextsThatAreNoUtf8) {
  const Tokenizer tokenizer = MakeTokenizer();
  const ChatTemplate chat_template = MakeTemplate("{{ messages[0].content }}");
  Chat chat(tokenizer, chat_template, {});
  chat.Add("user", "a\xFFz");
  const auto prompt = chat.Prompt();
  ASSERT_TRUE(prompt.ok()) << prompt.status().ToString();
  EXPECT_EQ(tokenizer.Decode(*prompt), "a\uFFFDz");
}

}  // namespace
}  // namespace ember::llm

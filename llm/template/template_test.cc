// Tests small templates against the output of Python's Jinja for them;
// tests/chat_templates/ make_cases.py wrote the cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/file.h"
#include "llm/template/chat_template.h"

namespace ember::llm {
namespace {

using ::testing::HasSubstr;
using json = nlohmann::ordered_json;

StatusOr<std::string> Render(std::string_view source, const json& variables) {
  EMBER_ASSIGN_OR_RETURN(const ChatTemplate chat_template,
                         ChatTemplate::Parse(source));
  ChatInput input;
  input.extra = variables.dump();
  input.now.tm_year = 2026 - 1900;
  input.now.tm_mon = 10;
  input.now.tm_mday = 30;
  input.now.tm_hour = 12;
  input.now.tm_min = 34;
  input.now.tm_sec = 56;
  input.now.tm_wday = 1;
  input.now.tm_yday = 333;
  return chat_template.Render(input);
}

TEST(ChatTemplate, RendersAsJinja) {
  const auto text = ReadFile("llm/template/testdata/cases.json");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const json data = json::parse(*text);
  ASSERT_GT(data["cases"].size(), 150);
  for (const json& each : data["cases"]) {
    const auto source = each["template"].get<std::string>();
    SCOPED_TRACE(source);
    const auto rendered =
        Render(source, each.contains("variables") ? each["variables"]
                                                  : data["variables"]);
    if (each["text"].is_null()) {
      EXPECT_FALSE(rendered.ok()) << *rendered;
      EXPECT_EQ(rendered.status().message().find('\n'), std::string::npos);
      EXPECT_TRUE(rendered.status().message().starts_with("chat template: "));
      continue;
    }
    ASSERT_TRUE(rendered.ok()) << rendered.status().ToString();
    EXPECT_EQ(*rendered, each["text"].get<std::string>());
  }
}

TEST(ChatTemplate, ReadsMessagesAndTools) {
  const auto chat_template = ChatTemplate::Parse(
      "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }};"
      "{% endfor %}{{ tools | length }}{{ documents is none }}");
  ASSERT_TRUE(chat_template.ok());
  ChatInput input;
  input.messages = R"([{"role": "user", "content": "Hi"}])";
  input.tools = "[1, 2]";
  input.begin_of_text = "<s>";
  EXPECT_EQ(*chat_template->Render(input), "<s>user: Hi;2True");
  input.messages = "{";
  EXPECT_THAT(chat_template->Render(input).status().message(),
              HasSubstr("messages: expected JSON"));
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  const auto error_of = [](std::string_view source) {
    return std::string(Render(source, json::object()).status().message());
  };
  EXPECT_EQ(error_of("a\n{{ x.y }}"),
            "chat template: line 2: 'x' is undefined");
  EXPECT_EQ(error_of("a\n\n{% if %}"),
            "chat template: line 3: expected an expression, found %}");
  EXPECT_EQ(error_of("{{ raise_exception('no\nway') }}"),
            "chat template: line 1: the template refuses the messages: "
            "no\\x0away");
  EXPECT_EQ(error_of("{{ 1 | nope }}"),
            "chat template: line 1: expected a known filter, found 'nope'");
  EXPECT_EQ(error_of("{% for x in 5 %}{% endfor %}"),
            "chat template: line 1: expected a value to iterate over, found "
            "int");
}

}  // namespace
}  // namespace ember::llm

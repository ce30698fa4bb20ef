// Tests that templates which would take too much time or memory end with an
// error of one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "llm/template/chat_template.h"

namespace ember::llm {
namespace {

using ::testing::HasSubstr;

std::string Repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string ErrorOf(std::string_view source) {
  const auto chat_template = ChatTemplate::Parse(source);
  Status status = chat_template.status();
  if (status.ok()) {
    // The limits are smaller than the default ones, so that the tests run fast.
    TemplateLimits limits;
    limits.steps = 300'000;
    limits.bytes = 16 << 20;
    limits.output_bytes = 1 << 20;
    status = chat_template->Render({}, limits).status();
  }
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  return std::string(status.message());
}

TEST(TemplateLimits, EndEndlessWork) {
  EXPECT_THAT(ErrorOf("{% for a in range(99999) %}{% for b in range(99999) %}"
                      "{% endfor %}{% endfor %}"),
              HasSubstr("expected at most 300000 steps"));
  EXPECT_THAT(ErrorOf("{% for a in range(10**9) %}{% endfor %}"),
              HasSubstr("range: expected at most 100000"));
  EXPECT_THAT(ErrorOf("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
              HasSubstr("nested calls"));
  EXPECT_THAT(
      ErrorOf("{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}"
              "{% endif %}{% endmacro %}{{ f(40) }}"),
      HasSubstr("steps"));
  EXPECT_THAT(
      ErrorOf("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
      HasSubstr("nested calls"));
}

TEST(TemplateLimits, EndEndlessMemory) {
  EXPECT_THAT(ErrorOf("{{ 'a' * 10**12 }}"), HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ ([1] * 10**9) | length }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{% set ns = namespace(s='ab') %}"
                      "{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}"
                      "{% endfor %}"),
              HasSubstr("expected values of"));
  // This list contains the former list twice, 50 times over. It takes little
  // memory, but printing it would write 2^50 items.
  EXPECT_THAT(ErrorOf("{% set ns = namespace(l=['x']) %}"
                      "{% for i in range(50) %}{% set ns.l = [ns.l, ns.l] %}"
                      "{% endfor %}{{ ns.l }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{% set ns = namespace(l=[]) %}"
                      "{% for i in range(99999) %}{% set ns.l = [ns.l] %}"
                      "{% endfor %}"),
              HasSubstr("nested values"));
  EXPECT_THAT(ErrorOf("{% for i in range(9999) %}"
                      "{{ 'abcdefghij' * 100 }}{% endfor %}"),
              HasSubstr("expected an output of"));
  EXPECT_THAT(ErrorOf("{{ 'x' | indent(10**10) }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ ('a\n' * 9999) | indent(9999) }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ 'x'.center(10**11) }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ ('a' * 99999).replace('a', 'b' * 9999) }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ [1] | batch(10**10, 1) }}"),
              HasSubstr("expected values of"));
  EXPECT_THAT(ErrorOf("{{ 2 ** 100 }}"), HasSubstr("64 bits"));
  EXPECT_THAT(ErrorOf("{{ 9223372036854775807 + 1 }}"), HasSubstr("64 bits"));
}

TEST(TemplateLimits, EndDeepSyntax) {
  EXPECT_THAT(
      ErrorOf("{{ " + Repeated("(", 5000) + "1" + Repeated(")", 5000) + " }}"),
      HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf("{{ " + Repeated("-", 50000) + "1 }}"),
              HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf("{{ " + Repeated("not ", 50000) + "1 }}"),
              HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf("{{ 1" + Repeated(" + 1", 50000) + " }}"),
              HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf("{{ x" + Repeated(".x", 50000) + " }}"),
              HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf("{{ x" + Repeated("|upper", 50000) + " }}"),
              HasSubstr("nested expressions"));
  EXPECT_THAT(ErrorOf(Repeated("{% if 1 %}", 5000)),
              HasSubstr("nested statements"));
  EXPECT_THAT(ErrorOf(std::string((1 << 20) + 1, 'a')),
              HasSubstr("expected at most 1048576 bytes"));
}

// These namespaces, loops and macros refer to each other in cycles. The leak
// checker shows that their memory is freed.
TEST(TemplateLimits, FreeCycles) {
  EXPECT_EQ(ErrorOf("{% set a = namespace() %}{% set b = namespace(a=a) %}"
                    "{% set a.b = b %}{% set a.l = [a, b] %}{{ a.b.a.l }}"),
            "");
  EXPECT_EQ(ErrorOf("{% set ns = namespace() %}{% for x in [1] recursive %}"
                    "{% set ns.l = loop %}{% set ns.c = loop.changed %}"
                    "{% endfor %}{{ ns.c(ns.l) }}{{ ns.l([]) }}"),
            "");
  EXPECT_EQ(ErrorOf("{% set ns = namespace() %}{% for x in [1, 2] %}"
                    "{% macro f() %}{{ x }}{% endmacro %}{% set ns.f = f %}"
                    "{% endfor %}{{ ns.f() }}"),
            "");
}

}  // namespace
}  // namespace ember::llm

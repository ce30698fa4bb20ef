#include "tests/onnx/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ember::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Expectation Parse(std::string_view text) {
  StatusOr<Expectation> parsed = ParseExpectation(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *std::move(parsed) : Expectation{};
}

TEST(Expectation, ParsesWhatItPrints) {
  const std::string text =
      "# Cases.\ncases 5\nfails a import\nfails b run\ninterprets c\n";
  EXPECT_EQ(PrintExpectation(Parse(text), "Cases."), text);
}

TEST(Expectation, NamesTheLineThatCannotBeRead) {
  for (const auto& [text, message] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"cases 5\nfails a\n",
            "line 2: expected 'fails CASE STAGE', found 'fails a'"},
           {"cases x\n", "line 1: expected 'cases N', found 'cases x'"},
           {"interprets\n",
            "line 1: expected 'interprets CASE', found 'interprets'"},
           {"skips a\n",
            "line 1: expected cases, fails or interprets, found 'skips a'"}}) {
    const StatusOr<Expectation> parsed = ParseExpectation(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().message(), message);
  }
}

TEST(Expectation, EveryDifferenceIsALine) {
  const Expectation expected =
      Parse("cases 5\nfails a import\nfails b run\ninterprets c\n");
  EXPECT_THAT(Differences(expected, expected, true), IsEmpty());
  const Expectation found =
      Parse("cases 4\nfails b crash\nfails d run\ninterprets e\n");
  EXPECT_THAT(Differences(expected, found, true),
              ElementsAre("cases: expected 5, found 4",
                          "b: expected to fail (run), fails (crash)",
                          "d: expected to pass, fails (run)",
                          "a: expected to fail (import), passes",
                          "e: expected kernels only, tier 0 ran a dispatch",
                          "c: expected tier 0 to run a dispatch, kernels ran"));
  EXPECT_THAT(Differences(Parse("cases 5\ninterprets c\n"),
                          Parse("cases 5\ninterprets e\n"), false),
              IsEmpty());
}

}  // namespace
}  // namespace ember::tests

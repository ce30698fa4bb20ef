#include "tools/lib/report/chrome_trace.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/lib/report/testing/chrome_trace_rules.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ChromeTraceTest, TimesStartAtZeroAndSlicesAreOrdered) {
  const ChromeTrace trace = {
      .process = "m",
      .tracks = {"runs"},
      .slices = {{.name = "c",
                  .begin_ns = 7001,
                  .end_ns = 8000,
                  .track = 0,
                  .details = {}},
                 {.name = "a\"b",
                  .begin_ns = 5000,
                  .end_ns = 6500,
                  .track = 0,
                  .details = {{"k", "v"}}}},
      .counters = {{.name = "n", .at_ns = 6000, .values = {{"x", 1.5}}}},
      .flows = {{"f", 1, 0}}};
  const std::string text = PrintChromeTrace(trace);
  EXPECT_EQ(text,
            R"({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "m"}},
{"ph": "M", "pid": 1, "tid": 0, "name": "thread_name", "args": {"name": "runs"}},
{"ph": "M", "pid": 1, "tid": 0, "name": "thread_sort_index", "args": {"sort_index": 0}},
{"ph": "X", "pid": 1, "tid": 0, "name": "a\"b", "ts": 0.000, "dur": 1.500, "args": {"k": "v"}},
{"ph": "X", "pid": 1, "tid": 0, "name": "c", "ts": 2.001, "dur": 0.999, "args": {}},
{"ph": "C", "pid": 1, "tid": 0, "name": "n", "ts": 1.000, "args": {"x": 1.5}},
{"ph": "s", "pid": 1, "tid": 0, "name": "f", "cat": "flow", "id": 1, "ts": 0.000},
{"ph": "f", "pid": 1, "tid": 0, "name": "f", "cat": "flow", "id": 1, "bp": "e", "ts": 2.001}
]}
)");
  EXPECT_THAT(ChromeTraceProblems(text), IsEmpty());
}

TEST(ChromeTraceTest, NamesMayHaveAnyBytes) {
  const std::string text = PrintChromeTrace(
      {.process = "\xff\"</script>",
       .tracks = {"\n"},
       .slices = {{.name = "\xc3(", .details = {{"k", std::string(1, '\0')}}}},
       .counters = {},
       .flows = {}});
  EXPECT_THAT(ChromeTraceProblems(text), IsEmpty()) << text;
}

TEST(ChromeTraceTest, TheRulesFindWhatIsWrong) {
  const auto problems = [](const std::string& events) {
    return testing::PrintToString(
        ChromeTraceProblems("{\"traceEvents\": [" + events + "]}"));
  };
  const std::string slice =
      R"({"ph": "X", "pid": 1, "tid": 0, "name": "a", "ts": 0, "dur": 5})";
  EXPECT_THAT(ChromeTraceProblems("{\"traceEvents\": [" + slice + "]}"),
              IsEmpty());
  EXPECT_THAT(
      problems(
          slice +
          R"(, {"ph": "X", "pid": 1, "tid": 0, "name": "b", "ts": 3, "dur": 5})"),
      HasSubstr("overlap"));
  EXPECT_THAT(
      problems(R"({"ph": "X", "pid": 1, "tid": 0, "name": "a", "ts": 0})"),
      HasSubstr("no dur"));
  EXPECT_THAT(
      problems(
          R"({"ph": "C", "pid": 1, "tid": 0, "name": "a", "ts": 0, "args": {"x": "1"}})"),
      HasSubstr("no number"));
  EXPECT_THAT(
      problems(
          slice +
          R"(, {"ph": "s", "pid": 1, "tid": 0, "name": "a", "cat": "c", "id": 1, "ts": 1})"),
      HasSubstr("no begin or no end"));
  EXPECT_THAT(ChromeTraceProblems("{"),
              testing::Contains("the text is not JSON"));
}

}  // namespace
}  // namespace ember::tools

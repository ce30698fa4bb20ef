#include "tools/lib/report/chrome_trace.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(ChromeTraceTest, TimesStartAtZeroAndThreadsAreNumbered) {
  const std::vector<ChromeTraceEvent> events = {
      {.name = "a\"b",
       .begin_ns = 5000,
       .end_ns = 6500,
       .thread = 77,
       .details = {{"k", "v"}}},
      {.name = "c",
       .begin_ns = 7001,
       .end_ns = 8000,
       .thread = 3,
       .details = {}},
  };
  EXPECT_EQ(ChromeTrace("m", events),
            "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 0, \"name\": "
            "\"process_name\", \"args\": "
            "{\"name\": \"m\"}},\n"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 0, \"name\": "
            "\"thread_name\", \"args\": "
            "{\"name\": \"thread 0\"}},\n"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 0, \"name\": \"a\\\"b\", "
            "\"ts\": 0.000, \"dur\": "
            "1.500, \"args\": {\"k\": \"v\"}},\n"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"name\": "
            "\"thread_name\", \"args\": "
            "{\"name\": \"thread 1\"}},\n"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": \"c\", \"ts\": "
            "2.001, \"dur\": "
            "0.999, \"args\": {}}\n"
            "]}\n");
}

}  // namespace
}  // namespace ember::tools

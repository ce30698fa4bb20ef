#include "tools/lib/report/chrome_trace.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

#include "tools/lib/cli/json.h"

namespace ember::tools {
namespace {

// Prints nanoseconds as microseconds, the unit of the format, with all digits.
std::string Microseconds(int64_t ns) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%lld.%03lld",
                static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return buffer;
}

std::string Metadata(std::string_view what, size_t thread,
                     std::string_view name) {
  return "{\"ph\": \"M\", \"pid\": 1, \"tid\": " + std::to_string(thread) +
         ", \"name\": " + JsonString(what) +
         ", \"args\": {\"name\": " + JsonString(name) + "}}";
}

}  // namespace

std::string ChromeTrace(std::string_view process,
                        std::span<const ChromeTraceEvent> events) {
  int64_t origin = std::numeric_limits<int64_t>::max();
  for (const ChromeTraceEvent& event : events)
    origin = std::min(origin, event.begin_ns);
  std::map<uint64_t, size_t> threads;
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  text += Metadata("process_name", 0, process);
  for (const ChromeTraceEvent& event : events) {
    const auto [thread, inserted] =
        threads.emplace(event.thread, threads.size());
    if (inserted) {
      text += ",\n" + Metadata("thread_name", thread->second,
                               "thread " + std::to_string(thread->second));
    }
    text += ",\n{\"ph\": \"X\", \"pid\": 1, \"tid\": " +
            std::to_string(thread->second) +
            ", \"name\": " + JsonString(event.name) +
            ", \"ts\": " + Microseconds(event.begin_ns - origin) +
            ", \"dur\": " +
            Microseconds(std::max<int64_t>(0, event.end_ns - event.begin_ns)) +
            ", \"args\": {";
    for (size_t i = 0; i < event.details.size(); ++i) {
      text += (i ? ", " : "") + JsonString(event.details[i].first) + ": " +
              JsonString(event.details[i].second);
    }
    text += "}}";
  }
  return text + "\n]}\n";
}

}  // namespace ember::tools

// Writes events for chrome://tracing and ui.perfetto.dev.
//
//   std::string json = ChromeTrace(
//       "resnet50", {{.name = "conv1", .begin_ns = 0, .end_ns = 900}});
#ifndef EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_
#define EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ember::tools {

struct ChromeTraceEvent {
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t thread = 0;
  std::vector<std::pair<std::string, std::string>>
      details;  // Text that the viewer shows when the event is selected.
};

// Returns the text of the trace file. Times are relative to the first event.
// Threads are numbered in order of appearance.
std::string ChromeTrace(std::string_view process,
                        std::span<const ChromeTraceEvent> events);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_

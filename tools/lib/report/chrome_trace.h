// Writes a trace for chrome://tracing and ui.perfetto.dev: slices on tracks,
// counters, and arrows from one slice to another.
//
//   ChromeTrace trace = {.process = "resnet50", .tracks = {"runs"}};
//   trace.slices.push_back({.name = "conv1", .begin_ns = 0, .end_ns = 900});
//   std::string json = PrintChromeTrace(trace);
//
// Times are nanoseconds of any clock. In the file they are relative to the
// earliest one.
//
// Source: "Trace Event Format", the JSON form that Perfetto imports.
#ifndef EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_
#define EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ember::tools {

struct TraceSlice {
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // Index of the slice's track. Two slices of one track must be disjoint or
  // nested.
  size_t track = 0;
  std::vector<std::pair<std::string, std::string>>
      details;  // Pairs of a name and a text, which the viewer shows when the
                // slice is selected.
};

// The values of a counter from the time at_ns on, until its next TraceCounter.
struct TraceCounter {
  std::string name;
  int64_t at_ns = 0;
  // Names and values of the counter's parts. The viewer draws one line for
  // each.
  std::vector<std::pair<std::string, double>> values;
};

// An arrow from one slice to another.
struct TraceFlow {
  std::string name;
  size_t from = 0, to = 0;  // indices of the two slices in ChromeTrace::slices
};

struct ChromeTrace {
  std::string process;
  std::vector<std::string> tracks;  // names of the tracks, from top to bottom
  std::vector<TraceSlice> slices;
  std::vector<TraceCounter> counters;
  std::vector<TraceFlow> flows;
};

// Returns the JSON text of the trace. Slices are sorted by their begin, and a
// slice comes before the slices nested in it.
std::string PrintChromeTrace(const ChromeTrace& trace);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_CHROME_TRACE_H_

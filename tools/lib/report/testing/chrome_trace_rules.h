// Checks the text of a trace against the rules of the format that Perfetto and
// chrome://tracing import.
//
//   EXPECT_THAT(ChromeTraceProblems(text), testing::IsEmpty());
//
// Source: "Trace Event Format" (Google, 2016), which Perfetto's documentation
// of its JSON importer refers to: events with ph, pid, tid, name and ts; X
// events with dur; C events with numbers; pairs of s and f events with one id,
// cat and name, each inside of a slice of its track; slices of a track that are
// apart or nested.
#ifndef EMBER_TOOLS_LIB_REPORT_TESTING_CHROME_TRACE_RULES_H_
#define EMBER_TOOLS_LIB_REPORT_TESTING_CHROME_TRACE_RULES_H_

#include <string>
#include <vector>

namespace ember::tools {

// Returns one line for each rule that an event breaks.
std::vector<std::string> ChromeTraceProblems(const std::string& text);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_TESTING_CHROME_TRACE_RULES_H_

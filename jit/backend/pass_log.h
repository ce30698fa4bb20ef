// The options and the report of a run of the JIT's passes
// (jit/pipeline/runner.h).
//
//   PassLog log = {.options = {.keeps_texts = true}};
//   BuildNest(request, options, &log);
//   TextAfter(log, "own-tiles");   // "loops @conv(…) { … }"
//
// Plain values.
#ifndef EMBER_JIT_BACKEND_PASS_LOG_H_
#define EMBER_JIT_BACKEND_PASS_LOG_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ember::jit {

struct PassOptions {
  // Keeps the text of the schedule or nest after each pass.
  bool keeps_texts = false;
  // Verifies the nest after each pass. A nest that is about to be compiled is
  // always verified.
  bool verifies = false;
  // Names of passes to leave out. Names of passes that must always run are
  // ignored.
  std::set<std::string, std::less<>> disabled;
};

// A pass that ran.
struct PassRecord {
  std::string name;
  double milliseconds = 0;
  // The text of the nest or schedule after the pass. Empty if no text was asked
  // for or the pass has none.
  std::string text;
  // True if the pass left the text unchanged.
  bool is_unchanged = false;
};

struct PassLog {
  PassOptions options;
  std::vector<PassRecord> records;
};

// Returns the text after the pass; empty if it did not run or has no text.
std::string TextAfter(const PassLog& log, std::string_view pass);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_PASS_LOG_H_

// Ends a streamed text at the first of several strings.
//
//   EMBER_ASSIGN_OR_RETURN(StopStrings stop, StopStrings::Create({"\n\n"}));
//   stop.Push("ab\n");    // "ab": the line feed is held back
//   stop.Push("\ncd");    // ""; stop.is_stopped()
//
// Text that could be the begin of a stop string is held back until it is none.
// The stop string and what is behind it are dropped. Of several strings that
// end at the same byte, the longest counts. Movable; thread-compatible.
#ifndef EMBER_LLM_SAMPLING_STOP_STRINGS_H_
#define EMBER_LLM_SAMPLING_STOP_STRINGS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::llm {

inline constexpr size_t kMaxStopStrings = 64, kMaxStopBytes = 1024;

class StopStrings {
 public:
  // The strings must not be empty.
  static StatusOr<StopStrings> Create(std::vector<std::string> strings);

  // Returns the text that can be shown; empty once is_stopped().
  std::string Push(std::string_view text);
  // Returns the text that is still held back, at the end of a generation.
  std::string Finish();
  bool is_stopped() const { return is_stopped_; }

 private:
  explicit StopStrings(std::vector<std::string> strings);

  std::vector<std::string> strings_;
  std::string held_;
  bool is_stopped_ = false;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_STOP_STRINGS_H_

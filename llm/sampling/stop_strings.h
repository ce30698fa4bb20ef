// Ends a streamed text at the first of several strings.
//
//   EMBER_ASSIGN_OR_RETURN(StopStrings stop, StopStrings::Create({"\n\n"}));
//   stop.Push("ab\n");    // "ab": the line feed is held back
//   stop.Push("\ncd");    // ""; stop.is_stopped()
//
// Text that may be the beginning of a stop string is held back until it is
// clear that it is none. The stop string and all text after it are dropped. Of
// several strings that end at the same byte, the longest counts. Movable;
// thread-compatible.
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
  // Makes the object. Error: a string is empty.
  static StatusOr<StopStrings> Create(std::vector<std::string> strings);

  // Adds text. Returns the part of the text so far that can be shown now; empty
  // after a stop string was found.
  std::string Push(std::string_view text);
  // Returns the text that is still held back when the generation ends without a
  // stop string.
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

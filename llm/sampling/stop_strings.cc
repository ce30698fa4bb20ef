#include "llm/sampling/stop_strings.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace ember::llm {

StatusOr<StopStrings> StopStrings::Create(std::vector<std::string> strings) {
  if (strings.size() > kMaxStopStrings) {
    return InvalidArgumentError(
        Concat({"stop strings: expected at most ", kMaxStopStrings, ", found ",
                strings.size()}));
  }
  for (const std::string& each : strings) {
    if (each.empty() || each.size() > kMaxStopBytes) {
      return InvalidArgumentError(
          Concat({"stop string: expected 1 to ", kMaxStopBytes,
                  " bytes, found ", each.size()}));
    }
  }
  return StopStrings(std::move(strings));
}

StopStrings::StopStrings(std::vector<std::string> strings)
    : strings_(std::move(strings)) {}

std::string StopStrings::Push(std::string_view text) {
  if (is_stopped_) return {};
  held_ += text;
  size_t begin = std::string::npos, end = std::string::npos;
  for (const std::string& each : strings_) {
    const size_t found = held_.find(each);
    if (found == std::string::npos) continue;
    const size_t found_end = found + each.size();
    // If several stop strings occur, the one that ends first stops the text; of
    // those, the longest.
    if (found_end < end || (found_end == end && found < begin)) {
      begin = found;
      end = found_end;
    }
  }
  if (begin != std::string::npos) {
    is_stopped_ = true;
    std::string shown = held_.substr(0, begin);
    held_.clear();
    return shown;
  }
  size_t kept = 0;  // length of the longest end of the text that begins a stop
                    // string
  for (const std::string& each : strings_) {
    for (size_t size = std::min(each.size() - 1, held_.size()); size > kept;
         --size) {
      if (held_.ends_with(std::string_view(each).substr(0, size))) kept = size;
    }
  }
  std::string shown = held_.substr(0, held_.size() - kept);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopStrings::Finish() { return std::exchange(held_, {}); }

}  // namespace ember::llm

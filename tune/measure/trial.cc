#include "tune/measure/trial.h"

#include <charconv>
#include <cstdio>
#include <iterator>

#include "base/concat.h"

namespace ember::tune {
namespace {

constexpr std::string_view kNames[] = {"measured", "hopeless", "refused",
                                       "wrong",    "crashed",  "hung"};

// Removes the first line from the text and returns it.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

template <typename Number>
Status TakeNumber(std::string_view& text, Number& number) {
  const std::string_view line = TakeLine(text);
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), number);
  if (error == std::errc() && end == line.data() + line.size())
    return OkStatus();
  return DataLossError(Concat({"expected a number, found '", line, "'"}));
}

// Returns the number as text with so many digits that parsing the text gives
// the same number.
std::string Exact(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

}  // namespace

std::string_view NameOf(Outcome outcome) {
  return kNames[static_cast<size_t>(outcome)];
}

std::string WriteTrial(const Trial& trial) {
  return Concat({trial.task, "\n", Exact(trial.best), "\n",
                 trial.is_careful ? 1 : 0, "\n", trial.schedule});
}

StatusOr<Trial> ReadTrial(std::string_view text) {
  Trial trial;
  EMBER_RETURN_IF_ERROR(TakeNumber(text, trial.task));
  EMBER_RETURN_IF_ERROR(TakeNumber(text, trial.best));
  int is_careful = 0;
  EMBER_RETURN_IF_ERROR(TakeNumber(text, is_careful));
  trial.is_careful = is_careful != 0;
  trial.schedule = text;
  return trial;
}

std::string WriteResult(const TrialResult& result) {
  return Concat({static_cast<int>(result.outcome), "\n", Exact(result.seconds),
                 "\n", Exact(result.ratio), "\n", Exact(result.compile_ms),
                 "\n", result.reason});
}

StatusOr<TrialResult> ReadResult(std::string_view text) {
  TrialResult result;
  size_t outcome = 0;
  EMBER_RETURN_IF_ERROR(TakeNumber(text, outcome));
  if (outcome >= std::size(kNames)) {
    return DataLossError(Concat({"expected an outcome below ",
                                 std::size(kNames), ", found ", outcome}));
  }
  result.outcome = static_cast<Outcome>(outcome);
  EMBER_RETURN_IF_ERROR(TakeNumber(text, result.seconds));
  EMBER_RETURN_IF_ERROR(TakeNumber(text, result.ratio));
  EMBER_RETURN_IF_ERROR(TakeNumber(text, result.compile_ms));
  result.reason = text;
  return result;
}

}  // namespace ember::tune

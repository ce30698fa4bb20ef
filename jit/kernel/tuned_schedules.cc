#include "jit/kernel/tuned_schedules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/concat.h"
#include "base/target_text.h"
#include "jit/schedule/core/steps.h"

namespace ember::jit {
namespace {

constexpr std::string_view kHeader = "ember schedules 1";
constexpr size_t kKeyDigits = 32;
// Limits against hostile texts: bytes of a line, and steps of one schedule.
constexpr size_t kMaxLine = 4096;
constexpr size_t kMaxSteps = 4096;

// Reads a text line by line.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // Returns the next line that is not blank, without the spaces around it;
  // nullopt at the end of the text.
  std::optional<std::string_view> Next() {
    while (!rest_.empty()) {
      std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
      ++number_;
      const size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) continue;
      line.remove_prefix(begin);
      return line.substr(0, line.find_last_not_of(" \t\r") + 1);
    }
    return std::nullopt;
  }

  Status Error(std::string_view expected, std::string_view found) const {
    constexpr size_t kShown = 60;
    return InvalidArgumentError(
        Concat({"line ", number_, ": expected ", expected, ", found '",
                found.substr(0, kShown), "'"}));
  }

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

std::string_view TakeWord(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

bool IsKey(std::string_view key) {
  return key.size() == kKeyDigits &&
         key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<double> ParseNumber(std::string_view word) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() ||
      !std::isfinite(number) || number < 0) {
    return std::nullopt;
  }
  return number;
}

StatusOr<TunedSchedule> ParseOne(std::string_view line, Lines& lines) {
  TunedSchedule schedule;
  std::string_view rest = line;
  if (line.size() > kMaxLine || TakeWord(rest) != "schedule")
    return lines.Error("'schedule KEY TARGET RATIO SECONDS NAME'", line);
  schedule.key = TakeWord(rest);
  if (!IsKey(schedule.key))
    return lines.Error("a key of 32 hexadecimal digits", schedule.key);
  schedule.target = TakeWord(rest);
  const std::optional<double> ratio = ParseNumber(TakeWord(rest));
  const std::optional<double> seconds = ParseNumber(TakeWord(rest));
  if (!ratio || !seconds) return lines.Error("a ratio and seconds", line);
  schedule.ratio = *ratio;
  schedule.seconds = *seconds;
  schedule.name = rest;
  for (size_t steps = 0;; ++steps) {
    const std::optional<std::string_view> step = lines.Next();
    if (!step) return lines.Error("'end'", "the end of the text");
    if (*step == "end") return schedule;
    if (steps >= kMaxSteps || step->size() > kMaxLine)
      return lines.Error("at most 4096 steps of 4096 bytes", "more");
    if (const Status parsed = schedule::ParseStep(*step).status(); !parsed.ok())
      return lines.Error(Concat({"a step: ", parsed.message()}), *step);
    schedule.steps += *step;
    schedule.steps += '\n';
  }
}

}  // namespace

std::string WithoutCores(std::string_view target) {
  std::string text(TargetText(target).name());
  TargetText(target).ForEachFeature([&](std::string_view feature) {
    if (!feature.starts_with("cores=")) text += Concat({"+", feature});
  });
  return text;
}

StatusOr<TunedSchedules> TunedSchedules::Parse(std::string_view text) {
  if (text.size() > kMaxTunedBytes) {
    return InvalidArgumentError(
        Concat({"expected schedules of at most ", kMaxTunedBytes,
                " bytes, found ", text.size()}));
  }
  Lines lines(text);
  if (const auto header = lines.Next(); header != kHeader)
    return lines.Error(Concat({"'", kHeader, "'"}), header.value_or(""));
  TunedSchedules result;
  while (const std::optional<std::string_view> line = lines.Next()) {
    EMBER_ASSIGN_OR_RETURN(TunedSchedule schedule, ParseOne(*line, lines));
    result.Add(std::move(schedule));
  }
  return result;
}

std::string TunedSchedules::Print() const {
  std::string text(kHeader);
  text += '\n';
  ForEach([&](const TunedSchedule& schedule) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%.4g %.6g", schedule.ratio,
                  schedule.seconds);
    text += Concat({"schedule ", schedule.key, " ", schedule.target, " ",
                    numbers, " ", schedule.name, "\n"});
    std::string_view steps = schedule.steps;
    while (!steps.empty()) {
      const std::string_view line = steps.substr(0, steps.find('\n'));
      steps.remove_prefix(std::min(line.size() + 1, steps.size()));
      text += Concat({"  ", line, "\n"});
    }
    text += "end\n";
  });
  return text;
}

void TunedSchedules::Add(TunedSchedule schedule) {
  std::pair key(schedule.key, WithoutCores(schedule.target));
  const auto found = schedules_.find(key);
  if (found == schedules_.end()) {
    schedules_.emplace(std::move(key), std::move(schedule));
  } else if (schedule.ratio < found->second.ratio) {
    found->second = std::move(schedule);
  }
}

const TunedSchedule* TunedSchedules::Find(std::string_view key,
                                          std::string_view target) const {
  const auto found =
      schedules_.find(std::pair(std::string(key), WithoutCores(target)));
  return found == schedules_.end() ? nullptr : &found->second;
}

}  // namespace ember::jit

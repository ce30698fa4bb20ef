#include "tools/lib/cli/limits.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {
namespace {

// Parses an amount such as "3.5G". The letters k, M, G, T and P multiply by
// step, step^2, step^3, step^4 and step^5. "none" gives -1.
StatusOr<int64_t> ParseAmount(const std::string& flag, const std::string& text,
                              double step) {
  constexpr std::string_view kLetters = "kMGTP";
  if (text == "none") return -1;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  bool is_good = error == std::errc() && number > 0;
  if (is_good && rest != end) {
    const size_t letter = kLetters.find(*rest);
    is_good = letter != std::string_view::npos && rest + 1 == end;
    if (is_good) number *= std::pow(step, static_cast<double>(letter + 1));
  }
  constexpr double kMax = 9e18;
  if (!is_good || !(number >= 1) || number > kMax) {
    return CommandLineError(
        "--" + flag +
        ": expected a number such as 1000000, 500M or 1.5G, or none, found '" +
        text + "'");
  }
  return static_cast<int64_t>(number);
}

}  // namespace

void AddLimitFlags(Flags& flags, LimitFlags* values) {
  flags.Add("max-memory", &values->max_memory, "N[k|M|G|T]|none",
            "Limits the memory of the model's session, and of compiling a "
            "model before it. Default: the\n"
            "memory of the machine, or of the control group of this "
            "process.");
  flags.Add("max-work", &values->max_work, "N[k|M|G|T|P]|none",
            "Limits the points that one run evaluates (of a sum, its "
            "terms). Default: 2^48.");
  flags.Add("max-steps", &values->max_steps, "N[k|M|G|T|P]|none",
            "Limits the backward jumps and the calls of programs in one "
            "run. Default: 2^32.");
  flags.Add("max-seconds", &values->max_seconds, "S",
            "Limits the time of one run, and of compiling a model before "
            "it. 0: no limit.");
}

void AddCompileLimitFlags(Flags& flags, LimitFlags* values) {
  flags.Add("max-memory", &values->max_memory, "N[k|M|G|T]|none",
            "Limits the memory of compiling. Default: the memory of the "
            "machine, or of the control group\n"
            "of this process.");
  flags.Add("max-seconds", &values->max_seconds, "S",
            "Limits the time of compiling. 0: no limit.");
}

Status SetLimits(const LimitFlags& flags, vm::SessionOptions& options) {
  if (!flags.max_memory.empty()) {
    EMBER_ASSIGN_OR_RETURN(options.memory_limit,
                           ParseAmount("max-memory", flags.max_memory, 1024));
  }
  if (!flags.max_work.empty()) {
    EMBER_ASSIGN_OR_RETURN(options.work_limit,
                           ParseAmount("max-work", flags.max_work, 1000));
  }
  if (!flags.max_steps.empty()) {
    EMBER_ASSIGN_OR_RETURN(options.step_limit,
                           ParseAmount("max-steps", flags.max_steps, 1000));
  }
  if (!(flags.max_seconds >= 0)) {
    return CommandLineError(
        "--max-seconds: expected a number of at least 0, found " +
        std::to_string(flags.max_seconds));
  }
  options.max_seconds = flags.max_seconds;
  return OkStatus();
}

}  // namespace ember::tools

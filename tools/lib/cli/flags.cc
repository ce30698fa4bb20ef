#include "tools/lib/cli/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <sstream>

#include "base/build_id.h"
#include "base/did_you_mean.h"
#include "base/one_line.h"
#include "base/temporary_files.h"
#include "tools/lib/cli/colour.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/cut_files.h"
#include "tools/lib/cli/end_by_signal.h"
#include "tools/lib/cli/version.h"

namespace ember::tools {
namespace {

// Flags that many other programs have but the tools lack, with an answer that
// says what to use instead.
constexpr struct {
  std::string_view name, answer;
} kHabits[] = {
    {"V", "did you mean --version?"},
    {"q", "notes go to stderr, and 2>/dev/null hides them"},
    {"quiet", "notes go to stderr, and 2>/dev/null hides them"},
    {"silent", "notes go to stderr, and 2>/dev/null hides them"},
    {"v", "did you mean --version?"},
};

Status Malformed(const std::string& flag, std::string_view expected,
                 const std::string& found) {
  return InvalidArgumentError(flag + ": expected " + std::string(expected) +
                              ", found '" + found + "'");
}

std::string Join(const std::vector<std::string>& parts,
                 std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace

Flags::Flags(std::string tool, std::string usage, std::string summary)
    : tool_(std::move(tool)),
      usage_(std::move(usage)),
      summary_(std::move(summary)) {
  Add("help", &help_, "Prints this text.");
}

void Flags::Positional(std::string name, size_t minimum, size_t maximum,
                       std::vector<std::string>* values) {
  positional_name_ = std::move(name);
  positional_minimum_ = minimum;
  positional_maximum_ = maximum;
  positional_ = values;
}

Flags::Flag& Flags::AddFlag(std::string name, std::string placeholder,
                            std::string doc) {
  EMBER_CHECK(Find(name) == nullptr) << "flag declared twice: " << name;
  Flag& flag = flags_.emplace_back();
  flag.name = std::move(name);
  flag.placeholder = std::move(placeholder);
  flag.doc = std::move(doc);
  flag.group = group_;
  return flag;
}

void Flags::Group(std::string title) {
  group_ = std::move(title);
  if (std::ranges::find(groups_, group_) == groups_.end())
    groups_.push_back(group_);
}

void Flags::Add(std::string name, bool* value, std::string doc) {
  Flag& flag = AddFlag(std::move(name), "", std::move(doc));
  flag.alone = "true";
  flag.set = [value, spelling = flag.Spelling()](const std::string& text) {
    if (text != "true" && text != "false")
      return Malformed(spelling, "true or false", text);
    *value = text == "true";
    return OkStatus();
  };
}

void Flags::Add(std::string name, int64_t* value, std::string placeholder,
                std::string doc) {
  Flag& flag = AddFlag(std::move(name), std::move(placeholder), std::move(doc));
  flag.default_text = std::to_string(*value);
  flag.set = [value, spelling = flag.Spelling()](const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const long long parsed = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || parsed < 0) {
      return Malformed(spelling, "a whole number that is not negative", text);
    }
    *value = parsed;
    return OkStatus();
  };
}

void Flags::Add(std::string name, double* value, std::string placeholder,
                std::string doc) {
  Flag& flag = AddFlag(std::move(name), std::move(placeholder), std::move(doc));
  std::ostringstream shown;
  shown << *value;
  flag.default_text = shown.str();
  flag.set = [value, spelling = flag.Spelling()](const std::string& text) {
    char* end = nullptr;
    const double parsed = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(parsed >= 0)) {
      return Malformed(spelling, "a number that is not negative", text);
    }
    *value = parsed;
    return OkStatus();
  };
}

void Flags::Add(std::string name, std::string* value, std::string placeholder,
                std::string doc) {
  Flag& flag = AddFlag(std::move(name), std::move(placeholder), std::move(doc));
  flag.default_text = *value;
  flag.set = [value, spelling = flag.Spelling()](const std::string& text) {
    if (text.empty())
      return InvalidArgumentError(spelling +
                                  ": expected a value, found nothing");
    *value = text;
    return OkStatus();
  };
}

void Flags::AddOptional(std::string name, std::string* value,
                        std::string placeholder, std::string alone,
                        std::string doc) {
  Add(std::move(name), value, std::move(placeholder), std::move(doc));
  flags_.back().alone = std::move(alone);
  flags_.back().is_optional = true;
}

void Flags::Add(std::string name, std::vector<std::string>* values,
                std::string placeholder, std::string doc) {
  Flag& flag = AddFlag(std::move(name), std::move(placeholder), std::move(doc));
  flag.default_text = Join(*values, ",");
  flag.set = [values, first = true](const std::string& text) mutable {
    // Values that the user gives replace the default values, so the first use
    // of the flag clears the list.
    if (first) values->clear();
    first = false;
    values->push_back(text);
    return OkStatus();
  };
}

void Flags::AddStandalone(std::string name, bool* value, std::string doc) {
  standalone_.push_back(value);
  Add(std::move(name), value, std::move(doc));
}

void Flags::AddStandalone(std::string name, std::string* value,
                          std::string placeholder, std::string doc) {
  standalone_texts_.push_back(value);
  Add(std::move(name), value, std::move(placeholder), std::move(doc));
}

void Flags::AddChoice(std::string name, std::string* value,
                      const std::vector<std::string>& choices,
                      std::string doc) {
  Flag& flag = AddFlag(std::move(name), Join(choices, "|"), std::move(doc));
  flag.default_text = *value;
  flag.set = [value, choices,
              spelling = flag.Spelling()](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      const std::vector<std::string_view> names(choices.begin(), choices.end());
      const Status status =
          Malformed(spelling, "one of " + Join(choices, ", "), text);
      return InvalidArgumentError(std::string(status.message()) +
                                  DidYouMean(text, names));
    }
    *value = text;
    return OkStatus();
  };
}

void Flags::AddOptionalChoice(std::string name, std::string* value,
                              const std::vector<std::string>& choices,
                              std::string doc) {
  AddChoice(std::move(name), value, choices, std::move(doc));
  flags_.back().alone = choices.front();
  flags_.back().is_optional = true;
}

void Flags::Example(std::string command) {
  examples_.push_back(std::move(command));
}

const Flags::Flag* Flags::Find(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

Status Flags::UnknownFlag(const std::string& argument) const {
  const std::string name = argument.substr(argument.find_first_not_of('-'));
  std::vector<std::string_view> names;
  for (const Flag& flag : flags_) names.push_back(flag.name);
  const std::optional<std::string_view> nearest = NearestName(name, names);
  for (const auto& [habit, answer] : kHabits) {
    if (name == habit)
      return InvalidArgumentError("unknown flag " + argument + "; " +
                                  std::string(answer));
  }
  return InvalidArgumentError(
      "unknown flag " + argument +
      (nearest ? "; did you mean " + Find(*nearest)->Spelling() + "?"
               : " (see " + tool_ + " --help)"));
}

Status Flags::ParseFlag(const std::vector<std::string>& arguments,
                        size_t& index) {
  const std::string& argument = arguments[index];
  const size_t equals = argument.find('=');
  const std::string spelling = argument.substr(0, equals);
  help_ = argument == "-h";
  version_ = argument == "--version" && Find("version") == nullptr;
  if (help_ || version_) return OkStatus();
  const size_t dashes = spelling.starts_with("--") ? 2 : 1;
  const Flag* flag = Find(spelling.substr(dashes));
  const bool is_letter = flag != nullptr && flag->name.size() == 1;
  if (flag == nullptr || (!is_letter && flag->Spelling() != spelling))
    return UnknownFlag(spelling);
  if (equals != std::string::npos)
    return flag->set(argument.substr(equals + 1));
  if (!flag->alone.empty()) return flag->set(flag->alone);
  if (index + 1 == arguments.size()) {
    return InvalidArgumentError(spelling + ": expected " + flag->placeholder +
                                " after it, found the end of the command line");
  }
  return flag->set(arguments[++index]);
}

Status Flags::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> values;
  bool flags_ended = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!flags_ended && argument == "--") {
      flags_ended = true;
    } else if (flags_ended || argument.size() < 2 || argument[0] != '-') {
      values.push_back(argument);
    } else {
      EMBER_RETURN_IF_ERROR(ParseFlag(arguments, i));
      if (help_ || version_) return OkStatus();
    }
  }
  const bool standalone =
      std::any_of(standalone_.begin(), standalone_.end(),
                  [](const bool* value) { return *value; }) ||
      std::any_of(standalone_texts_.begin(), standalone_texts_.end(),
                  [](const std::string* value) { return !value->empty(); });
  if (values.size() < positional_minimum_ && !standalone) {
    return InvalidArgumentError(
        "expected " + positional_name_ + ", found " +
        (values.empty() ? "nothing" : std::to_string(values.size())) +
        " (see " + tool_ + " --help)");
  }
  if (values.size() > positional_maximum_) {
    return InvalidArgumentError("unexpected argument '" +
                                values[positional_maximum_] + "' (see " +
                                tool_ + " --help)");
  }
  if (positional_ != nullptr) *positional_ = std::move(values);
  return OkStatus();
}

std::string Flags::FlagHelp(const Flag& flag) {
  constexpr size_t kColumn = 26;
  std::string text = "  " + flag.Spelling();
  if (flag.is_optional)
    text += "[=" + flag.placeholder + "]";
  else if (!flag.placeholder.empty())
    text += (flag.name.size() == 1 ? " " : "=") + flag.placeholder;
  std::string doc = flag.doc;
  if (!flag.default_text.empty()) doc += " Default: " + flag.default_text + ".";
  if (text.size() + 2 > kColumn) {
    text += "\n" + std::string(kColumn, ' ');
  } else {
    text += std::string(kColumn - text.size(), ' ');
  }
  for (const char c : doc) {
    text += c;
    if (c == '\n') text += std::string(kColumn, ' ');
  }
  return text + '\n';
}

std::string Flags::Help() const {
  std::string text =
      "Usage: " + tool_ + " " + usage_ + "\n\n" + summary_ + "\n";
  std::vector<std::string> titles = {""};
  for (const std::string& title : groups_)
    if (!title.empty()) titles.push_back(title);
  for (const std::string& title : titles) {
    std::string flags;
    for (const Flag& flag : flags_) {
      if (flag.group == title && flag.name != "help") flags += FlagHelp(flag);
    }
    if (flags.empty()) continue;
    text += "\n" + (title.empty() ? "Flags" : title) + ":\n" + flags;
  }
  if (!examples_.empty()) text += "\nExamples:\n";
  for (const std::string& example : examples_) text += "  " + example + "\n";
  return text;
}

namespace {

// Flushes stdout. Returns an error if this, or an earlier write to stdout, has
// failed.
Status FlushStdout() {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  const bool fails = std::fflush(stdout) != 0;
  if (!had_failed && !fails) return OkStatus();
  std::string message = "cannot write to stdout";
  if (errno != 0) message += std::string(": ") + std::strerror(errno);
  return FailedPreconditionError(message);
}

// Makes the titles of flag groups bold on a terminal. A title is a line that
// begins with a letter and ends with a colon.
std::string WithBoldTitles(const std::string& help, std::FILE* file) {
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const bool is_title = line.ends_with(':') && !line.starts_with(' ');
    text += (is_title ? Coloured(line, Colour::kBold, file) : line) + "\n";
  }
  return text;
}

Status Run(const Flags& flags, const std::function<Status()>& body) {
  if (flags.help_requested()) {
    std::fputs(WithBoldTitles(flags.Help(), stdout).c_str(), stdout);
    return OkStatus();
  }
  if (flags.version_requested()) {
    // The build id changes with the program's code, so a user's report says
    // exactly which program was run.
    const std::string build = BuildIdAt(reinterpret_cast<const void*>(&Run));
    std::printf(
        "%s %s%s\n", flags.tool().c_str(), kVersion,
        build.empty() ? "" : (" (build " + build.substr(0, 12) + ")").c_str());
    return OkStatus();
  }
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // The exception has passed through code that is built without exceptions,
    // whose destructors have not run: memory and locks are not released. So the
    // process must end here.
    std::fflush(stdout);
    std::fprintf(stderr, "%s: out of memory\n", flags.tool().c_str());
    RemoveTemporaryFiles();
    _exit(1);
  }
}

}  // namespace

int RunTool(int argc, char** argv, Flags& flags,
            const std::function<Status()>& body) {
  ReportCutFiles(flags.tool());
  DeleteTemporaryFilesOnSignals();
  Status status = AsCommandLineError(
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc)));
  if (status.ok()) status = Run(flags, body);
  const Status flushed = FlushStdout();
  if (status.ok()) status = flushed;
  if (status.ok()) return 0;
  // OnOneLine escapes control characters, because names of files and names in
  // models may hold characters that move a terminal's cursor.
  std::fprintf(stderr, "%s %s\n",
               Coloured(flags.tool() + ":", Colour::kRed, stderr).c_str(),
               OnOneLine(status.message()).c_str());
  return IsCommandLineError(status) ? 2 : 1;
}

}  // namespace ember::tools

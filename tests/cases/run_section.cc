#include "tests/cases/run_section.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"
#include "tensor/scalar.h"
#include "tests/cases/definition.h"

namespace ember::cases {
namespace {

StatusOr<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return InvalidArgumentError(
        Concat({"expected an integer, found '", text, "'"}));
  return value;
}

// An assignment of a case, such as "%x[3] = nan". `element` is -1 if there are
// no brackets. "%y before = 1" gives the contents of an output before the call.
struct Assignment {
  std::string name;
  int64_t element = -1;
  bool is_before = false;
  std::vector<std::string> values;

  static StatusOr<Assignment> Parse(std::string_view line) {
    const size_t equals = line.find('=');
    if (!line.starts_with('%') || equals == std::string_view::npos) {
      return InvalidArgumentError(
          Concat({"expected '%buffer = values', found '", line, "'"}));
    }
    Assignment assignment;
    std::string_view name = Trimmed(line.substr(1, equals - 1));
    constexpr std::string_view kBefore = " before";
    if (name.ends_with(kBefore)) {
      assignment.is_before = true;
      name.remove_suffix(kBefore.size());
    }
    if (const size_t bracket = name.find('[');
        bracket != std::string_view::npos && name.ends_with(']')) {
      EMBER_ASSIGN_OR_RETURN(
          assignment.element,
          ParseInteger(name.substr(bracket + 1, name.size() - bracket - 2)));
      name = name.substr(0, bracket);
    }
    assignment.name = name;
    assignment.values = SplitWords(line.substr(equals + 1));
    return assignment;
  }
};

Status Fill(const Argument& argument, const Assignment& assignment,
            Bytes& bytes) {
  const auto count = static_cast<int64_t>(assignment.values.size());
  if (count == 0 || assignment.element >= argument.elements ||
      (assignment.element >= 0 && count > 1)) {
    return InvalidArgumentError(
        Concat({"%", argument.name, ": expected an element below ",
                argument.elements, " with one value, or a list of values"}));
  }
  for (int64_t i = 0; i < argument.elements; ++i) {
    if (assignment.element >= 0 && assignment.element != i) continue;
    const int64_t value = assignment.element >= 0 ? 0 : i % count;
    EMBER_ASSIGN_OR_RETURN(
        const uint64_t bits,
        ParseElement(assignment.values[static_cast<size_t>(value)],
                     argument.type));
    tensor::StoreElement(bytes.data(), i, argument.type, bits);
  }
  return OkStatus();
}

// Compares an executor's outcome with the definition's. Returns "", or a text
// that says what differs.
std::string Judge(const Subject& subject, const Executor& executor,
                  const std::vector<Argument>& arguments, double tolerance,
                  const Status& wanted, const std::vector<Bytes>& expected,
                  const Status& status, const std::vector<Bytes>& found) {
  if (wanted.code() != status.code() ||
      (executor.has_same_messages && subject.nest && !wanted.ok() &&
       wanted.message() != status.message())) {
    return Concat(
        {"expected ", wanted.ToString(), ", found ", status.ToString()});
  }
  if (!wanted.ok()) return "";
  const Tolerance allowed = {
      .relative = tolerance,
      .zeros_are_equal = executor.zeros_are_equal || subject.dispatch,
      .subnormals_may_be_zero = !executor.keeps_subnormals()};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string difference =
        FirstDifference(arguments[i].type, expected[i], found[i], allowed);
    if (!difference.empty())
      return Concat({"%", arguments[i].name, ": ", difference});
  }
  return "";
}

std::string ParametersText(const Subject& subject,
                           const std::vector<int64_t>& parameters) {
  std::string text;
  for (size_t i = 0; i < parameters.size(); ++i) {
    text += Concat({i == 0 ? " of " : ", ", subject.parameters()[i], " = ",
                    parameters[i]});
  }
  return text;
}

}  // namespace

StatusOr<RunOperands> RunOperands::Parse(const Subject& subject,
                                         std::string_view text) {
  RunOperands operands;
  const std::string padded = Concat({" ", text});
  constexpr std::string_view kOn = " on ";
  if (const size_t on = padded.find(kOn); on != std::string::npos) {
    operands.only =
        SplitWords(std::string_view(padded).substr(on + kOn.size()));
    text = text.substr(0, on == 0 ? 0 : on - 1);
  }
  if (const size_t within = text.find("within ");
      within != std::string_view::npos) {
    EMBER_ASSIGN_OR_RETURN(
        const uint64_t bits,
        ParseElement(Trimmed(text.substr(within + 7)), DType::kF64));
    operands.tolerance = tensor::BitsToDouble(bits, DType::kF64);
    text = text.substr(0, within);
  }
  std::string choices;
  for (const char c : text) {
    if (c == '=')
      choices += "in";
    else
      choices += c;
  }
  EMBER_ASSIGN_OR_RETURN(const auto all, Choices(choices));
  for (const std::vector<Binding>& chosen : all) {
    std::vector<int64_t>& values = operands.parameters.emplace_back();
    for (const std::string& parameter : subject.parameters()) {
      for (const Binding& binding : chosen) {
        if (binding.name != parameter) continue;
        EMBER_ASSIGN_OR_RETURN(values.emplace_back(),
                               ParseInteger(binding.value));
      }
    }
    if (values.size() != subject.parameters().size() ||
        values.size() != chosen.size()) {
      return InvalidArgumentError(
          Concat({"expected values of the ", subject.parameters().size(),
                  " parameters of @", subject.name(), ", found '", text, "'"}));
    }
  }
  return operands;
}

std::vector<const Executor*> RunOperands::Choose(
    const std::vector<const Executor*>& executors, Counts& counts) const {
  std::vector<const Executor*> chosen;
  for (const Executor* const executor : executors) {
    const std::string name(executor->name);
    if (only.empty() || std::ranges::count(only, name) > 0)
      chosen.push_back(executor);
    else
      ++counts.executors[name].declined["left out by the case"];
  }
  return chosen;
}

StatusOr<std::vector<Bytes>> MakeBuffers(
    const std::vector<Argument>& arguments,
    const std::vector<std::string>& lines) {
  std::vector<Bytes> buffers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    Bytes& bytes = buffers.emplace_back(
        static_cast<size_t>(argument.elements * DTypeByteSize(argument.type)));
    for (int64_t j = 0; j < argument.elements; ++j) {
      tensor::StoreElement(bytes.data(), j, argument.type,
                           SmallElement(argument.type, i, j));
    }
  }
  for (const std::string& line : lines) {
    EMBER_ASSIGN_OR_RETURN(const Assignment assignment,
                           Assignment::Parse(line));
    size_t number = 0;
    while (number < arguments.size() &&
           arguments[number].name != assignment.name)
      ++number;
    if (number == arguments.size()) {
      return InvalidArgumentError(Concat(
          {"expected an input or output, found '%", assignment.name, "'"}));
    }
    if (arguments[number].is_output && !assignment.is_before) continue;
    EMBER_RETURN_IF_ERROR(Fill(arguments[number], assignment, buffers[number]));
  }
  return buffers;
}

CallResult Call(const Subject& subject, const std::vector<int64_t>& parameters,
                const std::vector<Argument>& arguments,
                const std::vector<Bytes>& before, double tolerance,
                const std::vector<const Executor*>& executors, Counts& counts) {
  CallResult result;
  std::vector<Bytes> expected = before;
  const Status wanted = RunDefinition(subject, parameters, expected);
  if (wanted.ok()) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].is_output) continue;
      result.elements += arguments[i].elements;
      const std::string values = PrintElements(arguments[i].type, expected[i]);
      result.lines.push_back(Concat({"%", arguments[i].name, " = ", values}));
      result.hash = HashCombine(result.hash, HashString(values));
    }
  } else {
    result.lines.push_back(Concat({"error: ", wanted.ToString()}));
    result.hash = HashString(result.lines.back());
  }
  const Run run = {.parameters = parameters,
                   .has_races = !CheckRaces(subject, parameters, before).ok()};
  for (const Executor* const executor : executors) {
    if (subject.dispatch ? !executor->runs_dispatches && !executor->runs_nests
                         : !executor->runs_nests)
      continue;
    std::vector<Bytes> found = before;
    const Outcome outcome = executor->run(subject, run, found);
    Counts::OfExecutor& count = counts.executors[std::string(executor->name)];
    if (!outcome.declined.empty()) {
      const std::string reason = ReasonClass(outcome.declined);
      ++count.declined[reason];
      // An executor without may_decline must not decline. An exception is a
      // data race in the nest ("races"): then the case is wrong, not the
      // executor.
      if (!executor->may_decline && reason != "races") {
        result.wrong.push_back(
            Concat({executor->name, ParametersText(subject, parameters),
                    ": declined: ", outcome.declined}));
      }
      continue;
    }
    ++count.runs;
    const std::string wrong = Judge(subject, *executor, arguments, tolerance,
                                    wanted, expected, outcome.status, found);
    if (wrong.empty()) continue;
    result.wrong.push_back(Concat(
        {executor->name, ParametersText(subject, parameters), ": ", wrong}));
  }
  return result;
}

std::string ReasonClass(std::string_view reason) {
  if (reason.starts_with("loops @") || reason.starts_with("dispatch @"))
    reason = Trimmed(reason.substr(reason.find(':') + 1));
  return std::string(reason.substr(0, reason.find(':')));
}

}  // namespace ember::cases

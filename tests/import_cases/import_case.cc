#include "tests/import_cases/import_case.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "tests/import_cases/formula.h"

namespace ember::tests {
namespace {

constexpr std::string_view kArrow = "->";
constexpr int64_t kMaxElements = 1 << 20;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

bool IsName(std::string_view text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() &&
         std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, is_part);
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Splits a list at each `separator` that is not in a quoted text or in
// brackets.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  bool is_quoted = false;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (text[i] == '"') is_quoted = !is_quoted;
      if (!is_quoted && text[i] == '[') ++depth;
      if (!is_quoted && text[i] == ']') --depth;
      if (is_quoted || depth > 0 || text[i] != separator) continue;
    }
    const std::string_view part = Trimmed(text.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

StatusOr<std::string> ParseQuoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"' ||
      text.find('"', 1) != text.size() - 1) {
    return InvalidArgumentError(
        Concat({"expected a text in quotes, found '", text, "'"}));
  }
  return std::string(text.substr(1, text.size() - 2));
}

StatusOr<std::vector<double>> ParseNumbers(std::string_view text,
                                           int64_t count) {
  std::vector<double> values;
  for (const std::string_view word : Split(text, ' ')) {
    if (word == "...") {
      if (values.empty() || !text.ends_with("..."))
        return InvalidArgumentError("expected values before '...' only");
      const size_t period = values.size();
      while (static_cast<int64_t>(values.size()) < count)
        values.push_back(values[values.size() - period]);
      continue;
    }
    const size_t dots = word.find("..");
    if (dots == std::string_view::npos) {
      EMBER_ASSIGN_OR_RETURN(const double value, EvaluateFormula(word, {}));
      values.push_back(value);
      continue;
    }
    const auto first = ParseInteger(word.substr(0, dots));
    const auto last = ParseInteger(word.substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first > kMaxElements) {
      return InvalidArgumentError(
          Concat({"expected a range such as 0..5, found '", word, "'"}));
    }
    for (int64_t i = *first; i <= *last; ++i)
      values.push_back(static_cast<double>(i));
  }
  return values;
}

// Parses a type such as "f32[2, ?3, N=4]", in which "?3" and "N=4" are open
// dims, and sets the tensor's type, dims and open dims.
Status ParseType(std::string_view text, CaseTensor& tensor) {
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || !text.ends_with(']')) {
    return InvalidArgumentError(
        Concat({"expected a type such as f32[2, 3], found '", text, "'"}));
  }
  const std::string_view name = text.substr(0, bracket);
  tensor.is_strings = name == "str";
  if (!tensor.is_strings) {
    const std::optional<DType> type = DTypeFromName(name);
    if (!type)
      return InvalidArgumentError(Concat({"unknown type '", name, "'"}));
    tensor.numbers.type = *type;
  }
  for (std::string_view dim :
       Split(text.substr(bracket + 1, text.size() - bracket - 2), ',')) {
    std::string open;
    if (const size_t equals = dim.find('='); equals != std::string_view::npos) {
      open = dim.substr(0, equals);
      dim.remove_prefix(equals + 1);
    } else if (dim.starts_with('?')) {
      open = "?";
      dim.remove_prefix(1);
    }
    const std::optional<int64_t> extent = ParseInteger(dim);
    if (!extent || *extent < 0 || *extent > kMaxElements ||
        (open != "?" && !open.empty() && !IsName(open))) {
      return InvalidArgumentError(
          Concat({"expected a dim such as 2, ?2 or N=2, found '", open,
                  open.empty() || open == "?" ? "" : "=", dim, "'"}));
    }
    tensor.numbers.dims.push_back(*extent);
    tensor.open.push_back(std::move(open));
  }
  return OkStatus();
}

int64_t CountElements(const Numbers& numbers) {
  int64_t count = 1;
  for (const int64_t dim : numbers.dims) {
    count *= dim;
    if (count > kMaxElements) return kMaxElements + 1;
  }
  return count;
}

Status CheckCount(int64_t expected, size_t found) {
  if (expected == static_cast<int64_t>(found)) return OkStatus();
  return InvalidArgumentError(
      Concat({"expected ", expected, " values, found ", found}));
}

Status ParseValues(std::string_view text, CaseTensor& tensor) {
  const int64_t count = CountElements(tensor.numbers);
  if (count > kMaxElements)
    return InvalidArgumentError(
        Concat({"more than ", kMaxElements, " elements"}));
  if (tensor.is_strings) {
    for (const std::string_view word : Split(text, ' ')) {
      EMBER_ASSIGN_OR_RETURN(std::string value, ParseQuoted(word));
      tensor.strings.push_back(std::move(value));
    }
    return CheckCount(count, tensor.strings.size());
  }
  EMBER_ASSIGN_OR_RETURN(tensor.numbers.values, ParseNumbers(text, count));
  return CheckCount(count, tensor.numbers.values.size());
}

// Computes each element of a result by the formula, in which names mean the
// operands' elements at the same position. An operand with fewer elements
// repeats.
Status Compute(std::string_view formula,
               const std::vector<CaseTensor>& operands, CaseTensor& result) {
  const int64_t count = CountElements(result.numbers);
  if (count > kMaxElements || result.is_strings)
    return InvalidArgumentError("expected numbers before 'from'");
  for (int64_t i = 0; i < count; ++i) {
    std::map<std::string, double> names;
    for (const CaseTensor& operand : operands) {
      const std::vector<double>& values = operand.numbers.values;
      if (values.empty()) continue;
      names[operand.name] = values[static_cast<size_t>(i) % values.size()];
    }
    EMBER_ASSIGN_OR_RETURN(const double value, EvaluateFormula(formula, names));
    result.numbers.values.push_back(value);
  }
  return OkStatus();
}

StatusOr<CaseValue> ParseList(std::string_view text) {
  const std::vector<std::string_view> words =
      Split(text.substr(1, text.size() - 2), ',');
  if (!words.empty() && words[0].starts_with('"')) {
    std::vector<std::string> texts;
    for (const std::string_view word : words) {
      EMBER_ASSIGN_OR_RETURN(std::string value, ParseQuoted(word));
      texts.push_back(std::move(value));
    }
    return CaseValue(std::move(texts));
  }
  std::vector<int64_t> integers;
  std::vector<double> floats;
  for (const std::string_view word : words) {
    EMBER_ASSIGN_OR_RETURN(const double value, EvaluateFormula(word, {}));
    floats.push_back(value);
    if (const auto integer = ParseInteger(word)) integers.push_back(*integer);
  }
  if (integers.size() == words.size()) return CaseValue(std::move(integers));
  return CaseValue(std::move(floats));
}

// Parses the value of an attribute. The text's form, such as quotes or
// brackets, decides the value's type.
StatusOr<CaseValue> ParseAttribute(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) return ParseList(text);
  if (text.starts_with('"')) {
    EMBER_ASSIGN_OR_RETURN(std::string value, ParseQuoted(text));
    return CaseValue(std::move(value));
  }
  if (text == "true" || text == "false") return CaseValue(text == "true");
  if (const auto type = DTypeFromName(text)) return CaseValue(*type);
  if (const auto integer = ParseInteger(text)) return CaseValue(*integer);
  EMBER_ASSIGN_OR_RETURN(const double value, EvaluateFormula(text, {}));
  return CaseValue(value);
}

class Parser {
 public:
  explicit Parser(std::string path) : path_(std::move(path)) {}

  StatusOr<std::vector<ImportCase>> Run(std::string_view text) {
    if (!text.starts_with("# ")) {
      line_ = 1;
      return At(InvalidArgumentError(
          "expected a comment that says what the file tests"));
    }
    while (!text.empty()) {
      ++line_;
      const size_t end = std::min(text.find('\n'), text.size());
      if (Status status = Line(Trimmed(text.substr(0, end))); !status.ok())
        return At(status);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    ++line_;
    if (Status status = EndBlock(); !status.ok()) return At(status);
    return std::move(cases_);
  }

 private:
  Status At(const Status& status) const {
    return InvalidArgumentError(
        Concat({path_, ":", line_, ": ", status.message()}));
  }

  // Returns the case to which the next lines belong: the block's last case or,
  // before its first "op:", the part that all cases of the block share.
  ImportCase& current() { return has_case_ ? cases_.back() : shared_; }

  Status Line(std::string_view line) {
    if (line.empty()) return EndBlock();
    if (line.starts_with('#')) return OkStatus();
    is_block_ = true;
    if (line.starts_with("op:")) return Operator(Trimmed(line.substr(3)));
    if (line.starts_with(kArrow)) {
      if (!has_case_) return InvalidArgumentError("expected 'op:' before '->'");
      return Result(Trimmed(line.substr(kArrow.size())));
    }
    const size_t end = line.find_first_of(":=");
    if (end == std::string_view::npos ||
        !IsName(Trimmed(line.substr(0, end)))) {
      return InvalidArgumentError(
          "expected 'op:', '->', 'NAME: TYPE[DIMS] = VALUES', 'NAME = VALUE' "
          "or a setting");
    }
    if (line[end] == '=') return Attributes(line);
    const std::string name(Trimmed(line.substr(0, end)));
    const std::string_view rest = Trimmed(line.substr(end + 1));
    if (rest == "absent" || rest.find('[') != std::string_view::npos)
      if (name != "error") return Operand(name, rest);
    return Setting(name, rest);
  }

  Status EndCase() {
    if (!has_case_) return OkStatus();
    const ImportCase& last = cases_.back();
    if (last.results.empty() == last.error.empty()) {
      return InvalidArgumentError(
          Concat({"expected either results or an error of '", last.op, "'"}));
    }
    return OkStatus();
  }

  Status EndBlock() {
    EMBER_RETURN_IF_ERROR(EndCase());
    if (is_block_ && !has_case_)
      return InvalidArgumentError("expected 'op:' in the lines above");
    is_block_ = has_case_ = false;
    shared_ = ImportCase();
    return OkStatus();
  }

  Status Operator(std::string_view text) {
    EMBER_RETURN_IF_ERROR(EndCase());
    ImportCase next = shared_;
    next.path = path_;
    next.line = line_;
    const size_t arrow = text.find(" -> ");
    next.op = Trimmed(text.substr(0, arrow));
    if (next.op.empty()) return InvalidArgumentError("expected an operator");
    cases_.push_back(std::move(next));
    has_case_ = true;
    if (arrow == std::string_view::npos) return OkStatus();
    return Result(Trimmed(text.substr(arrow + 4)));
  }

  // Parses a tensor with its elements: "f32[2] = 1 2" or, for a result only,
  // "f32[2] from x + 1".
  Status Tensor(std::string_view text, bool is_result, CaseTensor& tensor) {
    const size_t end = std::min(text.find(']'), text.size() - 1);
    EMBER_RETURN_IF_ERROR(ParseType(text.substr(0, end + 1), tensor));
    const std::string_view rest = Trimmed(text.substr(end + 1));
    if (rest.starts_with('=')) return ParseValues(rest.substr(1), tensor);
    if (is_result && rest.starts_with("from "))
      return Compute(Trimmed(rest.substr(5)), cases_.back().operands, tensor);
    return InvalidArgumentError(is_result
                                    ? "expected '=' or 'from' after the type"
                                    : "expected '=' after the type");
  }

  Status Operand(const std::string& name, std::string_view text) {
    ImportCase& one = current();
    if (!one.results.empty())
      return InvalidArgumentError("expected operands before results");
    CaseTensor operand;
    operand.name = name;
    if (std::ranges::count(one.operands, name, &CaseTensor::name) > 0)
      return InvalidArgumentError(Concat({"second operand '", name, "'"}));
    if (text == "absent") {
      operand.is_absent = true;
    } else {
      constexpr std::string_view kConstant = "constant ";
      operand.is_constant = text.starts_with(kConstant);
      if (operand.is_constant) text = Trimmed(text.substr(kConstant.size()));
      EMBER_RETURN_IF_ERROR(Tensor(text, false, operand));
    }
    one.operands.push_back(std::move(operand));
    return OkStatus();
  }

  Status Result(std::string_view text) {
    CaseTensor result;
    EMBER_RETURN_IF_ERROR(Tensor(text, true, result));
    cases_.back().results.push_back(std::move(result));
    return OkStatus();
  }

  Status Attributes(std::string_view line) {
    for (const std::string_view part : Split(line, ',')) {
      const size_t equals = std::min(part.find('='), part.size());
      const std::string name(Trimmed(part.substr(0, equals)));
      if (equals == part.size() || !IsName(name)) {
        return InvalidArgumentError(
            Concat({"expected 'NAME = VALUE', found '", part, "'"}));
      }
      EMBER_RETURN_IF_ERROR(Attribute(name, Trimmed(part.substr(equals + 1))));
    }
    return OkStatus();
  }

  Status Attribute(const std::string& name, std::string_view text) {
    ImportCase& one = current();
    for (const auto& [other, value] : one.attributes) {
      if (other == name)
        return InvalidArgumentError(Concat({"second attribute '", name, "'"}));
    }
    EMBER_ASSIGN_OR_RETURN(CaseValue value, ParseAttribute(text));
    one.attributes.emplace_back(name, std::move(value));
    return OkStatus();
  }

  Status Setting(const std::string& name, std::string_view text) {
    if (text.empty())
      return InvalidArgumentError(Concat({"expected a value of '", name, "'"}));
    ImportCase& one = current();
    if (name == "error") {
      one.error = text;
    } else if (name == "within") {
      EMBER_ASSIGN_OR_RETURN(one.within, EvaluateFormula(text, {}));
    } else if (!one.settings.emplace(name, text).second) {
      return InvalidArgumentError(Concat({"second setting '", name, "'"}));
    }
    return OkStatus();
  }

  const std::string path_;
  int line_ = 0;
  bool is_block_ = false;  // true if the present block of lines is not empty
  bool has_case_ = false;  // true if the present block has an "op:" line
  ImportCase shared_;
  std::vector<ImportCase> cases_;
};

}  // namespace

StatusOr<std::vector<ImportCase>> ParseImportCases(std::string_view text,
                                                   const std::string& path) {
  return Parser(path).Run(text);
}

}  // namespace ember::tests

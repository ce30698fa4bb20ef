#include "tests/onnx/expectation.h"

#include <charconv>
#include <sstream>

namespace ember::tests {
namespace {

Status LineError(int line, const std::string& expected,
                 const std::string& found) {
  return InvalidArgumentError("line " + std::to_string(line) + ": expected " +
                              expected + ", found '" + found + "'");
}

}  // namespace

StatusOr<Expectation> ParseExpectation(std::string_view text) {
  Expectation result;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string keyword, value, step, rest;
    words >> keyword >> value >> step >> rest;
    if (keyword == "cases") {
      const char* end = value.data() + value.size();
      const auto read = std::from_chars(value.data(), end, result.cases);
      if (value.empty() || read.ptr != end || !step.empty())
        return LineError(number, "'cases N'", line);
    } else if (keyword == "fails") {
      if (step.empty() || !rest.empty())
        return LineError(number, "'fails CASE STAGE'", line);
      result.failures[value] = step;
    } else if (keyword == "interprets") {
      if (value.empty() || !step.empty())
        return LineError(number, "'interprets CASE'", line);
      result.interpreted.insert(value);
    } else {
      return LineError(number, "cases, fails or interprets", line);
    }
  }
  return result;
}

std::string PrintExpectation(const Expectation& expectation,
                             std::string_view comment) {
  std::string text = "# " + std::string(comment) + "\n";
  text += "cases " + std::to_string(expectation.cases) + "\n";
  for (const auto& [name, step] : expectation.failures)
    text += "fails " + name + " " + step + "\n";
  for (const std::string& name : expectation.interpreted)
    text += "interprets " + name + "\n";
  return text;
}

std::vector<std::string> Differences(const Expectation& expected,
                                     const Expectation& found,
                                     bool with_kernels) {
  std::vector<std::string> lines;
  if (expected.cases != found.cases) {
    lines.push_back("cases: expected " + std::to_string(expected.cases) +
                    ", found " + std::to_string(found.cases));
  }
  for (const auto& [name, step] : found.failures) {
    const auto known = expected.failures.find(name);
    if (known == expected.failures.end()) {
      lines.push_back(name + ": expected to pass, fails (" + step + ")");
    } else if (known->second != step) {
      lines.push_back(name + ": expected to fail (" + known->second +
                      "), fails (" + step + ")");
    }
  }
  for (const auto& [name, step] : expected.failures) {
    if (found.failures.count(name) == 0)
      lines.push_back(name + ": expected to fail (" + step + "), passes");
  }
  if (!with_kernels) return lines;
  for (const std::string& name : found.interpreted) {
    if (expected.interpreted.count(name) == 0)
      lines.push_back(name + ": expected kernels only, tier 0 ran a dispatch");
  }
  for (const std::string& name : expected.interpreted) {
    if (found.interpreted.count(name) == 0 && found.failures.count(name) == 0)
      lines.push_back(name +
                      ": expected tier 0 to run a dispatch, kernels ran");
  }
  return lines;
}

}  // namespace ember::tests

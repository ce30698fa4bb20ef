#include "tests/cases/case_checker.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/concat.h"
#include "tensor/scalar.h"
#include "tests/cases/elements.h"
#include "tests/cases/instance.h"

namespace ember::cases {
namespace {

// Results of at most this many elements are written to the file in full. For
// larger results the file holds a hash.
constexpr int64_t kMaxElementsInFile = 48;

bool IsSubject(const Section& section) {
  return section.keyword == "dispatch" || section.keyword == "loops" ||
         section.keyword == "frame";
}

std::string HashText(uint64_t hash) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

// True if the line of a section `run` is an expectation, such as "%y = 1 2",
// "results = …" or "error: …".
bool IsExpectation(const std::string& line,
                   const std::vector<std::string>& results) {
  if (line.starts_with("results = ") || line.starts_with("error: "))
    return true;
  for (const std::string& result : results) {
    const std::string name = result.substr(0, result.find('=') + 1);
    if (!name.empty() && line.starts_with(name)) return true;
  }
  return false;
}

// Returns the lines that a section `run` must have for these results: the
// elements if there are few, otherwise a hash of them. No lines are required if
// results have a tolerance, because their last digit may differ between math
// libraries.
std::vector<std::string> LinesOf(const RunResults& results) {
  if (results.calls == 1 && results.elements <= kMaxElementsInFile)
    return results.lines;
  if (results.tolerance > 0) return {};
  return {Concat({"results = ", HashText(results.hash)})};
}

// True if the words are equal, or are numbers within the tolerance.
bool IsSameLine(const std::string& expected, const std::string& found,
                double tolerance) {
  const std::vector<std::string> a = SplitWords(expected);
  const std::vector<std::string> b = SplitWords(found);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const auto x = ParseElement(a[i], DType::kF64);
    const auto y = ParseElement(b[i], DType::kF64);
    if (!x.ok() || !y.ok()) return false;
    const double p = tensor::BitsToDouble(*x, DType::kF64);
    const double q = tensor::BitsToDouble(*y, DType::kF64);
    if (!(std::fabs(p - q) <= tolerance * (1 + std::fabs(p)))) return false;
  }
  return true;
}

void CompareResults(CaseFile& file, const std::map<size_t, RunResults>& all,
                    bool bless, std::vector<Failure>& failures) {
  for (const auto& [number, results] : all) {
    Section& section = file.sections[number];
    const std::vector<std::string> lines = LinesOf(results);
    std::vector<std::string> kept, expected;
    for (const std::string& line : SplitLines(section.body))
      (IsExpectation(line, results.lines) ? expected : kept).push_back(line);
    if (bless) {
      section.body.clear();
      for (const std::string& line : kept) section.body += line + "\n";
      for (const std::string& line : lines) section.body += line + "\n";
      continue;
    }
    for (size_t i = 0; i < std::max(lines.size(), expected.size()); ++i) {
      const std::string found = i < lines.size() ? Words(lines[i]) : "nothing";
      const std::string want =
          i < expected.size() ? Words(expected[i]) : "nothing";
      if (IsSameLine(want, found, results.tolerance)) continue;
      failures.push_back(
          {file.path, section.line,
           Concat({"run: the definition computes '", found, "', expected '",
                   want, "' (./dev bless writes it anew)"})});
      break;
    }
  }
}

}  // namespace

CaseChecker::CaseChecker(std::span<const Executor> executors,
                         CheckerOptions options)
    : table_(executors), options_(std::move(options)) {
  for (const Executor& executor : executors) {
    const std::string name(executor.name);
    if (!options_.only.empty() && std::ranges::count(options_.only, name) == 0)
      continue;
    std::string missing = executor.missing();
    if (missing.empty())
      executors_.push_back(&executor);
    else
      counts_.missing[name] = std::move(missing);
  }
}

std::vector<Failure> CaseChecker::RunFile(CaseFile& file) {
  ++counts_.files;
  std::vector<Failure> failures;
  std::vector<std::vector<Binding>> instances(1);
  for (size_t begin = 0; begin < file.sections.size();) {
    const Section& section = file.sections[begin];
    if (section.keyword == "each") {
      auto choices = Choices(section.operands);
      if (!choices.ok()) {
        failures.push_back(
            {file.path, section.line, std::string(choices.status().message())});
        return failures;
      }
      instances = *std::move(choices);
      ++begin;
      continue;
    }
    if (!IsSubject(section)) {
      failures.push_back(
          {file.path, section.line,
           Concat({"expected 'each', 'dispatch', 'loops' or 'frame', found '",
                   section.keyword, "'"})});
      return failures;
    }
    size_t end = begin + 1;
    while (end < file.sections.size() && !IsSubject(file.sections[end]) &&
           file.sections[end].keyword != "each")
      ++end;
    std::map<size_t, RunResults> results;
    for (const std::vector<Binding>& bindings : instances) {
      RunInstance({.file = file,
                   .begin = begin,
                   .end = end,
                   .bindings = bindings,
                   .table = table_,
                   .executors = executors_,
                   .bless = options_.bless,
                   .counts = counts_,
                   .results = results,
                   .failures = failures});
    }
    CompareResults(file, results, options_.bless, failures);
    instances.assign(1, {});
    begin = end;
  }
  return failures;
}

}  // namespace ember::cases

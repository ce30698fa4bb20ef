// conformance: runs ONNX backend-test folders.
//
//   bazel run //tests/onnx:conformance --
//       --suite $PWD/../shared/corpus/onnx-conformance
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/onnx/expectation.h"
#include "tests/onnx/run_case.h"
#include "tests/onnx/suite.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/models/tier.h"

namespace ember::tests {
namespace {

struct Options {
  std::string suite, filter, json, manifest, expect;
  RunOptions run;
  int64_t timeout = 60;
  bool quiet = false, verbose = false, bless = false, together = false;
  // True if no case matched the flags; the run sets it.
  bool found_nothing = false;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Add("suite", &options.suite, "DIR",
            "The folder of test cases (model.onnx and data sets).");
  flags.Add("filter", &options.filter, "GLOB",
            "Runs only cases whose path below the suite matches.");
  flags.Add("tier", &options.run.tier, "TIER",
            "Runs on tier 0, 1, 2 or auto; see vm-run.");
  tools::AddKernelCheckFlags(flags, &options.run.checks);
  flags.Add("device", &options.run.device, "NAME",
            "Runs on this device; see vm-run. The summary says how many "
            "cases ran there completely.");
  flags.Add("threads", &options.run.threads, "N",
            "Computes with N threads. 0: one per core.");
  flags.Add("timeout", &options.timeout, "S",
            "Gives each case at most S seconds. 0: no limit.");
  flags.Add("json", &options.json, "FILE", "Writes one record per case.");
  flags.Add("manifest", &options.manifest, "FILE",
            "Reads tolerances per case from this file. Default: "
            "manifest.json in the suite or above it.");
  flags.Add("expect", &options.expect, "FILE",
            "Compares with the cases that this file expects to fail or to "
            "be interpreted\n"
            "(tests/onnx/expectation.h). Differences are errors; other "
            "failures are not.");
  flags.Add("bless", &options.bless,
            "Writes the findings to the file of --expect. It needs a tier "
            "with kernels and no --filter.");
  flags.Add("together", &options.together,
            "Runs all cases in this process, without --timeout: for "
            "devices that take long to open\n"
            "(CUDA's). A crash ends the run.");
  flags.Add("quiet", &options.quiet, "Prints only the summary.");
  flags.Add("verbose", &options.verbose,
            "Also lists the passed cases that needed pinned dims or inputs "
            "compiled in.");
  flags.Example(
      "conformance --suite ../shared/corpus/onnx-conformance --filter "
      "'node/test_conv*'");
}

struct Report {
  std::vector<std::pair<TestCase, CaseResult>> results;

  // Returns the number of passed cases for whose result holds(result) is true.
  template <typename Predicate>
  int Passed(Predicate holds) const {
    return static_cast<int>(
        std::count_if(results.begin(), results.end(), [&](const auto& entry) {
          return entry.second.passed() && holds(entry.second);
        }));
  }
  int Count() const { return static_cast<int>(results.size()); }
};

// Prints the reasons of failures, the most frequent reason first, with a few of
// its cases each.
void PrintSummary(const Report& report) {
  std::map<std::string, std::vector<std::string>> reasons;
  std::map<std::string, int> operators;
  for (const auto& [test_case, result] : report.results) {
    if (result.passed()) continue;
    const std::string reason = ReasonOf(result);
    reasons[std::string(StepName(result.step)) + ": " + reason].push_back(
        test_case.name);
    if (result.step != CaseStep::kUnsupported) continue;
    for (size_t start = 0; start < reason.size();) {
      const size_t end = std::min(reason.find(", ", start), reason.size());
      ++operators[reason.substr(start, end - start)];
      start = end + 2;
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(
      reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.size() > b.second.size();
                   });
  if (!sorted.empty()) std::printf("\nFailures by reason:\n");
  for (const auto& [reason, names] : sorted) {
    std::printf("%5zu  %s\n", names.size(), reason.c_str());
    std::string examples;
    for (size_t i = 0; i < std::min<size_t>(names.size(), 3); ++i) {
      examples += (i > 0 ? ", " : "") + names[i];
    }
    std::printf("         %s%s\n", examples.c_str(),
                names.size() > 3 ? ", …" : "");
  }
  std::vector<std::pair<std::string, int>> missing(operators.begin(),
                                                   operators.end());
  std::stable_sort(
      missing.begin(), missing.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  if (!missing.empty()) std::printf("\nMissing operators (cases):\n ");
  for (const auto& [name, count] : missing)
    std::printf(" %s %d", name.c_str(), count);
  std::printf("\n");
}

// Prints the number of passed cases, and how many of them passed only with
// help, such as inputs that had to be constants.
void PrintCounts(const Report& report, bool verbose,
                 const std::string& device) {
  const int passed = report.Passed([](const CaseResult&) { return true; });
  const int as_is = report.Passed(
      [](const CaseResult& result) { return result.passed_as_the_file_is(); });
  const int pinned = report.Passed([](const CaseResult& result) {
    return result.pinned && result.frozen_inputs == 0;
  });
  const int frozen = report.Passed(
      [](const CaseResult& result) { return result.frozen_inputs > 0; });
  const int unchecked = report.Passed(
      [](const CaseResult& result) { return result.values_unchecked; });
  for (const auto& [test_case, result] : report.results) {
    if (!verbose || !result.passed() || result.passed_as_the_file_is())
      continue;
    std::printf(
        "HELPED %s [%s]\n", test_case.name.c_str(),
        result.frozen_inputs > 0 ? "inputs compiled in" : "dims pinned");
  }
  std::printf(
      "Passed cases: %d as the file is; %d with the data's dims for those the "
      "file leaves open; %d with inputs compiled in (shapes, axes …)\n"
      "%d of the passed cases are random: types and shapes are compared, but "
      "no values\n",
      as_is, pinned, frozen, unchecked);
  if (device != "cpu") {
    const int all = report.Passed([](const CaseResult& result) {
      return result.calls > 0 && result.device_calls == result.calls;
    });
    const int none = report.Passed([](const CaseResult& result) {
      return result.calls > 0 && result.device_calls == 0;
    });
    const int empty = report.Passed(
        [](const CaseResult& result) { return result.calls == 0; });
    std::printf(
        "Passed cases: %d ran on %s with all their dispatches, %d with some, "
        "%d with none; %d have no dispatch\n",
        all, device.c_str(), passed - all - none - empty, none, empty);
  }
  int64_t calls = 0, kernel_calls = 0;
  for (const auto& [test_case, result] : report.results) {
    calls += result.calls;
    kernel_calls += result.kernel_calls;
  }
  std::printf("%lld of %lld calls of dispatches ran kernels\n",
              static_cast<long long>(kernel_calls),
              static_cast<long long>(calls));
  // "skipped" is always 0: a case that uses something unsupported counts as
  // failed.
  std::printf("%d passed, %d failed, 0 skipped\n", passed,
              report.Count() - passed);
}

Status WriteJson(const Report& report, const std::string& path) {
  std::string text = "[\n";
  for (size_t i = 0; i < report.results.size(); ++i) {
    const auto& [test_case, result] = report.results[i];
    text += "  {\"case\": " + tools::JsonString(test_case.name) +
            ", \"result\": " + (result.passed() ? "\"passed\"" : "\"failed\"") +
            ", \"step\": " + tools::JsonString(StepName(result.step)) +
            ", \"as_the_file_is\": " +
            (result.passed_as_the_file_is() ? "true" : "false") +
            ", \"pinned\": " + (result.pinned ? "true" : "false") +
            ", \"frozen_inputs\": " + std::to_string(result.frozen_inputs) +
            ", \"calls\": " + std::to_string(result.calls) +
            ", \"device_calls\": " + std::to_string(result.device_calls) +
            ", \"values_checked\": " +
            (result.values_unchecked ? "false" : "true") +
            ", \"message\": " + tools::JsonString(result.message) + "}" +
            (i + 1 < report.results.size() ? ",\n" : "\n");
  }
  return WriteFileAtomically(path, text + "]\n");
}

bool AsksForKernels(const Options& options) {
  return options.run.tier == "1" || options.run.tier == "2";
}

Expectation Found(const Report& report) {
  Expectation found;
  found.cases = report.Count();
  for (const auto& [test_case, result] : report.results) {
    if (!result.passed()) {
      found.failures[test_case.name] = StepName(result.step);
    } else if (result.kernel_calls < result.calls) {
      found.interpreted.insert(test_case.name);
    }
  }
  return found;
}

// Compares the run with the file of expectations; a difference is an error. If
// --bless is given, writes the file instead.
Status CompareOrBless(const Report& report, const Options& options) {
  const std::string path = tools::UserPath(options.expect);
  const Expectation found = Found(report);
  if (options.bless) {
    return WriteFileAtomically(
        path,
        PrintExpectation(found,
                         "The results that ./dev conformance expects; ./dev "
                         "conformance --bless writes them."));
  }
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  StatusOr<Expectation> expected = ParseExpectation(text);
  if (!expected.ok()) {
    return InvalidArgumentError(path + ": " +
                                std::string(expected.status().message()));
  }
  const std::vector<std::string> differences =
      Differences(*expected, found, AsksForKernels(options));
  for (const std::string& line : differences)
    std::printf("UNEXPECTED %s\n", line.c_str());
  if (differences.empty()) return OkStatus();
  return InternalError(std::to_string(differences.size()) +
                       " differences from the results that " + options.expect +
                       " expects; --bless writes it anew");
}

// Checks for flags that contradict each other.
Status CheckOptions(const Options& options) {
  if (options.suite.empty())
    return InvalidArgumentError("--suite: expected a folder");
  if (options.expect.empty()) {
    if (options.bless)
      return InvalidArgumentError("--bless: expected --expect=FILE beside it");
  } else if (!options.filter.empty()) {
    return InvalidArgumentError(
        "--expect: expected all cases of a suite, found --filter");
  } else if (options.bless && !AsksForKernels(options)) {
    return InvalidArgumentError("--bless: expected --tier=1 or 2, found " +
                                options.run.tier);
  }
  return tools::CheckTierOptions({.tier = options.run.tier});
}

std::string FindManifest(const Options& options) {
  if (!options.manifest.empty()) return tools::UserPath(options.manifest);
  std::filesystem::path folder =
      std::filesystem::absolute(tools::UserPath(options.suite));
  for (int level = 0; level < 4; ++level, folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "manifest.json"))
      return folder / "manifest.json";
  }
  return "";
}

Status Run(Options& options, bool& all_passed) {
  EMBER_RETURN_IF_ERROR(CheckOptions(options));
  EMBER_ASSIGN_OR_RETURN(
      std::vector<TestCase> cases,
      FindCases(tools::UserPath(options.suite), options.filter));
  if (cases.empty()) {
    options.found_nothing = true;
    return NotFoundError("suite '" + options.suite + "': no case matches '" +
                         options.filter + "'");
  }
  const std::string manifest = FindManifest(options);
  if (!manifest.empty()) EMBER_RETURN_IF_ERROR(ApplyManifest(manifest, cases));
  Report report;
  // This device is unused, but keeps its driver loaded, so that each case opens
  // its own device quickly.
  std::shared_ptr<hal::Device> device;
  if (options.together) {
    EMBER_ASSIGN_OR_RETURN(
        device, tools::OpenDevice(options.run.device, options.run.threads));
  }
  for (const TestCase& test_case : cases) {
    CaseResult result =
        options.together
            ? RunCase(test_case, options.run)
            : RunCaseInChild(test_case, options.run,
                             static_cast<unsigned>(options.timeout));
    if (!result.passed() && !options.quiet) {
      std::printf("FAILED %s [%s] %s\n", test_case.name.c_str(),
                  std::string(StepName(result.step)).c_str(),
                  result.message.c_str());
    }
    report.results.emplace_back(test_case, std::move(result));
  }
  PrintSummary(report);
  if (!options.json.empty()) {
    EMBER_RETURN_IF_ERROR(WriteJson(report, tools::UserPath(options.json)));
  }
  PrintCounts(report, options.verbose, options.run.device);
  all_passed = !options.expect.empty() || report.Passed([](const CaseResult&) {
    return true;
  }) == report.Count();
  return options.expect.empty() ? OkStatus() : CompareOrBless(report, options);
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "conformance", "--suite DIR [flags]",
      "Runs ONNX backend tests and says what fails and why.\n"
      "Exit status: 0 all cases are as expected, 1 some are not, 2 no case was "
      "selected.");
  ember::tests::Declare(options, flags);
  bool all_passed = true;
  const int code = ember::tools::RunTool(argc, argv, flags, [&] {
    return ember::tests::Run(options, all_passed);
  });
  if (options.found_nothing) return 2;
  return code == 0 && !all_passed ? 1 : code;
}

// Runs one backend test: imports, compiles, runs every data set, compares.
#ifndef EMBER_TESTS_ONNX_RUN_CASE_H_
#define EMBER_TESTS_ONNX_RUN_CASE_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "frontends/onnx/import/import.h"
#include "tests/onnx/suite.h"
#include "tools/lib/calls/kernel_checks.h"

namespace ember::tests {

struct RunOptions {
  std::string device = "cpu";
  int64_t threads = 1;
  std::string tier = "auto";  // Tier of tools/lib/models/tier.h.
  tools::KernelCheckFlags checks;
};

// The step at which a case failed, or kPassed.
enum class CaseStep : uint8_t {
  kPassed,
  kUnsupported,
  kImport,
  kCompile,
  kData,
  kRun,
  kMismatch,
  kCrash
};

std::string_view StepName(CaseStep step);

struct CaseResult {
  CaseStep step = CaseStep::kPassed;
  std::string message;  // A text of one line; empty if the case passed.
  // Number of inputs (shapes, axes …) that were compiled as constants, because
  // their values had to be known. This field and `pinned` show how much help a
  // case needed to pass.
  int frozen_inputs = 0;
  // True if open dims of the file had to be pinned to those of the data set.
  bool pinned = false;
  // Numbers of calls of dispatches: all calls, those that ran on a device that
  // is not the host, and those that a kernel ran (on any device) and not the
  // interpreter.
  int64_t calls = 0, device_calls = 0, kernel_calls = 0;
  // True if only types and shapes are compared, as the results are random.
  bool values_unchecked = false;

  bool passed() const { return step == CaseStep::kPassed; }
  bool passed_as_the_file_is() const {
    return passed() && frozen_inputs == 0 && !pinned;
  }
};

CaseResult RunCase(const TestCase& test_case, const RunOptions& options);

// Gives the model's inputs the dims that they have in a recorded data set
// (test_data_set_0).
Status PinShapes(const std::string& model, const std::string& set,
                 onnx::ImportOptions& options);

// Runs the case in a child process: a crash or a hang ends this case only.
CaseResult RunCaseInChild(const TestCase& test_case, const RunOptions& options,
                          unsigned timeout_seconds);

// Returns the reason of a result, by which results are grouped: the missing
// operators, or the message without the parts that differ from case to case
// (names in quotes, numbers).
std::string ReasonOf(const CaseResult& result);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_RUN_CASE_H_

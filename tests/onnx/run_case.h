// One backend test: import, compile, run every data set, compare.
#ifndef EMBER_TESTS_ONNX_RUN_CASE_H_
#define EMBER_TESTS_ONNX_RUN_CASE_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/suite.h"
#include "tools/lib/kernel_checks.h"

namespace ember::tests {

struct RunOptions {
  std::string device = "cpu";
  int64_t threads = 1;
  std::string tier = "auto";  // tools/lib/tier.h
  tools::KernelCheckFlags checks;
};

// Where a case stopped.
enum class Stage : uint8_t {
  kPassed,
  kUnsupported,
  kImport,
  kCompile,
  kData,
  kRun,
  kMismatch,
  kCrash
};

std::string_view StageName(Stage stage);

struct CaseResult {
  Stage stage = Stage::kPassed;
  std::string message;  // one line; empty if passed
  // The help it took, beyond what the file says; for passed cases this tells
  // how much the pass is worth. Inputs (shapes, axes …) whose values had to be
  // compiled in:
  int frozen_inputs = 0;
  // The dims that the file leaves open had to be those of the data set.
  bool pinned = false;
  // Calls of dispatches; how many of them a device that is not the host ran,
  // and how many a kernel ran (on whichever device) instead of the interpreter.
  int64_t calls = 0, device_calls = 0, kernel_calls = 0;
  // Only types and shapes are compared: the case is random by its nature.
  bool values_unchecked = false;

  bool passed() const { return stage == Stage::kPassed; }
  bool passed_as_the_file_is() const {
    return passed() && frozen_inputs == 0 && !pinned;
  }
};

CaseResult RunCase(const TestCase& test_case, const RunOptions& options);

// Pins the inputs' dims to those of a recorded data set (test_data_set_0).
Status PinShapes(const std::string& model, const std::string& set,
                 onnx::ImportOptions& options);

// In a child process: a crash or a hang is the result of this case only.
CaseResult RunCaseInChild(const TestCase& test_case, const RunOptions& options,
                          unsigned timeout_seconds);

// What the result has in common with others: the missing operators, or the
// message without the parts that differ from case to case (names in quotes,
// numbers).
std::string ReasonOf(const CaseResult& result);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_RUN_CASE_H_

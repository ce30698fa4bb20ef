// Runs a section `run`: parses its operands, makes the buffers before a call,
// computes the definition's results, and compares those of every executor.
// Internal to CaseChecker. Thread-compatible.
#ifndef EMBER_TESTS_CASES_RUN_SECTION_H_
#define EMBER_TESTS_CASES_RUN_SECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cases/case_file.h"
#include "tests/cases/counts.h"
#include "tests/cases/executor.h"

namespace ember::cases {

// The operands of a section that runs, such as "N = 3 5, M = 2 within 1e-5 on
// llvm nest-evaluator".
struct RunOperands {
  // For each call, the values of the parameters.
  std::vector<std::vector<int64_t>> parameters;
  double tolerance = 0;
  // Names of the executors on which the section runs; empty means all of them.
  std::vector<std::string> only;

  // Returns the executors on which the section runs. For the other executors
  // the section is counted as not run.
  std::vector<const Executor*> Choose(
      const std::vector<const Executor*>& executors, Counts& counts) const;

  static StatusOr<RunOperands> Parse(const Subject& subject,
                                     std::string_view text);
};

// Makes the inputs and outputs before a call: the elements are SmallElement,
// unless lines such as "%x = 1 2" (repeated to the end), "%x[3] = nan" and "%y
// before = 0" say otherwise. Other lines about outputs are expectations and are
// ignored here.
StatusOr<std::vector<Bytes>> MakeBuffers(const std::vector<Argument>& arguments,
                                         const std::vector<std::string>& lines);

// The definition's outcome of one call, and the executors' differences from it.
struct CallResult {
  // the definition's outputs or error, as lines such as "%y = 1 2 3" or "error:
  // …"
  std::vector<std::string> lines;
  // Hash of the definition's outputs and error in this call.
  uint64_t hash = 0;
  int64_t elements = 0;  // number of elements of the outputs
  // Differences that executors showed, as lines "llvm: %y: element 3: …".
  std::vector<std::string> wrong;
};

CallResult Call(const Subject& subject, const std::vector<int64_t>& parameters,
                const std::vector<Argument>& arguments,
                const std::vector<Bytes>& before, double tolerance,
                const std::vector<const Executor*>& executors, Counts& counts);

// Returns the part of a reason up to the first ':', by which reasons are
// counted.
std::string ReasonClass(std::string_view reason);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_RUN_SECTION_H_

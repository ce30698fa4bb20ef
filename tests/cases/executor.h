// The executors that run cases, a row for each.
//
//   for (const Executor& executor : Executors()) {
//     const std::string missing = executor.missing();  // "no Vulkan device"
//     Outcome outcome = executor.run(subject, {.parameters = …}, buffers);
//   }
//
// Every back end is one by its row in tests/nests. Another executor is a
// function in a file of its own, and a row in executors.cc.
#ifndef EMBER_TESTS_CASES_EXECUTOR_H_
#define EMBER_TESTS_CASES_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tests/cases/elements.h"
#include "tests/cases/subject.h"

namespace ember::cases {

struct Run {
  std::vector<int64_t> parameters;
  // True if the nest has a data race between tasks, invocations or lanes, so
  // that only sequential execution gives the evaluator's results.
  bool has_races = false;
};

// The outcome of a run: a status, or the reason why the executor declined.
struct Outcome {
  Status status;
  std::string declined;

  static Outcome Ran(Status status) { return {std::move(status), ""}; }
  static Outcome Declined(std::string_view reason) {
    return {OkStatus(), std::string(reason)};
  }
  // Makes the outcome from the status of a run. kUnimplemented means that the
  // executor declined.
  static Outcome Of(const Status& status) {
    return status.code() == StatusCode::kUnimplemented
               ? Declined(status.message())
               : Ran(status);
  }
};

struct Executor {
  std::string_view name;
  std::string_view doc;
  // True if the executor runs a dispatch itself. Other executors run the loop
  // nest that a schedule makes of the dispatch.
  bool runs_dispatches = false;
  bool runs_nests = false;
  // True for a device, which may decline a case because it lacks a feature. If
  // another executor declines, the case fails.
  bool may_decline = false;
  // True if the executor's errors must have the same message as the
  // definition's error. Otherwise only the error codes are compared.
  bool has_same_messages = false;
  bool zeros_are_equal = false;
  // Returns "", or what this machine lacks to run the executor.
  std::function<std::string()> missing;
  // Returns true if subnormal numbers of types other than f64 are kept;
  // otherwise they may be treated as zero.
  std::function<bool()> keeps_subnormals;
  // Runs a subject. `buffers` are the inputs and outputs. The run changes them.
  std::function<Outcome(const Subject& subject, const Run& run,
                        std::vector<Bytes>& buffers)>
      run;
  // Returns a text of the resources (such as shared memory) that the nest's
  // code needs on a target, one line for each phase. It is computed without a
  // device. Null if the executor cannot say it.
  std::function<StatusOr<std::string>(const loops::LoopNest& nest,
                                      std::string_view target)>
      figures;
};

// Returns the table of executors. The function is defined in executors.cc, the
// library :executors.
std::span<const Executor> Executors();

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_EXECUTOR_H_

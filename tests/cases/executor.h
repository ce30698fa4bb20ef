// What runs cases: a row for each executor that there is.
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
  // Tasks, invocations or lanes of the nest touch what others store, so that
  // only running them in order gives what the evaluator gives.
  bool has_races = false;
};

// One of: ran with a status, or declined with a reason.
struct Outcome {
  Status status;
  std::string declined;

  static Outcome Ran(Status status) { return {std::move(status), ""}; }
  static Outcome Declined(std::string_view reason) {
    return {OkStatus(), std::string(reason)};
  }
  // kUnimplemented is how compilers decline.
  static Outcome Of(const Status& status) {
    return status.code() == StatusCode::kUnimplemented
               ? Declined(status.message())
               : Ran(status);
  }
};

struct Executor {
  std::string_view name;
  std::string_view doc;
  bool runs_dispatches = false;  // as such; all others run their nests
  bool runs_nests = false;
  // Declining is no failure: it depends on the device.
  bool may_decline = false;
  // Errors have the definition's words, not its code alone.
  bool has_same_messages = false;
  bool zeros_are_equal = false;
  // Empty, or what this machine lacks to run it.
  std::function<std::string()> missing;
  // Of types other than f64; otherwise they may be taken for zero.
  std::function<bool()> keeps_subnormals;
  // buffers: inputs and outputs, which the run changes.
  std::function<Outcome(const Subject& subject, const Run& run,
                        std::vector<Bytes>& buffers)>
      run;
  // What the nest's code for a target takes, a line for each phase; needs no
  // device. Null: nothing is known.
  std::function<StatusOr<std::string>(const loops::LoopNest& nest,
                                      std::string_view target)>
      figures;
};

// In executors.cc: the library :executors.
std::span<const Executor> Executors();

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_EXECUTOR_H_

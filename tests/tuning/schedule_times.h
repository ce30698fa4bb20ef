// Measures random schedules of a dispatch against its default one.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<TimedSchedule> times,
//                          TimeSchedules(task, buffers, *compiler, {}));
//   times[0].origin;   // "default"
//
// All kernels are made first and then measured in rounds, each of which calls
// every kernel, so that other work on the machine disturbs all of them alike.
// The time of a kernel is the least of all rounds, on one thread, by the clock
// of its processor time.
#ifndef EMBER_TESTS_TUNING_SCHEDULE_TIMES_H_
#define EMBER_TESTS_TUNING_SCHEDULE_TIMES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "tune/task/task.h"

namespace ember::tests {

struct TimingOptions {
  uint64_t seed = 1;
  int64_t schedules = 24;
  int64_t rounds = 7;
  // Dispatches whose default kernel takes less or more time than these are left
  // out.
  double least_seconds = 5e-6, most_seconds = 4e-3;
  // A kernel that takes more than this many times as long as the default one is
  // measured once and left out of the rounds.
  double hopeless = 12;
};

struct TimedSchedule {
  std::string origin;
  double seconds = 0;
  std::vector<float> features;
};

// Returns the default schedule, and others that are legal and that compile.
// buffers: operands of a call. Errors: the default kernel's;
// kFailedPrecondition if the default kernel is too fast or too slow.
StatusOr<std::vector<TimedSchedule>> TimeSchedules(
    const tune::Task& task, std::span<void* const> buffers,
    jit::Compiler& compiler, const TimingOptions& options);

}  // namespace ember::tests

#endif  // EMBER_TESTS_TUNING_SCHEDULE_TIMES_H_

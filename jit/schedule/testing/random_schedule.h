// Applies random primitives with random operands to a schedule, for tests. Some
// of the primitives are refused.
//
//   Schedule schedule(Disassemble(dispatch, {}));
//   RandomScheduleCounts counts;
//   int applied = ApplyRandomPrimitives(seed, 20, schedule, &counts);
//   // Replays: schedule.ToText().
//
// Equal seeds give equal schedules. All primitives of the table are tried: a
// row without a generator does not build.
#ifndef EMBER_JIT_SCHEDULE_TESTING_RANDOM_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_TESTING_RANDOM_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

struct RandomScheduleCounts {
  int64_t applied = 0;
  int64_t refused = 0;
  // number of applied steps, by the name of the primitive
  std::map<std::string, int64_t> applied_by_primitive;
  // Number of refusals, by "primitive: reason", where ReasonClass has replaced
  // names and numbers in the reason.
  std::map<std::string, int64_t> reasons;

  void Add(const RandomScheduleCounts& other);
};

// Returns the reason of a refusal without its names and numbers, so that equal
// reasons can be counted: 'x' becomes '.', %x becomes %., and a number becomes
// 0.
std::string ReasonClass(std::string_view message);

// Tries `count` random steps and returns how many were applied. counts may be
// null.
int ApplyRandomPrimitives(uint64_t seed, int count, Schedule& schedule,
                          RandomScheduleCounts* counts = nullptr);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_SCHEDULE_H_

// Random schedules, for tests: primitives with random operands, of which some
// are refused.
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

#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

struct RandomScheduleCounts {
  int64_t applied = 0;
  int64_t refused = 0;
  // By primitive.
  std::map<std::string, int64_t> applied_by_primitive;
  // "primitive: reason", names and numbers left out.
  std::map<std::string, int64_t> reasons;

  void Add(const RandomScheduleCounts& other);
};

// A refusal's reason as a class: 'x', %x and numbers become '.', %. and 0.
std::string ReasonClass(std::string_view message);

// Tries `count` lines; returns how many were legal. counts may be null.
int ApplyRandomPrimitives(uint64_t seed, int count, Schedule& schedule,
                          RandomScheduleCounts* counts = nullptr);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_SCHEDULE_H_

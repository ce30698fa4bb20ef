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
  // Number of applied steps. Key: a primitive's name.
  std::map<std::string, int64_t> applied_by_primitive;
  // Number of refusals. Key: "primitive: reason", without names and numbers.
  std::map<std::string, int64_t> reasons;

  void Add(const RandomScheduleCounts& other);
};

// Returns the class of a refusal's reason: 'x', %x and numbers become '.', %.
// and 0.
std::string ReasonClass(std::string_view message);

// Tries `count` random steps and returns how many were applied. counts may be
// null.
int ApplyRandomPrimitives(uint64_t seed, int count, Schedule& schedule,
                          RandomScheduleCounts* counts = nullptr);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_SCHEDULE_H_

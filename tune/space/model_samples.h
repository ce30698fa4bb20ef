// Makes candidates by asking for the default schedule of a machine that differs
// from the task's target in caches, vectors, registers or workgroups. The rules
// for default schedules decide tiles, packing, groups and algorithms together,
// so each sample is a schedule whose parts fit each other.
//
//   Schedule schedule(computation);
//   StatusOr<std::string> what =
//       ScheduleBySampledModel(target, is_exact, random, schedule);
//   // *what: "model l2=256K vectors=32"
//
// Thread-safe.
#ifndef EMBER_TUNE_SPACE_MODEL_SAMPLES_H_
#define EMBER_TUNE_SPACE_MODEL_SAMPLES_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "tune/space/random.h"

namespace ember::tune {

// Applies the default schedule for a randomly changed machine to `schedule`, to
// which no primitive has been applied. Returns a readable text of the changes.
// Errors: those of Backend::schedule.
StatusOr<std::string> ScheduleBySampledModel(std::string_view target,
                                             bool is_exact, Random& random,
                                             schedule::Schedule& schedule);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_MODEL_SAMPLES_H_

// Applies steps, and schedules in their text form.
//
//   Schedule schedule(Disassemble(dispatch, {}));
//   EMBER_RETURN_IF_ERROR(Apply(Vectorize{{{"y"}, "j"}}, schedule));
//   EMBER_RETURN_IF_ERROR(Apply("parallel %y i", schedule));
//   EMBER_RETURN_IF_ERROR(Replay("schedule @y { ... }", schedule));
//
// Thread-compatible: calls for different schedules may run at once.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_REPLAY_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_REPLAY_H_

#include <string_view>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {

// Applies a step, and records it in the schedule. Errors: kInvalidArgument if
// an operand is wrong; kFailedPrecondition, with the reason, if the primitive
// is refused. After an error the schedule is as before the call.
Status Apply(const Step& step, Schedule& schedule);

// Parses a line as a step and applies it. Errors: those of the function above,
// and kInvalidArgument if the line is not a step.
Status Apply(std::string_view line, Schedule& schedule);

// Applies a whole schedule, which is lines or `schedule @name { lines }`. Stops
// at the first error, which names the line; the lines before it stay applied.
Status Replay(std::string_view text, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_REPLAY_H_

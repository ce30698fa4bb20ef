// Helpers for tests of default schedules for CPUs.
//
//   EXPECT_THAT(ScheduleFor("x86_64-linux+avx2+fma", dispatch),
//               HasSubstr("vectorize %y"));
#ifndef EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_

#include <string>

namespace ember::schedule {

// Returns the text of the dispatch's default schedule for the target. The
// dispatch's buffers from number 1 on are constants, as many as `constants`
// says. Evaluates the scheduled nest and fails an expectation if it differs
// from the dispatch.
std::string ScheduleFor(const char* target, const std::string& dispatch,
                        int constants = 1);
// Like ScheduleFor, but buffer number 1 is of i8, and the schedule knows its
// values.
std::string ScheduleForKnown(const char* target, const std::string& dispatch);
// Returns the text of the dispatch's default schedule without evaluating its
// nest. For dispatches that take too long to evaluate.
std::string ScheduleOfLarge(const char* target, const std::string& dispatch);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_

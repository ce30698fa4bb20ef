// Helpers for tests of default schedules for CPUs.
//
//   EXPECT_THAT(ScheduleFor("x86_64-linux+avx2+fma", dispatch),
//               HasSubstr("vectorize %y"));
#ifndef EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_

#include <string>

namespace ember::schedule {

// Returns the text of the default schedule of the dispatch for the target.
// `constants` inputs, from input 1 on, are constants of the module. Evaluates
// the scheduled nest, and fails an expectation if its results are not those of
// the dispatch.
std::string ScheduleFor(const char* target, const std::string& dispatch,
                        int constants = 1);
// Does the same as ScheduleFor, but input 1 must be of type i8, and the
// schedule knows the range of its elements.
std::string ScheduleForKnown(const char* target, const std::string& dispatch);
// Does the same as ScheduleFor, but does not evaluate the nest, for dispatches
// for which that takes too long.
std::string ScheduleOfLarge(const char* target, const std::string& dispatch);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_H_

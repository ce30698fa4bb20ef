// What tests of default schedules for CPUs share.
//
//   EXPECT_THAT(ScheduleFor("x86_64-linux+avx2+fma", dispatch),
//               HasSubstr("vectorize %y"));
#ifndef EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_TESTING_H_
#define EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_TESTING_H_

#include <string>

namespace ember::schedule {

// The default schedule's text for a target of the dispatch's, whose buffer
// number 1 is a constant. What it computes is compared with the dispatch: an
// expectation fails where they differ.
std::string ScheduleFor(const char* target, const std::string& dispatch);
// Where that constant, of i8, is known to be what it is in the comparison.
std::string ScheduleForKnown(const char* target, const std::string& dispatch);
// Of what takes too long to be evaluated: the text alone.
std::string ScheduleOfLarge(const char* target, const std::string& dispatch);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_DEFAULT_SCHEDULE_TESTING_H_

// Prints a line to stderr if a signal ends the process. Tests that run
// generated code use it to say which seed to replay.
//
//   for (uint64_t seed : seeds) {
//     SayIfKilled(Concat({"replay: EMBER_SEED=", seed, "\n"}));
//
// Each call replaces the previous line; lines are cut at 255 characters. Not
// thread-safe.
#ifndef EMBER_BASE_TESTING_SAY_IF_KILLED_H_
#define EMBER_BASE_TESTING_SAY_IF_KILLED_H_

#include <string_view>

namespace ember {

void SayIfKilled(std::string_view line);

}  // namespace ember

#endif  // EMBER_BASE_TESTING_SAY_IF_KILLED_H_

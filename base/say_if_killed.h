// A line that a test says where a signal ends its process: how to run again
// what killed it, be that code which the test made or the compiler of it.
//
//   for (uint64_t seed : seeds) {
//     SayIfKilled(Concat({"replay: EMBER_SEED=", seed, "\n"}));
//
// The newest line counts; it is cut at 255 characters. For one thread.
#ifndef EMBER_BASE_SAY_IF_KILLED_H_
#define EMBER_BASE_SAY_IF_KILLED_H_

#include <string_view>

namespace ember {

void SayIfKilled(std::string_view line);

}  // namespace ember

#endif  // EMBER_BASE_SAY_IF_KILLED_H_

// Reports facts about a benchmark's own process.
//
//   double megabytes = ResidentMegabytes();
//   std::string id = BuildId();   // "3f2a9c01b4d7": changes whenever the
//                                 // program's code does
#ifndef EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_
#define EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_

#include <string>

namespace ember::tools {

// Returns the memory of this process that is resident now, in megabytes.
double ResidentMegabytes();
// Returns the largest resident memory of this process so far, in megabytes.
double PeakResidentMegabytes();
// Returns the beginning of the program's build ID, which the linker made;
// "unknown" if it has none.
std::string BuildId();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_

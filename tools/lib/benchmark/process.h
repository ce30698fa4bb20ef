// Returns the memory use and the build ID of the calling process.
//
//   double megabytes = ResidentMegabytes();
//   std::string id = BuildId();   // "3f2a9c01b4d7": changes whenever the
//                                 // program's code does
#ifndef EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_
#define EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_

#include <string>

namespace ember::tools {

// Returns the resident memory of this process at the moment, in megabytes.
double ResidentMegabytes();
// Returns the largest resident memory that this process has had so far, in
// megabytes.
double PeakResidentMegabytes();
// Returns the beginning of the program's build ID, which the linker made;
// "unknown" if it has none.
std::string BuildId();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_PROCESS_H_

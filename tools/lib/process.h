// What a benchmark says about its own process.
//
//   double megabytes = ResidentMegabytes();
//   std::string id = BuildId();   // "3f2a9c01b4d7": changes whenever the
//                                 // program's code does
#ifndef EMBER_TOOLS_LIB_PROCESS_H_
#define EMBER_TOOLS_LIB_PROCESS_H_

#include <string>

namespace ember::tools {

double ResidentMegabytes();      // now
double PeakResidentMegabytes();  // the most so far
std::string BuildId();  // the linker's, shortened; "unknown" without one

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PROCESS_H_

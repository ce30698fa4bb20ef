// Models are mapped, not read. Where another program cuts such a file off while
// a tool uses it, the system ends the tool with SIGBUS; with this it says why:
//
//   ReportCutFiles("vm-run");
//   // vm-run: a file that it reads was cut off meanwhile, or could not be read
//
// and ends with status 1. For programs only: a library leaves the signals of
// its host alone. Once per process, before there are other threads.
#ifndef EMBER_TOOLS_LIB_CUT_FILES_H_
#define EMBER_TOOLS_LIB_CUT_FILES_H_

#include <string_view>

namespace ember::tools {

void ReportCutFiles(std::string_view tool);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CUT_FILES_H_

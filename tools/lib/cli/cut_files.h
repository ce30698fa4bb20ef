// Reports a mapped file that another program truncates while the tool uses it.
// Models are mapped, not read, so the system then ends the tool with SIGBUS.
// After this call the tool prints the reason instead and ends with status 1:
//
//   ReportCutFiles("vm-run");
//   // vm-run: a file that it reads was cut off meanwhile, or could not be read
//
// For programs only: a library must leave the signals of its host alone. Call
// it once per process, before there are other threads.
#ifndef EMBER_TOOLS_LIB_CLI_CUT_FILES_H_
#define EMBER_TOOLS_LIB_CLI_CUT_FILES_H_

#include <string_view>

namespace ember::tools {

void ReportCutFiles(std::string_view tool);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_CUT_FILES_H_

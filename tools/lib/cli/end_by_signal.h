// Makes a tool delete its unfinished files when a signal ends it
// (base/temporary_files.h). The tool then ends by the same signal.
//
//   DeleteTemporaryFilesOnSignals();   // first in main
//
// Signals that the caller of the tool has set to be ignored stay ignored.
#ifndef EMBER_TOOLS_LIB_CLI_END_BY_SIGNAL_H_
#define EMBER_TOOLS_LIB_CLI_END_BY_SIGNAL_H_

namespace ember::tools {

void DeleteTemporaryFilesOnSignals();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_END_BY_SIGNAL_H_

// Errors of the command line, as opposed to errors of the work: a tool ends
// with status 2 for them (tools/lib/cli/flags.h).
//
//   return CommandLineError("--hot: expected a number above 0, found 0");
//   if (IsCommandLineError(status)) return 2;
//
// For the main thread of a tool.
#ifndef EMBER_TOOLS_LIB_CLI_COMMAND_LINE_ERROR_H_
#define EMBER_TOOLS_LIB_CLI_COMMAND_LINE_ERROR_H_

#include <string>

#include "base/status.h"

namespace ember::tools {

// Returns an error for which IsCommandLineError is true. The message is one
// line that names the flag, what was expected and what was found.
Status CommandLineError(std::string message);
// Marks the error as one of the command line, so that IsCommandLineError is
// true for it, and returns it. OK stays OK.
Status AsCommandLineError(Status status);
template <typename T>
StatusOr<T> AsCommandLineError(StatusOr<T> value) {
  if (value.ok()) return value;
  return AsCommandLineError(value.status());
}

// True for the last error that CommandLineError or AsCommandLineError returned,
// even if a context has been added in front of its message.
bool IsCommandLineError(const Status& status);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_COMMAND_LINE_ERROR_H_

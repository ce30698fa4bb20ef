// Checks that a tool will be able to write its output, before it works for
// seconds.
//
//   EMBER_RETURN_IF_ERROR(CheckOutputFile("-o", options.output));
//
// Paths are as the user typed them (tools/lib/cli/paths.h). Errors name the
// flag, the path and the system's reason.
#ifndef EMBER_TOOLS_LIB_CLI_OUTPUT_PATH_H_
#define EMBER_TOOLS_LIB_CLI_OUTPUT_PATH_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tools {

// Returns an error if the file cannot be written, or if it is one of the files
// `inputs`, which would be lost. An empty path is accepted:
// the flag was not given. "-" takes stdout (standard_streams.h), so a tool that
// accepts it calls this function once for each flag.
Status CheckOutputFile(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs = {});
// Returns an error if the folder cannot be made, together with the folders
// above it. The tool makes the folder later, when it is needed. An empty path
// is accepted.
Status CheckOutputFolder(std::string_view flag, const std::string& path);
// Makes the folder if it does not exist. An empty path is accepted and does
// nothing.
Status MakeOutputFolder(std::string_view flag, const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_OUTPUT_PATH_H_

// Resolves paths as the user typed them. `bazel run` starts a tool in another
// folder, and an environment variable says where the user is.
//
//   EMBER_ASSIGN_OR_RETURN(std::string text, ReadFile(UserPath("model.onnx")));
#ifndef EMBER_TOOLS_LIB_CLI_PATHS_H_
#define EMBER_TOOLS_LIB_CLI_PATHS_H_

#include <cstdlib>
#include <string>

namespace ember::tools {

inline std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder == nullptr || path.empty() || path[0] == '/') return path;
  return std::string(folder) + "/" + path;
}

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_PATHS_H_

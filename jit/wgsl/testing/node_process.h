// A program that answers each line on its input by a line on its output, such
// as `node runner.mjs`.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<NodeProcess> node,
//                          NodeProcess::Start({"node", script, folder}));
//   EMBER_ASSIGN_OR_RETURN(std::string answer, node->Ask("{…}"));
//
// The process ends with the object, whose destructor waits for it. Its errors
// go to the test's own. Not thread-safe. kNotFound: the program could not be
// started or ended at once; kInternal: it ended later.
#ifndef EMBER_JIT_WGSL_TESTING_NODE_PROCESS_H_
#define EMBER_JIT_WGSL_TESTING_NODE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/status.h"

namespace ember::jit::wgsl {

class NodeProcess {
 public:
  // command: the program, found by PATH, and its arguments.
  static StatusOr<std::unique_ptr<NodeProcess>> Start(
      const std::vector<std::string>& command);
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  // Returns the next line of the program's output, without its end.
  StatusOr<std::string> ReadLine();
  // Writes the line, which must have no line break, and returns the next line
  // of output.
  StatusOr<std::string> Ask(std::string_view line);

 private:
  NodeProcess(pid_t process, FileDescriptor input, FileDescriptor output)
      : process_(process),
        input_(std::move(input)),
        output_(std::move(output)) {}

  pid_t process_;
  FileDescriptor input_;
  FileDescriptor output_;
  std::string read_;  // output behind the last line that was returned
};

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_TESTING_NODE_PROCESS_H_

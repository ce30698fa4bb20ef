#include "tools/lib/cli/command_line_error.h"

#include <utility>

namespace ember::tools {
namespace {

// The message of the last command line error. A Status has only a code and a
// message, so the message marks such errors. Adding a context puts it in front,
// so an error is recognised by the end of its message.
std::string& LastMessage() {
  static auto* const kMessage = new std::string;
  return *kMessage;
}

}  // namespace

Status CommandLineError(std::string message) {
  return AsCommandLineError(InvalidArgumentError(std::move(message)));
}

Status AsCommandLineError(Status status) {
  if (!status.ok()) LastMessage() = status.message();
  return status;
}

bool IsCommandLineError(const Status& status) {
  return !status.ok() && !LastMessage().empty() &&
         status.message().ends_with(LastMessage());
}

}  // namespace ember::tools

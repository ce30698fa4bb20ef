#include "tools/lib/cli/command_line_error.h"

#include <utility>

namespace ember::tools {
namespace {

// Remembers the message of the last command line error. A Status holds only a
// code and a message, and an error that gets a context keeps its message as the
// end of the new message.
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

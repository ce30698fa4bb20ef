#include "tools/lib/cli/command_line_error.h"

#include <utility>

namespace ember::tools {
namespace {

// A Status holds a code and a message only. An error that gets a context keeps
// its message as the end of the new one.
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

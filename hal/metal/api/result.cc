#include "hal/metal/api/result.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::hal::metal {
namespace {

struct Row {
  int64_t code;
  std::string_view name;
};

constexpr Row kRows[] = {
    {kInternalError, "MTLCommandBufferErrorInternal"},
    {kTimeout, "MTLCommandBufferErrorTimeout"},
    {kPageFault, "MTLCommandBufferErrorPageFault"},
    {4, "MTLCommandBufferErrorAccessRevoked"},
    {7, "MTLCommandBufferErrorNotPermitted"},
    {kOutOfMemory, "MTLCommandBufferErrorOutOfMemory"},
    {9, "MTLCommandBufferErrorInvalidResource"},
    {10, "MTLCommandBufferErrorMemoryless"},
    {kDeviceRemoved, "MTLCommandBufferErrorDeviceRemoved"},
    {12, "MTLCommandBufferErrorStackOverflow"},
};

}  // namespace

std::string CommandErrorName(int64_t code) {
  const auto* const row = std::ranges::find(kRows, code, &Row::code);
  return row != std::end(kRows) ? std::string(row->name)
                                : Concat({"MTLCommandBufferError ", code});
}

std::string_view SayingLine(std::string_view text) {
  std::string_view first;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find("error") != std::string_view::npos) return line;
    if (first.empty() && line.find_first_not_of(" \t\r") < line.size())
      first = line;
    begin = end + 1;
  }
  return first.empty() ? "no reason given" : first;
}

Status CommandsStatus(const Error& error) {
  return FailedPreconditionError(
      Concat({"the commands ended with ", CommandErrorName(error.code), ": ",
              SayingLine(error.text)}));
}

Status NilStatus(StatusCode code, std::string_view call, const Error& error) {
  std::string message = Concat({call, " gave nil"});
  if (!error.text.empty()) message += Concat({": ", SayingLine(error.text)});
  return Status(code, std::move(message));
}

}  // namespace ember::hal::metal

#include "tools/lib/cli/standard_streams.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/concat.h"
#include "base/file.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"

namespace ember::tools {
namespace {

// The use of stdin and stdout by this process. Each can be used for one file
// only.
struct Streams {
  std::string reader, writer;  // names of the files that use stdin and stdout;
                               // "": none
  std::string input;           // path of a temporary file with all bytes of
                               // stdin
  int output = -1;             // descriptor of the original stdout, once it is
                               // used for a file
};

Streams& State() {
  static auto* const kState = new Streams;
  return *kState;
}

Status CannotWrite(int error) {
  return FailedPreconditionError(
      Concat({"cannot write to stdout: ", std::strerror(error)}));
}

std::string PathOf(int file) { return Concat({"/proc/self/fd/", file}); }

Status WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotWrite(errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return OkStatus();
}

// Copies all bytes of stdin to an anonymous file in memory. Returns its
// descriptor, which stays open.
StatusOr<int> CopyOfStdin() {
  const int file = ::memfd_create("ember-stdin", 0);
  if (file < 0)
    return InternalError(Concat({"memfd_create: ", std::strerror(errno)}));
  std::string buffer(size_t{1} << 20, '\0');
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) return file;
    if (count > 0) {
      EMBER_RETURN_IF_ERROR(
          WriteAll(file, {buffer.data(), static_cast<size_t>(count)}));
    } else if (errno != EINTR) {
      return FailedPreconditionError(
          Concat({"cannot read from stdin: ", std::strerror(errno)}));
    }
  }
}

}  // namespace

StatusOr<std::string> StdinFile(std::string_view what) {
  Streams& streams = State();
  if (streams.reader == what) return streams.input;
  if (!streams.reader.empty()) {
    return CommandLineError(Concat(
        {what, ": expected one file named -, which is stdin, found two; ",
         streams.reader, " is the other"}));
  }
  struct stat info;
  if (::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)) {
    streams.input = PathOf(STDIN_FILENO);
  } else {
    if (::isatty(STDIN_FILENO) != 0) {
      return CommandLineError(Concat(
          {what, ": expected a file or pipe as stdin, found a terminal"}));
    }
    const StatusOr<int> copy = CopyOfStdin();
    if (!copy.ok()) return copy.status().WithContext(what);
    streams.input = PathOf(*copy);
  }
  streams.reader = what;
  return streams.input;
}

StatusOr<std::string> InputPath(std::string_view what,
                                const std::string& path) {
  if (path == kStandardStream) return StdinFile(what);
  return UserPath(path);
}

Status TakeStdout(std::string_view flag, bool is_text) {
  Streams& streams = State();
  if (!streams.writer.empty()) {
    return CommandLineError(
        Concat({flag,
                ": expected one file named -, which is stdout, found "
                "two; ",
                streams.writer, " is the other"}));
  }
  if (!is_text && ::isatty(STDOUT_FILENO) != 0) {
    return CommandLineError(Concat(
        {flag, ": expected a file or pipe as stdout, found a terminal"}));
  }
  std::fflush(stdout);
  streams.output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (streams.output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return CannotWrite(errno);
  streams.writer = flag;
  return OkStatus();
}

Status WriteTakenStdout(std::string_view bytes) {
  return WriteAll(State().output, bytes);
}

Status WriteUserFile(const std::string& path, std::string_view contents) {
  if (path == kStandardStream) return WriteTakenStdout(contents);
  return WriteFileAtomically(UserPath(path), contents);
}

}  // namespace ember::tools

#include "tools/lib/cli/output_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/concat.h"
#include "base/temporary_files.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"

namespace ember::tools {
namespace {

Status CannotWrite(std::string_view flag, const std::string& path, int error) {
  return FailedPreconditionError(Concat(
      {flag, ": cannot write file '", path, "': ", std::strerror(error)}));
}

Status NoFolder(std::string_view flag, const std::string& path, int error) {
  return FailedPreconditionError(
      Concat({flag, ": expected a folder to write to, found '", path,
              "': ", std::strerror(error)}));
}

// True if both paths name one regular file that exists.
bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat first, second;
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

Status CheckOutputFile(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs) {
  if (path.empty()) return OkStatus();
  if (path == kStandardStream) return TakeStdout(flag);
  const std::string file = UserPath(path);
  struct stat info;
  if (::stat(file.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return CannotWrite(flag, path, EISDIR);
  for (const std::string& input : inputs) {
    if (!IsSameFile(file, UserPath(input))) continue;
    return FailedPreconditionError(
        Concat({flag, ": expected another file than the input '", input,
                "', which would be lost, found '", path, "'"}));
  }
  if (IsWrittenInPlace(file)) {
    return ::access(file.c_str(), W_OK) == 0 ? OkStatus()
                                             : CannotWrite(flag, path, errno);
  }
  // A regular file is not written in place but replaced by a new file. So the
  // permissions of its folder matter, not those of the file.
  const size_t name = file.rfind('/') + 1;
  if (name == file.size()) return CannotWrite(flag, path, EISDIR);
  const std::string folder = name == 0 ? "." : file.substr(0, name);
  return ::access(folder.c_str(), W_OK | X_OK) == 0
             ? OkStatus()
             : CannotWrite(flag, path, errno);
}

Status CheckOutputFolder(std::string_view flag, const std::string& path) {
  if (path.empty()) return OkStatus();
  // Goes up from the path to the nearest folder that exists. The missing
  // folders will be made inside it, so it must be writable.
  std::string folder = UserPath(path);
  while (::access((folder + "/").c_str(), W_OK | X_OK) != 0) {
    if (errno != ENOENT) return NoFolder(flag, path, errno);
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos)
      folder = ".";
    else
      folder.resize(slash);
  }
  return OkStatus();
}

Status MakeOutputFolder(std::string_view flag, const std::string& path) {
  if (path.empty()) return OkStatus();
  const std::string folder = UserPath(path);
  const bool is_made = ::mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST;
  // The slash at the end makes access() fail if the path is a file and not a
  // folder.
  if (is_made && ::access((folder + "/").c_str(), W_OK | X_OK) == 0)
    return OkStatus();
  return NoFolder(flag, path, errno);
}

}  // namespace ember::tools

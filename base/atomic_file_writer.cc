#include "base/atomic_file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/concat.h"

namespace ember {
namespace {

// Repeats a system call until no signal interrupts it.
template <typename Call>
auto Retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// True for devices, pipes and sockets: renaming a file over them would replace
// them.
bool IsWrittenInPlace(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return false;
  if (!S_ISREG(info.st_mode)) return true;
  // /dev/stdout and /dev/fd/1 are links of the system that may lead to a
  // regular file; that file is written in place. Below other folders of /dev
  // any user may have files.
  struct stat link;
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  constexpr std::string_view kDevices = "/dev/";
  return path.starts_with("/proc/") || path.starts_with("/dev/fd/") ||
         (path.starts_with(kDevices) &&
          path.find('/', kDevices.size()) == std::string::npos);
}

}  // namespace

StatusOr<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path) {
  static std::atomic<uint32_t> counter{
      0};  // counter that makes the names of this process's threads different
  AtomicFileWriter writer;
  writer.path_ = path;
  // The system would use only the part before the zero byte.
  if (path.find('\0') != std::string::npos)
    return writer.Error("create", EINVAL);
  if (IsWrittenInPlace(path)) {
    // Opening a folder for writing fails.
    writer.file_ = Retry(
        [&] { return ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); });
    if (writer.file_ < 0) return writer.Error("write", errno);
    return writer;
  }
  // Largest number of bytes of the file's name that the temporary name repeats:
  // with the added suffix the whole name might be too long.
  constexpr size_t kMaxOfName = 100;
  const size_t name = path.rfind('/') + 1;  // 0 if the path has no folder
  const std::string temporary =
      Concat({path.substr(0, name), path.substr(name, kMaxOfName), ".tmp.",
              ::getpid(), ".", counter.fetch_add(1)});
  writer.file_ = Retry([&] {
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  0666);
  });
  if (writer.file_ < 0) return writer.Error("create", errno);
  writer.temporary_ = temporary;
  return writer;
}

AtomicFileWriter::~AtomicFileWriter() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFileWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        Retry([&] { return ::write(file_, bytes.data(), bytes.size()); });
    // The system wrote nothing and gave no reason; retrying would never end.
    if (written == 0) return Error("write", ENOSPC);
    if (written < 0) return Error("write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status AtomicFileWriter::Commit(Durability durability) {
  if (durability == Durability::kSurvivesPowerLoss) {
    const int synced = Retry([&] { return ::fsync(file_); });
    // Files of some systems cannot be synchronised.
    if (synced != 0 && errno != EINVAL && errno != ENOSYS)
      return Error("write", errno);
  }
  // The descriptor is closed whatever close() returns, even after EINTR.
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0 && errno != EINTR) return Error("write", errno);
  if (temporary_.empty()) return OkStatus();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    return Error("replace", errno);
  temporary_.clear();
  return OkStatus();
}

Status AtomicFileWriter::Error(const char* what, int error) const {
  std::string message =
      Concat({"cannot ", what, " file '", path_, "': ", std::strerror(error)});
  if (error == ENOENT) return NotFoundError(std::move(message));
  if (error == ENOMEM) return ResourceExhaustedError(std::move(message));
  return FailedPreconditionError(std::move(message));
}

}  // namespace ember

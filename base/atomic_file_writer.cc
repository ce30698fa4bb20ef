#include "base/atomic_file_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/concat.h"

namespace ember {

// The functions in this part are declared in base/temporary_files.h, a library
// of its own: nearly every compilation reads base/atomic_file_writer.h, and few
// need these functions.
void RemoveTemporaryFiles();
bool IsWrittenInPlace(const std::string& path);

namespace {

// Calls a system call again as long as a signal interrupts it (EINTR).
template <typename Call>
auto Retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// The path of a temporary file that is to be deleted if a signal ends the
// process. The memory is fixed: a signal handler may read a path while another
// thread removes it from the list, and freed memory could hold anything.
struct Note {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> is_noted{false};
  char path[1024];
};
Note notes[16];

// Records the path of a temporary file before the file is created. Does nothing
// if the path is too long or if too many files are recorded.
void NoteTemporary(const std::string& path) {
  if (path.size() >= sizeof notes[0].path) return;
  for (Note& note : notes) {
    if (note.is_taken.exchange(true)) continue;
    std::memcpy(note.path, path.c_str(), path.size() + 1);
    note.is_noted = true;
    return;
  }
}

void ForgetTemporary(const std::string& path) {
  for (Note& note : notes) {
    if (!note.is_noted || path != note.path) continue;
    note.is_noted = false;
    note.is_taken = false;
  }
}

// Returns the prefix with which the names of all temporary files for `path`
// begin: its folder, its file's name and ".tmp.". The prefix has only the first
// kMaxName bytes of the file's name, because a longer name with a suffix might
// be too long for the file system.
std::string PrefixOfTemporaries(std::string_view path) {
  constexpr size_t kMaxName = 100;
  // rfind gives npos if the path has no slash, and npos + 1 is 0: the file's
  // name then begins at 0.
  const size_t name = path.rfind('/') + 1;
  return Concat({path.substr(0, name), path.substr(name, kMaxName), ".tmp."});
}

// True if `text` has the form of a temporary file's suffix: a process number
// and a counter, as in "123.4".
bool IsProcessAndNumber(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t point = text.find('.');
  return point != std::string_view::npos && point > 0 &&
         point + 1 < text.size() &&
         text.substr(0, point).find_first_not_of(kDigits) ==
             std::string_view::npos &&
         text.substr(point + 1).find_first_not_of(kDigits) ==
             std::string_view::npos;
}

// Deletes the temporary file if the lock can be taken: a writer that is still
// running holds it. The name is compared once more with the lock held, because
// the writer may have renamed the file meanwhile.
void DeleteIfAbandoned(int folder, const char* name) {
  // The file is opened for writing, because some systems lock only files that
  // are open for writing.
  const int file = Retry([&] {
    return ::openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    0);
  });
  if (file < 0) return;
  struct stat opened, named;
  if (::fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) &&
      ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
      ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
    ::unlinkat(folder, name, 0);
  ::close(file);
}

// Deletes temporary files that writers of the same path left behind because
// they were killed.
void DeleteAbandoned(const std::string& prefix) {
  const size_t name = prefix.rfind('/') + 1;
  const std::string folder = name == 0 ? "." : prefix.substr(0, name);
  const std::string_view wanted = std::string_view(prefix).substr(name);
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* const entry = ::readdir(entries)) {
    const std::string_view found = entry->d_name;
    if (found.starts_with(wanted) &&
        IsProcessAndNumber(found.substr(wanted.size())))
      DeleteIfAbandoned(::dirfd(entries), entry->d_name);
  }
  ::closedir(entries);
}

// Creates a temporary file for `path` and locks it, so that no other writer
// deletes it. Returns -1 and sets errno if that fails.
int CreateTemporary(const std::string& path, std::string& name) {
  static std::atomic<uint32_t> counter{
      // This counter makes the names of one process's temporary files
      // different.
      0};
  const std::string prefix = PrefixOfTemporaries(path);
  DeleteAbandoned(prefix);
  constexpr int kMaxAttempts = 100;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    name = Concat({prefix, ::getpid(), ".", counter.fetch_add(1)});
    NoteTemporary(name);
    const int file = Retry([&] {
      return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    });
    const int error = errno;
    if (file >= 0) {
      // Not all systems support locks. Where locks fail, other writers cannot
      // lock this file either and so do not delete it.
      struct stat info;
      if (Retry([&] { return ::flock(file, LOCK_EX); }) != 0 ||
          ::fstat(file, &info) != 0 || info.st_nlink > 0)
        return file;
      // Another writer found the file before it was locked and deleted it as an
      // abandoned one, so the next name is tried.
      ::close(file);
    }
    ForgetTemporary(name);
    errno = error;
    // A killed process with the same number may have left a file of this name,
    // if files cannot be locked here; the next name is tried then.
    if (file < 0 && error != EEXIST) break;
  }
  name.clear();
  return -1;
}

}  // namespace

void RemoveTemporaryFiles() {
  for (const Note& note : notes) {
    if (note.is_noted) ::unlink(note.path);
  }
}

// Devices and pipes are written in place, because renaming would replace them
// by a regular file.
bool IsWrittenInPlace(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return false;
  if (!S_ISREG(info.st_mode)) return true;
  // /dev/stdout and /dev/fd/1 are links of the system that may lead to a
  // regular file; that file is written in place. Links in other folders below
  // /dev do not count, because any user may create files there, for example in
  // /dev/shm.
  struct stat link;
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  constexpr std::string_view kDevices = "/dev/";
  return path.starts_with("/proc/") || path.starts_with("/dev/fd/") ||
         (path.starts_with(kDevices) &&
          path.find('/', kDevices.size()) == std::string::npos);
}

StatusOr<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path) {
  AtomicFileWriter writer;
  writer.path_ = path;
  // A path with a zero byte is refused, because the system would use only the
  // part before that byte.
  if (path.find('\0') != std::string::npos)
    return writer.Error("create", EINVAL);
  if (IsWrittenInPlace(path)) {
    // For a folder this call fails, too, because a folder cannot be opened for
    // writing; the error is reported.
    writer.file_ = Retry(
        [&] { return ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); });
    if (writer.file_ < 0) return writer.Error("write", errno);
    return writer;
  }
  writer.file_ = CreateTemporary(path, writer.temporary_);
  if (writer.file_ < 0) return writer.Error("create", errno);
  return writer;
}

AtomicFileWriter::~AtomicFileWriter() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    ForgetTemporary(temporary_);
  }
  // The file is closed last, because closing it ends the lock.
  if (file_ >= 0) ::close(file_);
}

Status AtomicFileWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        Retry([&] { return ::write(file_, bytes.data(), bytes.size()); });
    // Writing nothing without an error is treated as an error, because retrying
    // would never end.
    if (written == 0) return Error("write", ENOSPC);
    if (written < 0) return Error("write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status AtomicFileWriter::Commit(Durability durability) {
  if (durability == Durability::kSurvivesPowerLoss) {
    const int synced = Retry([&] { return ::fsync(file_); });
    // Some file systems do not support synchronisation; their error codes are
    // ignored.
    if (synced != 0 && errno != EINVAL && errno != ENOSYS)
      return Error("write", errno);
  }
  // The copied descriptor keeps the lock until the file has its final name. The
  // original descriptor is closed before the renaming, because some systems
  // report a failed write only at the closing.
  const int lock = temporary_.empty() ? -1 : ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  // The descriptor is closed even if close() reports an error such as EINTR, so
  // it is not closed again.
  const int closed = ::close(std::exchange(file_, -1));
  Status status;
  if (closed != 0 && errno != EINTR) {
    status = Error("write", errno);
  } else if (!temporary_.empty()) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      status = Error("replace", errno);
    } else {
      ForgetTemporary(temporary_);
      temporary_.clear();
    }
  }
  if (lock >= 0) ::close(lock);
  return status;
}

Status AtomicFileWriter::Error(const char* what, int error) const {
  std::string message =
      Concat({"cannot ", what, " file '", path_, "': ", std::strerror(error)});
  if (error == ENOENT) return NotFoundError(std::move(message));
  if (error == ENOMEM) return ResourceExhaustedError(std::move(message));
  return FailedPreconditionError(std::move(message));
}

}  // namespace ember

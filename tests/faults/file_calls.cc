#include "tests/faults/file_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <utility>

// The linker redirects calls of open to __wrap_open (--wrap in BUILD), and
// calls of __real_open to open.
extern "C" {
int __real_open(const char* path, int flags, ...);
int __real_openat(int folder, const char* path, int flags, ...);
ssize_t __real_read(int file, void* data, size_t size);
ssize_t __real_write(int file, const void* data, size_t size);
int __real_close(int file);
int __real_fsync(int file);
int __real_fstat(int file, struct stat* info);
int __real_fstatat(int folder, const char* path, struct stat* info, int flags);
int __real_stat(const char* path, struct stat* info);
int __real_lstat(const char* path, struct stat* info);
int __real_rename(const char* from, const char* to);
int __real_renameat(int from_folder, const char* from, int to_folder,
                    const char* to);
int __real_linkat(int from_folder, const char* from, int to_folder,
                  const char* to, int flags);
int __real_unlink(const char* path);
int __real_unlinkat(int folder, const char* path, int flags);
int __real_mkdir(const char* path, mode_t mode);
int __real_futimens(int file, const struct timespec* times);
ssize_t __real_getrandom(void* data, size_t size, unsigned flags);
DIR* __real_fdopendir(int file);
void* __real_mmap(void* address, size_t bytes, int protection, int flags,
                  int file, off_t offset);
}

namespace ember::tests {
namespace {

// Properties of a call. They decide which faults can happen in the call.
enum : unsigned {
  kAny = 0,
  kMayNeedSpace = 1,
  kMayWait = 2,  // A signal can interrupt a call with this property.
  kMoves = 4,    // A call with this property reads or writes bytes of a file.
  kRenames = 8,
};

FileFaults faults;
FileCallCounts counts;
bool is_on = false;

// Paths of the files that were written but not synchronised since, by inode. A
// path relative to an open folder is resolved.
std::map<std::pair<dev_t, ino_t>, std::string> unsynced;

std::string PathIn(int folder, const char* path) {
  if (folder == AT_FDCWD || path[0] == '/') return path;
  char target[4096];
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(folder)).c_str(), target,
                 sizeof target);
  if (size < 0) return path;
  return std::string(target, static_cast<size_t>(size)) + "/" + path;
}

std::string PathOf(int file) {
  std::string path = PathIn(file, "");
  if (path.ends_with('/')) path.pop_back();
  return path;
}

void NoteWritten(int file) {
  struct stat info;
  if (__real_fstat(file, &info) == 0 && S_ISREG(info.st_mode))
    unsynced[{info.st_dev, info.st_ino}] = PathOf(file);
}

void NoteSynced(int file) {
  struct stat info;
  if (__real_fstat(file, &info) == 0)
    unsynced.erase({info.st_dev, info.st_ino});
}

// Called after a rename: if the file is not synchronised yet, records its new
// name.
void NoteMoved(const std::string& path) {
  struct stat info;
  if (__real_lstat(path.c_str(), &info) != 0) return;
  const auto found = unsynced.find({info.st_dev, info.st_ino});
  if (found != unsynced.end()) found->second = path;
}

void Damage(const std::string& path, uint64_t choice) {
  const int file = __real_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  struct stat info;
  if (file < 0 || __real_fstat(file, &info) != 0) return;
  const auto zero = [&](off_t begin, off_t end) {
    for (; begin < end; ++begin) {
      if (::pwrite(file, "", 1, begin) != 1) return;
    }
  };
  int result = 0;
  switch (choice % 5) {
    case 0:
      result = ::ftruncate(file, 0);
      break;
    case 1:
      zero(0, info.st_size);
      break;
    case 2:
      result = ::ftruncate(file, info.st_size / 2);
      break;
    case 3: {
      const off_t block = info.st_size / 512 / 2 * 512;
      zero(block, std::min<off_t>(block + 512, info.st_size));
      break;
    }
    default:
      break;
  }
  if (result != 0) std::perror("damage");
  __real_close(file);
}

[[noreturn]] void LosePower() {
  uint64_t choice = faults.seed;
  for (const auto& [number, path] : unsynced) {
    Damage(path, choice);
    choice = choice * 6364136223846793005u + 1442695040888963407u;
    choice ^= choice >> 33;
  }
  ::_exit(kPowerLossStatus);
}

// Counts a call to which the fault applies. Returns true if the fault must
// happen in this call.
bool Happens(const char* name, unsigned kinds) {
  if (!is_on) return false;
  switch (faults.fault) {
    case FileFault::kNone:
    case FileFault::kIoError:
    case FileFault::kPowerLoss:
      break;
    case FileFault::kNoSpace:
      if ((kinds & kMayNeedSpace) == 0) return false;
      break;
    case FileFault::kInterrupted:
      if ((kinds & kMayWait) == 0) return false;
      break;
    case FileFault::kShort:
      if ((kinds & kMoves) == 0) return false;
      break;
    case FileFault::kLostRename:
      if ((kinds & kRenames) == 0) return false;
      break;
  }
  if (++counts.seen != faults.number || faults.fault == FileFault::kNone)
    return false;
  if (faults.fault == FileFault::kPowerLoss) LosePower();
  counts.failed = name;
  return true;
}

// Sets errno to the fault's error and returns `failed`, the result of a failed
// call.
template <typename Result>
Result Fail(Result failed) {
  switch (faults.fault) {
    case FileFault::kNoSpace:
      errno = ENOSPC;
      break;
    case FileFault::kInterrupted:
      errno = EINTR;
      break;
    default:
      errno = EIO;
      break;
  }
  return failed;
}

}  // namespace

void StartFileFaults(const FileFaults& wanted) {
  faults = wanted;
  counts = {};
  unsynced.clear();
  is_on = true;
}

FileCallCounts StopFileFaults() {
  is_on = false;
  return counts;
}

}  // namespace ember::tests

using namespace ember::tests;

extern "C" {

int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode =
      (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : mode_t{0};
  va_end(arguments);
  const unsigned creates = (flags & O_CREAT) != 0 ? kMayNeedSpace : kAny;
  if (Happens("open", creates | kMayWait)) return Fail(-1);
  return __real_open(path, flags, mode);
}

int __wrap_openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode =
      (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : mode_t{0};
  va_end(arguments);
  const unsigned creates = (flags & O_CREAT) != 0 ? kMayNeedSpace : kAny;
  if (Happens("openat", creates | kMayWait)) return Fail(-1);
  return __real_openat(folder, path, flags, mode);
}

ssize_t __wrap_read(int file, void* data, size_t size) {
  if (!Happens("read", kMayWait | kMoves)) return __real_read(file, data, size);
  if (faults.fault == FileFault::kShort)
    return __real_read(file, data, size > 0 ? 1 : 0);
  return Fail<ssize_t>(-1);
}

ssize_t __wrap_write(int file, const void* data, size_t size) {
  if (is_on) NoteWritten(file);
  if (!Happens("write", kMayNeedSpace | kMayWait | kMoves))
    return __real_write(file, data, size);
  if (faults.fault == FileFault::kShort)
    return __real_write(file, data, size > 0 ? 1 : 0);
  return Fail<ssize_t>(-1);
}

int __wrap_close(int file) {
  const bool happens = Happens("close", kMayNeedSpace | kMayWait);
  const int result = __real_close(file);
  return happens ? Fail(-1) : result;
}

int __wrap_fsync(int file) {
  if (Happens("fsync", kMayNeedSpace | kMayWait)) return Fail(-1);
  NoteSynced(file);
  return __real_fsync(file);
}

int __wrap_fstat(int file, struct stat* info) {
  return Happens("fstat", kAny) ? Fail(-1) : __real_fstat(file, info);
}

int __wrap_fstatat(int folder, const char* path, struct stat* info, int flags) {
  return Happens("fstatat", kAny) ? Fail(-1)
                                  : __real_fstatat(folder, path, info, flags);
}

int __wrap_stat(const char* path, struct stat* info) {
  return Happens("stat", kAny) ? Fail(-1) : __real_stat(path, info);
}

int __wrap_lstat(const char* path, struct stat* info) {
  return Happens("lstat", kAny) ? Fail(-1) : __real_lstat(path, info);
}

int __wrap_rename(const char* from, const char* to) {
  if (Happens("rename", kMayNeedSpace | kRenames))
    return faults.fault == FileFault::kLostRename ? 0 : Fail(-1);
  const int result = __real_rename(from, to);
  NoteMoved(to);
  return result;
}

int __wrap_renameat(int from_folder, const char* from, int to_folder,
                    const char* to) {
  if (Happens("renameat", kMayNeedSpace | kRenames))
    return faults.fault == FileFault::kLostRename ? 0 : Fail(-1);
  const int result = __real_renameat(from_folder, from, to_folder, to);
  NoteMoved(PathIn(to_folder, to));
  return result;
}

int __wrap_linkat(int from_folder, const char* from, int to_folder,
                  const char* to, int flags) {
  if (Happens("linkat", kMayNeedSpace | kRenames))
    return faults.fault == FileFault::kLostRename ? 0 : Fail(-1);
  const int result = __real_linkat(from_folder, from, to_folder, to, flags);
  NoteMoved(PathIn(to_folder, to));
  return result;
}

int __wrap_unlink(const char* path) {
  return Happens("unlink", kAny) ? Fail(-1) : __real_unlink(path);
}

int __wrap_unlinkat(int folder, const char* path, int flags) {
  return Happens("unlinkat", kAny) ? Fail(-1)
                                   : __real_unlinkat(folder, path, flags);
}

int __wrap_mkdir(const char* path, mode_t mode) {
  return Happens("mkdir", kMayNeedSpace) ? Fail(-1) : __real_mkdir(path, mode);
}

int __wrap_futimens(int file, const struct timespec* times) {
  return Happens("futimens", kAny) ? Fail(-1) : __real_futimens(file, times);
}

ssize_t __wrap_getrandom(void* data, size_t size, unsigned flags) {
  return Happens("getrandom", kAny) ? Fail<ssize_t>(-1)
                                    : __real_getrandom(data, size, flags);
}

DIR* __wrap_fdopendir(int file) {
  return Happens("fdopendir", kAny) ? Fail<DIR*>(nullptr)
                                    : __real_fdopendir(file);
}

void* __wrap_mmap(void* address, size_t bytes, int protection, int flags,
                  int file, off_t offset) {
  // A mapping without a file only allocates memory, so it does not count as a
  // call on files.
  if (file >= 0 && Happens("mmap", kAny)) return Fail(MAP_FAILED);
  return __real_mmap(address, bytes, protection, flags, file, offset);
}

}  // extern "C"

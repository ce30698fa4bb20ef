#include "base/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/concat.h"

namespace ember {
namespace {

constexpr std::string_view kUnfinished = "unfinished-";

// Owns a file descriptor, and closes it on every path out of a function.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Calls openat, and calls it again when a signal interrupted it.
int OpenAt(int folder, const char* name, int flags, mode_t mode = 0) {
  int file = -1;
  do {
    file = ::openat(folder, name, flags | O_CLOEXEC, mode);
  } while (file < 0 && errno == EINTR);
  return file;
}

// Returns the reason why users other than this one may change the file; empty
// if they may not.
std::string WhyOthersMayChange(const struct stat& info) {
  if (info.st_uid != ::geteuid()) {
    return Concat({"expected this user (", ::geteuid(),
                   ") as its owner, found ", info.st_uid});
  }
  if ((info.st_mode & 022) != 0) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%04o",
                  static_cast<unsigned>(info.st_mode & 07777));
    return Concat({"expected that others may not write to it, found mode ",
                   std::string_view(mode)});
  }
  return "";
}

// Creates the folder and its missing parent folders. Errors are ignored here,
// because opening the folder then fails and reports them.
void MakeFolders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1))
    static_cast<void>(::mkdir(path.substr(0, end).c_str(), 0700));
  static_cast<void>(::mkdir(path.c_str(), 0700));
}

bool WriteAll(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written =
        ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool Synchronise(int descriptor) {
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

std::optional<std::string> ReadAll(int descriptor, size_t size) {
  std::string contents(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(descriptor, &contents[done], size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  return contents;
}

// Opens a file for reading and sets *size. Returns -1 if it cannot be opened,
// is not a regular file (a symbolic link is none), is too large, or may have
// been written (if is_secret: or read) by other users.
int OpenTrusted(int folder, const std::string& name, int64_t max_bytes,
                bool is_secret, int64_t* size) {
  Descriptor file(
      OpenAt(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return -1;
  if (!S_ISREG(info.st_mode) || !WhyOthersMayChange(info).empty() ||
      info.st_size > max_bytes || (is_secret && (info.st_mode & 077) != 0))
    return -1;
  *size = info.st_size;
  return file.Release();
}

}  // namespace

StatusOr<std::string> RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  // getrandom is only guaranteed to return up to 256 bytes at once, so larger
  // requests are refused.
  if (count > 256 ||
      ::getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count))
    return InternalError("the system gave no random bytes");
  return bytes;
}

StatusOr<PrivateFolder> PrivateFolder::Open(const std::string& path) {
  // A path with a zero byte is refused, because the system would use only the
  // part before that byte.
  if (path.find('\0') != std::string::npos) {
    return InvalidArgumentError(
        Concat({"folder '", path.c_str(), "': found a name with a zero byte"}));
  }
  MakeFolders(path);
  PrivateFolder folder(OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY),
                       path);
  if (folder.descriptor_ < 0) return folder.Error("open", errno);
  struct stat info;
  if (::fstat(folder.descriptor_, &info) != 0)
    return folder.Error("inspect", errno);
  if (const std::string reason = WhyOthersMayChange(info); !reason.empty())
    return FailedPreconditionError(Concat({"folder '", path, "': ", reason}));
  return folder;
}

PrivateFolder::~PrivateFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PrivateFolder::Error(const char* what, int error) const {
  return FailedPreconditionError(Concat(
      {"cannot ", what, " folder '", path_, "': ", std::strerror(error)}));
}

std::optional<std::string> PrivateFolder::Read(const std::string& name,
                                               int64_t max_bytes,
                                               bool is_secret) const {
  int64_t size = 0;
  const Descriptor file(
      OpenTrusted(descriptor_, name, max_bytes, is_secret, &size));
  if (file.get() < 0) return std::nullopt;
  return ReadAll(file.get(), static_cast<size_t>(size));
}

std::optional<std::string> PrivateFolder::Use(const std::string& name,
                                              int64_t max_bytes) const {
  int64_t size = 0;
  const Descriptor file(
      OpenTrusted(descriptor_, name, max_bytes, /*is_secret=*/false, &size));
  if (file.get() < 0) return std::nullopt;
  // The file's time records its last use. On a read-only disk it cannot be set,
  // which does no harm.
  static_cast<void>(::futimens(file.get(), nullptr));
  return ReadAll(file.get(), static_cast<size_t>(size));
}

StatusOr<std::string> PrivateFolder::WriteUnfinished(
    std::string_view contents, Durability durability) const {
  EMBER_ASSIGN_OR_RETURN(const std::string random, RandomBytes(8));
  uint64_t number = 0;
  std::memcpy(&number, random.data(), sizeof number);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(number));
  std::string name = Concat({kUnfinished, std::string_view(digits)});
  const Descriptor file(
      OpenAt(descriptor_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  if (file.get() < 0) return Error("write to", errno);
  const bool is_synced = durability == Durability::kSurvivesPowerLoss;
  if (!WriteAll(file.get(), contents) ||
      (is_synced && !Synchronise(file.get()))) {
    const int error = errno;
    Remove(name);
    return Error("write to", error);
  }
  return name;
}

Status PrivateFolder::Replace(const std::string& name,
                              std::string_view contents,
                              Durability durability) const {
  EMBER_ASSIGN_OR_RETURN(const std::string unfinished,
                         WriteUnfinished(contents, durability));
  if (::renameat(descriptor_, unfinished.c_str(), descriptor_, name.c_str()) ==
      0)
    return OkStatus();
  const int error = errno;
  Remove(unfinished);
  return Error("write to", error);
}

Status PrivateFolder::Create(const std::string& name,
                             std::string_view contents) const {
  EMBER_ASSIGN_OR_RETURN(
      const std::string unfinished,
      WriteUnfinished(contents, Durability::kSurvivesPowerLoss));
  const int error = ::linkat(descriptor_, unfinished.c_str(), descriptor_,
                             name.c_str(), 0) == 0
                        ? 0
                        : errno;
  Remove(unfinished);
  if (error != 0 && error != EEXIST) return Error("write to", error);
  return OkStatus();
}

void PrivateFolder::Remove(const std::string& name) const {
  ::unlinkat(descriptor_, name.c_str(), 0);
}

std::vector<PrivateFolder::File> PrivateFolder::List() const {
  std::vector<File> files;
  // The folder is opened a second time for listing, because the read position
  // belongs to the descriptor and threads may list at once.
  Descriptor descriptor(OpenAt(descriptor_, ".", O_RDONLY | O_DIRECTORY));
  if (descriptor.get() < 0) return files;
  DIR* const list = ::fdopendir(descriptor.get());
  if (list == nullptr) return files;
  // closedir of the list also closes the descriptor, so it must not be closed
  // twice.
  descriptor.Release();
  while (const dirent* entry = ::readdir(list)) {
    struct stat info;
    if (::fstatat(descriptor_, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) !=
            0 ||
        !S_ISREG(info.st_mode))
      continue;
    File& file = files.emplace_back();
    file.name = entry->d_name;
    file.bytes = info.st_size;
    file.used_ns =
        int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
    file.is_unfinished = file.name.starts_with(kUnfinished);
  }
  ::closedir(list);
  return files;
}

}  // namespace ember

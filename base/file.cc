#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/concat.h"

namespace ember {
namespace {

Status FileError(const char* what, const std::string& path, int error) {
  std::string message =
      Concat({"cannot ", what, " file '", path, "': ", std::strerror(error)});
  if (error == ENOENT) return NotFoundError(std::move(message));
  if (error == ENOMEM) return ResourceExhaustedError(std::move(message));
  return FailedPreconditionError(std::move(message));
}

// Closes on every way out.
class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }
  int Close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result;
  }

 private:
  int descriptor_;
};

// The size of an opened regular file; folders, pipes and devices are refused.
StatusOr<uint64_t> RegularFileSize(const FileDescriptor& file,
                                   const std::string& path) {
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return FileError("inspect", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgumentError(
        Concat({"cannot read file '", path, "': not a regular file"}));
  }
  return static_cast<uint64_t>(info.st_size);
}

Status WriteAll(const FileDescriptor& file, std::string_view contents,
                const std::string& path) {
  while (!contents.empty()) {
    const ssize_t written =
        ::write(file.get(), contents.data(), contents.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError("write", path, errno);
    }
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status WriteTemporary(const std::string& temporary, std::string_view contents,
                      const std::string& path) {
  FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) return FileError("create", path, errno);
  EMBER_RETURN_IF_ERROR(WriteAll(file, contents, path));
  if (file.Close() != 0) return FileError("write", path, errno);
  return OkStatus();
}

}  // namespace

StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FileError("open", path, errno);
  EMBER_ASSIGN_OR_RETURN(const uint64_t size, RegularFileSize(file, path));
  MappedFile mapped;
  if (size == 0) return mapped;  // an empty mapping is an error to the system
  if (size > SIZE_MAX / 2) return FileError("map", path, EFBIG);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return FileError("map", path, errno);
  mapped.data_ = static_cast<const uint8_t*>(data);
  mapped.size_ = size;
  return mapped;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
}

StatusOr<std::string> ReadFile(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FileError("open", path, errno);
  std::string contents;
  // Not by size: files under /proc and pipes report none.
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof(buffer));
    if (count == 0) return contents;
    if (count < 0) {
      if (errno == EINTR) continue;
      return FileError("read", path, errno);
    }
    contents.append(buffer, static_cast<size_t>(count));
  }
}

Status WriteFileAtomically(const std::string& path, std::string_view contents) {
  static std::atomic<uint32_t> counter{
      0};  // names differ between threads of this process
  const std::string temporary =
      Concat({path, ".tmp.", ::getpid(), ".", counter.fetch_add(1)});
  Status status = WriteTemporary(temporary, contents, path);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = FileError("replace", path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace ember

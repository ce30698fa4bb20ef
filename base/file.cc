#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/atomic_file_writer.h"
#include "base/concat.h"
#include "base/file_descriptor.h"

namespace ember {
namespace {

Status FileError(const char* what, const std::string& path, int error) {
  std::string message =
      Concat({"cannot ", what, " file '", path, "': ", std::strerror(error)});
  if (error == ENOENT) return NotFoundError(std::move(message));
  if (error == ENOMEM) return ResourceExhaustedError(std::move(message));
  return FailedPreconditionError(std::move(message));
}

// Returns the size of an opened regular file. Returns an error for a folder,
// pipe or device.
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

// Opens a file for reading. Returns -1 and sets errno on failure.
int OpenForReading(const std::string& path, int flags = 0) {
  int file = -1;
  // A path with a zero byte is refused, because the system would use only the
  // part before that byte.
  if (path.find('\0') != std::string::npos) {
    errno = EINVAL;
    return file;
  }
  do {
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags, 0);
  } while (file < 0 && errno == EINTR);
  return file;
}

}  // namespace

StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK makes open() return at once for a pipe, which is then refused.
  FileDescriptor file(OpenForReading(path, O_NONBLOCK));
  if (file.get() < 0) return FileError("open", path, errno);
  EMBER_ASSIGN_OR_RETURN(const uint64_t size, RegularFileSize(file, path));
  MappedFile mapped;
  // An empty file is returned without a mapping, because the system refuses
  // mappings of 0 bytes.
  if (size == 0) return mapped;
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
  FileDescriptor file(OpenForReading(path));
  if (file.get() < 0) return FileError("open", path, errno);
  std::string contents;
  // The file is read until no bytes come, because files under /proc and pipes
  // report no size.
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
  EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
                         AtomicFileWriter::Create(path));
  EMBER_RETURN_IF_ERROR(writer.Write(contents));
  return writer.Commit(Durability::kSurvivesWriter);
}

}  // namespace ember

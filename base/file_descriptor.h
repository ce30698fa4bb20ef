// Owns a file descriptor and closes it when it is destroyed.
//
//   FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return FileError(errno);
//
// Not thread-safe.
#ifndef EMBER_BASE_FILE_DESCRIPTOR_H_
#define EMBER_BASE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace ember {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes ownership of the descriptor. A negative number, which failed system
  // calls return, means that the object owns no descriptor.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() {
    if (is_open()) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace ember

#endif  // EMBER_BASE_FILE_DESCRIPTOR_H_

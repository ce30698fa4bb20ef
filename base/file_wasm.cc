// Implements the functions on files for WebAssembly, where a web page has no
// files. Programs there load modules from memory.
#include <string>

#include "base/file.h"

namespace ember {
namespace {

Status NoFiles(const std::string& path) {
  return UnimplementedError(
      "cannot open file '" + path +
      "': expected bytes in memory, as WebAssembly has no files");
}

}  // namespace

StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  return NoFiles(path);
}
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
MappedFile::~MappedFile() = default;
StatusOr<std::string> ReadFile(const std::string& path) {
  return NoFiles(path);
}
Status WriteFileAtomically(const std::string& path, std::string_view) {
  return NoFiles(path);
}

}  // namespace ember

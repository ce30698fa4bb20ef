// Maps, reads and writes files; no reader ever sees half a written file.
//
//   EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open("model.vmfb"));
//   Parse(file.bytes());   // the bytes live as long as `file`
//
// Errors name the path and the system's reason; a missing file is kNotFound.
#ifndef EMBER_BASE_FILE_H_
#define EMBER_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember {

// A whole file, mapped read-only and private. Move-only; unmapped when
// destroyed. The mapping begins at a page boundary. If another process
// truncates the file meanwhile, an access faults (SIGBUS), as with every
// mapping; if the other process replaces the file by renaming, the mapping
// stays valid. Only regular files can be mapped: a pipe is refused, not waited
// for.
class MappedFile {
 public:
  static StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

StatusOr<std::string> ReadFile(const std::string& path);

// Writes a temporary file in the same folder, then renames it over `path`.
// Readers see the whole old or the whole new content. base/atomic_file_writer.h
// describes devices, links and a loss of power.
Status WriteFileAtomically(const std::string& path, std::string_view contents);

}  // namespace ember

#endif  // EMBER_BASE_FILE_H_

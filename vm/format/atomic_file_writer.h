// Writes a file piece by piece under a temporary name and renames it when
// complete, so that modules larger than memory to spare can be written and no
// reader sees half of one.
//
//   EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
//                          AtomicFileWriter::Create(path));
//   EMBER_RETURN_IF_ERROR(writer.Write(bytes));
//   EMBER_RETURN_IF_ERROR(writer.Commit());
//
// Destroyed without Commit, the temporary file is removed. Move-only; one
// thread.
#ifndef EMBER_VM_FORMAT_ATOMIC_FILE_WRITER_H_
#define EMBER_VM_FORMAT_ATOMIC_FILE_WRITER_H_

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace ember::vm {

class AtomicFileWriter {
 public:
  static StatusOr<AtomicFileWriter> Create(const std::string& path);
  AtomicFileWriter(AtomicFileWriter&& other) noexcept {
    *this = std::move(other);
  }
  AtomicFileWriter& operator=(AtomicFileWriter&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    return *this;
  }
  ~AtomicFileWriter();

  Status Write(std::string_view bytes);
  Status Commit();

 private:
  AtomicFileWriter() = default;
  Status Error(const char* what) const;

  std::FILE* file_ = nullptr;
  std::string path_;
  std::string temporary_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_ATOMIC_FILE_WRITER_H_

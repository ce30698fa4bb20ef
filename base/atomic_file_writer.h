// Writes a file piece by piece under a temporary name and renames it when it is
// complete. No reader ever sees half a file, and the contents need not fit into
// memory.
//
//   EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
//                          AtomicFileWriter::Create(path));
//   EMBER_RETURN_IF_ERROR(writer.Write(bytes));
//   EMBER_RETURN_IF_ERROR(writer.Commit(Durability::kSurvivesPowerLoss));
//
// A device, pipe or socket (/dev/null, /dev/stdout) is written in place. A
// symbolic link to anything else is replaced by the new file; the file to which
// the link leads does not change. A folder is refused.
//
// A writer that is destroyed without a successful Commit removes the temporary
// file and leaves `path` as it was. Calls that a signal interrupts are
// repeated. Errors name the path and the system's reason. Move-only; one
// thread.
#ifndef EMBER_BASE_ATOMIC_FILE_WRITER_H_
#define EMBER_BASE_ATOMIC_FILE_WRITER_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace ember {

enum class Durability {
  // Readers see the whole old or the whole new contents, even if the writer is
  // killed. After a loss of power soon afterwards the file may be empty or
  // zeros.
  kSurvivesWriter,
  // The contents survive a loss of power, too: they are on the disk before the
  // file gets its final name. Commit waits for the disk.
  kSurvivesPowerLoss,
};

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
  Status Commit(Durability durability);

 private:
  AtomicFileWriter() = default;
  Status Error(const char* what, int error) const;

  int file_ = -1;
  std::string path_;
  // Path of the temporary file. It is empty if there is no file to remove.
  std::string temporary_;
};

}  // namespace ember

#endif  // EMBER_BASE_ATOMIC_FILE_WRITER_H_

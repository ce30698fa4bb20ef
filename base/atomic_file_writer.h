// Writes a file piece by piece under a temporary name and renames it when it is
// complete, so that what is larger than memory to spare can be written and no
// reader ever sees half a file.
//
//   EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
//                          AtomicFileWriter::Create(path));
//   EMBER_RETURN_IF_ERROR(writer.Write(bytes));
//   EMBER_RETURN_IF_ERROR(writer.Commit(Durability::kSurvivesPowerLoss));
//
// A device, pipe or socket (/dev/null, /dev/stdout) is written to as it is, not
// replaced. Of a symbolic link to anything else the link is replaced, not what
// it leads to. A folder is refused.
//
// Destroyed without Commit, or after one that failed, the temporary file is
// removed and `path` is as it was. Calls that a signal interrupts go on. Errors
// name the path and the system's reason. Move-only; one thread.
#ifndef EMBER_BASE_ATOMIC_FILE_WRITER_H_
#define EMBER_BASE_ATOMIC_FILE_WRITER_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace ember {

enum class Durability {
  // Readers see the old or the new contents, whole, whenever a writer is
  // killed; a system that loses power soon afterwards may show an empty file,
  // or zeros.
  kSurvivesWriter,
  // That system shows the old or the new contents, too: they are on the disk
  // before the new name is. Takes as long as the disk does.
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
  std::string temporary_;  // empty: there is none to remove
};

}  // namespace ember

#endif  // EMBER_BASE_ATOMIC_FILE_WRITER_H_

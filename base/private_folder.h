// A folder with files that only this user can have written.
//
//   EMBER_ASSIGN_OR_RETURN(PrivateFolder folder,
//                          PrivateFolder::Open("/home/me/.cache/ember"));
//   std::optional<std::string> contents = folder.Read("a", 1 << 20);
//   Status status = folder.Replace("a", contents);
//
// It protects against other users, by owner and mode, but not against root or
// other programs of this user. Several processes may use one folder. Readers
// see the whole old or the whole new contents of a file, even if a writer is
// killed. After a loss of power a file that was not written with
// kSurvivesPowerLoss may hold anything; the caller must detect that. Calls that
// a signal interrupts are repeated. Thread-safe.
#ifndef EMBER_BASE_PRIVATE_FOLDER_H_
#define EMBER_BASE_PRIVATE_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file_writer.h"
#include "base/status.h"

namespace ember {

class PrivateFolder {
 public:
  // Opens the folder. Creates it and its missing parent folders with mode 0700.
  // Fails if the folder belongs to another user or if other users may write to
  // it.
  static StatusOr<PrivateFolder> Open(const std::string& path);

  PrivateFolder(PrivateFolder&& other) noexcept { *this = std::move(other); }
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    path_.swap(other.path_);
    return *this;
  }
  ~PrivateFolder();

  // Reads a file. Returns nullopt if there is no such file, if it has more than
  // max_bytes, if it cannot be read, or if other users may have written it. If
  // is_secret, it also returns nullopt if other users may have read the file.
  std::optional<std::string> Read(const std::string& name, int64_t max_bytes,
                                  bool is_secret = false) const;
  // Reads the file as Read does, and records the present as the time of its
  // last use.
  std::optional<std::string> Use(const std::string& name,
                                 int64_t max_bytes) const;
  // Writes a file with mode 0600, replacing any file of this name.
  Status Replace(const std::string& name, std::string_view contents,
                 Durability durability = Durability::kSurvivesWriter) const;
  // Writes a file only if it does not exist; an existing file is no error. The
  // contents survive a loss of power.
  Status Create(const std::string& name, std::string_view contents) const;
  void Remove(const std::string& name) const;

  struct File {
    std::string name;
    int64_t bytes = 0;
    int64_t used_ns = 0;  // time of the last write or use, in nanoseconds
    // True for a temporary file whose writer is still active or was killed.
    bool is_unfinished = false;
  };
  // Returns all regular files of the folder, in unspecified order; none if the
  // folder cannot be read.
  std::vector<File> List() const;

 private:
  PrivateFolder(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  StatusOr<std::string> WriteUnfinished(std::string_view contents,
                                        Durability durability) const;
  Status Error(const char* what, int error) const;

  int descriptor_ = -1;
  std::string path_;  // path of the folder, for messages
};

// Returns `count` unpredictable bytes from the system's random generator.
// Returns kInternal if `count` is above 256 or the system gives fewer bytes.
StatusOr<std::string> RandomBytes(size_t count);

}  // namespace ember

#endif  // EMBER_BASE_PRIVATE_FOLDER_H_

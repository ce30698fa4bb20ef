// A folder, and files in it, that only this user can have written.
//
//   EMBER_ASSIGN_OR_RETURN(PrivateFolder folder,
//                          PrivateFolder::Open("/home/me/.cache/ember"));
//   std::optional<std::string> contents = folder.Read("a", 1 << 20);
//   Status status = folder.Replace("a", contents);
//
// Who may be others: other users, by owner and mode; not root, and not other
// programs of this user. Several processes may use one folder. Readers see a
// file's old or new contents, whole, also if a writer is killed; what a system
// that lost power shows of a file that did not ask for kSurvivesPowerLoss is
// for the caller to find out. Calls that a signal interrupts go on.
// Thread-safe.
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
  // Makes it, and the folders around it, with mode 0700. Fails if it is not
  // this user's or others may write to it.
  static StatusOr<PrivateFolder> Open(const std::string& path);

  PrivateFolder(PrivateFolder&& other) noexcept { *this = std::move(other); }
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    path_.swap(other.path_);
    return *this;
  }
  ~PrivateFolder();

  // None if there is no such file, or one that is larger or that others may
  // have written (is_secret: or may read), or it cannot be read.
  std::optional<std::string> Read(const std::string& name, int64_t max_bytes,
                                  bool is_secret = false) const;
  // As Read, and the file counts as used now.
  std::optional<std::string> Use(const std::string& name,
                                 int64_t max_bytes) const;
  // With mode 0600.
  Status Replace(const std::string& name, std::string_view contents,
                 Durability durability = Durability::kSurvivesWriter) const;
  // The same, but an existing file stays, which is no error, and the contents
  // survive a loss of power.
  Status Create(const std::string& name, std::string_view contents) const;
  void Remove(const std::string& name) const;

  struct File {
    std::string name;
    int64_t bytes = 0;
    int64_t used_ns = 0;         // when it was written or used last
    bool is_unfinished = false;  // what a writer writes, or left
  };
  // Files that Replace and Create make, in no order.
  std::vector<File> List() const;

 private:
  PrivateFolder(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  StatusOr<std::string> WriteUnfinished(std::string_view contents,
                                        Durability durability) const;
  Status Error(const char* what, int error) const;

  int descriptor_ = -1;
  std::string path_;  // for messages
};

// Bytes that nobody can guess.
StatusOr<std::string> RandomBytes(size_t count);

}  // namespace ember

#endif  // EMBER_BASE_PRIVATE_FOLDER_H_

// Starts a program, watches it and can kill it.
//
//   EMBER_ASSIGN_OR_RETURN(ChildRun run, ChildRun::Start(command, folder));
//   run.Kill();
//   EMBER_ASSIGN_OR_RETURN(ChildRun::End end, run.Wait());
//
// Not thread-safe.
#ifndef EMBER_TESTS_KERNEL_CACHE_CHILD_RUN_H_
#define EMBER_TESTS_KERNEL_CACHE_CHILD_RUN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"

namespace ember::tests {

class ChildRun {
 public:
  struct End {
    bool was_killed = false;  // True if the child was ended by SIGKILL.
    int exit_status = -1;  // Exit status of the child; -1 if a signal ended it.
    std::string output, errors;
  };

  // Starts the program. Its output goes to files in `folder` that begin with
  // `name`.
  static StatusOr<ChildRun> Start(const std::vector<std::string>& command,
                                  const std::string& folder,
                                  const std::string& name,
                                  bool is_traced = false);
  // Continues a traced child that has one thread, and leaves it stopped once it
  // has entered or left system calls on files `count` times (each call counts
  // twice) since it first made a folder, or once it has ended. Error: this
  // system does not allow tracing.
  Status GoOnUntilFileCalls(int64_t count);
  bool HasEnded();
  void Kill();
  StatusOr<End> Wait();

 private:
  ChildRun(pid_t process, std::string base)
      : process_(process), base_(std::move(base)) {}

  pid_t process_;
  std::string base_;  // path prefix of the child's output files
  bool has_ended_ = false;
  int status_ = 0;
};

// Counts events (inotify) of the files in some folders.
class FolderWatch {
 public:
  explicit FolderWatch(const std::vector<std::string>& folders);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Returns the number of events since the watch was made: files created,
  // written to, closed and renamed.
  int Events();

 private:
  int descriptor_;
  int events_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_KERNEL_CACHE_CHILD_RUN_H_

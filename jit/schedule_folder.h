// A folder of schedules that a user gives instead of those that the JIT
// chooses.
//
//   const ScheduleFolder folder("DIR");
//   EMBER_RETURN_IF_ERROR(folder.Check(names_of_dispatches));
//   const GivenSchedule given = folder.Find("d0_conv", /*tier=*/2);
//
// The folder holds text files (jit/schedule/primitives/replay.h): NAME.schedule
// for all kernels of a dispatch, NAME.tier2.schedule for those of a tier. Other
// files are ignored. A path of a file instead of a folder is the schedule of a
// module's only dispatch. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_FOLDER_H_
#define EMBER_JIT_SCHEDULE_FOLDER_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::jit {

struct GivenSchedule {
  std::string file;  // the file's path
  std::string text;  // text of the schedule; empty if there is no schedule
};

class ScheduleFolder {
 public:
  // folder: path of a folder or of a file. If it is empty, no dispatch has a
  // schedule.
  explicit ScheduleFolder(std::string folder) : folder_(std::move(folder)) {}

  // Checks the folder's files before kernels are made. Returns an error, with
  // the file's name, if the folder cannot be read or has no schedule, if a file
  // belongs to none of the dispatches, if a line names no primitive, or if the
  // path is that of a file and there are several dispatches. The legality of
  // primitives is not checked: that needs the kernel's loops. has_others: files
  // may also belong to other dispatches.
  Status Check(std::span<const std::string> dispatches,
               bool has_others = false) const;
  GivenSchedule Find(std::string_view dispatch, int tier) const;

 private:
  std::string folder_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_SCHEDULE_FOLDER_H_

// A folder of schedules that a user gives instead of those that the JIT
// chooses.
//
//   const ScheduleFolder folder("DIR");
//   EMBER_RETURN_IF_ERROR(folder.Check(names_of_dispatches));
//   const GivenSchedule given = folder.Find("d0_conv", /*tier=*/2);
//
// It holds text files (jit/schedule/primitives/replay.h): NAME.schedule for
// all kernels of a dispatch, NAME.tier2.schedule for those of a tier. Other
// files are ignored. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_FOLDER_H_
#define EMBER_JIT_SCHEDULE_FOLDER_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::jit {

struct GivenSchedule {
  std::string file;  // its path
  std::string text;  // empty: there is none
};

class ScheduleFolder {
 public:
  // Empty: no dispatch has a schedule.
  explicit ScheduleFolder(std::string folder) : folder_(std::move(folder)) {}

  // Errors name the file and what is wrong with it: a folder that cannot be
  // read or has no schedule, a file that belongs to none of the dispatches, a
  // line that is no primitive. Whether a primitive is legal is only known when
  // a kernel is made. has_others: files may belong to other dispatches, too.
  Status Check(std::span<const std::string> dispatches,
               bool has_others = false) const;
  GivenSchedule Find(std::string_view dispatch, int tier) const;

 private:
  std::string folder_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_SCHEDULE_FOLDER_H_

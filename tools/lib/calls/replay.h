// Runs the call of a repro folder again, by tier 0 and by a kernel that this
// build makes.
//
//   EMBER_ASSIGN_OR_RETURN(const Replay replay, ReplayRepro(repro, folder, *device));
//   std::fputs(replay.Text().c_str(), stdout);
//
// Errors: there is no JIT, or no kernel for the dispatch.
#ifndef EMBER_TOOLS_LIB_CALLS_REPLAY_H_
#define EMBER_TOOLS_LIB_CALLS_REPLAY_H_

#include <string>

#include "base/status.h"
#include "hal/device.h"
#include "tools/lib/calls/repro.h"

namespace ember::tools {

struct Replay {
  // difference and from_recorded are one line each that describes a difference;
  // "" if there is none. difference: the first difference between the kernel's
  // results and tier 0's.
  std::string difference;
  // the first difference between tier 0's results of today and the recorded
  // ones
  std::string from_recorded;
  // True if the difference occurs only with the schedule that the folder
  // records. With the schedule that this build chooses, the kernel's results
  // are correct.
  bool has_recorded_schedule = false;
  // Reason why the recorded schedule of the folder could not be tried, in one
  // line; "" if it was.
  std::string recorded_problem;
  // Says whether the loop nest or the machine code is wrong, or why this could
  // not be found out by evaluating the loop nest; "" if there is no difference.
  std::string blame;

  std::string Text() const;
};

// Runs the recorded call again by tier 0 and by a kernel. `folder` is the
// folder from which the repro was read.
StatusOr<Replay> ReplayRepro(const Repro& repro, const std::string& folder,
                             hal::Device& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_REPLAY_H_

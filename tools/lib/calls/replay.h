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
  // Differences, each one line, or "" if there is none.
  std::string difference;     // the kernel's results differ from tier 0's
  std::string from_recorded;  // tier 0's results differ from the folder's
  // True if the kernel was made with the folder's schedule: this build chooses
  // another schedule, and with that one there is no difference.
  bool has_recorded_schedule = false;
  // One line that says why the folder's schedule could not be tried.
  std::string recorded_problem;
  // Says which step is wrong according to the evaluator of loop nests, or why
  // the evaluator did not run; "" if nothing differs.
  std::string blame;

  std::string Text() const;
};

// Replays a repro. `folder` is the folder from which the repro was read.
StatusOr<Replay> ReplayRepro(const Repro& repro, const std::string& folder,
                             hal::Device& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_REPLAY_H_

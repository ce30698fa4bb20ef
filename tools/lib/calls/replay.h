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
  // The following texts describe differences, each in one line; "" means that
  // there is none.
  // the first difference between the kernel's results and tier 0's
  std::string difference;
  // the first difference between tier 0's results and the recorded ones
  std::string from_recorded;
  // True if the difference occurs only with the recorded schedule of the
  // folder. This build chooses another schedule, with which the kernel's
  // results are correct.
  bool has_recorded_schedule = false;
  // One line that says why the recorded schedule of the folder could not be
  // tried.
  std::string recorded_problem;
  // A text that says, by evaluating the loop nest, whether the loop nest or the
  // machine code is wrong, or why the loop nest was not evaluated; "" if there
  // is no difference.
  std::string blame;

  std::string Text() const;
};

// Replays a repro. `folder` is the folder from which the repro was read.
StatusOr<Replay> ReplayRepro(const Repro& repro, const std::string& folder,
                             hal::Device& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_REPLAY_H_

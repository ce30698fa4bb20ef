// Runs the call of a repro folder again: tier 0 and a kernel made by this
// build.
//
//   EMBER_ASSIGN_OR_RETURN(const Replay replay, ReplayRepro(repro, folder, *device));
//   std::fputs(replay.Text().c_str(), stdout);
//
// Errors: no JIT, or no kernel for the dispatch.
#ifndef EMBER_TOOLS_LIB_REPLAY_H_
#define EMBER_TOOLS_LIB_REPLAY_H_

#include <string>

#include "base/status.h"
#include "hal/device.h"
#include "tools/lib/repro.h"

namespace ember::tools {

struct Replay {
  // "" where there is none; else one line.
  std::string difference;     // of the kernel from tier 0
  std::string from_recorded;  // of tier 0 from the folder's results
  // The kernel has the schedule of the folder, as that which this build chooses
  // is another and makes no difference.
  bool has_recorded_schedule = false;
  std::string recorded_problem;  // why that could not be tried; one line
  // Which step is to blame, as the evaluator of loop nests sees it, or why it
  // was not asked; "" if nothing differs.
  std::string blame;

  std::string Text() const;
};

// folder: where the repro was read from.
StatusOr<Replay> ReplayRepro(const Repro& repro, const std::string& folder,
                             hal::Device& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPLAY_H_

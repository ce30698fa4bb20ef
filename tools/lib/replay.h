// Runs the call of a repro folder again: tier 0 and a kernel made by this
// build.
//
//   EMBER_ASSIGN_OR_RETURN(const Replay replay, ReplayRepro(repro, *device));
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
  // Which step is to blame, as the evaluator of loop nests sees it, or why it
  // was not asked; "" if nothing differs.
  std::string blame;

  std::string Text() const;
};

StatusOr<Replay> ReplayRepro(const Repro& repro, hal::Device& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPLAY_H_

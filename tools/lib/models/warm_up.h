// Runs a model until its hot dispatches have their kernels, so that what is
// measured afterwards is its steady state.
//
//   EMBER_RETURN_IF_ERROR(WarmUp("vm-run", tier, [&] { return session->Run(…); }));
#ifndef EMBER_TOOLS_LIB_MODELS_WARM_UP_H_
#define EMBER_TOOLS_LIB_MODELS_WARM_UP_H_

#include <functional>
#include <string_view>

#include "base/status.h"
#include "tools/lib/models/tier.h"

namespace ember::tools {

// Calls `run` until several runs in a row have asked for no kernel, for half a
// second to half a minute. Returns at once if the tier has no JIT. If half a
// minute is too short, a line on stderr says so, with the tool's name. Error:
// that of a run.
Status WarmUp(std::string_view tool, const Tier& tier,
              const std::function<Status()>& run);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_WARM_UP_H_

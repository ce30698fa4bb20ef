// A row of the JIT's pipeline: a pass, with everything that its runner
// (jit/pipeline/runner.h) needs to know.
//
//   {{"own-tiles", "gives each invocation its own part of a buffer",
//     PassTargets::kGpus, /*may_be_disabled=*/true},
//    OwnTiles, nullptr, VerifyNest, PrintNest}
//
// A pass works on a build: what was made so far of a dispatch (NestBuild) or of
// a nest (TargetBuild). A pass that may be disabled only makes code better:
// without it, the kernel computes the same or is declined.
//
// Passes are constant values, so any thread may use them.
#ifndef EMBER_JIT_PIPELINE_PASS_H_
#define EMBER_JIT_PIPELINE_PASS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::jit {

// The targets for which a pass runs. A nest with loops over invocations counts
// as one for GPUs, even if a CPU will run it.
enum class PassTargets : uint8_t { kAll, kCpus, kGpus };

struct PassInfo {
  std::string_view name;
  std::string_view doc;
  PassTargets targets = PassTargets::kAll;
  bool may_be_disabled = false;
};

template <typename Build>
struct Pass {
  PassInfo info;
  Status (*run)(Build& build) = nullptr;
  // Called instead of `run` if the pass is disabled. Null: the pass is skipped.
  Status (*run_disabled)(Build& build) = nullptr;
  // Verifies the build after the pass. Null: there is nothing to verify.
  Status (*verify)(const Build& build) = nullptr;
  // Returns the text of the build after the pass. Null: the build has no text.
  std::string (*print)(const Build& build) = nullptr;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_PASS_H_

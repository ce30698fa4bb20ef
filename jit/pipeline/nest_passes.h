// The first part of the JIT's pipeline: from a dispatch to a loop nest that is
// proved to stay in bounds. The JIT runs it in its own process.
//
//   NestBuild build = {.dispatch = &dispatch, .choose = by_default};
//   PassLog log;
//   EMBER_RETURN_IF_ERROR(RunPasses(NestPasses(), build, log));
//   // build.nest
//
// Thread-safe for distinct builds.
#ifndef EMBER_JIT_PIPELINE_NEST_PASSES_H_
#define EMBER_JIT_PIPELINE_NEST_PASSES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/pipeline/pass.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::jit {

// The results of building a nest so far. Not movable once passes ran:
// `schedule` may point to `own_schedule`.
struct NestBuild {
  // --- given ---

  const tensor::Dispatch* dispatch = nullptr;
  // The values of the dispatch's parameters, or none.
  std::span<const int64_t> parameters;
  // Contents of inputs that are constants of the module; empty for others.
  std::vector<std::optional<std::span<const uint8_t>>> constants;
  // For each input, the range of its values if it is a constant of the module
  // whose range is known. The list may be empty.
  std::vector<std::optional<tensor::Interval>> ranges;
  // Applies a schedule to the normalised dispatch.
  std::function<Status(schedule::Schedule& schedule)> choose;

  // --- made, in this order ---

  schedule::Computation computation;
  std::optional<schedule::Schedule> own_schedule;
  const schedule::Schedule* schedule = nullptr;
  loops::LoopNest nest;
  bool has_invocations = false;
  // Numbers of the buffers of carried sums that stay in memory.
  std::vector<uint32_t> totals;

  bool IsForGpu() const { return has_invocations; }
};

// Returns all passes from the dispatch to the proof of bounds.
std::span<const Pass<NestBuild>> NestPasses();

// Returns the passes among them that make NestBuild::computation, as the
// dispatch is written.
std::span<const Pass<NestBuild>> ComputationPasses();

// Returns the passes among them that make a nest of NestBuild::schedule.
std::span<const Pass<NestBuild>> LoweringPasses();

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_NEST_PASSES_H_

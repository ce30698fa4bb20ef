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

// The input and the results of the passes that build a nest. It must not be
// moved once passes ran, because `schedule` may point to `own_schedule`.
struct NestBuild {
  // --- given ---

  const tensor::Dispatch* dispatch = nullptr;
  // The values of the dispatch's parameters; empty if the nest is to accept any
  // values.
  std::span<const int64_t> parameters;
  // For each input, its contents if it is a constant of the module.
  std::vector<std::optional<std::span<const uint8_t>>> constants;
  // For each input that is a constant of the module, the range of its values,
  // if it is known. The list may be empty: no range is known.
  std::vector<std::optional<tensor::Interval>> ranges;
  // Chooses the schedule: applies its primitives to the normalised dispatch.
  std::function<Status(schedule::Schedule& schedule)> choose;

  // --- results, in the order in which passes make them ---

  schedule::Computation computation;
  std::optional<schedule::Schedule> own_schedule;
  const schedule::Schedule* schedule = nullptr;
  loops::LoopNest nest;
  bool has_invocations = false;
  // Numbers of buffers that hold sums carried from one iteration to the next
  // and that stay in memory rather than in registers.
  std::vector<uint32_t> totals;

  bool IsForGpu() const { return has_invocations; }
};

// Returns all passes that make a nest of a dispatch; the last one proves its
// bounds.
std::span<const Pass<NestBuild>> NestPasses();

// Returns the passes of NestPasses() that make NestBuild::computation; they
// precede the one that normalises the dispatch.
std::span<const Pass<NestBuild>> ComputationPasses();

// Returns the passes of NestPasses() that lower NestBuild::schedule to a nest.
std::span<const Pass<NestBuild>> LoweringPasses();

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_NEST_PASSES_H_

// The second part of the JIT's pipeline: from a verified loop nest to code for
// a target. A back end runs these passes in the process that makes its code.
// For code that LLVM makes, that is the compile worker.
//
//   TargetBuild build = {.nest = nest,
//                        .operations = kLanguage.operations,
//                        .emit = [&](const loops::LoopNest& nest) { … }};
//   EMBER_RETURN_IF_ERROR(RunTargetPasses(build, log));
//
// Thread-safe for distinct builds.
#ifndef EMBER_JIT_PIPELINE_TARGET_PASSES_H_
#define EMBER_JIT_PIPELINE_TARGET_PASSES_H_

#include <functional>
#include <span>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/gpu/device_traits.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/loop_nest.h"
#include "jit/pipeline/pass.h"

namespace ember::jit {

struct TargetBuild {
  // The loop nest. The passes rewrite it in place.
  loops::LoopNest nest;
  // The operations that the target has; legalisation replaces others.
  legalise::TargetOperations operations;
  // The GPU that the code is for; null for CPUs. Must outlive the build.
  const gpu::DeviceTraits* device = nullptr;
  // True if extents and numbers of tasks are at most what one launch on a
  // device can have (gpu::kMaxExtent, gpu::kMaxElements).
  bool has_launch_limits = false;
  // True if the generated code computes i64 values in 32 bits where they fit,
  // so that the pass mark-integers must say where they may not.
  bool marks_integers = false;
  // Generates the code from the final nest; may add nodes to the nest's pool.
  // Null: only the nest is wanted.
  std::function<Status(loops::LoopNest& nest)> emit;

  bool IsForGpu() const { return device != nullptr; }
};

// Returns the passes, in execution order.
std::span<const Pass<TargetBuild>> TargetPasses();

// Runs TargetPasses() on the build. log: may be null. Errors: those of the
// passes of gpu::kDevicePasses, with the nest's name, and those of build.emit,
// unchanged.
Status RunTargetPasses(TargetBuild& build, PassLog* log);

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_TARGET_PASSES_H_

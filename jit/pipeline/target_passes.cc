#include "jit/pipeline/target_passes.h"

#include <string>

#include "base/concat.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/legalise/legalise.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/runner.h"

namespace ember::jit {
namespace {

Status Legalise(TargetBuild& build) {
  if (!build.has_launch_limits) {
    legalise::Legalise(build.operations, build.nest);
    return OkStatus();
  }
  loops::Facts facts(
      build.nest, {.extent = gpu::kMaxExtent, .elements = gpu::kMaxElements});
  for (const auto* phases : {&build.nest.prologue, &build.nest.phases}) {
    for (const loops::Phase& phase : *phases)
      facts.AssumeRange(phase.task, {0, gpu::kMaxExtent - 1});
  }
  legalise::Legalise(build.operations, build.nest,
                     [&](tensor::NodeId id) { return facts.RangeOf(id); });
  return OkStatus();
}

Status InsertBarriers(TargetBuild& build) {
  const Status status = gpu::InsertBarriers(*build.device, build.nest);
  return status.ok() ? status
                     : status.WithContext(Concat({"loops @", build.nest.name}));
}

Status Emit(TargetBuild& build) {
  return build.emit ? build.emit(build.nest) : OkStatus();
}

std::string Print(const TargetBuild& build) {
  return loops::ToText(build.nest);
}

constexpr Pass<TargetBuild> kPasses[] = {
    {{"legalise", "expresses operations that the target lacks by others"},
     Legalise,
     nullptr,
     nullptr,
     Print},
    // insert-barriers runs last, because no other pass keeps barriers right.
    {{"insert-barriers",
      "makes a device nest, in which invocations synchronise",
      PassTargets::kGpus},
     InsertBarriers,
     nullptr,
     nullptr,
     Print},
    {{"emit", "writes the code of each phase"}, Emit},
};

}  // namespace

std::span<const Pass<TargetBuild>> TargetPasses() { return kPasses; }

Status RunTargetPasses(TargetBuild& build, PassLog* log) {
  PassLog own;
  return RunPasses(TargetPasses(), build, log != nullptr ? *log : own);
}

}  // namespace ember::jit

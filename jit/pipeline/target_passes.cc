#include "jit/pipeline/target_passes.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/gpu/device_passes.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/legalise/legalise.h"
#include "jit/legalise/mark_integers.h"
#include "jit/legalise/mark_shared_memory.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/runner.h"

namespace ember::jit {
namespace {

// Returns the known ranges of values that hold in all phases. If
// build.has_launch_limits, they include the limits on extents, elements and
// tasks of one launch.
loops::Facts FactsOf(const TargetBuild& build) {
  if (!build.has_launch_limits) return loops::Facts(build.nest);
  loops::Facts facts(
      build.nest, {.extent = gpu::kMaxExtent, .elements = gpu::kMaxElements});
  for (const auto* phases : {&build.nest.prologue, &build.nest.phases}) {
    for (const loops::Phase& phase : *phases)
      facts.AssumeRange(phase.task, {0, gpu::kMaxExtent - 1});
  }
  return facts;
}

Status Legalise(TargetBuild& build) {
  if (!build.has_launch_limits) {
    legalise::Legalise(build.operations, build.nest);
    return OkStatus();
  }
  const loops::Facts facts = FactsOf(build);
  legalise::Legalise(build.operations, build.nest,
                     [&](tensor::NodeId id) { return facts.RangeOf(id); });
  return OkStatus();
}

Status MarkSharedMemory(TargetBuild& build) {
  legalise::MarkSharedMemory(build.nest);
  return OkStatus();
}

Status MarkIntegers(TargetBuild& build) {
  if (!build.marks_integers) return OkStatus();
  const loops::Facts facts = FactsOf(build);
  legalise::MarkIntegers([&](tensor::NodeId id) { return facts.RangeOf(id); },
                         build.nest);
  return OkStatus();
}

// Runs pass number `number` of gpu::kDevicePasses as a pass of the pipeline.
template <size_t number>
Status MakeDeviceNest(TargetBuild& build) {
  const Status status =
      gpu::kDevicePasses[number].run(*build.device, build.nest);
  return status.ok() ? status
                     : status.WithContext(Concat({"loops @", build.nest.name}));
}

Status Emit(TargetBuild& build) {
  return build.emit ? build.emit(build.nest) : OkStatus();
}

std::string Print(const TargetBuild& build) {
  return loops::ToText(build.nest);
}

// The passes of gpu::kDevicePasses insert barriers. No other pass would keep
// these at the right positions, so they follow legalisation.
template <size_t... numbers>
constexpr auto MakePasses(std::index_sequence<numbers...>) {
  return std::array{
      Pass<TargetBuild>{
          {"legalise", "expresses operations that the target lacks by others"},
          Legalise,
          nullptr,
          nullptr,
          Print},
      Pass<TargetBuild>{{gpu::kDevicePasses[numbers].name,
                         gpu::kDevicePasses[numbers].doc, PassTargets::kGpus},
                        MakeDeviceNest<numbers>,
                        nullptr,
                        nullptr,
                        Print}...,
      Pass<TargetBuild>{{"mark-shared-memory",
                         "says which inputs may share memory with each output"},
                        MarkSharedMemory,
                        nullptr,
                        nullptr,
                        Print},
      // The pass mark-integers runs right before emit: a later pass would
      // create integers that are not marked as narrow or wide.
      Pass<TargetBuild>{
          {"mark-integers",
           "says which integers may not fit 32 bits, and which bounds need a "
           "test"},
          MarkIntegers,
          nullptr,
          nullptr,
          Print},
      Pass<TargetBuild>{{"emit", "writes the code of each phase"}, Emit}};
}

constexpr auto kPasses =
    MakePasses(std::make_index_sequence<std::size(gpu::kDevicePasses)>());

}  // namespace

std::span<const Pass<TargetBuild>> TargetPasses() { return kPasses; }

Status RunTargetPasses(TargetBuild& build, PassLog* log) {
  PassLog own;
  return RunPasses(TargetPasses(), build, log != nullptr ? *log : own);
}

}  // namespace ember::jit

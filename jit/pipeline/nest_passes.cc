#include "jit/pipeline/nest_passes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "jit/backend/decline_reasons.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/matrix_rules.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/check_dispatch.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/lowering/own_tiles.h"
#include "jit/schedule/lowering/pad_rows.h"
#include "jit/schedule/lowering/plan_prefetches.h"
#include "jit/schedule/lowering/promote_registers.h"
#include "jit/schedule/lowering/unguard_registers.h"

namespace ember::jit {
namespace {

// --- from the dispatch to a schedule ---

Status MarkConstants(NestBuild& build) {
  for (size_t i = 0; i < build.constants.size(); ++i) {
    if (!build.constants[i]) continue;
    schedule::ComputationBuffer& input = build.computation.buffers[i];
    if (i < build.ranges.size() && build.ranges[i]) {
      input.is_constant = true;
      input.values = *build.ranges[i];
    } else {
      schedule::MakeConstant(input, *build.constants[i]);
    }
  }
  return OkStatus();
}

Status MakeSchedule(NestBuild& build) {
  build.own_schedule.emplace(std::move(build.computation));
  build.schedule = &*build.own_schedule;
  return OkStatus();
}

Status Schedule(NestBuild& build) {
  EMBER_RETURN_IF_ERROR(MakeSchedule(build));
  return build.choose(*build.own_schedule);
}

std::string PrintSchedule(const NestBuild& build) {
  return build.schedule->ToText();
}

// --- from the schedule to a nest ---

Status LowerStages(NestBuild& build) {
  EMBER_ASSIGN_OR_RETURN(schedule::StageNest lowered,
                         schedule::LowerStages(*build.schedule));
  build.nest = std::move(lowered.nest);
  build.has_invocations = lowered.has_invocations;
  build.totals = std::move(lowered.totals);
  return OkStatus();
}

// Refuses matrix loops that contain guards or checks, or whose accesses are not
// provably aligned: instructions for matrices cannot execute those.
Status CheckMatrices(NestBuild& build) {
  const Status status = loops::CheckMatrices(build.nest);
  return status.ok() ? status
                     : FailedPreconditionError(std::string(status.message()));
}

// Declines nests for which the verifier cannot prove that all accesses stay in
// bounds. Modules come from strangers, so other nests must not run.
Status ProveBounds(NestBuild& build) {
  const Status status = loops::Verify(build.nest);
  return status.ok() ? status
                     : Decline(DeclineReason::kNoProof, status.message());
}

Status Verify(const NestBuild& build) { return loops::Verify(build.nest); }
std::string Print(const NestBuild& build) { return loops::ToText(build.nest); }

// --- the list ---

constexpr std::string_view kNormalise = "normalise";
constexpr std::string_view kFirstOfLowering = "lower";
constexpr std::string_view kFirstOfProof = "prove-bounds";

constexpr Pass<NestBuild> kPasses[] = {
    {{"check-size", "declines dispatches that are too large for recursion"},
     [](NestBuild& b) { return CheckSize(*b.dispatch); }},
    {{"disassemble", "splits the dispatch into stages"},
     [](NestBuild& b) {
       b.computation = schedule::Disassemble(*b.dispatch, b.parameters);
       return OkStatus();
     }},
    // The pass check-index-terms precedes all passes that compute with indices,
    // so that these cannot overflow.
    {{"check-index-terms",
      "declines indices with terms too large for 64-bit arithmetic"},
     [](NestBuild& b) { return CheckIndexTerms(b.computation); }},
    {{"mark-constants", "notes which inputs are constants, and their range"},
     MarkConstants},
    // The pass mark-constants precedes normalise, which must know the
    // constants: it does not move their axes.
    {{kNormalise, "drops, orders, collapses and splits axes of stages",
      PassTargets::kAll, /*may_be_disabled=*/true},
     [](NestBuild& b) {
       schedule::Normalise(b.computation);
       return OkStatus();
     }},
    {{"schedule",
      "applies the target's default schedule, or a given one; disabled: the "
      "loops are those of the dispatch",
      PassTargets::kAll, /*may_be_disabled=*/true},
     Schedule,
     MakeSchedule,
     nullptr,
     PrintSchedule},
    {{kFirstOfLowering, "makes a loop nest of the schedule's stages"},
     LowerStages,
     nullptr,
     Verify,
     Print},
    // The pass own-tiles precedes promote-registers, which puts the tiles in
    // registers.
    {{"own-tiles", "gives each invocation its own part of a task's buffer",
      PassTargets::kGpus, /*may_be_disabled=*/true},
     [](NestBuild& b) {
       schedule::MakeTilesOwn(b.nest);
       return OkStatus();
     },
     nullptr,
     Verify,
     Print},
    {{"promote-registers", "holds small buffers of tasks in registers",
      PassTargets::kAll, /*may_be_disabled=*/true},
     [](NestBuild& b) {
       // `totals` are sums that a CPU keeps in its cheap private memory. A
       // device has none, but each invocation has registers of its own, so
       // there the sums may be promoted too.
       if (b.has_invocations) b.totals.clear();
       schedule::PromoteRegisters(b.totals, b.nest);
       return OkStatus();
     },
     nullptr,
     Verify,
     Print},
    {{"unguard-registers", "drops guards of stores that only move registers",
      PassTargets::kCpus, /*may_be_disabled=*/true},
     [](NestBuild& b) {
       schedule::UnguardRegisters(b.nest);
       return OkStatus();
     },
     nullptr,
     Verify,
     Print},
    {{"plan-prefetches", "prefetches the next part of packed constants",
      PassTargets::kAll, /*may_be_disabled=*/true},
     [](NestBuild& b) {
       schedule::PlanPrefetches(b.nest);
       return OkStatus();
     },
     nullptr,
     Verify,
     Print},
    // The pass pad-rows changes no indices, only the distance in memory between
    // rows, so it can follow all passes that make indices.
    {{"pad-rows", "pads rows of tiles as the schedule says", PassTargets::kAll,
      /*may_be_disabled=*/true},
     [](NestBuild& b) {
       schedule::PadRows(*b.schedule, b.nest);
       return OkStatus();
     },
     nullptr,
     Verify,
     Print},
    {{"check-matrices", "refuses matrix loops that are no matrix operations",
      PassTargets::kGpus},
     CheckMatrices},
    {{kFirstOfProof, "declines nests that are not proved to stay in bounds"},
     ProveBounds},
};

constexpr const Pass<NestBuild>* Find(std::string_view name) {
  return std::ranges::find_if(kPasses, [&](const Pass<NestBuild>& pass) {
    return pass.info.name == name;
  });
}
static_assert(Find(kNormalise) < Find(kFirstOfLowering) &&
              Find(kFirstOfLowering) < Find(kFirstOfProof) &&
              Find(kFirstOfProof) != std::end(kPasses));

}  // namespace

std::span<const Pass<NestBuild>> NestPasses() { return kPasses; }

std::span<const Pass<NestBuild>> ComputationPasses() {
  return {std::begin(kPasses), Find(kNormalise)};
}

std::span<const Pass<NestBuild>> LoweringPasses() {
  return {Find(kFirstOfLowering), Find(kFirstOfProof)};
}

}  // namespace ember::jit

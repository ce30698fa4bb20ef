#include "vm/runtime/dispatch/tiered_runner.h"

#include <algorithm>

namespace ember::vm {

TieredDispatchRunner::TieredDispatchRunner(const DispatchContext& context,
                                           Tiering* tiering)
    : DispatchRunner(context), tiering_(tiering) {
  if (tiering_ == nullptr) return;
  for (SiteState& site : sites_) site.slot = tiering_->slot(site.group).get();
}

void TieredDispatchRunner::Prepare() {
  for (SiteState& site : sites_) {
    if (site.parameter_count > 0 || site.slot == nullptr ||
        site.slot->kernels() == nullptr)
      continue;
    StatusOr<PlanEntry*> entry =
        CacheOf(site).Get({}, INT64_MAX, /*is_run=*/false);
    if (entry.ok()) site.entry = *entry;
  }
}

void TieredDispatchRunner::UpdateKernel(SiteState& site) {
  // Kernels are requested before the call, so that the call already uses a
  // kernel that a provider compiled during the request.
  RequestKernels(site);
  if (site.slot->kernels() != site.entry->seen) ChooseKernel(site);
}

void TieredDispatchRunner::RequestKernels(const SiteState& site) {
  PlanEntry& entry = *site.entry;
  if (entry.calls == 0) site.slot->NoteShape(entry.parameters);
  if (!tiering_->has_provider()) {
    entry.requested_tier = tiering_->options().max_tier;
    return;
  }
  const int tier = TierFor(site);
  if (tier == entry.requested_tier) return;
  entry.requested_tier = tier;
  const std::vector<int64_t> parameters =
      tier >= 2 ? entry.parameters
                : tiering_->SharedShape(site.group, entry.parameters);
  tiering_->Request(site.group, parameters.empty() ? tier : 2, parameters,
                    context_.options.device->target(),
                    context_.runner.interrupt());
}

void TieredDispatchRunner::ChooseKernel(SiteState& site) {
  PlanEntry& entry = *site.entry;
  entry.seen = site.slot->kernels();
  entry.is_settled = false;
  const Kernel* kernel =
      entry.seen->Best(entry.parameters, tiering_->options().max_tier);
  if (kernel != entry.kernel) UseKernel(entry, kernel);
}

void TieredDispatchRunner::UseKernel(PlanEntry& entry, const Kernel* kernel) {
  entry.kernel = kernel;
  entry.kernel_tier = kernel == nullptr ? 0 : std::clamp(kernel->tier(), 1, 2);
  entry.is_checked =
      kernel == nullptr || kernel->is_settled() || tiering_->judge() == nullptr;
  entry.checks = 0;
  entry.trial.Restart();
}

Status TieredDispatchRunner::RunWith(SiteState& site, const Kernel* kernel) {
  if (kernel == nullptr) return RunPlan(site);
  ++site.kernel_calls[site.entry->kernel_tier - 1];
  InterruptibleRunner& runner = context_.runner;
  EMBER_RETURN_IF_ERROR(
      RunOnHost(*kernel, {site.entry->parameters, PointersOf(site), runner,
                          site.entry->points, context_.memory.pool().get()}));
  return runner.interrupt()->ShouldStop() ? runner.interrupt()->status()
                                          : OkStatus();
}

}  // namespace ember::vm

#include "vm/runtime/tiering.h"

#include <algorithm>
#include <utility>

namespace ember::vm {

void KernelSlot::Install(std::unique_ptr<Kernel> kernel) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto snapshot = std::make_unique<Kernels>();
  if (!snapshots_.empty()) snapshot->list = snapshots_.back()->list;
  // Among equals the newest first.
  const auto position = std::ranges::find_if(
      snapshot->list,
      [&](const Kernel* k) { return k->tier() <= kernel->tier(); });
  snapshot->list.insert(position, kernel.get());
  owned_.push_back(std::move(kernel));
  kernels_.store(snapshot.get(), std::memory_order_release);
  snapshots_.push_back(std::move(snapshot));
}

void KernelSlot::Decline(std::string reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  decline_reasons_.push_back(std::move(reason));
}

std::vector<std::string> KernelSlot::decline_reasons() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return decline_reasons_;
}

bool KernelSlot::ClaimRequest(int tier, std::span<const int64_t> parameters) {
  std::vector<int64_t> claim = {tier};
  claim.insert(claim.end(), parameters.begin(), parameters.end());
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::ranges::find(claims_, claim) != claims_.end()) return false;
  claims_.push_back(std::move(claim));
  return true;
}

Tiering::Tiering(std::shared_ptr<const Module> module,
                 std::shared_ptr<KernelProvider> provider, Options options)
    : module_(std::move(module)),
      provider_(std::move(provider)),
      options_(options) {
  slots_.resize(module_->group_count());
  for (std::shared_ptr<KernelSlot>& slot : slots_)
    slot = std::make_shared<KernelSlot>();
}

void Tiering::Request(size_t group, int tier,
                      std::span<const int64_t> parameters,
                      std::string_view target) {
  if (provider_ == nullptr || tier > options_.max_tier) return;
  if (!slots_[group]->ClaimRequest(tier, parameters)) return;
  const ModuleDefinition& definition = module_->definition();
  const DispatchSite& site = *std::ranges::find_if(
      module_->sites(),
      [group](const DispatchSite& s) { return s.group == group; });
  KernelRequest request;
  request.dispatch = &definition.dispatches[site.dispatch];
  request.target = std::string(target);
  request.tier = tier;
  request.parameters.assign(parameters.begin(), parameters.end());
  for (const ConstantSource& source : site.inputs) {
    std::span<const uint8_t> data;
    if (source.constant >= 0) {
      data = definition.constants[static_cast<size_t>(source.constant)].data;
      // A view past the end is refused when the program runs.
      data = data.subspan(
          std::min<size_t>(static_cast<size_t>(source.offset), data.size()));
    }
    request.constant_inputs.push_back(source.constant >= 0);
    request.constant_data.push_back(data);
  }
  provider_->RequestKernel(request, slots_[group]);
}

}  // namespace ember::vm

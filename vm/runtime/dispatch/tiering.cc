#include "vm/runtime/dispatch/tiering.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "vm/isa/model_metadata.h"
#include "vm/runtime/dispatch/host_runner.h"

namespace ember::vm {

KernelRequest RequestFor(const std::shared_ptr<const Module>& module,
                         size_t group) {
  const ModuleDefinition& definition = module->definition();
  const DispatchSite& site = *std::ranges::find_if(
      module->sites(),
      [group](const DispatchSite& s) { return s.group == group; });
  KernelRequest request;
  request.owner = module;
  request.dispatch = &definition.dispatches[site.dispatch];
  if (const MetadataEntry* const tuned =
          FindMetadata(definition.metadata, kTunedSchedulesKey)) {
    request.tuned_schedules = tuned->value;
  }
  for (const ConstantSource& source : site.inputs) {
    std::span<const uint8_t> data;
    if (source.constant >= 0) {
      data = definition.constants[static_cast<size_t>(source.constant)].data;
      // If the program's view of the constant begins beyond the constant's end,
      // the request gets no bytes. Running the program reports the view as an
      // error.
      data = data.subspan(
          std::min<size_t>(static_cast<size_t>(source.offset), data.size()));
    }
    request.constant_inputs.push_back(source.constant >= 0);
    request.constant_data.push_back(data);
  }
  return request;
}

Tiering::Options Tiering::Eager(int max_tier) {
  return {.least_ns = 0,
          .tier1_calls = 0,
          .tier2_calls = 0,
          .most_specialised = kMaxEager,
          .max_tier = max_tier,
          .keeps_slow_kernels = true,
          .checks_kernels = false};
}

Tiering::Tiering(std::shared_ptr<const Module> module,
                 std::shared_ptr<KernelProvider> provider, Options options)
    : module_(std::move(module)),
      provider_(std::move(provider)),
      options_(options),
      judge_(options.checks_kernels && provider_ != nullptr ? provider_->judge()
                                                            : nullptr) {
  slots_.resize(module_->group_count());
  for (std::shared_ptr<KernelSlot>& slot : slots_)
    slot = std::make_shared<KernelSlot>();
  sites_.resize(slots_.size());
  recorded_.resize(slots_.size());
  std::vector<const DispatchProfile*> by_dispatch(
      module_->definition().dispatches.size());
  for (const DispatchProfile& profile : module_->definition().profile)
    by_dispatch[profile.dispatch] = &profile;
  for (const DispatchSite& site : module_->sites()) {
    ++sites_[site.group];
    const DispatchProfile* const profile = by_dispatch[site.dispatch];
    recorded_[site.group] = profile;
    slots_[site.group]->set_recorded_ns(
        profile == nullptr ? 0 : profile->total_ns());
  }
}

int Tiering::NextTier(size_t group, std::span<const int64_t> parameters,
                      int64_t calls, int requested) const {
  if (requested >= options_.max_tier) return requested;
  const KernelSlot& slot = *slots_[group];
  const DispatchProfile* const recorded = recorded_[group];
  if (ns_.load(std::memory_order_relaxed) < options_.least_ns ||
      (recorded == nullptr &&
       slot.calls() < options_.tier1_calls * sites_[group]))
    return requested;
  if (parameters.empty()) return options_.max_tier;
  const bool is_named =
      recorded != nullptr &&
      std::ranges::any_of(recorded->shapes, [&](const auto& shape) {
        return std::ranges::equal(shape.parameters, parameters);
      });
  const std::optional<KernelSlot::CommonShape> common =
      slot.CommonShapeOf(parameters);
  const bool shares = common && common->classes >= kClassesOfSharedShape;
  const int64_t calls_for_own =
      shares ? std::max(options_.tier2_calls, kCallsForOwnKernel)
             : options_.tier2_calls;
  const bool is_hot =
      is_named || slot.has_one_shape() || calls >= calls_for_own;
  if (is_hot && options_.max_tier >= 2 &&
      slot.specialised() < options_.most_specialised)
    return 2;
  // No kernel is requested until the next shape class comes: it shows if the
  // parameters that were equal in the last classes stay equal, so that classes
  // can share a kernel.
  if (common && !shares && calls == 0 && options_.max_tier >= 2)
    return requested;
  return std::max(requested, 1);
}

std::vector<int64_t> Tiering::SharedShape(
    size_t group, std::span<const int64_t> parameters) const {
  std::optional<KernelSlot::CommonShape> common =
      slots_[group]->CommonShapeOf(parameters);
  const bool shares = common && common->classes >= kClassesOfSharedShape &&
                      options_.max_tier >= 2;
  return shares ? std::move(common->parameters) : std::vector<int64_t>();
}

Status Tiering::UseOn(const std::shared_ptr<hal::Device>& device) {
  const std::shared_ptr<hal::Device> own = device->is_host() ? nullptr : device;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!is_used_) device_ = own;
  is_used_ = true;
  if (device_ == own) return OkStatus();
  const std::string first(device_ == nullptr ? "the host" : device_->target());
  return InvalidArgumentError(
      "tiering: expected sessions on one device, which its kernels are for (" +
      first + "), found one on another (" + std::string(device->target()) +
      ")");
}

void Tiering::Request(size_t group, int tier,
                      std::span<const int64_t> parameters,
                      std::string_view target, const Interrupt* interrupt) {
  if (provider_ == nullptr) return;
  if (!slots_[group]->ClaimRequest(tier, parameters)) return;
  KernelRequest request = RequestFor(module_, group);
  request.target = std::string(target);
  request.device = device_;
  request.tier = tier;
  request.parameters.assign(parameters.begin(), parameters.end());
  request.interrupt = interrupt;
  provider_->RequestKernel(request, slots_[group]);
}

Status Tiering::UseFor(const DispatchContext& context) {
  if (module_.get() != &context.module) {
    return InvalidArgumentError(
        "session: expected the tiering of its own module, found another's");
  }
  return UseOn(context.options.device);
}

StatusOr<std::unique_ptr<DispatchRunner>> Tiering::NewDispatchRunner(
    const DispatchContext& context) {
  EMBER_RETURN_IF_ERROR(UseFor(context));
  return std::unique_ptr<DispatchRunner>(
      std::make_unique<HostDispatchRunner>(context, *this));
}

}  // namespace ember::vm

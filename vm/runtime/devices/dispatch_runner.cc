#include "vm/runtime/devices/dispatch_runner.h"

#include <algorithm>

namespace ember::vm {

bool DeviceDispatchRunner::IsSettled() const {
  return std::ranges::all_of(sites_, [this](const SiteState& site) {
    if (site.entry == nullptr || site.slot == nullptr) return true;
    return !is_profiled_ && !site.slot->is_pending();
  });
}

// The best tier is requested at once: on a device there is no gain in running a
// part of the model on the host while kernels are compiled. Only a shape class
// that shares a kernel with other classes waits for more calls before it gets a
// kernel of its own.
int DeviceDispatchRunner::TierFor(const SiteState& site) const {
  const PlanEntry& entry = *site.entry;
  const int best = std::min(tiering_->options().max_tier, 2);
  if (entry.requested_tier >= best) return entry.requested_tier;
  const bool shares =
      entry.calls < Tiering::kCallsForOwnKernel &&
      !tiering_->SharedShape(site.group, entry.parameters).empty();
  return shares ? 1 : best;
}

Status DeviceDispatchRunner::RunCall(SiteState& site,
                                     const MemoryReference* buffers) {
  PlanEntry& entry = *site.entry;
  if (site.slot != nullptr) UpdateKernel(site);
  ++entry.calls;
  int64_t begin = 0;
  if (is_profiled_) {
    EMBER_RETURN_IF_ERROR(device_.Flush());
    begin = context_.options.clock();
  }
  const uint32_t* const registers = site.operands + site.parameter_count;
  references_.resize(site.buffer_count);
  for (uint32_t i = 0; i < site.buffer_count; ++i)
    references_[i] = buffers[registers[i]];
  const char* reason = "";
  EMBER_ASSIGN_OR_RETURN(const bool is_appended, Append(site, &reason));
  if (is_appended) {
    ++site.device_calls;
    ++site.kernel_calls[entry.kernel_tier - 1];
    site.last_tier = entry.kernel_tier;
    entry.plan.reset();
    if (is_profiled_) EMBER_RETURN_IF_ERROR(device_.Flush());
  } else {
    EMBER_RETURN_IF_ERROR(RunOnHost(site, reason));
  }
  if (!is_profiled_) return OkStatus();
  const int64_t end = context_.options.clock();
  site.total_ns += end - begin;
  if (context_.options.trace) Trace(site, begin, end);
  return OkStatus();
}

StatusOr<bool> DeviceDispatchRunner::Append(const SiteState& site,
                                            const char** reason) {
  const PlanEntry& entry = *site.entry;
  const RecordedKernel* const kernel =
      entry.kernel == nullptr ? nullptr : entry.kernel->recorded();
  if (kernel == nullptr) return false;
  return device_.Append({.site = site.number,
                         .kernel = kernel,
                         .parameters = entry.parameters,
                         .buffers = references_,
                         .input_count = site.input_count,
                         .required_bytes = entry.required_bytes.data()},
                        reason);
}

Status DeviceDispatchRunner::RunOnHost(SiteState& site, const char* reason) {
  const PlanEntry& entry = *site.entry;
  accesses_.resize(references_.size());
  for (size_t i = 0; i < accesses_.size(); ++i) {
    accesses_[i] = {references_[i], i >= site.input_count};
    accesses_[i].memory.length = entry.required_bytes[i];
  }
  HostWork& work = device_.WorkOf(site.program, site.instruction);
  const bool has_host_kernel =
      entry.kernel != nullptr && entry.kernel->host() != nullptr;
  work.reason = has_host_kernel ? "its kernel is for the host" : reason;
  EMBER_RETURN_IF_ERROR(device_.BeginHost(accesses_, false, work));
  site.last_tier = has_host_kernel ? entry.kernel_tier : 0;
  EMBER_RETURN_IF_ERROR(
      RunWith(site, has_host_kernel ? entry.kernel : nullptr));
  return device_.EndHost(accesses_, work);
}

}  // namespace ember::vm

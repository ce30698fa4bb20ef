#include "vm/runtime/kernels/slot.h"

#include <algorithm>

#include "tensor/open_parameter.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

bool KernelSlot::Kernels::IsSlow(const Kernel* kernel,
                                 std::span<const int64_t> parameters) const {
  return std::ranges::any_of(slow, [&](const SlowKernel& other) {
    return other.kernel == kernel &&
           std::ranges::equal(other.parameters, parameters);
  });
}

const Kernel* KernelSlot::Kernels::Best(std::span<const int64_t> parameters,
                                        int max_tier) const {
  for (const Kernel* kernel : list) {
    if (kernel->tier() <= max_tier && kernel->Accepts(parameters) &&
        !IsSlow(kernel, parameters))
      return kernel;
  }
  return nullptr;
}

KernelSlot::Kernels KernelSlot::CopyOfLast() const {
  return snapshots_.empty() ? Kernels{} : *snapshots_.back();
}

void KernelSlot::Publish(Kernels snapshot) {
  snapshots_.push_back(std::make_unique<Kernels>(std::move(snapshot)));
  kernels_.store(snapshots_.back().get(), std::memory_order_release);
}

void KernelSlot::Install(std::unique_ptr<Kernel> kernel) {
  std::lock_guard<std::mutex> lock(mutex_);
  Kernels snapshot = CopyOfLast();
  // Kernels of the same tier with as many open parameters are in the order of
  // their age, the newest first.
  const auto position =
      std::ranges::find_if(snapshot.list, [&](const Kernel* k) {
        return k->tier() < kernel->tier() ||
               (k->tier() == kernel->tier() &&
                k->open_parameters() >= kernel->open_parameters());
      });
  snapshot.list.insert(position, kernel.get());
  owned_.push_back(std::move(kernel));
  Publish(std::move(snapshot));
  pending_.fetch_sub(1, std::memory_order_release);
}

void KernelSlot::Decline(std::string reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  decline_reasons_.push_back(std::move(reason));
  pending_.fetch_sub(1, std::memory_order_release);
}

void KernelSlot::SetAside(SlowKernel slow) {
  std::lock_guard<std::mutex> lock(mutex_);
  Kernels snapshot = CopyOfLast();
  // The list of slow kernels stays as it is if another session has set the
  // kernel aside for these parameters already.
  if (snapshot.IsSlow(slow.kernel, slow.parameters)) return;
  snapshot.slow.push_back(std::move(slow));
  Publish(std::move(snapshot));
}

void KernelSlot::Withdraw(const Kernel* kernel, std::string reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  decline_reasons_.push_back(std::move(reason));
  Kernels snapshot = CopyOfLast();
  std::erase(snapshot.list, kernel);
  Publish(std::move(snapshot));
}

void KernelSlot::NoteChecked(const Kernel* kernel,
                             std::span<const int64_t> parameters) {
  std::lock_guard<std::mutex> lock(mutex_);
  checked_.emplace_back(
      kernel, std::vector<int64_t>(parameters.begin(), parameters.end()));
}

KernelSlot::Checks KernelSlot::ChecksOf(
    const Kernel* kernel, std::span<const int64_t> parameters) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Checks checks;
  for (const auto& [checked, with] : checked_) {
    if (checked != kernel) continue;
    ++checks.count;
    checks.has_these |= std::ranges::equal(with, parameters);
  }
  return checks;
}

void KernelSlot::NoteUnchecked(std::string reason) {
  // Largest number of reasons that are kept. It is limited, because reasons
  // contain sizes, and each iteration of a loop may have other sizes.
  constexpr size_t kMaxReasons = 64;
  std::lock_guard<std::mutex> lock(mutex_);
  if (decline_reasons_.size() >= kMaxReasons) return;
  if (std::ranges::find(decline_reasons_, reason) == decline_reasons_.end())
    decline_reasons_.push_back(std::move(reason));
}

std::vector<std::string> KernelSlot::decline_reasons() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return decline_reasons_;
}

void KernelSlot::NoteShape(std::span<const int64_t> parameters) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int known = shapes_.load(std::memory_order_relaxed);
  if (known == 0) first_shape_.assign(parameters.begin(), parameters.end());
  if (known == 0 || !std::ranges::equal(first_shape_, parameters))
    shapes_.store(std::min(known + 1, 2), std::memory_order_relaxed);
  if (known > 0 && !std::ranges::equal(last_shape_, parameters))
    UpdateCommonShape(parameters);
  last_shape_.assign(parameters.begin(), parameters.end());
}

void KernelSlot::UpdateCommonShape(std::span<const int64_t> parameters) {
  std::vector<int64_t> shared = last_shape_;
  for (size_t i = 0; i < shared.size(); ++i) {
    if (shared[i] != parameters[i]) shared[i] = tensor::kOpenParameter;
  }
  if (shared == common_.parameters) {
    ++common_.classes;
  } else {
    common_ = {.parameters = std::move(shared), .classes = 2};
  }
}

std::optional<KernelSlot::CommonShape> KernelSlot::CommonShapeOf(
    std::span<const int64_t> parameters) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const int open = OpenParameters(common_.parameters);
  if (open == 0 || open == static_cast<int>(parameters.size()) ||
      !ShapeAccepts(common_.parameters, parameters))
    return std::nullopt;
  return common_;
}

bool KernelSlot::ClaimRequest(int tier, std::span<const int64_t> parameters) {
  std::vector<int64_t> claim = {tier};
  claim.insert(claim.end(), parameters.begin(), parameters.end());
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::ranges::find(claims_, claim) != claims_.end()) return false;
  claims_.push_back(std::move(claim));
  pending_.fetch_add(1, std::memory_order_relaxed);
  if (!parameters.empty()) specialised_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace ember::vm

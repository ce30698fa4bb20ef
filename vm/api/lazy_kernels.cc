#include "vm/api/lazy_kernels.h"

#include "vm/runtime/tiering.h"

namespace ember::api {

// Stands for the provider's, which is there before its first kernel is.
class LazyKernels::LateJudge final : public vm::KernelJudge {
 public:
  vm::KernelVerdict Judge(const vm::ComparedCall& call) override {
    return judge_ == nullptr ? vm::KernelVerdict() : judge_->Judge(call);
  }
  bool StoresAll(const tensor::Dispatch& dispatch,
                 std::span<const int64_t> parameters, size_t output) override {
    return judge_ != nullptr && judge_->StoresAll(dispatch, parameters, output);
  }
  void Be(std::shared_ptr<vm::KernelJudge> judge) { judge_ = std::move(judge); }

 private:
  // Set before a first kernel is installed, and read for kernels.
  std::shared_ptr<vm::KernelJudge> judge_;
};

LazyKernels::LazyKernels(Load load)
    : load_(std::move(load)), judge_(std::make_shared<LateJudge>()) {}

LazyKernels::~LazyKernels() {
  if (thread_.joinable()) thread_.join();
}

void LazyKernels::Ask(
    const StatusOr<std::shared_ptr<vm::KernelProvider>>& provider,
    const vm::KernelRequest& request, std::shared_ptr<vm::KernelSlot> slot) {
  if (!provider.ok()) return slot->Decline(provider.status().ToString());
  (*provider)->RequestKernel(request, std::move(slot));
}

void LazyKernels::RequestKernel(const vm::KernelRequest& request,
                                std::shared_ptr<vm::KernelSlot> slot) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!is_loaded_) {
      waiting_.push_back({request, std::move(slot)});
      if (!thread_.joinable())
        thread_ = std::thread(&LazyKernels::LoadAndAsk, this);
      return;
    }
  }
  // It does not change any more.
  Ask(provider_, request, std::move(slot));
}

void LazyKernels::LoadAndAsk() {
  StatusOr<std::shared_ptr<vm::KernelProvider>> provider = load_();
  if (provider.ok()) judge_->Be((*provider)->judge());
  std::vector<Waiting> waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    provider_ = std::move(provider);
    is_loaded_ = true;
    waiting.swap(waiting_);
  }
  for (Waiting& each : waiting)
    Ask(provider_, each.request, std::move(each.slot));
}

std::shared_ptr<vm::KernelJudge> LazyKernels::judge() { return judge_; }

}  // namespace ember::api

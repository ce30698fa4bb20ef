// Loads who compiles kernels when a first kernel is asked for, and not in the
// thread that asks: a process that ends before never has a compiler in memory,
// and no call waits for one to be loaded.
//
//   auto kernels = std::make_shared<LazyKernels>([] { return Load(); });
//
// Thread-safe.
#ifndef EMBER_VM_API_LAZY_KERNELS_H_
#define EMBER_VM_API_LAZY_KERNELS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::api {

class LazyKernels final : public vm::KernelProvider {
 public:
  using Load = std::function<StatusOr<std::shared_ptr<vm::KernelProvider>>()>;

  // An error of load is why all requests are declined.
  explicit LazyKernels(Load load);
  // Waits until what is being loaded is.
  ~LazyKernels() override;

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override;
  std::shared_ptr<vm::KernelJudge> judge() override;

 private:
  class LateJudge;
  // A kernel was asked for before the provider was there.
  struct Waiting {
    vm::KernelRequest request;
    std::shared_ptr<vm::KernelSlot> slot;
  };

  void LoadAndAsk();
  static void Ask(const StatusOr<std::shared_ptr<vm::KernelProvider>>& provider,
                  const vm::KernelRequest& request,
                  std::shared_ptr<vm::KernelSlot> slot);

  const Load load_;
  const std::shared_ptr<LateJudge> judge_;
  std::mutex mutex_;  // guards what follows
  bool is_loaded_ = false;
  StatusOr<std::shared_ptr<vm::KernelProvider>> provider_ =
      std::shared_ptr<vm::KernelProvider>();
  std::vector<Waiting> waiting_;
  std::thread thread_;
};

}  // namespace ember::api

#endif  // EMBER_VM_API_LAZY_KERNELS_H_

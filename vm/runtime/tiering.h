// Tier slots: for each dispatch site of a module's programs (sites of a program
// with the same dispatch and constants share one), the kernels that exist for
// it and how often it ran. Shared by the sessions of one module, which swap a
// kernel in at their next call after it was installed, and never wait for one.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, provider, Tiering::Options{});
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// Thread-safe. Kernels are never freed before the Tiering, so that readers need
// no lock.
#ifndef EMBER_VM_RUNTIME_TIERING_H_
#define EMBER_VM_RUNTIME_TIERING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/module.h"

namespace ember::vm {

class KernelSlot {
 public:
  // All kernels of a site, best tier first. Immutable; a new one replaces it.
  struct Kernels {
    std::vector<const Kernel*> list;
  };

  // Adds a kernel; the sessions use it from their next call on.
  void Install(std::unique_ptr<Kernel> kernel);
  // No kernel will come for the request; tier 0 (or what is there) stays.
  void Decline(std::string reason);

  // Null while there are none. Compare with a remembered pointer to notice a
  // change.
  const Kernels* kernels() const {
    return kernels_.load(std::memory_order_acquire);
  }

  void Count(int64_t ns) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  int64_t total_ns() const { return ns_.load(std::memory_order_relaxed); }
  std::vector<std::string> decline_reasons() const;

  // True the first time it is asked for (tier, parameters): the caller makes
  // the request.
  bool ClaimRequest(int tier, std::span<const int64_t> parameters);

 private:
  std::atomic<const Kernels*> kernels_{nullptr};
  std::atomic<int64_t> calls_{0};
  std::atomic<int64_t> ns_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Kernel>> owned_;
  std::vector<std::unique_ptr<Kernels>>
      snapshots_;  // kept: readers may still hold old ones
  std::vector<std::string> decline_reasons_;
  std::vector<std::vector<int64_t>> claims_;  // (tier, parameters...)
};

class Tiering {
 public:
  struct Options {
    int64_t tier1_calls =
        2;  // of a site, until the next one requests a kernel for all shapes
    int64_t tier2_calls =
        100;  // with the same parameters, until the next requests its own
    int max_tier = 2;
  };

  Tiering(std::shared_ptr<const Module> module,
          std::shared_ptr<KernelProvider> provider, Options options);

  const Options& options() const { return options_; }
  const Module& module() const { return *module_; }
  // By DispatchSite::group of Module::sites.
  const std::shared_ptr<KernelSlot>& slot(size_t group) const {
    return slots_[group];
  }
  // Asks the provider for a kernel unless that was done before. parameters: as
  // in KernelRequest.
  void Request(size_t group, int tier, std::span<const int64_t> parameters,
               std::string_view target);

 private:
  std::shared_ptr<const Module> module_;
  std::shared_ptr<KernelProvider> provider_;
  Options options_;
  std::vector<std::shared_ptr<KernelSlot>> slots_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TIERING_H_

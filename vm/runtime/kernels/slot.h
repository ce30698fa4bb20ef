// Holds the kernels that exist for one group of dispatch sites, and counts the
// group's calls. Providers install kernels in the slot. Sessions use an
// installed kernel from their next call on, and never wait for a kernel.
//
//   KernelSlot slot;
//   slot.Install(std::move(kernel));                     // on any thread
//   const KernelSlot::Kernels* now = slot.kernels();     // null: none yet
//   const Kernel* kernel = now->Best(parameters, /*max_tier=*/2);
//
// Thread-safe. Kernels are freed together with the slot, so that readers need
// no lock.
#ifndef EMBER_VM_RUNTIME_KERNELS_SLOT_H_
#define EMBER_VM_RUNTIME_KERNELS_SLOT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

// A kernel that was slower than tier 0 for a shape class, with the best times
// of the kernel and of tier 0.
struct SlowKernel {
  const Kernel* kernel = nullptr;
  std::vector<int64_t> parameters;
  int64_t kernel_ns = 0;
  int64_t interpreter_ns = 0;
};

class KernelSlot {
 public:
  // All kernels of a slot, the best tier first. The list never changes: when a
  // kernel is added, a new list is made.
  struct Kernels {
    std::vector<const Kernel*> list;
    std::vector<SlowKernel> slow;

    // Returns the first kernel of tier max_tier or lower that accepts the
    // parameters and was not found to be slow for them. Returns null if there
    // is none, so that tier 0 must be used.
    const Kernel* Best(std::span<const int64_t> parameters, int max_tier) const;
    bool IsSlow(const Kernel* kernel,
                std::span<const int64_t> parameters) const;
  };

  // Adds a kernel. Sessions use the kernel from their next call on.
  void Install(std::unique_ptr<Kernel> kernel);
  // Answers a request if there will be no kernel. Tier 0 or an existing kernel
  // stays in use.
  void Decline(std::string reason);
  // Makes sessions stop using the kernel for these parameters from their next
  // call on.
  void SetAside(SlowKernel slow);
  // Withdraws a kernel that turned out to be wrong. Sessions stop using it with
  // their next call, and the reason is added to those of Decline. The kernel is
  // not freed before the slot is, because calls of it may be running.
  void Withdraw(const Kernel* kernel, std::string reason);
  // Records that a check of the kernel, in a call with these parameters, found
  // its results right.
  void NoteChecked(const Kernel* kernel, std::span<const int64_t> parameters);
  struct Checks {
    // true if the kernel was checked with the given parameters
    bool has_these = false;
    // number of different parameter tuples with which the kernel was checked
    int count = 0;
  };
  Checks ChecksOf(const Kernel* kernel,
                  std::span<const int64_t> parameters) const;
  // Records that a session could not check a kernel, and therefore does not use
  // it.
  void NoteUnchecked(std::string reason);

  // Returns the current list of kernels; null if there are none. If the pointer
  // differs from an earlier result, the kernels have changed.
  const Kernels* kernels() const {
    return kernels_.load(std::memory_order_acquire);
  }

  // Counts a timed call. Sessions stop measuring calls when no decision depends
  // on their times.
  void Count(int64_t ns) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  int64_t total_ns() const { return ns_.load(std::memory_order_relaxed); }
  // Sets the time that the group's calls took in recorded runs
  // (DispatchProfile), which is part of heat_ns. It must be called before all
  // other functions.
  void set_recorded_ns(int64_t ns) { recorded_ns_ = ns; }
  // Returns an estimate of the benefit of a kernel. Of several slots with
  // requests, the one with the largest value is compiled first.
  int64_t heat_ns() const { return total_ns() + recorded_ns_; }
  std::vector<std::string> decline_reasons() const;

  // Records that a session runs its first call with these parameters.
  void NoteShape(std::span<const int64_t> parameters);
  bool has_one_shape() const {
    return shapes_.load(std::memory_order_relaxed) < 2;
  }
  // The common shape of the last shape classes that were new to a session: the
  // values of the parameters that they have in common, and
  // tensor::kOpenParameter for those that change from one to the next. A
  // decoder that runs token by token has [1, open], where the first parameter
  // is the number of new tokens and the second one that of earlier tokens.
  struct CommonShape {
    std::vector<int64_t> parameters;
    // number of new shape classes, one after the other, that had the values of
    // `parameters` in common
    int classes = 0;
  };
  // Returns the common shape of the last new shape classes if the given
  // parameters match it, and if some but not all of its values are open.
  std::optional<CommonShape> CommonShapeOf(
      std::span<const int64_t> parameters) const;

  // Claims the request for a kernel of this tier and these parameters. Returns
  // true at the first call with these arguments: the caller must then make the
  // request.
  bool ClaimRequest(int tier, std::span<const int64_t> parameters);
  // True if some request has not been answered yet.
  bool is_pending() const {
    return pending_.load(std::memory_order_acquire) > 0;
  }
  // Returns the number of claims so far for kernels that are specialised for
  // some parameter values: those of one shape class, or a common shape.
  int specialised() const {
    return specialised_.load(std::memory_order_relaxed);
  }

 private:
  // Updates common_ for a shape class that is new to a session. The caller must
  // hold mutex_.
  void UpdateCommonShape(std::span<const int64_t> parameters);
  Kernels CopyOfLast() const;      // returns a copy of the current list; the
                                   // caller must hold mutex_
  void Publish(Kernels snapshot);  // makes this list the current one; the
                                   // caller must hold mutex_

  std::atomic<const Kernels*> kernels_{nullptr};
  std::atomic<int64_t> calls_{0};
  std::atomic<int64_t> ns_{0};
  int64_t recorded_ns_ = 0;
  std::atomic<int> pending_{0};
  std::atomic<int> specialised_{0};
  std::atomic<int> shapes_{0};  // number of different shape classes; 2 means
                                // two or more
  mutable std::mutex mutex_;    // guards the fields below
  std::vector<int64_t> first_shape_, last_shape_;
  CommonShape common_;
  std::vector<std::unique_ptr<Kernel>> owned_;
  std::vector<std::unique_ptr<Kernels>>
      // All lists so far. Old lists are kept, because readers may still use
      // them.
      snapshots_;
  std::vector<std::string> decline_reasons_;
  // the claimed requests, each as tier and parameters
  std::vector<std::vector<int64_t>> claims_;
  std::vector<std::pair<const Kernel*, std::vector<int64_t>>> checked_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_SLOT_H_

// Tier slots: for each dispatch site of a module's programs (sites of a program
// with the same dispatch and constants share one), the kernels that exist for
// it and how often it ran. Shared by the sessions of one module, which swap a
// kernel in at their next call after it was installed, and never wait for one.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, provider, Tiering::Options{});
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// The policy (NextTier), and what was measured for it on a core with AVX-512:
//
// - Code generation takes most of a compilation, and as long for tier 1 as for
//   tier 2 (ResNet-50's 57 kernels: 720 and 735 ms, of which 630 and 567 ms;
//   BERT-base's 112: 2.4 and 2.7 s). So a site without parameters, whose kernel
//   of tier 1 is the same loop nest, asks for tier 2 at once.
// - A site with parameters that has seen one shape class only asks for that
//   one's kernel of tier 2 at once, too. When others come, it asks for one
//   kernel for all (tier 1), and for one of its own for each class that has run
//   tier2_calls times, up to most_specialised. (Open extents cost much: the
//   digits sample with a batch of 16 takes 1.31 ms at tier 0, 0.83 with kernels
//   for all shapes, 0.20 with those for its own. A compilation takes 15 ms.)
// - Nothing is asked for before the module has spent least_ns in tier 0 and the
//   site has run tier1_calls times: a process that runs a model once, or a tiny
//   one some thousand times, never loads a compiler. Then all such sites ask,
//   and the provider begins with the hottest (KernelSlot::heat_ns).
// - What the module's profile names (vm-prejit --profile) has been seen to be
//   hot: it does not have to run tier1_calls times, asks for kernels of the
//   shapes that are named as soon as they come, and stands before what is not
//   named. least_ns holds for it, too.
// - Whether a kernel is faster than tier 0 is measured (kernel_trial.h); one
//   that is not is set aside for that shape class.
// - Before any of that, the first call of a kernel with each shape class is
//   made twice, by tier 0 for the caller and by the kernel on copies
//   (kernel_check.h), and the provider's judge compares both. A kernel that is
//   wrong is withdrawn for good before anybody has seen a result of it.
//   The time that takes is part of what a run may lose to kernels on trial. A
//   kernel for all shapes must be right for one of them before it is used;
//   with others it is checked as runs have time for that, and after some it is
//   believed: a decoder's step brings a shape of its own each time.
//   With what a session's memory limit has no room to check, tier 0 stays.
//   Kernels of devices are not checked.
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
#include <string_view>
#include <vector>

#include "vm/runtime/dispatch_runner_source.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernel_slot.h"
#include "vm/runtime/module.h"

namespace ember::vm {

class MemoryPool;

// What is asked for of one group of sites (DispatchSite::group), but for where
// the kernel runs and for which shapes.
KernelRequest RequestFor(const std::shared_ptr<const Module>& module,
                         size_t group);

// provider: null for kernels that are put into slots by others only
// (vm/runtime/native_kernels.h).
class Tiering : public DispatchRunnerSource {
 public:
  struct Options {
    // Time in dispatches of the module before the first request.
    int64_t least_ns = 20'000'000;
    // Of a site, until the next one requests its first kernel.
    int64_t tier1_calls = 2;
    // With the same parameters, until the next one requests its own, where
    // there are others.
    int64_t tier2_calls = 10;
    int most_specialised = 8;  // kernels of one shape class, per slot
    int max_tier = 2;
    // Kernels that are slower than tier 0 are used all the same: while
    // something else is looked for.
    bool keeps_slow_kernels = false;
    // The first call of each kernel with each shape class is checked, if the
    // provider has a judge.
    bool checks_kernels = true;
  };

  // Every site asks before its first call, for tier max_tier: for a provider
  // that compiles within the request. Kernels are used as they are: whoever
  // wants them at once does not want tier 0's calls. A site that has met
  // kMostEager shape classes will meet more (a value that grows in a loop):
  // those get the kernel for all shapes.
  static constexpr int kMostEager = 64;
  static Options Eager(int max_tier);

  Tiering(std::shared_ptr<const Module> module,
          std::shared_ptr<KernelProvider> provider, Options options);

  const Options& options() const { return options_; }
  const Module& module() const { return *module_; }
  const std::shared_ptr<const Module>& shared_module() const { return module_; }
  // By DispatchSite::group of Module::sites.
  const std::shared_ptr<KernelSlot>& slot(size_t group) const {
    return slots_[group];
  }
  // A call that was timed.
  void Count(size_t group, int64_t ns) {
    slots_[group]->Count(ns);
    ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  // What a shape class that ran `calls` times and has requested `requested`
  // should request now; `requested`: nothing.
  int NextTier(size_t group, std::span<const int64_t> parameters, int64_t calls,
               int requested) const;
  // Kernels are for the first device that this is called with, or for any
  // device that is the host if that one is. InvalidArgument for another.
  Status UseOn(const std::shared_ptr<hal::Device>& device);
  // Asks the provider for a kernel unless that was done before. parameters and
  // interrupt: as in KernelRequest.
  void Request(size_t group, int tier, std::span<const int64_t> parameters,
               std::string_view target, const Interrupt* interrupt);
  // What runs the dispatches of a session on the host with these kernels, which
  // must be of the session's module.
  StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) override;
  // InvalidArgument where another module's kernels would be used, or those of
  // another device (UseOn).
  Status UseFor(const DispatchContext& context);
  // What sessions on the host call when they are made; null: nothing. Set, by
  // who has put kernels into slots, before there are sessions
  // (vm/runtime/first_run.h): a runtime that installs none does without it.
  using Preparation = void (*)(const Module& module, const Tiering& tiering,
                               ParallelRunner& runner, MemoryPool& pool);
  void set_preparation(Preparation preparation) { preparation_ = preparation; }
  Preparation preparation() const { return preparation_; }
  // Whether there is anyone to ask.
  bool has_provider() const { return provider_ != nullptr; }
  // The provider's, if kernels are to be checked; else null.
  KernelJudge* judge() const { return judge_.get(); }

 private:
  std::shared_ptr<const Module> module_;
  std::shared_ptr<KernelProvider> provider_;
  Options options_;
  std::shared_ptr<KernelJudge> judge_;
  Preparation preparation_ = nullptr;
  std::vector<std::shared_ptr<KernelSlot>> slots_;
  std::vector<int64_t> sites_;  // by group
  // By group; null for what the module's profile does not name.
  std::vector<const DispatchProfile*> recorded_;
  std::atomic<int64_t> ns_{0};
  std::mutex mutex_;  // guards what follows
  bool is_used_ = false;
  std::shared_ptr<hal::Device> device_;  // null: the host's
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TIERING_H_

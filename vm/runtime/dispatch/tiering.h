// The kernels of a module, in slots. For each dispatch site of the module's
// programs, a slot has the kernels that exist for the site and the number of
// its calls. Sites of a program with the same dispatch and constants share a
// slot. The sessions of one module share all slots. A session uses a kernel
// from its next call on after the kernel was installed, and never waits for a
// kernel.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, provider, Tiering::Options{});
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// The policy (NextTier), with the measurements on which it is based, on a core
// with AVX-512:
//
// - Code generation takes most of a compilation, and as long for tier 1 as for
//   tier 2 (ResNet-50's 57 kernels: 720 and 735 ms, of which 630 and 567 ms;
//   BERT-base's 112: 2.4 and 2.7 s). So a site without parameters, whose kernel
//   of tier 1 has the same loop nest, requests tier 2 at once.
// - A site with parameters that has seen only one shape class requests that
//   class's kernel of tier 2 at once, too. When other classes come, it requests
//   one kernel for all (tier 1), and one for each class that has run
//   tier2_calls times, up to most_specialised. (Open extents cost much: the
//   digits sample with a batch of 16 takes 1.31 ms at tier 0, 0.83 with kernels
//   for all shapes, 0.20 with those for its own. A compilation takes 15 ms.)
// - If three new classes, one after the other, differ in the same parameters
//   only, more will probably follow (a decoder that runs token by token, a
//   value that grows in a loop). They get one kernel of tier 2 for the values
//   that they have in common, in place of the kernel for all shapes. (0.5B
//   weights of 4 bits, a token at a time: 6 tokens/s with a kernel for each
//   class.)
// - There is no request before the module has spent least_ns in tier 0 and the
//   site has run tier1_calls times. So a process that runs a model once, or a
//   tiny one some thousand times, never loads a compiler. Then all such sites
//   make requests, and the provider begins with the hottest
//   (KernelSlot::heat_ns).
// - Dispatches in the module's profile (vm-prejit --profile) are known to be
//   hot. They do not have to run tier1_calls times, request kernels of the
//   recorded shapes as soon as those come, and have priority over dispatches
//   that are not in the profile. least_ns holds for them, too.
// - The session measures if a kernel is faster than tier 0
// (vm/runtime/kernels/trial.h). A
//   kernel that is not is set aside for that shape class.
// - Before that, the first call of a kernel with each shape class is made
//   twice: by tier 0 for the caller, and by the kernel on copies
//   (vm/runtime/kernels/check.h). The provider's judge compares both. A wrong kernel is
//   withdrawn permanently before its results are used. The time of checks is
//   part of the time that a run may lose to kernels on trial. A kernel for all
//   shapes must be right for one of them before it is used. It is checked with
//   others when runs have time for that, and accepted after some checks,
//   because a decoder's step has a new shape each time. If a session's memory
//   limit has no room for the check, tier 0 stays in use. Kernels of devices
//   are not checked.
//
// Thread-safe. Kernels are never freed before the Tiering, so that readers need
// no lock.
#ifndef EMBER_VM_RUNTIME_DISPATCH_TIERING_H_
#define EMBER_VM_RUNTIME_DISPATCH_TIERING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "vm/runtime/dispatch_runner_source.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernels/slot.h"
#include "vm/runtime/module.h"

namespace ember::vm {

class MemoryPool;

// Makes the request for a kernel of a group of sites (DispatchSite::group). The
// device and the shapes are not set yet.
KernelRequest RequestFor(const std::shared_ptr<const Module>& module,
                         size_t group);

// All slots of a module, and the policy for requests. `provider`, which
// compiles kernels, is null if kernels are only installed from files or tables
// (vm/runtime/dispatch/native_kernels.h).
class Tiering : public DispatchRunnerSource {
 public:
  struct Options {
    // Number of nanoseconds that the module's dispatches must have taken before
    // the first request.
    int64_t least_ns = 20'000'000;
    // Number of calls of a site after which the next call requests the site's
    // first kernel.
    int64_t tier1_calls = 2;
    // Number of calls with the same parameters after which the next one
    // requests a kernel for these parameters, if there are calls with other
    // parameters.
    int64_t tier2_calls = 10;
    // largest number of kernels per slot that are specialised for one shape
    // class
    int most_specialised = 8;
    int max_tier = 2;
    // True: kernels stay in use even if they are slower than tier 0.
    bool keeps_slow_kernels = false;
    // True: the first call of each kernel with each shape class is checked, if
    // the provider has a judge.
    bool checks_kernels = true;
  };

  // Returns options for a provider that compiles in the requesting thread:
  // every site requests a kernel of tier max_tier before its first call.
  // Kernels are used without checks, because the caller does not want calls of
  // tier 0. If a site has run kMaxEager shape classes, more will probably
  // follow (for example because a value grows in a loop), so further classes
  // use a kernel for all shapes.
  static constexpr int kMaxEager = 64;
  // If so many new shape classes, one after the other, have some parameter
  // values in common, further such classes share a kernel for these values.
  // vm-prejit makes such kernels for as many recorded shapes.
  static constexpr int kClassesOfSharedShape = 3;
  // Number of calls after which a shape class that shares a kernel with others
  // gets a kernel of its own. It applies even if tier2_calls is smaller.
  static constexpr int64_t kCallsForOwnKernel = 10;
  static Options Eager(int max_tier);

  Tiering(std::shared_ptr<const Module> module,
          std::shared_ptr<KernelProvider> provider, Options options);

  const Options& options() const { return options_; }
  const Module& module() const { return *module_; }
  const std::shared_ptr<const Module>& shared_module() const { return module_; }
  // Returns the slot of a group (the DispatchSite::group of the sites in
  // Module::sites).
  const std::shared_ptr<KernelSlot>& slot(size_t group) const {
    return slots_[group];
  }
  // Adds a timed call of a group of sites, which took `ns` nanoseconds, to the
  // time of the module and of the group's slot.
  void Count(size_t group, int64_t ns) {
    slots_[group]->Count(ns);
    ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  // Returns the tier of the kernel that a shape class should request now; tier
  // 1 means the kernel that it shares with other classes (SharedShape). `calls`
  // is the number of its calls so far, and `requested` is the tier that it has
  // requested already. If `requested` is returned, no request should be made.
  int NextTier(size_t group, std::span<const int64_t> parameters, int64_t calls,
               int requested) const;
  // Returns the shape of the kernel that the class of the parameters shares
  // with other classes (KernelSlot::CommonShapeOf). It is empty if this is a
  // kernel for all shapes.
  std::vector<int64_t> SharedShape(size_t group,
                                   std::span<const int64_t> parameters) const;
  // Sets the device for which kernels are made. Later calls must pass the same
  // device as the first one, or any host device if the first one was a host
  // device. Returns InvalidArgument otherwise.
  Status UseOn(const std::shared_ptr<hal::Device>& device);
  // Requests a kernel from the provider, unless the same kernel was requested
  // before. KernelRequest describes `parameters` and `interrupt`.
  void Request(size_t group, int tier, std::span<const int64_t> parameters,
               std::string_view target, const Interrupt* interrupt);
  // Makes the object that runs the dispatches of a session on the host with
  // these kernels. The session must be of the same module.
  StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) override;
  // Checks that a session may use these kernels. Returns InvalidArgument if
  // they are of another module, or for another device (UseOn).
  Status UseFor(const DispatchContext& context);
  // A function that sessions on the host call when they are created; may be
  // null. Code that installs kernels sets it before there are sessions
  // (vm/runtime/dispatch/first_run.h). A runtime that installs no kernels does
  // not link the function.
  using Preparation = void (*)(const Module& module, const Tiering& tiering,
                               ParallelRunner& runner, MemoryPool& pool);
  void set_preparation(Preparation preparation) { preparation_ = preparation; }
  Preparation preparation() const { return preparation_; }
  // True if there is a provider, so that kernels can be requested.
  bool has_provider() const { return provider_ != nullptr; }
  // Returns the provider's judge if kernels must be checked; null if they are
  // used without checks.
  KernelJudge* judge() const { return judge_.get(); }

 private:
  std::shared_ptr<const Module> module_;
  std::shared_ptr<KernelProvider> provider_;
  Options options_;
  std::shared_ptr<KernelJudge> judge_;
  Preparation preparation_ = nullptr;
  std::vector<std::shared_ptr<KernelSlot>> slots_;
  std::vector<int64_t> sites_;  // for each group, its number of sites
  // for each group, the calls of its dispatch in the module's profile; null if
  // the profile does not contain the dispatch
  std::vector<const DispatchProfile*> recorded_;
  std::atomic<int64_t> ns_{0};
  std::mutex mutex_;  // guards the fields below
  bool is_used_ = false;
  // device for which kernels are made; null: the host
  std::shared_ptr<hal::Device> device_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_TIERING_H_

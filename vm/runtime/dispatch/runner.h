// Runs the dispatch instructions of a session: finds the plan for the call's
// parameters, checks its operands against the plan and each other, counts its
// work, and runs it. This class runs tier 0; derived classes choose among
// kernels, too. Internal to sessions.
//
//   DispatchRunner dispatches(context);              // or Tiering makes one
//   dispatches.Prepare();
//   dispatches.StartRun();
//   EMBER_RETURN_IF_ERROR(dispatches.Run(site, integers, buffers));
//   EMBER_RETURN_IF_ERROR(dispatches.EndRun());
//
// Not thread-safe: it belongs to one session. Errors: those of Plan and of the
// limits; operands that are too small, or that share memory although MayAlias
// does not allow it.
#ifndef EMBER_VM_RUNTIME_DISPATCH_RUNNER_H_
#define EMBER_VM_RUNTIME_DISPATCH_RUNNER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "vm/runtime/dispatch/plan_cache.h"
#include "vm/runtime/dispatch_runner_source.h"
#include "vm/runtime/memory/run_memory.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/module.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/session.h"

namespace ember::vm {

// The parts of a session that a runner uses; all of them outlive the runner.
struct DispatchContext {
  const Module& module;
  const SessionOptions& options;
  RunMemory& memory;
  RunLimits& limits;
  // Runs chunks on the session's threads, with the session's interrupt.
  InterruptibleRunner& runner;
};

// The state of a dispatch instruction: its operands, and the last plan and
// kernel.
struct SiteState {
  // Inputs and outputs that were found to share memory, and may do so.
  std::vector<std::pair<uint32_t, uint32_t>> shared;
  // registers of the parameters, then of inputs and outputs
  const uint32_t* operands = nullptr;
  uint32_t parameter_count = 0;
  uint32_t buffer_count = 0;
  uint32_t input_count = 0;
  uint32_t number = 0;
  uint32_t program = 0;
  uint32_t instruction = 0;
  uint32_t group = 0;
  uint32_t dispatch = 0;
  PlanEntry* entry = nullptr;
  KernelSlot* slot = nullptr;  // kernels of the site; null: tier 0 only
  int64_t calls = 0;
  // number of calls of tier 1 and of tier 2; the others are tier 0's
  int64_t kernel_calls[2] = {0, 0};
  int64_t device_calls = 0;
  int64_t total_ns = 0;
  int last_tier = 0;
  // Recorded shapes. Filled with SessionOptions::profile; see
  // SiteProfile::shapes.
  std::vector<DispatchProfile::Shape> shapes;
};

class DispatchRunner {
 public:
  explicit DispatchRunner(const DispatchContext& context);
  virtual ~DispatchRunner();
  DispatchRunner(const DispatchRunner&) = delete;
  DispatchRunner& operator=(const DispatchRunner&) = delete;

  // Called when the session is created: does work that first calls would
  // otherwise do.
  virtual void Prepare() {}
  virtual void StartRun() {}
  // Returns the error of a call that was kept, if there is one.
  virtual Status EndRun() { return OkStatus(); }

  // Runs dispatch instruction number `site` of Module::sites, with the
  // registers of its program.
  Status Run(uint32_t site, const int64_t* integers,
             const MemoryReference* buffers);

  // True if Run may keep calls instead of executing them (side_by_side.h). Then
  // Synchronize must come before anything that depends on their results.
  bool keeps_calls() const { return keeps_calls_; }
  virtual Status Synchronize() { return OkStatus(); }

  // Return the same as the functions of Session with these names.
  std::vector<SiteProfile> Profile() const;
  std::string_view SiteName(uint32_t site) const;
  std::span<const TraceEvent> trace() const { return trace_; }
  void ResetProfile();
  virtual bool IsSettled() const { return true; }
  virtual int side_by_side_count() const { return 0; }

  const SiteState& site(uint32_t number) const { return sites_[number]; }

 protected:
  // Runs a call whose operands are in pointers_ and have been checked. buffers:
  // the buffer registers, as in Run.
  virtual Status RunCall(SiteState& site, const MemoryReference* buffers);

  // Runs the call at tier 0, with the operands in pointers_.
  Status RunPlan(SiteState& site);
  std::span<void* const> PointersOf(const SiteState& site) const {
    return {pointers_.data(), site.buffer_count};
  }
  const tensor::Dispatch& DispatchOf(const SiteState& site) const {
    return context_.module.definition().dispatches[site.dispatch];
  }
  PlanCache& CacheOf(const SiteState& site) { return *caches_[site.group]; }
  // Records a timed call of the tier for the profile and the trace.
  void NoteCall(SiteState& site, int tier, int64_t begin, int64_t end);
  void Trace(const SiteState& site, int64_t begin, int64_t end);

  const DispatchContext context_;
  const bool is_profiled_;
  bool keeps_calls_ = false;
  std::vector<SiteState> sites_;  // sites by their number
  // memory of the operands of the dispatch that is being started
  std::vector<void*> pointers_;

 private:
  static bool HasPlan(const SiteState& site, const int64_t* integers);
  Status FindPlan(SiteState& site, const int64_t* integers);
  Status BufferTooSmall(const SiteState& site, uint32_t buffer,
                        int64_t found) const;
  // Checks that no operand shares memory with an output if it may not.
  Status CheckOverlaps(SiteState& site) const;
  bool MayShare(SiteState& site, uint32_t input, uint32_t output) const;
  Status TrackWrites(const SiteState& site, const MemoryReference* buffers);
  void CountShape(SiteState& site, int64_t ns) const;
  Status ErrorAt(const SiteState& site, std::string_view message) const;

  // plans of each group of sites
  std::vector<std::unique_ptr<PlanCache>> caches_;
  // parameters of the dispatch that is being started
  std::vector<int64_t> parameters_;
  std::vector<TraceEvent> trace_;
  uint64_t thread_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_RUNNER_H_

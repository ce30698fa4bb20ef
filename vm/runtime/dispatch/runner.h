// Runs the dispatch instructions of a session: finds the plan for the call's
// parameters, checks the sizes of the operands and if they overlap, counts the
// work for the session's limits, and runs the call. This class runs all calls
// at tier 0; derived classes may also use kernels. Internal to sessions.
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

// The parts of a session that a runner uses. All of them must outlive the
// runner.
struct DispatchContext {
  const Module& module;
  const SessionOptions& options;
  RunMemory& memory;
  RunLimits& limits;
  // runner of the session's threads, which the session's interrupt can stop
  InterruptibleRunner& runner;
};

// The state of one dispatch instruction: its operands, and the plan and kernel
// of its last call.
struct SiteState {
  // Pairs of an input and an output that were found to be allowed to share
  // memory.
  std::vector<std::pair<uint32_t, uint32_t>> shared;
  // numbers of the registers that hold the dispatch's parameters, then of those
  // that hold its inputs and outputs
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
  KernelSlot* slot = nullptr;  // The slot of the site's kernel. It is null if
                               // only tier 0 runs.
  int64_t calls = 0;
  // numbers of calls that ran at tier 1 and at tier 2; all other calls ran at
  // tier 0
  int64_t kernel_calls[2] = {0, 0};
  int64_t device_calls = 0;
  int64_t total_ns = 0;
  int last_tier = 0;
  // Recorded shapes, as in SiteProfile::shapes. They are recorded only with
  // SessionOptions::profile.
  std::vector<DispatchProfile::Shape> shapes;
};

class DispatchRunner {
 public:
  explicit DispatchRunner(const DispatchContext& context);
  virtual ~DispatchRunner();
  DispatchRunner(const DispatchRunner&) = delete;
  DispatchRunner& operator=(const DispatchRunner&) = delete;

  // Does work that first calls would otherwise do. It is called when the
  // session is created.
  virtual void Prepare() {}
  virtual void StartRun() {}
  // Ends a run. If calls were kept to run later (keeps_calls), executes them
  // and returns their first error.
  virtual Status EndRun() { return OkStatus(); }

  // Runs the dispatch instruction with the number `site` in Module::sites.
  // `integers` and `buffers` are the registers of its program.
  Status Run(uint32_t site, const int64_t* integers,
             const MemoryReference* buffers);

  // True if Run may keep calls of kernels and execute them later
  // (side_by_side.h). Synchronize must then be called before anything that
  // depends on their results.
  bool keeps_calls() const { return keeps_calls_; }
  virtual Status Synchronize() { return OkStatus(); }

  // These functions return the same as the functions of Session with the same
  // names.
  std::vector<SiteProfile> Profile() const;
  std::string_view SiteName(uint32_t site) const;
  std::span<const TraceEvent> trace() const { return trace_; }
  void ResetProfile();
  virtual bool IsSettled() const { return true; }
  virtual int side_by_side_count() const { return 0; }

  const SiteState& site(uint32_t number) const { return sites_[number]; }

 protected:
  // Runs a call of the site's dispatch. The addresses of its operands are in
  // pointers_ and have been checked. `buffers` are the buffer registers of the
  // program.
  virtual Status RunCall(SiteState& site, const MemoryReference* buffers);

  // Runs a call of the site's dispatch at tier 0. The addresses of its operands
  // are in pointers_.
  Status RunPlan(SiteState& site);
  std::span<void* const> PointersOf(const SiteState& site) const {
    return {pointers_.data(), site.buffer_count};
  }
  const tensor::Dispatch& DispatchOf(const SiteState& site) const {
    return context_.module.definition().dispatches[site.dispatch];
  }
  PlanCache& CacheOf(const SiteState& site) { return *caches_[site.group]; }
  // Counts a call that ran at `tier`, and records its time for the profile and
  // the trace.
  void NoteCall(SiteState& site, int tier, int64_t begin, int64_t end);
  void Trace(const SiteState& site, int64_t begin, int64_t end);

  const DispatchContext context_;
  const bool is_profiled_;
  bool keeps_calls_ = false;
  std::vector<SiteState> sites_;  // state of each dispatch instruction, by the
                                  // number of its site
  // memory of the operands of the dispatch that is being started
  std::vector<void*> pointers_;

 private:
  static bool HasPlan(const SiteState& site, const int64_t* integers);
  Status FindPlan(SiteState& site, const int64_t* integers);
  Status BufferTooSmall(const SiteState& site, uint32_t buffer,
                        int64_t found) const;
  // Checks that no operand shares memory with an output for which that is not
  // allowed.
  Status CheckOverlaps(SiteState& site) const;
  bool MayShare(SiteState& site, uint32_t input, uint32_t output) const;
  Status TrackWrites(const SiteState& site, const MemoryReference* buffers);
  void CountShape(SiteState& site, int64_t ns) const;
  Status ErrorAt(const SiteState& site, std::string_view message) const;

  // for each group of sites, the cache of its plans of tier 0
  std::vector<std::unique_ptr<PlanCache>> caches_;
  // parameters of the dispatch that is being started
  std::vector<int64_t> parameters_;
  std::vector<TraceEvent> trace_;
  uint64_t thread_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_RUNNER_H_

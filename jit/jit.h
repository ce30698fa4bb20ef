// The JIT: compiles the kernels that the VM asks for.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Jit> jit, NewJit({}));
//   auto tiering = std::make_shared<vm::Tiering>(module, jit,
//                                                vm::Tiering::Options{});
//
// Jit is an interface, so that programs can load the implementation as a
// library (tools/lib/cli/load_jit.h). The compile worker or LLVM's library is
// started or loaded when a first kernel needs it, in a thread that compiles.
// Thread-safe.
#ifndef EMBER_JIT_JIT_H_
#define EMBER_JIT_JIT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "base/status.h"
#include "jit/backend/kernel_report.h"
#include "jit/cache/options.h"
#include "jit/oracle/oracle.h"
#include "jit/worker/background_thread.h"
#include "vm/runtime/kernel_library.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// The schedule and the loop nest of a kernel as texts, for people to read.
struct KernelText {
  std::string schedule;
  std::string nest;
};

// Gets each kernel before sessions do, and may replace it by one that checks or
// measures it. Called from the threads that compile.
class KernelWrapper {
 public:
  virtual ~KernelWrapper() = default;
  // Returns the kernel that sessions get. slot: the slot that gets the result;
  // it outlives the result.
  virtual std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest& request, vm::KernelSlot& slot, KernelText text,
      std::unique_ptr<vm::Kernel> kernel) = 0;
};

// An event: one request for a kernel was handled, from its arrival until the
// kernel was made or declined. Times are those of the steady clock
// (vm/runtime/steady_clock.h), in nanoseconds.
struct KernelEvent {
  const vm::KernelRequest& request;
  // The slot that gets the kernel; its sites are the calls that will use the
  // kernel.
  const vm::KernelSlot& slot;
  int64_t requested_ns = 0;  // the request reached the JIT
  int64_t begin_ns = 0;      // a thread took the request
  int64_t end_ns = 0;        // the kernel was made or declined
  // Number of the thread that handled the request; it differs for each thread.
  uint64_t thread = 0;
  // True if LLVM was used and ran in the compile worker instead of this
  // process.
  bool is_in_worker = false;
  const KernelReport& report;
  // OK if the kernel was made; otherwise the reason why it was declined.
  const Status& status;
};

// Gets an event for each request, before the request's slot is answered. Called
// from the threads that compile, several at a time.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  // True if KernelEvent::report must contain the texts of schedule, nest and
  // code. Kernels are then compiled even if their code is in the cache, because
  // the cache has no texts.
  virtual bool wants_texts() const = 0;
  virtual void Observe(const KernelEvent& event) = 0;
};

// Returns the nice value of the JIT's threads in this process. If they run
// LLVM, it is the lowest priority. If the compile worker runs LLVM, threads
// only make loop nests, with the priority of the worker.
constexpr int NicenessOf(vm::CompileLocation location) {
  return location == vm::CompileLocation::kThread ? kCompilingNiceness
                                                  : kWorkerNiceness;
}

struct JitOptions {
  // Number of threads that compile in the background (compile_queue.h). 0:
  // RequestKernel returns only when the kernel is made or declined or, for a
  // kernel of the host, when the request's interrupt asks to stop; in that case
  // another thread completes the kernel.
  int threads = 1;
  vm::CompileLocation location = vm::CompileLocation::kThread;
  // The folder that gets the texts of each kernel: the schedule
  // (DIR/NAME.tier2.schedule), the nest (NAME.tier2.loops), the nest after each
  // pass (NAME.tier2.PASS.loops), LLVM IR and assembly (for a device SPIR-V,
  // which is then validated). Empty: none.
  std::string dump_folder;
  // A folder of schedules, NAME.schedule or NAME.tier2.schedule as in
  // dump_folder. A dispatch with a schedule in the folder uses that; others use
  // the default one. For a module with one dispatch, the path may also be that
  // of its schedule. Empty: no schedules.
  std::string schedule_folder;
  // Names of passes to leave out (jit/pipeline/pipeline.h). Names of passes
  // that must always run are ignored.
  std::set<std::string, std::less<>> disabled_passes;
  // True if kernels must round as the dispatch says, except for the order of
  // sums: no convolutions by Winograd's method
  // (jit/schedule/primitives/winograd_matrices.h).
  bool exact_schedules = false;
  // True if kernels of CUDA's devices may multiply factors of f32 as tf32,
  // whose mantissas have 10 bits (jit/loops/analysis/matrix_operation.h). The
  // kernels' target then has the feature tf32, which distinguishes them from
  // kernels without it. exact_schedules overrides this option. Kernels for
  // other devices do not change.
  bool allow_tf32 = false;
  // The cache of kernels on disk; without a folder there is none. A folder that
  // cannot be used is no error: Jit::cache_problem gives the reason, and
  // on_cache_problem, which may be null, is called at most once, by NewJit or a
  // thread that compiles.
  CacheOptions cache;
  std::function<void(const std::string&)> on_cache_problem;
  // Gets each kernel before sessions do, and may replace it. Null: sessions get
  // kernels unchanged.
  std::shared_ptr<KernelWrapper> wrapper;
  // Gets an event for each request. Null: no events.
  std::shared_ptr<KernelObserver> observer;
  // Judges the first calls of kernels. Null: the JIT makes an oracle that
  // reports wrong kernels to no one.
  std::shared_ptr<Oracle> oracle;
};

// Totals over all requests that were handled so far, made or declined.
struct JitTotals {
  int64_t kernels = 0;
  int64_t declined = 0;
  double schedule_ms = 0;
  double optimize_ms = 0;
  double codegen_ms = 0;
  double pack_ms = 0;
  int64_t code_bytes = 0;
  // Number of kernels whose code was not compiled: `shared` have the code of an
  // equal kernel of this process, `loaded` have code from the cache on disk.
  int64_t shared = 0;
  int64_t loaded = 0;
  // Milliseconds that each pass of the pipeline took in all kernels. Passes
  // that make code for a target do not run for kernels whose code is shared or
  // loaded.
  std::map<std::string, double, std::less<>> pass_ms;
};

class Jit : public vm::KernelProvider {
 public:
  // Waits until no request is waiting or being handled.
  virtual void Wait() = 0;
  // True if a request is waiting or being handled. The destructor drops
  // requests that wait, and lets those that are being handled finish, which
  // takes tens of milliseconds, or seconds if other threads occupy all cores.
  virtual bool is_busy() const = 0;
  // Ends waiting for the compile worker: current and later requests that need
  // it are declined, so that threads of the JIT do not block.
  virtual void Stop() = 0;
  virtual JitTotals totals() const = 0;
  // Returns the reason why some kernels are not cached on disk; empty if there
  // is no problem. With background threads, a problem is known only after the
  // first kernel.
  virtual std::string cache_problem() const = 0;
  // Returns an error if JitOptions::schedule_folder is wrong for a module with
  // these dispatches. has_others: the folder may also have schedules of other
  // modules (jit/schedule_folder.h).
  virtual Status CheckSchedules(std::span<const std::string> dispatches,
                                bool has_others) const {
    return OkStatus();
  }
  // Returns the first reason why a schedule of JitOptions::schedule_folder gave
  // no kernel; empty if no such schedule has failed so far.
  virtual std::string schedule_problem() const { return ""; }
};

// Makes a JIT. Returns NotFound if no compiler is available. Other problems
// that prevent compiling are no errors here: later requests are declined with
// them as the reason.
StatusOr<std::shared_ptr<Jit>> NewJit(JitOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_JIT_H_

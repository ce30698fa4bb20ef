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

// The schedule and the nest of a kernel, for people.
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

// The making of one kernel, from the request to its end. Times are those of the
// steady clock (vm/runtime/steady_clock.h), in nanoseconds.
struct KernelEvent {
  const vm::KernelRequest& request;
  // The slot that gets the answer, which says for which dispatch sites the
  // kernel is.
  const vm::KernelSlot& slot;
  int64_t requested_ns = 0;  // the request reached the JIT
  int64_t begin_ns = 0;      // a thread took the request
  int64_t end_ns = 0;        // the kernel was made or declined
  // Number that is the same for all kernels of one thread.
  uint64_t thread = 0;
  // True if LLVM ran in the compile worker, if it ran.
  bool is_in_worker = false;
  const KernelReport& report;
  // OK, or the reason why there is no kernel.
  const Status& status;
};

// Gets an event for each request, before the request's slot is answered. Called
// from the threads that compile, several at a time.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  // True if KernelEvent::report shall have the texts of schedule, nest and
  // code. Then no code is read from the cache.
  virtual bool wants_texts() const = 0;
  virtual void Observe(const KernelEvent& event) = 0;
};

// Returns the nice value of the JIT's threads in this process. Threads that run
// LLVM have the lowest priority. If the compile worker does that, threads only
// make loop nests for it, and have its nice value.
constexpr int NicenessOf(vm::CompileLocation location) {
  return location == vm::CompileLocation::kThread ? kCompilingNiceness
                                                  : kWorkerNiceness;
}

struct JitOptions {
  // Number of threads that compile in the background (compile_queue.h). 0:
  // RequestKernel returns when the kernel is there, or when the request's
  // interrupt says stop. These requests, too, are handled by threads, which
  // complete the kernel after an interrupt.
  int threads = 1;
  vm::CompileLocation location = vm::CompileLocation::kThread;
  // The folder that gets the texts of each kernel: the schedule
  // (DIR/NAME.tier2.schedule), the nest (NAME.tier2.loops), the nest after each
  // pass (NAME.tier2.PASS.loops), LLVM IR and assembly (for a device SPIR-V,
  // which is then validated). Empty: none.
  std::string dump_folder;
  // A folder of schedules, NAME.schedule or NAME.tier2.schedule as in
  // dump_folder. A dispatch with a schedule in the folder uses that; others use
  // the default one. It may also be a file, for a module with one dispatch.
  // Empty: none.
  std::string schedule_folder;
  // Passes to leave out (jit/pipeline/pipeline.h). Names of other passes than
  // those that may be disabled have no effect.
  std::set<std::string, std::less<>> disabled_passes;
  // True if kernels must round as the dispatch says, except for the order of
  // sums: no convolutions by Winograd's method
  // (jit/schedule/primitives/winograd_matrices.h).
  bool exact_schedules = false;
  // True if kernels of CUDA's devices may multiply factors of f32 as tf32,
  // whose mantissas have 10 bits (jit/loops/analysis/matrix_operation.h). The
  // kernels' target then has the feature tf32, so that kernels with and without
  // it are not confused. exact_schedules overrides this option. Kernels for
  // other devices do not change.
  bool allow_tf32 = false;
  // The cache of kernels on disk; without a folder there is none. A folder that
  // cannot be used is no error: Jit::cache_problem gives the reason, and
  // on_cache_problem, which may be null, is called at most once, by NewJit or a
  // thread that compiles.
  CacheOptions cache;
  std::function<void(const std::string&)> on_cache_problem;
  // Wraps kernels before sessions get them. Null: sessions get kernels
  // unchanged.
  std::shared_ptr<KernelWrapper> wrapper;
  // Gets the events of all requests. Null: none.
  std::shared_ptr<KernelObserver> observer;
  // Judges first calls of kernels. Null: an oracle that reports to no one.
  std::shared_ptr<Oracle> oracle;
};

// Totals over all kernels that were compiled so far.
struct JitTotals {
  int64_t kernels = 0;
  int64_t declined = 0;
  double schedule_ms = 0;
  double optimize_ms = 0;
  double codegen_ms = 0;
  double pack_ms = 0;
  int64_t code_bytes = 0;
  // Number of kernels whose code was not compiled: `shared` have the code of an
  // equal one in this process, and `loaded` have code from the cache on disk.
  int64_t shared = 0;
  int64_t loaded = 0;
  // The milliseconds that each pass of the pipeline took. The last ones miss
  // kernels whose code is not compiled.
  std::map<std::string, double, std::less<>> pass_ms;
};

class Jit : public vm::KernelProvider {
 public:
  // Waits until no request is waiting or being compiled.
  virtual void Wait() = 0;
  // True if a request is waiting or being compiled. The destructor drops
  // waiting requests, and waits for those being compiled: tens of milliseconds,
  // or seconds where other threads take all cores.
  virtual bool is_busy() const = 0;
  // Declines current and later requests to the compile worker, so that no
  // thread waits for them.
  virtual void Stop() = 0;
  virtual JitTotals totals() const = 0;
  // Returns why the cache on disk is not used for all kernels; empty if there
  // is no problem. If threads compile, a problem is not known before the first
  // kernel.
  virtual std::string cache_problem() const = 0;
  // Returns an error if JitOptions::schedule_folder is wrong for a module with
  // these dispatches. has_others: the folder may also have schedules of other
  // modules (jit/schedule_folder.h).
  virtual Status CheckSchedules(std::span<const std::string> dispatches,
                                bool has_others) const {
    return OkStatus();
  }
  // Returns the reason why a schedule of JitOptions::schedule_folder has not
  // become a kernel so far; empty if each schedule that was needed has.
  virtual std::string schedule_problem() const { return ""; }
};

// Returns a JIT. Returns NotFound if no compiler is available. If another
// problem keeps the JIT from compiling, that is the reason why requests are
// declined.
StatusOr<std::shared_ptr<Jit>> NewJit(JitOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_JIT_H_

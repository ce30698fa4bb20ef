// The JIT: compiles the kernels that the VM asks for.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Jit> jit, NewJit({}));
//   auto tiering = std::make_shared<vm::Tiering>(module, jit,
//                                                vm::Tiering::Options{});
//
// An interface, so that programs load the implementation as a library where it
// is (tools/lib/load_jit.h). What compiles, the compile worker or LLVM's
// library, is started or loaded when a first kernel needs it, in a thread that
// compiles. Thread-safe.
#ifndef EMBER_JIT_JIT_H_
#define EMBER_JIT_JIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "jit/background_thread.h"
#include "jit/cache/cache_options.h"
#include "jit/oracle/oracle.h"
#include "vm/runtime/kernel_library.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// What a kernel was made from, for people.
struct KernelText {
  std::string schedule;
  std::string nest;
};

// Sees each kernel before sessions do, and may put another in its place: one
// that checks or measures the first. Called from the threads that compile.
class KernelWrapper {
 public:
  virtual ~KernelWrapper() = default;
  // slot: where the result goes; it outlives the result.
  virtual std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest& request, vm::KernelSlot& slot, KernelText text,
      std::unique_ptr<vm::Kernel> kernel) = 0;
};

// How nice the JIT's threads in this process are. Where LLVM works on them they
// take the lowest priority. Where the compile worker has that work they only
// make loop nests for it, and are as nice as it is.
constexpr int NicenessOf(vm::CompilePlace place) {
  return place == vm::CompilePlace::kThread ? kCompilingNiceness
                                            : kWorkerNiceness;
}

struct JitOptions {
  // Threads that compile, in the background (compile_queue.h); 0: RequestKernel
  // returns when the kernel is there, or the request's interrupt says stop. The
  // kernel comes all the same, then: such requests, too, have threads.
  int threads = 1;
  vm::CompilePlace place = vm::CompilePlace::kThread;
  // Writes schedule, nest, LLVM IR and assembly of each kernel here (of a
  // device's: SPIR-V, which is validated then):
  // DIR/NAME.tier2.schedule and so on. Empty: nowhere.
  std::string dump_folder;
  // Dispatches whose schedule lies here (NAME.schedule, NAME.tier2.schedule as
  // dump_folder has it) get that one; others the default one. Empty: all do.
  std::string schedule_folder;
  // Kernels round as the dispatch says, but for the order of sums: no
  // convolutions by Winograd's method
  // (jit/schedule/primitives/winograd_matrices.h).
  bool exact_schedules = false;
  // Kernels of CUDA's devices may multiply factors of f32 as tf32, whose
  // mantissas have 10 bits (jit/loops/matrix_operation.h): their target has the
  // feature then, so no kernel made without it is taken for one with it.
  // exact_schedules says no. Others are what they are without.
  bool allow_tf32 = false;
  // Kernels kept on disk; no folder: none are. A folder that cannot be used is
  // no error: Jit::cache_problem says so, and on_cache_problem, which may be
  // null, is told at most once, by NewJit or a thread that compiles.
  CacheOptions cache;
  std::function<void(const std::string&)> on_cache_problem;
  // Null: kernels go to sessions as they are.
  std::shared_ptr<KernelWrapper> wrapper;
  // Judges first calls of kernels; null: one that tells nobody.
  std::shared_ptr<Oracle> oracle;
};

// Sums over the kernels compiled so far.
struct JitTotals {
  int64_t kernels = 0;
  int64_t declined = 0;
  double schedule_ms = 0;
  double optimize_ms = 0;
  double codegen_ms = 0;
  double pack_ms = 0;
  int64_t code_bytes = 0;
  // Kernels whose code was not compiled: that of an equal one in this process,
  // or from the cache on disk.
  int64_t shared = 0;
  int64_t loaded = 0;
};

class Jit : public vm::KernelProvider {
 public:
  // Until nothing is waiting or being compiled.
  virtual void Wait() = 0;
  // Something is waiting or being compiled. The destructor drops what waits,
  // and waits for what is being compiled: tens of milliseconds, or seconds
  // where others take all cores.
  virtual bool is_busy() const = 0;
  // What the compile worker is asked for, now and from now on, is declined, so
  // that nobody waits for it.
  virtual void Stop() = 0;
  virtual JitTotals totals() const = 0;
  // Why kernels are not read from or written to the cache on disk that was
  // asked for, or not all; empty while all is well. Where threads compile it is
  // not known before the first kernel.
  virtual std::string cache_problem() const = 0;
  // An error if JitOptions::schedule_folder is wrong for a module with these
  // dispatches; has_others: it may have schedules of other modules, too
  // (jit/schedule_folder.h).
  virtual Status CheckSchedules(std::span<const std::string> dispatches,
                                bool has_others) const {
    return OkStatus();
  }
  // Why a schedule of that folder has not become a kernel, so far; empty if
  // each that was wanted has.
  virtual std::string schedule_problem() const { return ""; }
};

// NotFound where what compiles is not there; what else keeps it from compiling
// is why requests are declined.
StatusOr<std::shared_ptr<Jit>> NewJit(JitOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_JIT_H_

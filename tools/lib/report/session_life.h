// Records the life of a session for people: when the model was loaded, when it
// ran, which calls the runs made, and when kernels were made for it. The trace
// (life_trace.h) and the page of vm-report show it.
//
//   SessionLife life = {.model = "resnet50.onnx"};
//   auto log = std::make_shared<KernelLog>(/*keeps_texts=*/false);
//   JitOptions options = {.observer = log};
//   …
//   life.kernels = log->Kernels();
//
// Times are nanoseconds of the steady clock.
#ifndef EMBER_TOOLS_LIB_REPORT_SESSION_LIFE_H_
#define EMBER_TOOLS_LIB_REPORT_SESSION_LIFE_H_

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/jit.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// A request for a kernel, with its result.
struct MadeKernel {
  std::string dispatch;
  int tier = 0;
  std::vector<int64_t> parameters;  // as KernelRequest::parameters
  // The slot of the session's Tiering for which the kernel was made.
  const vm::KernelSlot* slot = nullptr;
  int64_t requested_ns = 0, begin_ns = 0, end_ns = 0;
  uint64_t thread = 0;
  bool is_in_worker = false;  // KernelEvent::is_in_worker
  // origin of the kernel: "compiled", "shared with an equal kernel" or "read
  // from the cache"
  std::string origin;
  std::string declined;  // reason why there is no kernel; empty if there is one
  // Milliseconds of the steps of making the kernel: schedule and loop nest;
  // optimisation by LLVM or by the device's driver; code generation; packing of
  // constants.
  double schedule_ms = 0, optimize_ms = 0, codegen_ms = 0, pack_ms = 0;
  int64_t code_bytes = 0;
  // Texts of the schedule, the loop nest and the code; empty unless the log
  // keeps texts.
  std::string schedule, nest, code;
};

// Records each kernel that a JIT makes. Thread-safe.
class KernelLog final : public jit::KernelObserver {
 public:
  // keeps_texts: the JIT sends the texts of kernels, too, and the log keeps
  // them.
  explicit KernelLog(bool keeps_texts) : keeps_texts_(keeps_texts) {}

  bool wants_texts() const override { return keeps_texts_; }
  void Observe(const jit::KernelEvent& event) override;
  // Returns all kernels so far, in the order in which their requests were
  // finished.
  std::vector<MadeKernel> Kernels() const;

 private:
  const bool keeps_texts_;
  mutable std::mutex mutex_;  // guards kernels_
  std::vector<MadeKernel> kernels_;
};

struct RunOfLife {
  int64_t begin_ns = 0, end_ns = 0;
  vm::SessionMemory memory;  // memory of the session after the run
};

struct SessionLife {
  std::string model;   // name of the model, as the user typed it
  std::string inputs;  // names and types of the inputs: "x: 1x3xf32, mask:
                       // 1x8xi64"
  int64_t load_begin_ns = 0, load_end_ns = 0;
  bool is_compiled_here = false;  // LoadedModel::compiled_here
  std::vector<RunOfLife> runs;
  // Number of first runs that measures leave out, because kernels are made
  // during them.
  size_t warm_up_runs = 1;
  // The calls of dispatches in all runs (Session::trace), in order.
  std::vector<vm::TraceEvent> calls;
  std::vector<MadeKernel> kernels;
};

// Runs the session once and adds the run to the record.
Status RunOnce(vm::Session& session, std::span<const vm::Tensor> inputs,
               std::vector<vm::Tensor>* results, SessionLife& life);
// Appends the calls that the session has traced to life.calls, and clears the
// session's profile.
void TakeCalls(vm::Session& session, SessionLife& life);

// Returns the time of each run, in milliseconds.
std::vector<double> MillisecondsOf(const SessionLife& life);
// Returns a line such as "20 runs: the first 12.3 ms, the others 3.2 ms
// (median), 3.1 to 4.5 ms". There must be two runs.
std::string LatencyText(const SessionLife& life);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_SESSION_LIFE_H_

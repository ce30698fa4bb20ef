// How fast a model runs, beside the same work done as well as this machine can,
// measured in turns with it: a figure that others on the machine hardly change.
//
//   EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<TimedModel> model,
//                          TimedModel::Create(onnx_model, {}));
//   EMBER_ASSIGN_OR_RETURN(const Speed speed, model->Measure(1.0));
//   // speed.relative == 0.7: it takes 1 / 0.7 of the reference's time
//
// The reference of a model is its operations (tools/lib/dispatch_work.h) as f32
// multiply-adds in registers, and then its bytes read from a buffer as large as
// what its dispatches use, each counted once. (Ratios above 1 occur: models do
// both at once, find intermediate results in nearer caches, do less by
// Winograd's method, or work on bytes.) Both are measured anew in each turn,
// between calls of the model. Why this, and neither the share of the
// multiply-adds' peak alone nor a kernel in this tree to compare with:
//   - What is bound by memory (a matrix by a vector, a depthwise convolution)
//     is no fixed share of that peak: caches are shared with whatever else runs
//     on the processor, and the share moves with it. The read moves, too.
//   - A kernel in the tree is made by the compiler that is tested or by the C++
//     compiler, and changes with either: tier 0 is made faster now and then. A
//     hand-written one needs care for each processor. tools/lib/peak.h is a
//     few intrinsics, which nobody tunes.
//
// Each of the three takes its least time over all turns. What others do to a
// measurement (they have the core, the process is stopped for seconds, the
// caches are theirs) only ever adds time, and turns are short (some ms), so of
// a few dozen some are undisturbed; a median moves as soon as half are not. The
// clock is the wall's: CPU time does not see a kernel that waits. What remains
// on a shared processor: another machine's program that takes the core's caches
// makes models up to 1.7 times slower, the reference not, for up to a second
// (seen with two vCPUs of an EPYC). So who finds a model slow measures again.
//
// One thread: several wait for each other, and then for a free core.
#ifndef EMBER_TESTS_PERFORMANCE_MEASURE_H_
#define EMBER_TESTS_PERFORMANCE_MEASURE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/model_builder.h"
#include "tools/lib/tier.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

struct Speed {
  double relative = 0;              // reference_ms / model_ms: more is better
  double model_ms = 0;              // of a call
  double reference_ms = 0;          // of the same work, as above
  double gigaflops = 0;             // of multiply-adds
  double gigabytes_per_second = 0;  // read
  int turns = 0;
};

// Not thread-safe.
class TimedModel {
 public:
  // Imports, compiles, makes all kernels of tier 2 and runs once, with random
  // inputs. schedule_folder: as vm-run's --schedules. Errors: those of each
  // step; the JIT's library is missing.
  static StatusOr<std::unique_ptr<TimedModel>> Create(
      onnx::ModelBuilder& model, const std::string& schedule_folder);

  // Takes turns for so long, at least ten.
  StatusOr<Speed> Measure(double seconds);

  // The names of its dispatches, and of those that no kernel of tier 2 runs.
  std::vector<std::string> Dispatches() const;
  std::vector<std::string> Interpreted() const;
  // What vm-run --explain prints of eleven runs.
  StatusOr<std::string> Explain() const;

  double operations() const { return operations_; }
  double bytes() const { return bytes_; }

 private:
  TimedModel() = default;
  StatusOr<std::unique_ptr<vm::Session>> NewSession(bool trace) const;
  Status CountWork();

  std::shared_ptr<const vm::Module> module_;
  std::shared_ptr<hal::Device> device_;
  tools::Tier tier_;
  std::unique_ptr<vm::Session> session_;
  std::vector<vm::Tensor> inputs_;
  double operations_ = 0, bytes_ = 0;  // of a call
  // Of them, those of its dispatches once each: what must be in caches.
  double working_set_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MEASURE_H_

// Measures how fast a model runs, relative to the same work done as well as
// this machine can. Both are measured alternately, so that other programs on
// the machine hardly change the figure.
//
//   EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<TimedModel> model,
//                          TimedModel::Create(onnx_model, {}));
//   EMBER_ASSIGN_OR_RETURN(const Speed speed, model->Measure(1.0));
//   // speed.relative == 0.7: it takes 1 / 0.7 of the reference's time
//
// The reference of a model is its operations (tools/lib/report/dispatch_work.h)
// as f32 multiply-adds in registers, followed by its bytes read from a buffer
// as large as the data of its dispatches, each counted once. (Ratios above 1
// occur: models do both at once, find intermediate results in nearer caches, do
// less by Winograd's method, or work on bytes.) Both are measured anew in each
// round, between calls of the model. The reasons for this reference, instead of
// the multiply-adds' peak alone or a kernel in this tree:
//   - Work that is bound by memory (a matrix by a vector, a depthwise convolution)
//     is no fixed share of that peak: caches are shared with other programs on the
//     processor, and the share changes with them. The read changes, too.
//   - A kernel in the tree is compiled by the compiler that is tested or by the C++
//     compiler, and changes with either: tier 0 is made faster now and then. A
//     hand-written one needs care for each processor. jit/target/peak.h is a
//     few intrinsics, which are not tuned.
//
// Each of the three takes its least time over all rounds. Disturbances (another
// program has the core, the process is stopped for seconds, the caches are
// evicted) only ever add time, and rounds are short (some ms), so of a few
// dozen some are undisturbed; a median would change as soon as half are not.
// Times are wall time: CPU time does not include a kernel that waits. One
// disturbance remains on a shared processor: a program of another machine that
// evicts the core's caches makes models up to 1.7 times slower, but not the
// reference, for up to a second (seen with two vCPUs of an EPYC). So a model
// that seems slow must be measured again.
//
// One thread: several threads wait for each other, and then for a free core.
#ifndef EMBER_TESTS_PERFORMANCE_MEASURE_H_
#define EMBER_TESTS_PERFORMANCE_MEASURE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tools/lib/models/tier.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

struct Speed {
  // Relative speed: reference_ms / model_ms. A larger number is faster.
  double relative = 0;
  double model_ms = 0;  // Milliseconds of one call of the model.
  // Milliseconds in which the reference does the same amount of work.
  double reference_ms = 0;
  // Rate of the reference's multiply-adds, in 10^9 operations per second.
  double gigaflops = 0;
  double gigabytes_per_second = 0;  // rate of reads
  int rounds = 0;
};

// A model that can be measured repeatedly. Not thread-safe.
class TimedModel {
 public:
  // Imports, compiles, makes all kernels of tier 2 and runs once, with random
  // inputs. `schedule_folder` is as vm-run's --schedules. Errors: those of each
  // step; the JIT's library is missing.
  static StatusOr<std::unique_ptr<TimedModel>> Create(
      onnx::ModelBuilder& model, const std::string& schedule_folder);

  // Measures for this number of seconds, but at least ten rounds.
  StatusOr<Speed> Measure(double seconds);

  // Dispatches returns the names of the model's dispatches. The second function
  // returns the names of those that no kernel of tier 2 runs.
  std::vector<std::string> Dispatches() const;
  std::vector<std::string> Interpreted() const;
  // Returns the text of vm-run --explain for eleven runs.
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
  // Number of operations, and of bytes read and written, in one call of the
  // model: the reference does as much.
  double operations_ = 0, bytes_ = 0;
  // Bytes of the model's dispatches, each counted once: the data that must be
  // in caches.
  double working_set_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MEASURE_H_

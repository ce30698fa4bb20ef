// A model whose dispatches can be miscompiled one at a time, to test the
// results that its callers get.
//
//   EMBER_ASSIGN_OR_RETURN(auto model, MiscompiledModel::Make("gemm", builder));
//   for (size_t i = 0; i < model->dispatch_count(); ++i)
//     const Trial trial = model->Try(i, loops::MutantKind::kWrongLane, seed);
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_ORACLE_MISCOMPILED_MODEL_H_
#define EMBER_TESTS_ORACLE_MISCOMPILED_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "hal/device.h"
#include "jit/llvm/compiler.h"
#include "jit/loops/testing/mutants.h"
#include "jit/oracle/oracle.h"
#include "tools/lib/calls/dispatch_call.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tests {

enum class MiscompileOutcome : uint8_t {
  // The nest has no statement in which this kind of mistake can be made.
  kNotApplicable,
  // The verifier found no proof of bounds, or the compiler declined, so the
  // kernel would never have run.
  kRefused,
  // The kernel's results are bit for bit those of the right kernel.
  kEquivalent,
  kRounding,  // the kernel's results differ no more than right kernels' do
  kCaught,    // no caller received a wrong result, and the kernel was withdrawn
  kMissed
};

struct Trial {
  MiscompileOutcome outcome = MiscompileOutcome::kNotApplicable;
  // Description of the mistake that was made in the nest.
  std::string what;
  std::string reason;  // reason why the kernel was withdrawn
  // Largest difference of an element from the right kernel's, relative to the
  // element's magnitude plus the root mean square of its tensor; infinite if a
  // run failed.
  double error = 0;
};

class MiscompiledModel {
 public:
  // Compiles the model, and runs it once at tier 0 on random inputs.
  static StatusOr<std::unique_ptr<MiscompiledModel>> Make(
      std::string name, onnx::ModelBuilder model);

  const std::string& name() const { return name_; }
  size_t dispatch_count() const { return subjects_.size(); }
  const std::string& dispatch_name(size_t dispatch) const {
    return subjects_[dispatch].request.dispatch->name;
  }

  // Runs the model with one mistake in the nest of a dispatch's kernel.
  Trial Try(size_t dispatch, loops::MutantKind kind, uint64_t seed);
  // Runs the model with correct kernels. Returns the reasons why some were
  // withdrawn.
  std::vector<std::string> TryRightKernels();

 private:
  // A dispatch with the number of its group of sites (which share a kernel),
  // the request for its kernel, and the operands of some of its calls.
  struct Subject {
    size_t group = 0;
    vm::KernelRequest request;
    // For each recorded call, the values of the parameters.
    std::vector<std::vector<int64_t>> parameters;
    std::vector<tools::CallOperands> calls;
    // For each recorded call, the results of the kernel without a mistake.
    std::vector<std::vector<vm::Tensor>> right;
    // Difference between the correct kernel and tier 0, measured in the way of
    // Trial::error.
    double noise = 0;
  };
  class Capture;

  StatusOr<std::unique_ptr<vm::Kernel>> Build(
      const Subject& subject, const loops::LoopNest& nest) const;
  // Runs a kernel on the operands of a recorded call and returns the outputs.
  // Before the call their memory is filled with a pattern, so that elements
  // that the kernel does not store are noticed.
  StatusOr<std::vector<vm::Tensor>> RunOn(const Subject& subject, size_t call,
                                          const vm::Kernel* kernel) const;
  Status Prepare(Subject& subject);
  struct Visible {
    // True if every result that a caller received was correct.
    bool is_right = true;
    std::vector<std::string> reasons;
  };
  Visible RunWith(size_t group, std::unique_ptr<vm::Kernel> kernel);

  std::string name_;
  std::shared_ptr<const vm::Module> module_;
  std::shared_ptr<hal::Device> device_;
  std::unique_ptr<jit::Compiler> compiler_;
  std::vector<vm::Tensor> inputs_;
  std::vector<vm::Tensor> want_;
  std::vector<Subject> subjects_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_ORACLE_MISCOMPILED_MODEL_H_

// One call of a dispatch, set aside: its operands as tensors, to run it again
// in another way and compare.
//
//   EMBER_ASSIGN_OR_RETURN(CallOperands copy,
//                          CallOperands::Copy(dispatch, call, {}));
//   Status want = RunTierZero(dispatch, call.parameters, copy, call.runner);
//   Status got = kernel.Run(call);
//   EMBER_ASSIGN_OR_RETURN(CallOperands real,
//                          CallOperands::Borrow(dispatch, call));
//   if (auto how = DifferenceOf(dispatch, {got, real.outputs},
//                               {want, copy.outputs}))
//     Report(*how);
//
// Borrowed operands share the call's memory. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_DISPATCH_CALL_H_
#define EMBER_TOOLS_LIB_DISPATCH_CALL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "tensor/dispatch.h"
#include "tensor/parameters_text.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

using tensor::ParametersText;

struct CallOperands {
  std::vector<vm::Tensor> inputs, outputs;
  // Per output: the number of the input that it shares memory with in the call
  // (it is computed in place), or -1.
  std::vector<int> shared;

  static StatusOr<CallOperands> Borrow(const tensor::Dispatch& dispatch,
                                       const vm::KernelCall& call);
  // Memory of their own, outputs with the contents that they have (what a
  // dispatch does not write stays). Constant inputs, which nothing writes, are
  // borrowed; constant_inputs: as in KernelRequest, may be empty.
  static StatusOr<CallOperands> Copy(const tensor::Dispatch& dispatch,
                                     const vm::KernelCall& call,
                                     const std::vector<bool>& constant_inputs);
  // Zeroed outputs for the inputs. Fails where the inputs are not what the
  // dispatch declares for the parameters.
  static StatusOr<CallOperands> ForInputs(const tensor::Dispatch& dispatch,
                                          std::span<const int64_t> parameters,
                                          std::vector<vm::Tensor> inputs);

  // Computed in place again: outputs that share an input's memory in the call
  // share it here. For operands with memory of their own.
  void Share(std::span<const int> with);

  // As KernelCall wants them.
  std::vector<void*> Buffers() const;
};

StatusOr<vm::Tensor> CopyOf(const vm::Tensor& tensor);
// Of elements: shapes must agree.
void CopyElements(const vm::Tensor& from, vm::Tensor& to);

Status RunTierZero(const tensor::Dispatch& dispatch,
                   std::span<const int64_t> parameters,
                   std::span<void* const> buffers, ParallelRunner& runner);

struct CallOutcome {
  const Status& status;
  const std::vector<vm::Tensor>& outputs;
};
// One line about the first output that differs (CompareTiers says what that
// means), or about an error that only one side has; nothing if there is none.
// Two errors are equal.
std::optional<std::string> DifferenceOf(const tensor::Dispatch& dispatch,
                                        const CallOutcome& got,
                                        const CallOutcome& want,
                                        double factor = 1);

// The number of an input that a kernel wrote to although no output shares its
// memory. before: a copy; inputs that it borrows from `after` are not looked
// at.
std::optional<size_t> ChangedInput(const CallOperands& before,
                                   const CallOperands& after);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_DISPATCH_CALL_H_

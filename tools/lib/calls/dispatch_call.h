// Keeps the operands of one call of a dispatch as tensors, to run the call
// again in another way and compare.
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
#ifndef EMBER_TOOLS_LIB_CALLS_DISPATCH_CALL_H_
#define EMBER_TOOLS_LIB_CALLS_DISPATCH_CALL_H_

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
  // For each output, the number of the input whose memory it shares in the call
  // (the output is computed in place), or -1.
  std::vector<int> shared;

  static StatusOr<CallOperands> Borrow(const tensor::Dispatch& dispatch,
                                       const vm::KernelCall& call);
  // Copies the operands into memory of their own. The old contents of outputs
  // are copied, too, because a dispatch may leave some elements as they are.
  // Constant inputs, which no dispatch writes, are borrowed. `constant_inputs`
  // is as in KernelRequest and may be empty.
  static StatusOr<CallOperands> Copy(const tensor::Dispatch& dispatch,
                                     const vm::KernelCall& call,
                                     const std::vector<bool>& constant_inputs);
  // Makes operands for a call: the given inputs, and outputs filled with zeros.
  // Error: the inputs do not have the types and shapes that the dispatch
  // declares for these parameters.
  static StatusOr<CallOperands> ForInputs(const tensor::Dispatch& dispatch,
                                          std::span<const int64_t> parameters,
                                          std::vector<vm::Tensor> inputs);

  // Makes each output i share the memory of input with[i], so that it is
  // computed in place; -1: output i keeps its own memory. The operands must not
  // be borrowed.
  void Share(std::span<const int> with);

  // Returns pointers to the operands, in the form of KernelCall::buffers.
  std::vector<void*> Buffers() const;
};

StatusOr<vm::Tensor> CopyOf(const vm::Tensor& tensor);
// Copies the elements. Both tensors must have the same shape.
void CopyElements(const vm::Tensor& from, vm::Tensor& to);

Status RunTierZero(const tensor::Dispatch& dispatch,
                   std::span<const int64_t> parameters,
                   std::span<void* const> buffers, ParallelRunner& runner);

struct CallOutcome {
  const Status& status;
  const std::vector<vm::Tensor>& outputs;
};
// Compares two outcomes of one call. Returns one line about the first output
// that differs (CompareTiers defines when) or about an error that only one of
// them has; nullopt if there is none. Two errors count as equal.
std::optional<std::string> DifferenceOf(const tensor::Dispatch& dispatch,
                                        const CallOutcome& got,
                                        const CallOutcome& want,
                                        double factor = 1);

// Returns the number of an input that a kernel has changed although no output
// shares its memory. `before` is a copy of the operands from before the call.
// Inputs that `before` borrows from `after` are not checked.
std::optional<size_t> ChangedInput(const CallOperands& before,
                                   const CallOperands& after);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_DISPATCH_CALL_H_

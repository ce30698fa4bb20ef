// Random operands with which kernels of a dispatch are called, and tier 0's
// results for them.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Operands> operands,
//                          Operands::Make(request));
//   RunOnHost(kernel, {parameters, operands->buffers(), runner});
//   operands->Compare(kernel, status);     // "" if the results are right
//
// Constants have the values that the request gives. All other operands are
// random: floats are in [-1, 1), integers are 0 or 1. Not thread-safe.
#ifndef EMBER_TUNE_MEASURE_OPERANDS_H_
#define EMBER_TUNE_MEASURE_OPERANDS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/tensor.h"

namespace ember::tune {

class Operands {
 public:
  // Draws the operands and runs tier 0 with them. The request must outlive the
  // result. Errors: the operands are too large, or tier 0 fails with them.
  static StatusOr<std::unique_ptr<Operands>> Make(
      const vm::KernelRequest& request);

  // Pointers to inputs and outputs, in the order of KernelCall::buffers.
  std::span<void* const> buffers() const { return buffers_; }
  // Number of bytes of all inputs and outputs together.
  int64_t bytes() const { return bytes_; }

  // Overwrites the outputs, so that results of an earlier call are not taken
  // for those of the next one.
  void ClearOutputs();
  // Compares the outputs after a call of the kernel with those of tier 0.
  // `status` is the status that the call returned. Returns one line about the
  // first wrong element; empty if all are right.
  std::string Compare(const vm::Kernel& kernel, const Status& status) const;

 private:
  explicit Operands(const vm::KernelRequest& request) : request_(request) {}
  Status Fill();

  const vm::KernelRequest& request_;
  std::vector<vm::Tensor> inputs_, outputs_, expected_;
  std::vector<void*> buffers_;
  int64_t bytes_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_OPERANDS_H_

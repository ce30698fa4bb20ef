// A kernel that runs another kernel and then corrupts its results. Tests use it
// to check that wrong kernels are detected.
//
//   FaultyKernel(std::move(right), [](const vm::KernelCall& call) {
//     static_cast<float*>(call.buffers[2])[0] += 1;
//   });
//
// Thread-safe if the other kernel and the function are.
#ifndef EMBER_TOOLS_LIB_TESTING_FAULTY_KERNEL_H_
#define EMBER_TOOLS_LIB_TESTING_FAULTY_KERNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

class FaultyKernel final : public vm::HostKernel {
 public:
  // Returns true for the calls whose results must be corrupted. It is called
  // before the other kernel runs, because that kernel may overwrite its
  // operands.
  using Applies = std::function<bool(const vm::KernelCall&)>;
  using Spoil = std::function<void(const vm::KernelCall&)>;

  FaultyKernel(
      std::unique_ptr<vm::Kernel> kernel, Spoil spoil,
      Applies applies = [](const vm::KernelCall&) { return true; })
      : kernel_(std::move(kernel)),
        spoil_(std::move(spoil)),
        applies_(std::move(applies)) {}

  int tier() const override { return kernel_->tier(); }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return kernel_->Accepts(parameters);
  }
  Status Run(const vm::KernelCall& call) const override {
    const bool applies = applies_(call);
    Status status = vm::RunOnHost(*kernel_, call);
    if (applies) spoil_(call);
    return status;
  }
  double error_growth() const override { return kernel_->error_growth(); }
  std::string Describe() const override { return kernel_->Describe(); }

 private:
  const std::unique_ptr<vm::Kernel> kernel_;
  const Spoil spoil_;
  const Applies applies_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TESTING_FAULTY_KERNEL_H_

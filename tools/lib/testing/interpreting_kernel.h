// A kernel that needs no compiler and is always correct, because it runs the
// interpreter; and a small module for tests that use it.
//
//   slot->Install(std::make_unique<InterpretingKernel>(*request.dispatch, 2));
#ifndef EMBER_TOOLS_LIB_TESTING_INTERPRETING_KERNEL_H_
#define EMBER_TOOLS_LIB_TESTING_INTERPRETING_KERNEL_H_

#include <string>
#include <string_view>

#include "tools/lib/calls/dispatch_call.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

class InterpretingKernel : public vm::HostKernel {
 public:
  // Makes a kernel that claims to be of this tier. The dispatch must outlive
  // the kernel.
  InterpretingKernel(const tensor::Dispatch& dispatch, int tier)
      : dispatch_(dispatch), tier_(tier) {}
  int tier() const override { return tier_; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const vm::KernelCall& call) const override {
    return RunTierZero(dispatch_, call.parameters, call.buffers, call.runner);
  }
  std::string Describe() const override { return "interprets"; }

 private:
  const tensor::Dispatch& dispatch_;
  const int tier_;
};

// A module of two dispatches that computes y = relu(x * w + b). The second
// dispatch computes in place.
inline constexpr std::string_view kGemmReluModule = R"(
module "by hand" from "gemm and relu"
constant w: f32[3, 2] = [1, -2, 0.5, 4, -1, 0.25]
constant b: f32[2] = [0.125, -0.5]
origin "Gemm_0"
dispatch @gemm<N>(%x: f32[N, 3], %w: f32[3, 2]) -> (%y: f32[N, 2]) {
  %y[i, j] = sum(k<3) %x[i, k] * %w[k, j]
}
origin "Relu_1"
dispatch @bias_relu<N>(%x: f32[N, 2], %b: f32[2]) -> (%y: f32[N, 2]) {
  %y[i, j] = max(%x[i, j] + %b[j], 0.0)
}
program main<N>(x: f32[N, 3]) -> (y: f32[N, 2]) {
  i0 = input_dim x, 0
  b0 = input x
  i1 = integer 8
  i2 = mul i0, i1
  b1 = allocate i2
  b2 = constant 0 (w)
  b3 = constant 1 (b)
  dispatch @gemm(i0; b0, b2 -> b1)
  dispatch @bias_relu(i0; b1, b3 -> b1)
  i3 = integer 2
  result y = b1 [i0, i3]
  return
}
)";

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TESTING_INTERPRETING_KERNEL_H_

// From a dispatch to a kernel: schedule, loop nest, code. What the JIT's
// threads do for each request.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::Kernel> kernel,
//                          BuildKernel(request, *compiler, nullptr));
#ifndef EMBER_JIT_KERNEL_BUILD_KERNEL_H_
#define EMBER_JIT_KERNEL_BUILD_KERNEL_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/llvm/compiler.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// What happened on the way, for people.
struct KernelReport {
  // Set by the caller: fill schedule and nest, and the texts of the code; a
  // schedule to replay instead of the default one (empty: the default one).
  bool keep_text = false;
  bool keep_code_text = false;
  std::string given_schedule;
  // Set by the caller: the default schedule keeps rounding
  // (ModelOptions).
  bool is_exact = false;
  std::string schedule, nest;
  std::string llvm;      // of kernels of the host, and for CUDA
  std::string assembly;  // of kernels of the host
  std::string spirv;     // of kernels of a device: one of the two
  std::string ptx;
  double schedule_ms = 0;  // schedule and loop nest
  double optimize_ms = 0;
  double codegen_ms = 0;  // with what the device's driver makes of it
  double pack_ms = 0;
  int64_t code_bytes = 0;
  double error_growth = 1;  // vm::Kernel::error_growth
  CodeOrigin origin = CodeOrigin::kCompiled;
};

// The kernel uses request.constant_data while it is built, not later, and
// nothing else of the request. report may be null. Thread-safe.
StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler, KernelReport* report);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_KERNEL_H_

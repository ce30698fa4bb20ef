// From a dispatch to the image of a kernel for any target: schedule, loop nest,
// code; for those who keep images (tools/lib/prejit.h). The kernel of this
// process at once: build_kernel.h.
//
//   EMBER_ASSIGN_OR_RETURN(const CompileTarget target,
//                          FindCompileTarget("aarch64+dotprod"));
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewLlvmCompiler(target.llvm));
//   request.target = target.target;
//   EMBER_ASSIGN_OR_RETURN(vm::KernelImage image,
//                          BuildImage(request, *compiler, {}));
#ifndef EMBER_JIT_KERNEL_BUILD_IMAGE_H_
#define EMBER_JIT_KERNEL_BUILD_IMAGE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct ImageOptions {
  // NestOptions::is_exact.
  bool is_exact = false;
  // Of this machine, whatever the target is: packs the constants that the
  // kernel wants in a layout of its own, by compiling and running here the part
  // of its loop nest that does so. Null: they are packed when the kernel is
  // loaded. Used during the call.
  Compiler* packer = nullptr;
};

// Of the image's packed buffers, in order.
struct PackedConstants {
  std::vector<std::span<const uint8_t>> buffers;
  std::shared_ptr<const void> owner;  // keeps them alive
};

// Of request.target nothing but its text is used: this machine is not asked.
// Verified. packed: if it is not null and there is a packer, what the image's
// prologue would write; empty where there is none, or this machine could not.
// Errors: as BuildKernel. Thread-safe.
StatusOr<vm::KernelImage> BuildImage(const vm::KernelRequest& request,
                                     ObjectCompiler& compiler,
                                     const ImageOptions& options,
                                     PackedConstants* packed = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_IMAGE_H_

// Builds the image of a kernel for any target from a dispatch: schedule, loop
// nest, code. This is for programs that keep images
// (tools/lib/prejit/prejit.h); build_kernel.h makes a kernel of this process.
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
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct ImageOptions {
  // The value of NestOptions::is_exact for the kernel.
  bool is_exact = false;
  // The values of NestOptions::given_schedule and
  // NestOptions::has_canonical_names.
  std::string given_schedule;
  bool has_canonical_names = false;
  // A compiler for this machine, whatever the target is. It compiles the part
  // of the loop nest that brings constants into the kernel's own layout (the
  // prologue), which then runs here. Null: the constants are packed when the
  // kernel is loaded. Used during the call.
  Compiler* packer = nullptr;
};

// The contents of the buffers into which the image's prologue packs constants,
// in the order of those buffers.
struct PackedConstants {
  std::vector<std::span<const uint8_t>> buffers;
  std::shared_ptr<const void> owner;  // an object that keeps the contents alive
};

// Builds a verified image. Only the text of request.target is used; this
// machine does not matter. packed: if it is not null and options.packer is
// given, gets the constants as the image's prologue would pack them; empty if
// there is no prologue, or this machine could not run it. Errors are those of
// BuildKernel. Thread-safe.
StatusOr<vm::KernelImage> BuildImage(const vm::KernelRequest& request,
                                     ObjectCompiler& compiler,
                                     const ImageOptions& options,
                                     PackedConstants* packed = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_IMAGE_H_

#include "jit/kernel/build_image.h"

#include "jit/backend/describe_nest.h"
#include "jit/kernel/build_nest.h"
#include "vm/format/kernel_image_verifier.h"

namespace ember::jit {

StatusOr<vm::KernelImage> BuildImage(const vm::KernelRequest& request,
                                     ObjectCompiler& compiler,
                                     const ImageOptions& options) {
  double error_growth = 1;
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                         BuildNest(request, {.is_exact = options.is_exact},
                                   nullptr, &error_growth));
  vm::KernelImage image = DescribeKernel(request, nest, error_growth);
  CompileOptions compile;
  compile.effort = request.tier == 1 ? Effort::kFast : Effort::kFull;
  EMBER_ASSIGN_OR_RETURN(image.code,
                         compiler.CompileToCode(nest, compile, nullptr));
  EMBER_RETURN_IF_ERROR(vm::VerifyKernelImage(image));
  return image;
}

}  // namespace ember::jit

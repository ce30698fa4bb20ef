#include "tune/measure/llvm_kernels.h"

#include <memory>
#include <string>

#include "jit/backend/object_compiler.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/compiler.h"

namespace ember::tune {

MakeKernel MakeLlvmKernels() {
  auto compiler = std::make_shared<std::unique_ptr<jit::ObjectCompiler>>();
  return [compiler](const vm::KernelRequest& request,
                    const std::string& schedule)
             -> StatusOr<std::unique_ptr<vm::Kernel>> {
    if (*compiler == nullptr) {
      EMBER_ASSIGN_OR_RETURN(*compiler, jit::llvm_ir::NewLlvmCompiler());
    }
    return jit::BuildKernel(request, **compiler, {.given_schedule = schedule});
  };
}

}  // namespace ember::tune

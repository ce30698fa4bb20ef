#include "jit/kernel/build_image.h"

#include <utility>

#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/backend/kernel_report.h"
#include "jit/kernel/build_nest.h"
#include "jit/registry/backends.h"
#include "vm/format/kernel_image_verifier.h"
#include "vm/format/native_kernels.h"
#include "vm/runtime/kernels/cpu_kernel.h"

namespace ember::jit {
namespace {

// Compiles the nest's prologue for this machine and runs it to pack the
// constants. Prologues compute the same bytes on every target, so the result is
// valid for the request's target too.
StatusOr<PackedConstants> Pack(const vm::KernelRequest& request,
                               loops::LoopNest nest, Compiler& packer) {
  nest.phases.clear();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         packer.Compile(nest, {.effort = Effort::kFull}));
  vm::KernelImage image = DescribeKernel(request, nest, 1);
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::CpuKernel> kernel,
      vm::CpuKernel::Create(DefineKernel(std::move(image), std::move(code),
                                         request.constant_data, "")));
  PackedConstants packed;
  packed.buffers = kernel->packed();
  packed.owner = std::shared_ptr<const vm::CpuKernel>(std::move(kernel));
  return packed;
}

// A compiler that returns code without loading it into this process, because
// the code may be for another machine.
class Unloaded final : public Compiler {
 public:
  explicit Unloaded(ObjectCompiler& compiler) : compiler_(compiler) {}
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override {
    auto result = std::make_unique<CompiledNest>();
    EMBER_ASSIGN_OR_RETURN(
        result->code, compiler_.CompileToCode(nest, options, result.get()));
    return result;
  }

 private:
  ObjectCompiler& compiler_;
};

}  // namespace

StatusOr<vm::KernelImage> BuildImage(const vm::KernelRequest& request,
                                     ObjectCompiler& compiler,
                                     const ImageOptions& options,
                                     PackedConstants* packed) {
  double error_growth = 1;
  EMBER_ASSIGN_OR_RETURN(
      loops::LoopNest nest,
      BuildNest(request,
                {.given_schedule = options.given_schedule,
                 .has_canonical_names = options.has_canonical_names,
                 .is_exact = options.is_exact},
                nullptr, &error_growth));
  Unloaded unloaded(compiler);
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<CompiledNest> code,
      BackendFor(request.target)
          .compile(request, nest, {.compiler = unloaded}, nullptr));
  vm::KernelImage image = ImageOf(request, nest, error_growth, code->code);
  EMBER_RETURN_IF_ERROR(vm::VerifyKernelImage(image));
  if (packed != nullptr) *packed = {};
  if (packed == nullptr || options.packer == nullptr ||
      !vm::MayBePackedBefore(image))
    return image;
  StatusOr<PackedConstants> made =
      Pack(request, std::move(nest), *options.packer);
  // If packing the constants fails here, the kernel packs them when it is
  // loaded.
  if (made.ok()) *packed = *std::move(made);
  return image;
}

}  // namespace ember::jit

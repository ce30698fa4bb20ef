#include "jit/llvm/library/full_compiler.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/llvm/compiler.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"

namespace ember::jit {
namespace {

class FullCompiler final : public ObjectCompiler {
 public:
  explicit FullCompiler(std::unique_ptr<ObjectCompiler> cpu)
      : cpu_(std::move(cpu)) {}

  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override {
    return cpu_->Compile(nest, options);
  }
  const std::string& identity() const override { return cpu_->identity(); }
  StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                        const CompileOptions& options,
                                        CompiledNest* figures) override {
    return cpu_->CompileToObject(nest, options, figures);
  }
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                         const CompileOptions& options,
                                         CompiledNest* figures) override {
    return cpu_->CompileToCode(nest, options, figures);
  }
  StatusOr<gpu::DeviceCode> CompileForDevice(
      const loops::LoopNest& nest, std::string_view target,
      std::vector<CodeText>* texts) override {
    ptx::CodeTexts own;
    EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                           ptx::CompileNest(nest, ptx::Target::Of(target),
                                            texts == nullptr ? nullptr : &own));
    if (texts != nullptr)
      *texts = {{".ll", std::move(own.llvm)}, {".ptx", std::move(own.ptx)}};
    return code;
  }

 private:
  const std::unique_ptr<ObjectCompiler> cpu_;
};

}  // namespace

StatusOr<std::unique_ptr<ObjectCompiler>> NewFullCompiler() {
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> cpu,
                         NewLlvmCompiler());
  return std::unique_ptr<ObjectCompiler>(
      std::make_unique<FullCompiler>(std::move(cpu)));
}

}  // namespace ember::jit

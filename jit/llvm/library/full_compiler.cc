#include "jit/llvm/library/full_compiler.h"

#include <string>
#include <utility>

#include "jit/backend/stopwatch.h"
#include "jit/gpu/device_code.h"
#include "jit/llvm/compiler.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"

namespace ember::jit::llvm_ir {
namespace {

class FullCompiler final : public ObjectCompiler {
 public:
  explicit FullCompiler(std::unique_ptr<ObjectCompiler> cpu)
      : cpu_(std::move(cpu)) {}

  const std::string& identity() const override { return cpu_->identity(); }
  StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                        const CompileOptions& options,
                                        CompiledNest* figures) override {
    return cpu_->CompileToObject(nest, options, figures);
  }
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                         const CompileOptions& options,
                                         CompiledNest* figures) override {
    if (options.target.empty())
      return cpu_->CompileToCode(nest, options, figures);
    Stopwatch stopwatch;
    ptx::CodeTexts texts;
    PassLog log = {.options = {.keeps_texts = options.keep_passes}};
    const bool keeps = options.keep_llvm || options.keep_assembly;
    EMBER_ASSIGN_OR_RETURN(
        gpu::DeviceCode code,
        ptx::CompileNest(nest, ptx::Target::Of(options.target),
                         keeps ? &texts : nullptr, &log));
    if (figures != nullptr) {
      figures->passes = std::move(log.records);
      figures->codegen_ms = stopwatch.Lap();
      figures->code_bytes = static_cast<int64_t>(code.code.size());
      if (keeps) figures->assembly = gpu::FiguresOf(code, "// ") + texts.ptx;
      figures->llvm = std::move(texts.llvm);
    }
    return gpu::KernelCodeOf(std::move(code));
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

}  // namespace ember::jit::llvm_ir

#include "jit/llvm/emit/code_generator.h"

#include "base/concat.h"
#include "jit/llvm/emit/statement_emitter.h"
#include "jit/llvm/emit/target_operations.h"
#include "jit/pipeline/target_passes.h"

namespace ember::jit::llvm_ir {
namespace {

// Creates the LLVM function of a phase, with the signature int32_t(parameters,
// buffers, begin, end, failure).
llvm::Function* CreateFunction(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                              {pointer, pointer, i64, i64, pointer}, false),
      llvm::Function::ExternalLinkage, name, module);
  for (unsigned i : {0u, 1u}) {
    function->addParamAttr(i, llvm::Attribute::ReadOnly);
    function->addParamAttr(i, llvm::Attribute::NoAlias);
  }
  function->addParamAttr(4, llvm::Attribute::NoAlias);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  const char* const names[] = {"parameters", "buffers", "begin", "end",
                               "failure"};
  for (unsigned i = 0; i < 5; ++i) function->getArg(i)->setName(names[i]);
  return function;
}

Status GeneratePhases(const loops::LoopNest& nest, bool is_prologue,
                      TargetTraits target, llvm::Module& module) {
  const std::vector<loops::Phase>& phases =
      is_prologue ? nest.prologue : nest.phases;
  for (size_t i = 0; i < phases.size(); ++i) {
    const std::string name = PhaseName(is_prologue, i);
    llvm::Function* function = CreateFunction(module, name);
    const Status status =
        EmitPhase(nest, phases[i], is_prologue, target, *function);
    if (!status.ok()) return status.WithContext(Concat({"loops @", nest.name}));
  }
  return OkStatus();
}

}  // namespace

std::string PhaseName(bool is_prologue, size_t number) {
  return Concat({is_prologue ? "prologue" : "phase", number});
}

Status GenerateCode(const loops::LoopNest& nest, TargetTraits target,
                    llvm::Module& module, PassLog* log) {
  TargetBuild build = {.nest = nest, .operations = OperationsOf(target)};
  build.emit = [&](const loops::LoopNest& legal) -> Status {
    EMBER_RETURN_IF_ERROR(GeneratePhases(legal, true, target, module));
    return GeneratePhases(legal, false, target, module);
  };
  return RunTargetPasses(build, log);
}

}  // namespace ember::jit::llvm_ir

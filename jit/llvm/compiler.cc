#include "jit/llvm/compiler.h"

#include <chrono>
#include <mutex>

#include "base/build_id.h"
#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/llvm/emit/code_generator.h"
#include "jit/llvm/objects/flat_code.h"
#include "jit/llvm/passes/host.h"
#include "jit/llvm/passes/pipeline.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the milliseconds since `start`, and sets `start` to now.
double Lap(Clock::time_point& start) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double, std::milli> passed = now - start;
  start = now;
  return passed.count();
}

std::vector<std::string> PhaseNames(const loops::LoopNest& nest) {
  std::vector<std::string> names;
  for (size_t i = 0; i < nest.prologue.size(); ++i)
    names.push_back(PhaseName(true, i));
  for (size_t i = 0; i < nest.phases.size(); ++i)
    names.push_back(PhaseName(false, i));
  return names;
}

// The idle LLVM target machines. They are kept for reuse, because making one
// takes longer than compiling a small kernel.
class MachinePool {
 public:
  StatusOr<std::unique_ptr<llvm::TargetMachine>> Take(const Host& host,
                                                      Effort effort) {
    {
      const std::scoped_lock lock(mutex_);
      auto& idle = idle_[effort == Effort::kFull];
      if (!idle.empty()) {
        auto machine = std::move(idle.back());
        idle.pop_back();
        return machine;
      }
    }
    return CreateMachine(host, effort);
  }
  void GiveBack(std::unique_ptr<llvm::TargetMachine> machine, Effort effort) {
    const std::scoped_lock lock(mutex_);
    idle_[effort == Effort::kFull].push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_[2];
};

// Returns a text that identifies the build of this compiler and of LLVM, and
// the target; empty if a build has no ID. Caches of machine code use it as a
// key.
std::string IdentityOf(const Host& host, const void* llvm) {
  const std::string ours =
      BuildIdAt(reinterpret_cast<const void*>(&DetectHost));
  const std::string theirs = BuildIdAt(llvm);
  if (ours.empty() || theirs.empty()) return "";
  return Concat({"compiler ", ours, "\nLLVM ", LLVM_VERSION_STRING, " ", theirs,
                 "\ntarget ", host.triple, " ", host.cpu, " ", host.features,
                 " sve=", host.traits.sve_bits, "\n"});
}

class LlvmCompiler : public ObjectCompiler {
 public:
  // machine: a target machine for Effort::kFull, which the compiler reuses.
  LlvmCompiler(Host host, std::unique_ptr<llvm::TargetMachine> machine)
      : host_(std::move(host)),
        // getTarget() is an object in LLVM's library, so its address identifies
        // the library that is loaded.
        identity_(IdentityOf(host_, &machine->getTarget())) {
    machines_.GiveBack(std::move(machine), Effort::kFull);
  }

  const std::string& identity() const override { return identity_; }
  StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                        const CompileOptions& options,
                                        CompiledNest* figures) override;
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                         const CompileOptions& options,
                                         CompiledNest* figures) override;

 private:
  using Object = std::unique_ptr<llvm::MemoryBuffer>;
  StatusOr<Object> Emit(const loops::LoopNest& nest,
                        const CompileOptions& options, CompiledNest& figures);
  StatusOr<Object> Emit(const loops::LoopNest& nest,
                        const CompileOptions& options,
                        llvm::TargetMachine& machine, CompiledNest& figures);

  Host host_;
  MachinePool machines_;
  std::string identity_;
};

StatusOr<LlvmCompiler::Object> LlvmCompiler::Emit(const loops::LoopNest& nest,
                                                  const CompileOptions& options,
                                                  CompiledNest& figures) {
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                         machines_.Take(host_, options.effort));
  auto object = Emit(nest, options, *machine, figures);
  machines_.GiveBack(std::move(machine), options.effort);
  return object;
}

StatusOr<LlvmCompiler::Object> LlvmCompiler::Emit(const loops::LoopNest& nest,
                                                  const CompileOptions& options,
                                                  llvm::TargetMachine& machine,
                                                  CompiledNest& figures) {
  llvm::LLVMContext context;
  llvm::Module module(nest.name, context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(host_.triple);
  PassLog log = {.options = {.keeps_texts = options.keep_passes}};
  EMBER_RETURN_IF_ERROR(GenerateCode(nest, host_.traits, module, &log));
  figures.passes = std::move(log.records);

  Clock::time_point start = Clock::now();
  EMBER_RETURN_IF_ERROR(Optimize(host_, machine, options.effort, module));
  figures.optimize_ms = Lap(start);
  if (options.keep_llvm) figures.llvm = ModuleText(module);
  if (options.keep_assembly) {
    EMBER_ASSIGN_OR_RETURN(figures.assembly, EmitAssembly(machine, module));
  }
  Lap(start);
  EMBER_ASSIGN_OR_RETURN(Object object, EmitObject(machine, module));
  EMBER_RETURN_IF_ERROR(CheckNeedsNothing(*object));
  figures.code_bytes = CodeBytes(*object);
  figures.codegen_ms = Lap(start);
  return object;
}

StatusOr<vm::KernelCode> LlvmCompiler::CompileToCode(
    const loops::LoopNest& nest, const CompileOptions& options,
    CompiledNest* figures) {
  if (!options.target.empty()) {
    return Decline(DeclineReason::kTarget,
                   Concat({"expected a compiler for ", options.target,
                           ", found one for CPUs"}));
  }
  CompiledNest own;
  if (figures == nullptr) figures = &own;
  EMBER_ASSIGN_OR_RETURN(const Object object, Emit(nest, options, *figures));
  Clock::time_point start = Clock::now();
  StatusOr<vm::KernelCode> code =
      FlattenObject(std::string_view(object->getBuffer()), PhaseNames(nest));
  figures->codegen_ms += Lap(start);
  return code;
}

StatusOr<std::string> LlvmCompiler::CompileToObject(
    const loops::LoopNest& nest, const CompileOptions& options,
    CompiledNest* figures) {
  CompiledNest own;
  EMBER_ASSIGN_OR_RETURN(
      const Object object,
      Emit(nest, options, figures == nullptr ? own : *figures));
  return object->getBuffer().str();
}

}  // namespace

StatusOr<std::unique_ptr<ObjectCompiler>> NewLlvmCompiler(
    const std::string& cpu) {
  EMBER_ASSIGN_OR_RETURN(Host host, DetectHost(cpu));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                         CreateMachine(host, Effort::kFull));
  return std::unique_ptr<ObjectCompiler>(
      std::make_unique<LlvmCompiler>(std::move(host), std::move(machine)));
}

StatusOr<std::string> MissingHere(const std::string& cpu) {
  EMBER_ASSIGN_OR_RETURN(const Host host, DetectHost(cpu));
  return MissingHere(host);
}

}  // namespace ember::jit::llvm_ir

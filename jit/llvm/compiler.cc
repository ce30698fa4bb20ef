#include "jit/llvm/compiler.h"

#include <chrono>
#include <mutex>

#include "jit/llvm/code_generator.h"
#include "jit/llvm/host.h"
#include "jit/llvm/linker.h"
#include "jit/llvm/pipeline.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace ember::jit {
namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds since `start`, which becomes now.
double Lap(Clock::time_point& start) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double, std::milli> passed = now - start;
  start = now;
  return passed.count();
}

struct OrcNest : CompiledNest {
  std::unique_ptr<LinkedCode> code;
};

std::vector<std::string> PhaseNames(const loops::LoopNest& nest) {
  std::vector<std::string> names;
  for (size_t i = 0; i < nest.prologue.size(); ++i)
    names.push_back(PhaseName(true, i));
  for (size_t i = 0; i < nest.phases.size(); ++i)
    names.push_back(PhaseName(false, i));
  return names;
}

// Machines that wait for work: one takes longer to make than a small kernel.
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

class OrcCompiler : public Compiler {
 public:
  OrcCompiler(Host host, std::shared_ptr<Linker> linker)
      : host_(std::move(host)), linker_(std::move(linker)) {}

  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override {
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                           machines_.Take(host_, options.effort));
    auto result = Compile(nest, options, *machine);
    machines_.GiveBack(std::move(machine), options.effort);
    return result;
  }

 private:
  StatusOr<std::unique_ptr<CompiledNest>> Compile(const loops::LoopNest& nest,
                                                  const CompileOptions& options,
                                                  llvm::TargetMachine& machine);

  Host host_;
  MachinePool machines_;
  std::shared_ptr<Linker> linker_;
};

StatusOr<std::unique_ptr<CompiledNest>> OrcCompiler::Compile(
    const loops::LoopNest& nest, const CompileOptions& options,
    llvm::TargetMachine& machine) {
  auto result = std::make_unique<OrcNest>();
  llvm::LLVMContext context;
  llvm::Module module(nest.name, context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(host_.triple);
  EMBER_RETURN_IF_ERROR(GenerateCode(nest, host_.traits, module));
  AddTargetAttributes(host_, module);

  Clock::time_point start = Clock::now();
  EMBER_RETURN_IF_ERROR(Optimize(host_, machine, options.effort, module));
  result->optimize_ms = Lap(start);
  if (options.keep_llvm) result->llvm = ModuleText(module);
  if (options.keep_assembly) {
    EMBER_ASSIGN_OR_RETURN(result->assembly, EmitAssembly(machine, module));
  }
  Lap(start);
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> object,
                         EmitObject(machine, module));
  result->code_bytes = CodeBytes(*object);
  EMBER_ASSIGN_OR_RETURN(
      result->code, Linker::Link(linker_, std::move(object), PhaseNames(nest)));
  result->codegen_ms = Lap(start);

  for (size_t i = 0; i < result->code->addresses.size(); ++i) {
    (i < nest.prologue.size() ? result->prologue : result->phases)
        .push_back(reinterpret_cast<PhaseFunction>(result->code->addresses[i]));
  }
  return std::unique_ptr<CompiledNest>(std::move(result));
}

}  // namespace

StatusOr<std::unique_ptr<Compiler>> Compiler::Create(const std::string& cpu) {
  EMBER_ASSIGN_OR_RETURN(Host host, DetectHost(cpu));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Linker> linker, Linker::Create());
  return std::unique_ptr<Compiler>(
      std::make_unique<OrcCompiler>(std::move(host), std::move(linker)));
}

}  // namespace ember::jit

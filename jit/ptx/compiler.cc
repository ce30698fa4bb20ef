#include "jit/ptx/compiler.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/float_format.h"
#include "jit/backend/decline_reasons.h"
#include "jit/llvm/emit/target_operations.h"
#include "jit/llvm/passes/pipeline.h"
#include "jit/pipeline/target_passes.h"
#include "jit/ptx/box_functions.h"
#include "jit/ptx/device_functions.h"
#include "jit/ptx/emulation.h"
#include "jit/ptx/exponential.h"
#include "jit/ptx/limits.h"
#include "jit/ptx/phase_emitter.h"
#include "jit/target/cuda_architecture.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace ember::jit::ptx {

using llvm_ir::CreateMachine;
using llvm_ir::EmitAssembly;
using llvm_ir::ModuleText;
using llvm_ir::OperationsOf;
using llvm_ir::RunPasses;
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";

// The passes of jit/llvm/passes/pipeline.cc, without those for particular CPUs,
// and with four more. newgvn merges loop-carried values that are equal in every
// iteration, which gvn does not see; online_softmax keeps the maximum of a row
// once for each result of an invocation. scalarize-masked-mem-intrin splits
// masked accesses into branches for single lanes, and early-cse merges the
// values that this repeats. sink moves values that are only needed after a loop
// behind it, for example addresses of results, so that they occupy no register
// in the loop.
constexpr const char* kPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm<allowspeculation>),gvn,newgvn,"
    "broadcast-indices,instcombine<no-verify-fixpoint>,dse,adce,simplifycfg,"
    "scalarize-masked-mem-intrin,early-cse,sink)";
// Passes for PTX only. They derive which accesses are of shared memory and how
// they are aligned, which allows vector loads and stores. Code for the emulated
// grid keeps generic addresses.
constexpr const char* kPtxPipeline =
    "function(infer-address-spaces,infer-alignment)";

// Returns the PTX version for a nest. Matrix products of 8-bit floats, on sm_89
// and later, need PTX 8.4, which all nests with such buffers get there; other
// code uses the target's version, which is usually older, so that older drivers
// accept the code, too.
std::string VersionOf(const loops::LoopNest& nest, const Target& target) {
  const bool has_float8 = std::ranges::any_of(
      nest.buffers,
      [](const loops::Buffer& buffer) { return IsFloat8(buffer.type); });
  return has_float8 && target.architecture >= 89 ? "+ptx84" : target.version;
}

StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(
    const Target& target, const std::string& version) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* const found =
      llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (found == nullptr) return Decline(DeclineReason::kTarget, error);
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      kTriple, target.processor, version, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

// Removes calls of llvm.arithmetic.fence, which keep passes from reordering
// arithmetic. The passes have run, and NVPTX cannot select the intrinsic.
void RemoveFences(llvm::Function& function) {
  for (llvm::Instruction& instruction :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call == nullptr ||
        call->getIntrinsicID() != llvm::Intrinsic::arithmetic_fence)
      continue;
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
}

// Inserts a freeze, which costs no instruction, between a load of a vector of
// floats and its cast to f64. Without it LLVM 19 folds the cast into the load,
// and ptxas refuses the result: `ld.v2.f32 {%fd1, %fd2}`.
void SeparateCastsFromLoads(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!llvm::isa<llvm::FPExtInst>(instruction) ||
        !instruction.getType()->isVectorTy() ||
        !llvm::isa<llvm::LoadInst>(instruction.getOperand(0)))
      continue;
    instruction.setOperand(0,
                           new llvm::FreezeInst(instruction.getOperand(0), "",
                                                instruction.getIterator()));
  }
}

StatusOr<std::string> PtxOf(llvm::TargetMachine& machine, const Target& target,
                            const llvm::Module& module) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  for (llvm::Function& function : *copy) {
    RemoveFences(function);
    SeparateCastsFromLoads(function);
    if (target.architecture >= kFirstWithNanExtremes) UseExtremes(function);
  }
  ReplaceByIntrinsics(*copy);
  ReplaceBoxCalls(*copy);
  EMBER_RETURN_IF_ERROR(RunPasses(machine, kPtxPipeline, *copy));
  return EmitAssembly(machine, *copy);
}

Status EmitPhases(const loops::LoopNest& nest, const Target& target,
                  llvm::Module& module, gpu::DeviceCode& code) {
  const auto emit = [&](const std::vector<loops::Phase>& phases,
                        bool is_prologue, const char* name,
                        std::vector<gpu::PhaseCode>& result) -> Status {
    for (size_t i = 0; i < phases.size(); ++i) {
      auto phase = EmitPhase(nest, phases[i], is_prologue, Concat({name, i}),
                             target, module);
      if (!phase.ok())
        return phase.status().WithContext(Concat({"loops @", nest.name}));
      result.push_back(*std::move(phase));
    }
    return OkStatus();
  };
  EMBER_RETURN_IF_ERROR(emit(nest.prologue, true, "prologue", code.prologue));
  return emit(nest.phases, false, "phase", code.phases);
}

}  // namespace

StatusOr<gpu::DeviceCode> CompileNest(const loops::LoopNest& nest,
                                      const Target& target, CodeTexts* texts,
                                      PassLog* log) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine,
                         CreateMachine(target, VersionOf(nest, target)));
  llvm::LLVMContext context;
  llvm::Module module(nest.name, context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(kTriple);
  gpu::DeviceCode code;
  legalise::TargetOperations operations = OperationsOf(TraitsOf(target));
  operations.matrix_loops = true;
  TargetBuild build = {
      .nest = nest, .operations = operations, .device = &target};
  build.emit = [&](const loops::LoopNest& device_nest) {
    return EmitPhases(device_nest, target, module, code);
  };
  EMBER_RETURN_IF_ERROR(RunTargetPasses(build, log));
  ExpandExponentials(module);
  EMBER_RETURN_IF_ERROR(RunPasses(*machine, kPipeline, module));
  if (texts != nullptr) texts->llvm = ModuleText(module);
  if (texts != nullptr || !target.is_emulated) {
    EMBER_ASSIGN_OR_RETURN(std::string ptx, PtxOf(*machine, target, module));
    code.format = "ptx";
    code.code.assign(ptx.begin(), ptx.end());
    if (texts != nullptr) texts->ptx = std::move(ptx);
  }
  if (!target.is_emulated) return code;
  EMBER_ASSIGN_OR_RETURN(EmulatedCode emulated, EmulateOnHost(module));
  code.format = "emulated-grid";
  code.code = std::move(emulated.image);
  code.resources = std::move(emulated.resources);
  return code;
}

}  // namespace ember::jit::ptx

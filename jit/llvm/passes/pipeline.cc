#include "jit/llvm/passes/pipeline.h"

#include "base/concat.h"
#include "jit/llvm/emit/prefetch.h"
#include "jit/llvm/passes/broadcast_indices.h"
#include "jit/llvm/passes/gather_lanes.h"
#include "jit/llvm/passes/half_bits.h"
#include "jit/llvm/passes/masked_access.h"
#include "jit/llvm/passes/missing_instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace ember::jit::llvm_ir {
namespace {

// LLVM's passes for each effort. The nest has decided which loops are vectors
// or unrolled, so there is no vectoriser and no unroller. The emitter has
// hoisted values out of loops, so licm only hoists loads and values that other
// passes uncover.
constexpr const char* kFullPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm<allowspeculation>),gvn,broadcast-indices,"
    "instcombine<no-verify-fixpoint>,dse,adce,simplifycfg)";
constexpr const char* kFastPipeline =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>)";

}  // namespace

namespace {

void AddTargetAttributes(const Host& host, llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", host.cpu);
    function.addFnAttr("target-features", host.features);
    if (host.has_512_bits) function.addFnAttr("prefer-vector-width", "512");
    if (const int bits = host.traits.sve_bits; bits > 0) {
      const auto parts = static_cast<unsigned>(bits / 128);
      function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(
          module.getContext(), parts, parts));
    }
  }
}

}  // namespace

Status RunPasses(llvm::TargetMachine& machine, const char* pipeline,
                 llvm::Module& module) {
  std::string error;
  llvm::raw_string_ostream stream(error);
  if (llvm::verifyModule(module, &stream))
    return InternalError(Concat({"code generator: LLVM says: ", error}));
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::FunctionPassManager& passes,
         llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name != "broadcast-indices") return false;
        passes.addPass(BroadcastIndices());
        return true;
      });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error failed = builder.parsePassPipeline(passes, pipeline))
    return InternalError(llvm::toString(std::move(failed)));
  passes.run(module, modules);
  return OkStatus();
}

Status Optimize(const Host& host, llvm::TargetMachine& machine, Effort effort,
                llvm::Module& module) {
  AddTargetAttributes(host, module);
  EMBER_RETURN_IF_ERROR(RunPasses(
      machine, effort == Effort::kFull ? kFullPipeline : kFastPipeline,
      module));
  if (effort == Effort::kFull) PrefetchConstants(module);
  DefineGatherLanes(module);
  if (host.has_sign_masks)
    LowerMaskedAccesses(module, host.has_sign_masks_of_integers);
  ExpandMissingInstructions(host.traits, module);
  if (machine.getTargetTriple().isWasm()) ReplaceHalvesByBits(module);
  // The attributes are added last, because ExpandMissingInstructions adds
  // functions, which also need them.
  AddTargetAttributes(host, module);
  return OkStatus();
}

StatusOr<std::unique_ptr<llvm::MemoryBuffer>> EmitObject(
    llvm::TargetMachine& machine, llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream,
                                /*DisableVerify=*/true))
    return InternalError("LLVM cannot write object files for this target");
  passes.run(module);
  return std::unique_ptr<llvm::MemoryBuffer>(
      std::make_unique<llvm::SmallVectorMemoryBuffer>(
          std::move(bytes), "kernel", /*RequiresNullTerminator=*/false));
}

StatusOr<std::string> EmitAssembly(llvm::TargetMachine& machine,
                                   const llvm::Module& module) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true))
    return InternalError("LLVM cannot write assembly for this target");
  passes.run(*copy);
  return std::string(text);
}

std::string ModuleText(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

Status CheckNeedsNothing(const llvm::MemoryBuffer& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file) return InternalError(llvm::toString(file.takeError()));
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name)
      return InternalError("expected an object file with symbols");
    // Undefined symbols that are no calls of a library: the nameless symbol
    // with which symbol tables of ELF begin, and WebAssembly's symbols of the
    // stack and of the constants' address, which are globals of the runtime.
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) == 0 ||
        name->empty() || *name == "__stack_pointer" || *name == "__memory_base")
      continue;
    return InternalError(
        Concat({"expected code that calls no library, found a call of ",
                std::string_view(*name)}));
  }
  return OkStatus();
}

int64_t CodeBytes(const llvm::MemoryBuffer& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  int64_t bytes = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (section.isText()) bytes += static_cast<int64_t>(section.getSize());
  }
  return bytes;
}

}  // namespace ember::jit::llvm_ir

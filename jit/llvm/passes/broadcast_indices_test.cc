// Tests that the module stays valid if LLVM 19's instcombine runs after the
// pass.
#include "jit/llvm/passes/broadcast_indices.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/llvm/passes/pipeline.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"

namespace ember::jit::llvm_ir {
namespace {

constexpr char kGather[] = R"(
define <16 x i8> @gather(ptr %p, i64 %n) {
  %i = or disjoint i64 %n, 1
  %inner = getelementptr i8, ptr %p, <16 x i64> zeroinitializer
  %outer = getelementptr i8, <16 x ptr> %inner, i64 %i
  %lanes = call <16 x i8> @llvm.masked.gather.v16i8.v16p0(<16 x ptr> %outer, i32 1, <16 x i1> splat (i1 true), <16 x i8> poison)
  ret <16 x i8> %lanes
}
declare <16 x i8> @llvm.masked.gather.v16i8.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x i8>)
)";

TEST(BroadcastIndicesTest, InstcombineKeepsAllLanes) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(kGather, diagnostic, context);
  ASSERT_NE(module, nullptr) << diagnostic.getMessage().str();
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(BroadcastIndices());
  ASSERT_FALSE(builder.parsePassPipeline(passes, "instcombine"));
  passes.run(*module->getFunction("gather"), functions);
  EXPECT_FALSE(llvm::verifyModule(*module)) << ModuleText(*module);
}

}  // namespace
}  // namespace ember::jit::llvm_ir

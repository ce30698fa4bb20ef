#include "jit/ptx/device_functions.h"

#include <string>
#include <vector>

#include "base/concat.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm::Value;

namespace {

constexpr unsigned kSharedSpace = 3;

struct LoadMatrices {
  const char* name;
  int count;
  bool is_transposed;
  llvm::Intrinsic::ID intrinsic;
};

using namespace llvm::Intrinsic;  // NOLINT: a table of its names

constexpr LoadMatrices kLoadMatrices[] = {
    {"ember.load_matrices.x1", 1, false,
     nvvm_ldmatrix_sync_aligned_m8n8_x1_b16},
    {"ember.load_matrices.x2", 2, false,
     nvvm_ldmatrix_sync_aligned_m8n8_x2_b16},
    {"ember.load_matrices.x4", 4, false,
     nvvm_ldmatrix_sync_aligned_m8n8_x4_b16},
    {"ember.load_matrices.x1.transposed", 1, true,
     nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16},
    {"ember.load_matrices.x2.transposed", 2, true,
     nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16},
    {"ember.load_matrices.x4.transposed", 4, true,
     nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16},
};

const LoadMatrices* RowOf(const llvm::CallBase& call) {
  const llvm::Function* const function = call.getCalledFunction();
  if (function == nullptr) return nullptr;
  for (const LoadMatrices& row : kLoadMatrices) {
    if (function->getName() == row.name) return &row;
  }
  return nullptr;
}

llvm::Function* FunctionOf(llvm::Module& module, const LoadMatrices& row) {
  if (llvm::Function* known = module.getFunction(row.name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const word = llvm::Type::getInt32Ty(context);
  llvm::Type* const result =
      row.count == 1 ? word
                     : llvm::StructType::get(
                           context, std::vector<llvm::Type*>(
                                        static_cast<size_t>(row.count), word));
  llvm::Function* const function = llvm::Function::Create(
      llvm::FunctionType::get(result, {llvm::PointerType::getUnqual(context)},
                              false),
      llvm::Function::ExternalLinkage, row.name, module);
  // Lanes read what others point at, so it is no matter of the argument alone.
  function->setOnlyReadsMemory();
  function->setConvergent();
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return function;
}

}  // namespace

Value* EmitLoadMatrices(Builder& builder, int count, bool is_transposed,
                        Value* row) {
  for (const LoadMatrices& candidate : kLoadMatrices) {
    if (candidate.count != count || candidate.is_transposed != is_transposed)
      continue;
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    return builder.CreateCall(FunctionOf(module, candidate), {row});
  }
  return nullptr;
}

DeviceCall DeviceCallOf(const llvm::CallBase& call) {
  const LoadMatrices* const row = RowOf(call);
  if (row == nullptr) return {};
  return {DeviceCall::Kind::kLoadMatrices, row->count, row->is_transposed};
}

void ReplaceByIntrinsics(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && RowOf(*call) != nullptr) calls.push_back(call);
    }
  }
  for (llvm::CallInst* call : calls) {
    llvm::IRBuilder<> builder(call);
    Value* const address = builder.CreateAddrSpaceCast(
        call->getArgOperand(0), builder.getPtrTy(kSharedSpace));
    Value* const loaded = builder.CreateIntrinsic(
        RowOf(*call)->intrinsic, {address->getType()}, {address});
    call->replaceAllUsesWith(loaded);
    call->eraseFromParent();
  }
  for (const LoadMatrices& row : kLoadMatrices) {
    if (llvm::Function* function = module.getFunction(row.name))
      function->eraseFromParent();
  }
}

}  // namespace ember::jit::ptx

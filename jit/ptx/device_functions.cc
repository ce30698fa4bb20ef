#include "jit/ptx/device_functions.h"

#include <string>
#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm::Value;

namespace {

constexpr unsigned kGlobalSpace = 1;
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

// Asynchronous copies, by their bytes. Those of 16 bytes do not go through the
// processor's own cache (cp.async.cg).
struct CopyAsync {
  const char* name;
  int bytes;
  llvm::Intrinsic::ID intrinsic;
};

constexpr CopyAsync kCopiesAsync[] = {
    {"ember.copy_async.4", 4, nvvm_cp_async_ca_shared_global_4_s},
    {"ember.copy_async.8", 8, nvvm_cp_async_ca_shared_global_8_s},
    {"ember.copy_async.16", 16, nvvm_cp_async_cg_shared_global_16_s},
};

template <typename Row, size_t kCount>
const Row* RowOf(const Row (&table)[kCount], const llvm::CallBase& call) {
  const llvm::Function* const function = call.getCalledFunction();
  if (function == nullptr) return nullptr;
  for (const Row& row : table) {
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

llvm::Function* FunctionOf(llvm::Module& module, const CopyAsync& row) {
  if (llvm::Function* known = module.getFunction(row.name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Function* const function = llvm::Function::Create(
      llvm::FunctionType::get(
          llvm::Type::getVoidTy(context),
          {pointer, pointer, llvm::Type::getInt32Ty(context)}, false),
      llvm::Function::ExternalLinkage, row.name, module);
  // The copy goes on when the call has returned, so the function may access any
  // memory at any time, as far as LLVM knows: then no access moves across it.
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return function;
}

void ReplaceLoad(llvm::CallInst& call, const LoadMatrices& row) {
  llvm::IRBuilder<> builder(&call);
  Value* const address = builder.CreateAddrSpaceCast(
      call.getArgOperand(0), builder.getPtrTy(kSharedSpace));
  Value* const loaded =
      builder.CreateIntrinsic(row.intrinsic, {address->getType()}, {address});
  call.replaceAllUsesWith(loaded);
  call.eraseFromParent();
}

void ReplaceCopy(llvm::CallInst& call, const CopyAsync& row) {
  llvm::IRBuilder<> builder(&call);
  const auto in_space = [&](unsigned operand, unsigned space) {
    return builder.CreateAddrSpaceCast(call.getArgOperand(operand),
                                       builder.getPtrTy(space));
  };
  builder.CreateIntrinsic(row.intrinsic, {},
                          {in_space(0, kSharedSpace), in_space(1, kGlobalSpace),
                           call.getArgOperand(2)});
  call.eraseFromParent();
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

void EmitCopyAsync(Builder& builder, int bytes, Value* to, Value* from,
                   Value* read) {
  for (const CopyAsync& row : kCopiesAsync) {
    if (row.bytes != bytes) continue;
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    builder.CreateCall(FunctionOf(module, row), {to, from, read});
  }
}

void EmitAwaitCopies(Builder& builder, int64_t groups) {
  builder.CreateIntrinsic(nvvm_cp_async_commit_group, {}, {});
  builder.CreateIntrinsic(nvvm_cp_async_wait_group, {},
                          {builder.getInt32(static_cast<uint32_t>(groups))});
}

DeviceCall DeviceCallOf(const llvm::CallBase& call) {
  if (const LoadMatrices* const row = RowOf(kLoadMatrices, call))
    return {DeviceCall::Kind::kLoadMatrices, row->count, row->is_transposed};
  if (const CopyAsync* const row = RowOf(kCopiesAsync, call))
    return {DeviceCall::Kind::kCopyAsync, row->bytes, false};
  return {};
}

void ReplaceByIntrinsics(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr &&
          DeviceCallOf(*call).kind != DeviceCall::Kind::kNone)
        calls.push_back(call);
    }
  }
  for (llvm::CallInst* call : calls) {
    if (const LoadMatrices* const load = RowOf(kLoadMatrices, *call)) {
      ReplaceLoad(*call, *load);
    } else {
      ReplaceCopy(*call, *RowOf(kCopiesAsync, *call));
    }
  }
  const auto erase = [&](const char* name) {
    if (llvm::Function* function = module.getFunction(name))
      function->eraseFromParent();
  };
  for (const LoadMatrices& row : kLoadMatrices) erase(row.name);
  for (const CopyAsync& row : kCopiesAsync) erase(row.name);
}

}  // namespace ember::jit::ptx

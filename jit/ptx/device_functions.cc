#include "jit/ptx/device_functions.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/llvm/emit/ir.h"
#include "jit/ptx/device_function_tables.h"
#include "jit/target/shared_panels.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;

using llvm::Value;

namespace {

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
  // The function may read any memory, not only what its argument points to,
  // because a lane also gets data from the addresses of other lanes.
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
  // The copy may still be in progress after the call has returned. So the
  // function gets no attribute that limits its accesses, and LLVM moves no
  // access to memory across it.
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return function;
}

// Returns the function, declared so that LLVM knows that its result depends on
// its operands only.
llvm::Function* PureFunction(llvm::Module& module, std::string_view name,
                             llvm::FunctionType* type) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Function* const function = llvm::Function::Create(
      type, llvm::Function::ExternalLinkage, name, module);
  function->setDoesNotAccessMemory();
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::Speculatable);
  return function;
}

llvm::Function* FunctionOf(llvm::Module& module, const DotOfWords& row) {
  llvm::Type* const word = llvm::Type::getInt32Ty(module.getContext());
  return PureFunction(module, row.name,
                      llvm::FunctionType::get(word, {word, word, word}, false));
}

// Emits a call of a function that all threads of a warp execute together. It is
// declared without attributes that limit its accesses to memory.
Value* CallFunction(Builder& builder, const std::string& name,
                    llvm::Type* result, const std::vector<Value*>& operands) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  std::vector<llvm::Type*> types;
  for (const Value* value : operands) types.push_back(value->getType());
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      name, llvm::FunctionType::get(result, types, false));
  auto* const function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setConvergent();
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return builder.CreateCall(callee, operands);
}

// Returns wgmma's descriptor of a matrix in panels, with the address left out:
// the distance of panels, the distance of blocks of 8 rows, and the mode of
// swizzling by 128 bytes.
uint64_t DescriptorOf(int64_t panel_bytes) {
  constexpr uint64_t kSwizzled128 = uint64_t{1} << 62;
  const auto units = [](int64_t bytes) {
    return static_cast<uint64_t>(bytes) >> 4;
  };
  return units(panel_bytes) << 16 | units(kPanelAlignment) << 32 | kSwizzled128;
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

Value* EmitMultiply(Builder& builder, const MatrixInstruction& row,
                    const std::vector<Value*>& a, const std::vector<Value*>& b,
                    const std::vector<Value*>& sums) {
  std::vector<Value*> operands = a;
  operands.insert(operands.end(), b.begin(), b.end());
  operands.insert(operands.end(), sums.begin(), sums.end());
  auto* const call = llvm::cast<llvm::CallInst>(CallFunction(
      builder, Concat({kMultiply, row.name}), StructOf(sums), operands));
  call->getCalledFunction()->setDoesNotAccessMemory();
  return call;
}

Value* EmitMultiplyWide(Builder& builder, const MatrixInstruction& row,
                        const std::vector<Value*>& a, const WideFactor& b,
                        const std::vector<Value*>& sums) {
  std::vector<Value*> operands = {
      builder.getInt64(DescriptorOf(b.panel_bytes))};
  operands.insert(operands.end(), a.begin(), a.end());
  operands.push_back(b.begin);
  operands.insert(operands.end(), sums.begin(), sums.end());
  return CallFunction(
      builder,
      Concat({kMultiplyWide, row.name, b.is_transposed ? kTransposed : ""}),
      StructOf(sums), operands);
}

Value* EmitMultiplyWide(Builder& builder, const MatrixInstruction& row,
                        const WideFactor& a, const WideFactor& b,
                        const std::vector<Value*>& sums) {
  std::vector<Value*> operands = {builder.getInt64(DescriptorOf(b.panel_bytes)),
                                  builder.getInt64(DescriptorOf(a.panel_bytes)),
                                  a.begin, b.begin};
  operands.insert(operands.end(), sums.begin(), sums.end());
  return CallFunction(
      builder,
      Concat({kMultiplyWide, row.name, b.is_transposed ? kTransposed : "",
              a.is_transposed ? kSharedATransposed : kSharedA}),
      StructOf(sums), operands);
}

Value* EmitDotOfWords(Builder& builder, bool a_signed, bool b_signed, Value* a,
                      Value* b, Value* sum) {
  for (const DotOfWords& row : kDotsOfWords) {
    if (row.a_signed != a_signed || row.b_signed != b_signed) continue;
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    return builder.CreateCall(FunctionOf(module, row), {a, b, sum});
  }
  return nullptr;
}

Value* EmitAwaitProducts(Builder& builder, const std::vector<Value*>& sums) {
  return CallFunction(
      builder, Concat({kAwaitProducts, static_cast<int64_t>(sums.size())}),
      StructOf(sums), sums);
}

void EmitCommitProducts(Builder& builder) {
  CallFunction(builder, std::string(kCommitProducts), builder.getVoidTy(), {});
}

void EmitAwaitGroupsBefore(Builder& builder) {
  CallFunction(builder, std::string(kAwaitGroupsBefore), builder.getVoidTy(),
               {});
}

void EmitOrderStores(Builder& builder) {
  CallFunction(builder, std::string(kOrderStores), builder.getVoidTy(), {});
}

Value* EmitPowerOfTwo(Builder& builder, Value* x) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(
      PureFunction(
          module, kPowerOfTwo,
          llvm::FunctionType::get(x->getType(), {x->getType()}, false)),
      {x});
}

void EmitAwaitCopies(Builder& builder, int64_t groups) {
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                          {builder.getInt32(static_cast<uint32_t>(groups))});
}

unsigned DeviceCall::OperandsOfA() const {
  return has_shared_a ? 1 : static_cast<unsigned>(row->A().registers.size());
}

DeviceCall DeviceCallOf(const llvm::CallBase& call) {
  if (const LoadMatrices* const row = RowOf(kLoadMatrices, call))
    return {DeviceCall::Kind::kLoadMatrices, row->count, row->is_transposed};
  if (const CopyAsync* const row = RowOf(kCopiesAsync, call))
    return {DeviceCall::Kind::kCopyAsync, row->bytes, false};
  if (const DotOfWords* const row = RowOf(kDotsOfWords, call)) {
    DeviceCall dot = {DeviceCall::Kind::kDotOfWords};
    dot.a_signed = row->a_signed;
    dot.b_signed = row->b_signed;
    return dot;
  }
  const llvm::Function* const function = call.getCalledFunction();
  if (function == nullptr) return {};
  std::string_view name(function->getName());
  if (name == kOrderStores) return {DeviceCall::Kind::kOrderStores};
  if (name == kPowerOfTwo) return {DeviceCall::Kind::kPowerOfTwo};
  if (name == kCommitProducts) return {DeviceCall::Kind::kCommitProducts};
  if (name == kAwaitGroupsBefore) return {DeviceCall::Kind::kAwaitGroupsBefore};
  if (name.starts_with(kAwaitProducts))
    return {DeviceCall::Kind::kAwaitProducts};
  const bool is_wide = name.starts_with(kMultiplyWide);
  if (!is_wide && !name.starts_with(kMultiply)) return {};
  name.remove_prefix(is_wide ? kMultiplyWide.size() : kMultiply.size());
  DeviceCall multiply = {is_wide ? DeviceCall::Kind::kMultiplyWide
                                 : DeviceCall::Kind::kMultiply};
  const auto has_suffix = [&name](std::string_view suffix) {
    const bool has_it = name.ends_with(suffix);
    if (has_it) name.remove_suffix(suffix.size());
    return has_it;
  };
  multiply.is_a_transposed = has_suffix(kSharedATransposed);
  multiply.has_shared_a = multiply.is_a_transposed || has_suffix(kSharedA);
  multiply.is_transposed = has_suffix(kTransposed);
  for (const MatrixInstruction& row : MatrixInstructions()) {
    if (row.name == name) multiply.row = &row;
  }
  return multiply;
}

}  // namespace ember::jit::ptx

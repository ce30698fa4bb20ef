// Replaces calls of the placeholder functions of device_functions.h by NVVM's
// intrinsics and inline assembly.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/ptx/device_function_tables.h"
#include "jit/ptx/device_functions.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

namespace ember::jit::ptx {
namespace {

using llvm::Value;

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kSharedSpace = 3;

// Returns the text of a list of assembly operands: {$first, ..., $(first +
// count - 1)}.
std::string OperandList(size_t first, size_t count) {
  std::string list = "{";
  for (size_t i = 0; i < count; ++i)
    list += Concat({i == 0 ? "$" : ", $", static_cast<int64_t>(first + i)});
  return list + "}";
}

// Returns the constraint of inline assembly for a register of this type: "f"
// for floats, "r" for 32-bit integers.
std::string_view ConstraintOf(const llvm::Type* type) {
  return type->isFloatTy() ? "f" : "r";
}

// Emits inline assembly that updates the registers `sums` in place, and returns
// a struct of them. is_pure: true if the assembly accesses no memory and
// nothing of it is in progress afterwards.
Value* EmitOnSums(llvm::IRBuilder<>& builder, const std::string& text,
                  const std::vector<Value*>& others,
                  const std::string& constraints_of_others,
                  const std::vector<Value*>& sums, bool is_pure = false) {
  std::vector<Value*> operands = others;
  operands.insert(operands.end(), sums.begin(), sums.end());
  std::vector<llvm::Type*> types;
  for (const Value* value : operands) types.push_back(value->getType());
  std::string constraints;
  for (const Value* sum : sums)
    constraints += Concat({"=", ConstraintOf(sum->getType()), ","});
  constraints += constraints_of_others;
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += Concat({static_cast<int64_t>(i), ","});
  if (is_pure)
    constraints.pop_back();
  else
    constraints += "~{memory}";
  llvm::CallInst* const call = builder.CreateCall(
      llvm::InlineAsm::get(
          llvm::FunctionType::get(StructOf(sums), types, false), text,
          constraints, /*hasSideEffects=*/!is_pure),
      operands);
  call->setConvergent();
  if (is_pure) call->setDoesNotAccessMemory();
  return call;
}

std::vector<Value*> OperandsFrom(const llvm::CallInst& call, unsigned first) {
  std::vector<Value*> operands;
  for (unsigned i = first; i < call.arg_size(); ++i)
    operands.push_back(call.getArgOperand(i));
  return operands;
}

// Returns the text of wgmma's operands after the factors: the predicate that
// selects adding to the sums; for floats, the signs of the factors; and, if the
// instruction can transpose a factor in shared memory, a flag that says if it
// does.
std::string FlagsOf(const DeviceCall& what) {
  const loops::MatrixType& type = what.row->type;
  const auto flag = [](bool is_set) { return is_set ? ", 1" : ", 0"; };
  std::string flags = "add";
  if (IsFloat(type.sum)) flags += ", 1, 1";
  if (what.has_shared_a && TransposesMatricesOf(type.a))
    flags += flag(what.is_a_transposed);
  if (ReadsRowMajorB(type)) flags += flag(what.is_transposed);
  return flags;
}

void ReplaceMultiply(llvm::CallInst& call, const DeviceCall& what) {
  llvm::IRBuilder<> builder(&call);
  const size_t a_count = what.row->A().registers.size();
  const size_t b_count = what.row->B().registers.size();
  const size_t begin = a_count + b_count;
  std::vector<Value*> others = OperandsFrom(call, 0);
  others.resize(begin);
  const std::vector<Value*> sums =
      OperandsFrom(call, static_cast<unsigned>(begin));
  std::string constraints;
  for (size_t i = 0; i < begin; ++i) constraints += "r,";
  // The instruction's name in the table contains its sizes and types, such as
  // mma.m16n8k32.f32.e4m3.e5m2. PTX has them in another order.
  std::string_view types = what.row->name;
  types.remove_prefix(types.find('.') + 1);
  const std::string_view sizes = types.substr(0, types.find('.'));
  types.remove_prefix(sizes.size());
  const std::string_view sum_type = types.substr(0, types.find('.', 1));
  const std::string text = Concat(
      {"mma.sync.aligned.", sizes, ".row.col", types, sum_type, " ",
       OperandList(0, sums.size()), ", ", OperandList(sums.size(), a_count),
       ", ", OperandList(sums.size() + a_count, b_count), ", ",
       OperandList(0, sums.size()), ";"});
  call.replaceAllUsesWith(EmitOnSums(builder, text, others, constraints, sums,
                                     /*is_pure=*/true));
  call.eraseFromParent();
}

// Returns wgmma's descriptor of a factor: the given descriptor with the
// factor's address inserted.
Value* DescriptorAt(llvm::IRBuilder<>& builder, Value* without_address,
                    Value* begin) {
  Value* const address = builder.CreatePtrToInt(
      builder.CreateAddrSpaceCast(begin, builder.getPtrTy(kSharedSpace)),
      builder.getInt32Ty());
  // The descriptor's low bits are bits 4 to 17 of the factor's address.
  Value* const units = builder.CreateZExt(
      builder.CreateAnd(builder.CreateLShr(address, 4), 0x3fff),
      builder.getInt64Ty());
  return builder.CreateOr(without_address, units);
}

// True if the product adds to the sums of an earlier product by the same
// function in the same block. Then it needs no fence, because the earlier
// product has one. A product with factor a in registers always needs its own
// fence, because a may have been loaded after the earlier product.
bool ContinuesProduct(const llvm::CallInst& call, const DeviceCall& what) {
  if (!what.has_shared_a) return false;
  const std::vector<Value*> sums =
      OperandsFrom(call, what.Descriptors() + what.OperandsOfA() + 1);
  const llvm::CallInst* before = nullptr;
  for (unsigned i = 0; i < sums.size(); ++i) {
    const auto* const sum = llvm::dyn_cast<llvm::ExtractValueInst>(sums[i]);
    if (sum == nullptr || sum->getIndices() != llvm::ArrayRef<unsigned>(i))
      return false;
    const auto* const made_by =
        llvm::dyn_cast<llvm::CallInst>(sum->getAggregateOperand());
    if (made_by == nullptr || (before != nullptr && made_by != before))
      return false;
    before = made_by;
  }
  return before != nullptr && before->getParent() == call.getParent() &&
         before->getCalledFunction() == call.getCalledFunction();
}

void ReplaceMultiplyWide(llvm::CallInst& call, const DeviceCall& what,
                         bool continues) {
  llvm::IRBuilder<> builder(&call);
  const unsigned first_a = what.Descriptors();
  const unsigned begin = first_a + what.OperandsOfA();
  std::vector<Value*> others;
  std::string constraints;
  if (what.has_shared_a) {
    others.push_back(DescriptorAt(builder, call.getArgOperand(1),
                                  call.getArgOperand(first_a)));
    constraints += "l,";
  } else {
    for (unsigned i = first_a; i < begin; ++i) {
      others.push_back(call.getArgOperand(i));
      constraints += "r,";
    }
  }
  const size_t of_a = others.size();
  others.push_back(
      DescriptorAt(builder, call.getArgOperand(0), call.getArgOperand(begin)));
  constraints += "l,";
  const std::vector<Value*> sums = OperandsFrom(call, begin + 1);
  std::string_view shape = what.row->name;
  shape.remove_prefix(shape.find('.'));
  const std::string a = what.has_shared_a
                            ? Concat({"$", static_cast<int64_t>(sums.size())})
                            : OperandList(sums.size(), of_a);
  // wgmma.fence makes earlier writes to the registers of sums and of factor a
  // visible to the instruction.
  const std::string text = Concat(
      {"{ .reg .pred add; setp.eq.u32 add, 0, 0; ",
       continues ? "" : "wgmma.fence.sync.aligned; ",
       "wgmma.mma_async.sync.aligned", shape, " ", OperandList(0, sums.size()),
       ", ", a, ", $", static_cast<int64_t>(sums.size() + of_a), ", ",
       FlagsOf(what), "; }"});
  call.replaceAllUsesWith(EmitOnSums(builder, text, others, constraints, sums));
  call.eraseFromParent();
}

// Replaces the wait for products by assembly that has the sums as registers. It
// begins with a fence, which ptxas requires: where it is missing, ptxas inserts
// one, or serializes all products if it cannot.
void ReplaceAwait(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  call.replaceAllUsesWith(
      EmitOnSums(builder,
                 "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; "
                 "wgmma.wait_group.sync.aligned 0;",
                 {}, "", OperandsFrom(call, 0)));
  call.eraseFromParent();
}

// Replaces the call by assembly without operands, across which LLVM moves no
// access to memory.
void ReplaceByOrder(llvm::CallInst& call, const char* text) {
  llvm::IRBuilder<> builder(&call);
  llvm::CallInst* const order = builder.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(builder.getVoidTy(), false),
                           text, "~{memory}", /*hasSideEffects=*/true));
  order->setConvergent();
  call.eraseFromParent();
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

void ReplaceDot(llvm::CallInst& call, const DotOfWords& row) {
  llvm::IRBuilder<> builder(&call);
  call.replaceAllUsesWith(builder.CreateCall(
      llvm::InlineAsm::get(call.getFunctionType(), row.assembly, "=r,r,r,r",
                           /*hasSideEffects=*/false),
      OperandsFrom(call, 0)));
  call.eraseFromParent();
}

void ReplacePower(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  call.replaceAllUsesWith(builder.CreateIntrinsic(
      llvm::Intrinsic::nvvm_ex2_approx_ftz_f, {}, {call.getArgOperand(0)}));
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
  // ContinuesProduct looks for calls of placeholder functions, so it is
  // evaluated before any call is replaced.
  std::set<const llvm::CallInst*> continuing;
  for (const llvm::CallInst* call : calls) {
    const DeviceCall what = DeviceCallOf(*call);
    if (what.kind == DeviceCall::Kind::kMultiplyWide &&
        ContinuesProduct(*call, what))
      continuing.insert(call);
  }
  std::set<llvm::Function*> functions;
  for (llvm::CallInst* call : calls) {
    functions.insert(call->getCalledFunction());
    const DeviceCall what = DeviceCallOf(*call);
    switch (what.kind) {
      case DeviceCall::Kind::kNone:
        break;
      case DeviceCall::Kind::kLoadMatrices:
        ReplaceLoad(*call, *RowOf(kLoadMatrices, *call));
        break;
      case DeviceCall::Kind::kCopyAsync:
        ReplaceCopy(*call, *RowOf(kCopiesAsync, *call));
        break;
      case DeviceCall::Kind::kMultiply:
        ReplaceMultiply(*call, what);
        break;
      case DeviceCall::Kind::kMultiplyWide:
        ReplaceMultiplyWide(*call, what, continuing.contains(call));
        break;
      case DeviceCall::Kind::kAwaitProducts:
        ReplaceAwait(*call);
        break;
      case DeviceCall::Kind::kCommitProducts:
        ReplaceByOrder(*call, "wgmma.commit_group.sync.aligned;");
        break;
      case DeviceCall::Kind::kAwaitGroupsBefore:
        ReplaceByOrder(*call, "wgmma.wait_group.sync.aligned 1;");
        break;
      case DeviceCall::Kind::kOrderStores:
        ReplaceByOrder(*call, "fence.proxy.async.shared::cta;");
        break;
      case DeviceCall::Kind::kDotOfWords:
        ReplaceDot(*call, *RowOf(kDotsOfWords, *call));
        break;
      case DeviceCall::Kind::kPowerOfTwo:
        ReplacePower(*call);
        break;
    }
  }
  for (llvm::Function* function : functions) function->eraseFromParent();
}

}  // namespace ember::jit::ptx

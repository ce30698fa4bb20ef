#include "jit/ptx/device_functions.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/gpu/shared_panels.h"
#include "jit/llvm/ir.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
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

// LLVM 19 has no intrinsics of these.
struct DotOfWords {
  const char* name;
  bool a_signed;
  bool b_signed;
  const char* assembly;
};

constexpr DotOfWords kDotsOfWords[] = {
    {"ember.dot_of_words.s8.s8", true, true, "dp4a.s32.s32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.s8.u8", true, false, "dp4a.s32.u32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.u8.s8", false, true, "dp4a.u32.s32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.u8.u8", false, false, "dp4a.u32.u32 $0, $1, $2, $3;"},
};

constexpr std::string_view kMultiply = "ember.multiply.";
constexpr std::string_view kMultiplyWide = "ember.multiply_wide.";
constexpr std::string_view kTransposed = ".transposed";
constexpr std::string_view kSharedA = ".shared_a";
constexpr std::string_view kSharedATransposed = ".shared_a_transposed";
constexpr std::string_view kAwaitProducts = "ember.await_products.";
constexpr std::string_view kCommitProducts = "ember.commit_products";
constexpr std::string_view kAwaitGroupsBefore = "ember.await_groups_before";
constexpr std::string_view kOrderStores = "ember.order_stores";
constexpr std::string_view kPowerOfTwo = "ember.power_of_two";

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

// A function of nothing but its operands.
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

llvm::Type* StructOf(const std::vector<Value*>& values) {
  std::vector<llvm::Type*> types;
  for (const Value* value : values) types.push_back(value->getType());
  return llvm::StructType::get(values[0]->getContext(), types);
}

// Of all threads of a warp, and LLVM knows nothing of which memory.
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

// The descriptor of a matrix in panels, without its address: bytes from one
// panel to the next, bytes from one block of rows to the next, swizzling by 128
// bytes.
uint64_t DescriptorOf(int64_t panel_bytes) {
  constexpr uint64_t kSwizzled128 = uint64_t{1} << 62;
  const auto units = [](int64_t bytes) {
    return static_cast<uint64_t>(bytes) >> 4;
  };
  return units(panel_bytes) << 16 | units(gpu::kPanelAlignment) << 32 |
         kSwizzled128;
}

// Names of operands `first` to `first` + `count`.
std::string OperandList(size_t first, size_t count) {
  std::string list = "{";
  for (size_t i = 0; i < count; ++i)
    list += Concat({i == 0 ? "$" : ", $", static_cast<int64_t>(first + i)});
  return list + "}";
}

// What a register of the type is to assembly: one of floats, or of bits.
std::string_view ConstraintOf(const llvm::Type* type) {
  return type->isFloatTy() ? "f" : "r";
}

// Assembly whose results are the operands `sums`, changed in place.
// is_pure: of registers alone, and nothing goes on behind it.
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

// What follows the descriptors in wgmma's operands: whether sums are added to;
// of floats, the signs of both factors; and whether those in shared memory are
// transposed, where the instruction can do that.
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
  // Of mma.m16n8k32.f32.e4m3.e5m2: its sizes, the types.
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

// The matrix descriptor of the factor at the address.
Value* DescriptorAt(llvm::IRBuilder<>& builder, Value* without_address,
                    Value* begin) {
  Value* const address = builder.CreatePtrToInt(
      builder.CreateAddrSpaceCast(begin, builder.getPtrTy(kSharedSpace)),
      builder.getInt32Ty());
  // Bits 4 to 17 of the address.
  Value* const units = builder.CreateZExt(
      builder.CreateAnd(builder.CreateLShr(address, 4), 0x3fff),
      builder.getInt64Ty());
  return builder.CreateOr(without_address, units);
}

// Whether the product adds to the sums of one of its form which begins right in
// front of it: of these, all but the first need no fence. A factor in registers
// may have been loaded between the two.
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
  // Registers, a's too, are as the code before left them: hence the fence.
  const std::string text = Concat(
      {"{ .reg .pred add; setp.eq.u32 add, 0, 0; ",
       continues ? "" : "wgmma.fence.sync.aligned; ",
       "wgmma.mma_async.sync.aligned", shape, " ", OperandList(0, sums.size()),
       ", ", a, ", $", static_cast<int64_t>(sums.size() + of_a), ", ",
       FlagsOf(what), "; }"});
  call.replaceAllUsesWith(EmitOnSums(builder, text, others, constraints, sums));
  call.eraseFromParent();
}

// The assembly has the sums as registers, before which ptxas wants a fence: it
// would put one there, or serialize all products where it finds no place.
void ReplaceAwait(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  call.replaceAllUsesWith(
      EmitOnSums(builder,
                 "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; "
                 "wgmma.wait_group.sync.aligned 0;",
                 {}, "", OperandsFrom(call, 0)));
  call.eraseFromParent();
}

// Assembly that orders what is done with memory.
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
  call.replaceAllUsesWith(builder.CreateIntrinsic(nvvm_ex2_approx_ftz_f, {},
                                                  {call.getArgOperand(0)}));
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
  builder.CreateIntrinsic(nvvm_cp_async_commit_group, {}, {});
  builder.CreateIntrinsic(nvvm_cp_async_wait_group, {},
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
  // Asked before any is replaced.
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

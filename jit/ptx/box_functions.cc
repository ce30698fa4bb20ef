#include "jit/ptx/box_functions.h"

#include <set>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;

using llvm::Value;

namespace {

constexpr unsigned kSharedSpace = 3;

// One function and the inline assembly that replaces its calls. `operands` has
// a letter for each operand:
//   s  a pointer to shared memory, passed as 32 bits
//   g  a generic pointer
//   r  an i32
struct Row {
  BoxCall::Kind kind;
  std::string_view name;
  std::string_view operands;
  std::string_view assembly;
  unsigned rank = 0;
};

using enum BoxCall::Kind;

constexpr std::string_view kCopyBoxName = "ember.copy_box.";

constexpr Row kRows[] = {
    {kMakeCopyBarrier, "ember.make_copy_barrier", "sr",
     "mbarrier.init.shared::cta.b64 [$0], $1;"},
    {kPublishCopyBarriers, "ember.publish_copy_barriers", "",
     "fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;"},
    {kArrive, "ember.arrive", "s", "mbarrier.arrive.shared::cta.b64 _, [$0];"},
    {kArrive, "ember.arrive_expecting", "sr",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"},
    // try_wait waits for a while and then fails. After millions of failures the
    // phase will never end, so the kernel ends with an error; otherwise it
    // would occupy the device forever. The trap has a predicate: with a branch
    // around it ptxas would serialize the wgmma products of the kernel.
    {kAwaitPhase, "ember.await_phase", "sr",
     "{ .reg .pred is_over, is_late; .reg .u32 tries; "
     "mov.u32 tries, 4194304; AWAIT_${:uid}: "
     "mbarrier.try_wait.parity.shared::cta.b64 is_over, [$0], $1; "
     "sub.u32 tries, tries, 1; setp.eq.u32 is_late, tries, 0; "
     "@is_late trap; @!is_over bra AWAIT_${:uid}; }"},
    {kCopyBox, "ember.copy_box.1", "gssr",
     "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx"
     "::bytes [$1], [$0, {$3}], [$2];",
     1},
    {kCopyBox, "ember.copy_box.2", "gssrr",
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx"
     "::bytes [$1], [$0, {$3, $4}], [$2];",
     2},
    {kCopyBox, "ember.copy_box.3", "gssrrr",
     "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx"
     "::bytes [$1], [$0, {$3, $4, $5}], [$2];",
     3},
    {kCopyBox, "ember.copy_box.4", "gssrrrr",
     "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx"
     "::bytes [$1], [$0, {$3, $4, $5, $6}], [$2];",
     4},
    {kCopyBox, "ember.copy_box.5", "gssrrrrr",
     "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx"
     "::bytes [$1], [$0, {$3, $4, $5, $6, $7}], [$2];",
     5},
    {kSynchronize, "ember.meet", "rr", "bar.sync $0, $1;"},
};

const Row* RowOf(const llvm::CallBase& call) {
  const llvm::Function* const function = call.getCalledFunction();
  if (function == nullptr) return nullptr;
  for (const Row& row : kRows) {
    if (std::string_view(function->getName()) == row.name) return &row;
  }
  return nullptr;
}

// Emits a call of the function. The function has no attributes that limit its
// accesses to memory, because asynchronous copies that it begins access memory
// after it has returned.
void Call(Builder& builder, std::string_view name,
          const std::vector<Value*>& operands) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  std::vector<llvm::Type*> types;
  for (const Value* value : operands) types.push_back(value->getType());
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      llvm::StringRef(name),
      llvm::FunctionType::get(builder.getVoidTy(), types, false));
  auto* const function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setConvergent();
  function->addFnAttr(llvm::Attribute::NoUnwind);
  builder.CreateCall(callee, operands);
}

Value* Word(Builder& builder, int64_t value) {
  return builder.getInt32(static_cast<uint32_t>(value));
}

void Replace(llvm::CallInst& call, const Row& row) {
  llvm::IRBuilder<> builder(&call);
  std::vector<Value*> operands;
  std::vector<llvm::Type*> types;
  std::string constraints;
  for (unsigned i = 0; i < row.operands.size(); ++i) {
    Value* operand = call.getArgOperand(i);
    if (row.operands[i] == 's') {
      operand = builder.CreatePtrToInt(
          builder.CreateAddrSpaceCast(operand, builder.getPtrTy(kSharedSpace)),
          builder.getInt32Ty());
    } else if (row.operands[i] == 'g') {
      operand = builder.CreatePtrToInt(operand, builder.getInt64Ty());
    }
    operands.push_back(operand);
    types.push_back(operand->getType());
    constraints += row.operands[i] == 'g' ? "l," : "r,";
  }
  llvm::CallInst* const assembly = builder.CreateCall(
      llvm::InlineAsm::get(
          llvm::FunctionType::get(builder.getVoidTy(), types, false),
          llvm::StringRef(row.assembly), constraints + "~{memory}",
          /*hasSideEffects=*/true),
      operands);
  assembly->setConvergent();
  call.eraseFromParent();
}

}  // namespace

void EmitMakeCopyBarrier(Builder& builder, Value* barrier, int64_t arrivals) {
  Call(builder, "ember.make_copy_barrier", {barrier, Word(builder, arrivals)});
}

void EmitPublishCopyBarriers(Builder& builder) {
  Call(builder, "ember.publish_copy_barriers", {});
}

void EmitArrive(Builder& builder, Value* barrier, int64_t bytes) {
  if (bytes == 0) return Call(builder, "ember.arrive", {barrier});
  Call(builder, "ember.arrive_expecting", {barrier, Word(builder, bytes)});
}

void EmitAwaitPhase(Builder& builder, Value* barrier, Value* parity) {
  Call(builder, "ember.await_phase", {barrier, parity});
}

void EmitCopyBox(Builder& builder, Value* map,
                 const std::vector<Value*>& coordinates, Value* to,
                 Value* barrier) {
  std::vector<Value*> operands = {map, to, barrier};
  operands.insert(operands.end(), coordinates.begin(), coordinates.end());
  Call(builder,
       Concat({kCopyBoxName, static_cast<int64_t>(coordinates.size())}),
       operands);
}

void EmitSynchronize(Builder& builder, int64_t barrier, int64_t threads) {
  Call(builder, "ember.meet", {Word(builder, barrier), Word(builder, threads)});
}

BoxCall BoxCallOf(const llvm::CallBase& call) {
  const Row* const row = RowOf(call);
  if (row == nullptr) return {};
  return {row->kind, row->rank};
}

void ReplaceBoxCalls(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  std::set<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || RowOf(*call) == nullptr) continue;
      calls.push_back(call);
      functions.insert(call->getCalledFunction());
    }
  }
  for (llvm::CallInst* call : calls) Replace(*call, *RowOf(*call));
  for (llvm::Function* function : functions) function->eraseFromParent();
}

}  // namespace ember::jit::ptx

#include "jit/llvm/statement_emitter.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/llvm/counted_loop.h"
#include "jit/llvm/dot_products.h"
#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/store_emitter.h"
#include "jit/loops/walk.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "tensor/linear.h"
#include "vm/format/kernel_abi.h"

namespace ember::jit {

using llvm::BasicBlock;
using llvm::Value;
using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

// Nodes and statements of one phase, unrolled; about as many instructions. LLVM
// takes a second for as many; a large register tile has a tenth of them.
constexpr int64_t kLargestPhase = 20000;

class StatementEmitter {
 public:
  StatementEmitter(const loops::LoopNest& nest, bool is_prologue,
                   TargetTraits target, llvm::Function& function)
      : nest_(nest),
        target_(target),
        function_(function),
        b_(function.getContext(),
           llvm::InstSimplifyFolder(function.getParent()->getDataLayout())),
        expressions_(nest, is_prologue, function, target, b_, error_),
        stores_(nest, target, function, b_, expressions_),
        dot_products_(nest, target, b_, expressions_) {}

  Status EmitPhase(const loops::Phase& phase);

 private:
  BasicBlock* NewBlock(const char* name) {
    return BasicBlock::Create(b_.getContext(), name, &function_);
  }
  void EmitBlock(const Block& block);
  void EmitStatement(const Statement& statement);
  void EmitFor(const Statement& statement);
  void EmitUnrolled(const Statement& statement, int64_t extent);
  void EmitVector(const Statement& statement, int64_t extent);
  // For each value of the variable from `begin` to `end` - 1.
  void EmitLoop(NodeId variable, Value* begin, Value* end, bool may_be_empty,
                const Block& body);
  void EmitIf(const Statement& statement);
  void EmitLanesIf(const Statement& statement, Value* condition);
  // Whether all that the block does is done lane by lane, and neighbours are
  // accessed: without any lane on it does nothing.
  bool IsOfLanes(const Block& block);
  bool IsOfLanes(std::span<const NodeId> indices);
  void EmitCheck(const Statement& statement);
  void EmitPrefetch(const Statement& statement);
  // In lanes: what the first lane that is on in `which` has.
  Value* FirstLane(Value* value, Value* which);
  // Continues in a new block if the condition holds, else fails.
  void FailUnless(Value* condition, const Statement& check, Value* index,
                  Value* extent);
  void EmitFailure();
  int64_t Constant(NodeId id) const { return *nest_.pool.IntegerConstant(id); }
  NodeId ExtentOf(NodeId variable) const {
    return nest_.pool[variable].operands[0];
  }

  const loops::LoopNest& nest_;
  const TargetTraits target_;
  llvm::Function& function_;
  FirstError error_;
  Builder b_;
  ExpressionEmitter expressions_;
  StoreEmitter stores_;
  DotProducts dot_products_;
  int64_t statements_ = 0;
  // Where all failed checks meet; null as long as there are none.
  BasicBlock* failed_ = nullptr;
  llvm::PHINode* failed_fields_[4] = {};
};

Status StatementEmitter::EmitPhase(const loops::Phase& phase) {
  BasicBlock* entry = NewBlock("entry");
  BasicBlock* start = NewBlock("start");
  BasicBlock* done = NewBlock("done");
  b_.SetInsertPoint(entry);
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  expressions_.scopes().Enter(entry);
  EmitLoop(phase.task, function_.getArg(2), function_.getArg(3), true,
           phase.body);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  b_.CreateRet(b_.getInt32(0));
  if (failed_ != nullptr) EmitFailure();
  return std::move(error_.status);
}

void StatementEmitter::EmitBlock(const Block& block) {
  for (const Statement& statement : block) {
    if (!error_.status.ok()) return;
    if (++statements_ + expressions_.emitted() > kLargestPhase) {
      error_.Set(
          Decline(DeclineReason::kTooLarge,
                  Concat({"more than ", kLargestPhase, " instructions"})));
      return;
    }
    EmitStatement(statement);
  }
}

void StatementEmitter::EmitStatement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return EmitFor(statement);
    case Statement::Kind::kIf:
      return EmitIf(statement);
    case Statement::Kind::kStore:
      return stores_.Emit(statement.targets);
    case Statement::Kind::kCheck:
      return EmitCheck(statement);
    case Statement::Kind::kPrefetch:
      return EmitPrefetch(statement);
  }
}

// --- loops

void StatementEmitter::EmitFor(const Statement& statement) {
  const NodeId extent = ExtentOf(statement.variable);
  switch (statement.loop) {
    case LoopKind::kUnrolled:
      return EmitUnrolled(statement, Constant(extent));
    case LoopKind::kVector:
      return EmitVector(statement, Constant(extent));
    case LoopKind::kDot:
      if (dot_products_.Emit(statement)) return;
      return EmitUnrolled(statement, Constant(extent));
    case LoopKind::kSerial:
    case LoopKind::kInvocation:  // here, too, one after the other
    case LoopKind::kSubgroup:
    case LoopKind::kMatrix:
      break;
  }
  expressions_.BeginStatement();
  Value* end = expressions_.Emit(extent);
  EmitLoop(statement.variable, b_.getInt64(0), end,
           nest_.pool[extent].range.low < 1, statement.body);
}

void StatementEmitter::EmitUnrolled(const Statement& statement,
                                    int64_t extent) {
  Scopes& scopes = expressions_.scopes();
  for (int64_t i = 0; i < extent && error_.status.ok(); ++i) {
    scopes.Enter(nullptr, statement.variable,
                 b_.getInt64(static_cast<uint64_t>(i)));
    EmitBlock(statement.body);
    scopes.Leave();
  }
}

// Vectors have a power of two of lanes: of others LLVM 19 makes gathers and
// masked loads that trap or read what is off. The lanes beyond the extent are
// off; they have the last value, as ranges of expressions hold for values that
// there are.
void StatementEmitter::EmitVector(const Statement& statement, int64_t extent) {
  if (extent == 1) return EmitUnrolled(statement, extent);
  const auto lanes =
      static_cast<int>(llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
  llvm::SmallVector<llvm::Constant*, 64> values, is_on;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t value = std::min(lane, extent - 1);
    values.push_back(b_.getInt64(static_cast<uint64_t>(value)));
    is_on.push_back(b_.getInt1(lane < extent));
  }
  expressions_.scopes().Enter(nullptr, statement.variable,
                              llvm::ConstantVector::get(values), lanes);
  if (lanes != extent) expressions_.SetMask(llvm::ConstantVector::get(is_on));
  EmitBlock(statement.body);
  expressions_.SetMask(nullptr);
  expressions_.scopes().Leave();
}

void StatementEmitter::EmitLoop(NodeId variable, Value* begin, Value* end,
                                bool may_be_empty, const Block& body) {
  BasicBlock* after = NewBlock("after");
  if (may_be_empty) {
    BasicBlock* enter = NewBlock("enter");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), enter, after);
    b_.SetInsertPoint(enter);
  }
  const uint64_t number = nest_.pool[variable].immediate;
  CountedLoop loop(b_, function_, begin, end, nest_.variables[number]);
  expressions_.scopes().Enter(loop.header(), variable, loop.value());
  EmitBlock(body);
  expressions_.scopes().Leave();
  loop.Finish(after);
}

// --- conditions

void StatementEmitter::EmitIf(const Statement& statement) {
  expressions_.BeginStatement();
  Value* condition = expressions_.Emit(statement.condition);
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(condition)) {
    if (known->isNullValue()) return;
    if (known->isAllOnesValue()) return EmitBlock(statement.body);
  }
  if (IsVector(condition)) return EmitLanesIf(statement, condition);
  BasicBlock* then = NewBlock("then");
  BasicBlock* body = NewBlock("body");
  BasicBlock* after = NewBlock("endif");
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  expressions_.scopes().EnterBranch(then);
  EmitBlock(statement.body);
  expressions_.scopes().Leave();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// The body is skipped if no lane is on: what all lanes share (one element,
// the check of one index) then needs no mask. As some lane mostly is, values
// are not kept within it as those of a branch are.
void StatementEmitter::EmitLanesIf(const Statement& statement,
                                   Value* condition) {
  Value* const outer = expressions_.mask();
  Value* mask = outer ? b_.CreateAnd(outer, condition) : condition;
  // A branch costs more than what it skips, and what is stored would be
  // computed behind it, where all that it needs has waited in registers.
  if (target_.has_masks && IsOfLanes(statement.body)) {
    expressions_.SetMask(mask);
    EmitBlock(statement.body);
    return expressions_.SetMask(outer);
  }
  BasicBlock* then = NewBlock("lanes");
  BasicBlock* after = NewBlock("endif");
  b_.CreateCondBr(b_.CreateOrReduce(mask), then, after);
  b_.SetInsertPoint(then);
  expressions_.SetMask(mask);
  EmitBlock(statement.body);
  expressions_.SetMask(outer);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

bool StatementEmitter::IsOfLanes(std::span<const NodeId> indices) {
  Scopes& scopes = expressions_.scopes();
  for (const NodeId index : indices.first(indices.size() - 1)) {
    if (scopes.VariesByLane(index)) return false;
  }
  const auto sum = tensor::Linearize(nest_.pool, indices.back());
  if (!sum) return false;
  bool moves = false;
  for (const tensor::LinearTerm& term : sum->terms) {
    if (!scopes.VariesByLane(term.node)) continue;
    if (!scopes.IsLane(term.node) || term.coefficient != 1) return false;
    moves = true;
  }
  return moves;
}

bool StatementEmitter::IsOfLanes(const Block& block) {
  return std::ranges::all_of(block, [&](const Statement& statement) {
    if (statement.kind != Statement::Kind::kStore) return false;
    for (const loops::Target& target : statement.targets) {
      if (target.update != tensor::Update::kAssign || target.indices.empty() ||
          !IsOfLanes(target.indices))
        return false;
    }
    const std::vector<NodeId> roots = loops::RootsOf(nest_.pool, statement);
    return std::ranges::all_of(
        loops::NodesUnder(nest_.pool, roots), [&](NodeId id) {
          const tensor::Node& node = nest_.pool[id];
          if (node.opcode == tensor::Opcode::kPad) return false;
          if (node.opcode != tensor::Opcode::kLoad ||
              nest_.buffers[node.buffer].scope == loops::Scope::kRegister)
            return true;
          return !node.operands.empty() && IsOfLanes(node.operands);
        });
  });
}

// --- checks

void StatementEmitter::EmitCheck(const Statement& statement) {
  expressions_.BeginStatement();
  Value* inside = expressions_.EmitInBounds(statement.index, statement.extent);
  Value* index = expressions_.Emit(statement.index);
  Value* extent = expressions_.Emit(statement.extent);
  if (!IsVector(inside)) return FailUnless(inside, statement, index, extent);
  Value* outside = b_.CreateNot(inside);
  if (Value* mask = expressions_.mask()) outside = b_.CreateAnd(outside, mask);
  FailUnless(b_.CreateNot(b_.CreateOrReduce(outside)), statement,
             FirstLane(index, outside), FirstLane(extent, outside));
}

void StatementEmitter::EmitPrefetch(const Statement& statement) {
  expressions_.BeginStatement();
  expressions_.memory().Prefetch(statement.buffer,
                                 expressions_.Emit(statement.index));
}

Value* StatementEmitter::FirstLane(Value* value, Value* which) {
  if (!IsVector(value)) return value;
  const auto lanes = static_cast<unsigned>(expressions_.scopes().lanes());
  Value* bits = b_.CreateBitCast(which, b_.getIntNTy(lanes));
  // No lane: any will do, as nothing failed.
  Value* lane =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse());
  Value* last = llvm::ConstantInt::get(lane->getType(), lanes - 1);
  lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lane, last);
  return b_.CreateExtractElement(value, lane);
}

void StatementEmitter::FailUnless(Value* condition, const Statement& check,
                                  Value* index, Value* extent) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) return;
  }
  if (failed_ == nullptr) {
    failed_ = NewBlock("failed");
    Builder::InsertPointGuard guard(b_);
    b_.SetInsertPoint(failed_);
    for (int i = 0; i < 4; ++i) {
      llvm::Type* type = i < 2 ? b_.getInt32Ty() : b_.getInt64Ty();
      failed_fields_[i] = b_.CreatePHI(type, 2);
    }
  }
  Value* const fields[] = {b_.getInt32(check.buffer), b_.getInt32(check.dim),
                           index, extent};
  for (int i = 0; i < 4; ++i) {
    failed_fields_[i]->addIncoming(fields[i], b_.GetInsertBlock());
  }
  BasicBlock* passed = NewBlock("passed");
  b_.CreateCondBr(condition, passed, failed_);
  b_.SetInsertPoint(passed);
}

void StatementEmitter::EmitFailure() {
  constexpr size_t kOffsets[] = {
      offsetof(vm::IndexFailure, buffer), offsetof(vm::IndexFailure, dim),
      offsetof(vm::IndexFailure, index), offsetof(vm::IndexFailure, extent)};
  b_.SetInsertPoint(failed_);
  for (int i = 0; i < 4; ++i) {
    Value* field = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), function_.getArg(4), kOffsets[i]);
    b_.CreateAlignedStore(failed_fields_[i], field, llvm::Align(i < 2 ? 4 : 8));
  }
  b_.CreateRet(b_.getInt32(1));
}

}  // namespace

Status EmitPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                 bool is_prologue, TargetTraits target,
                 llvm::Function& function) {
  StatementEmitter emitter(nest, is_prologue, target, function);
  return emitter.EmitPhase(phase);
}

}  // namespace ember::jit

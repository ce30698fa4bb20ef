#include "jit/llvm/emit/block_emitter.h"

#include <algorithm>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/llvm/emit/counted_loop.h"
#include "jit/loops/walk.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "tensor/builder/linear.h"

namespace ember::jit::llvm_ir {

using llvm::BasicBlock;
using llvm::Value;
using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

// Largest number of nodes and statements that one phase may have after
// unrolling. Each becomes about one instruction, and LLVM takes about a second
// for so many. A large register tile has a tenth of them.
constexpr int64_t kLargestPhase = 20000;

}  // namespace

BlockEmitter::BlockEmitter(const loops::LoopNest& nest, bool is_prologue,
                           KernelArguments& arguments, TargetTraits target,
                           llvm::Function& function)
    : nest_(nest),
      target_(target),
      function_(function),
      b_(function.getContext(),
         llvm::InstSimplifyFolder(function.getParent()->getDataLayout())),
      expressions_(nest, is_prologue, arguments, function, target, b_, error_),
      stores_(nest, target, function, b_, expressions_),
      dot_products_(nest, target, b_, expressions_) {}

void BlockEmitter::EmitBlock(const Block& block, size_t begin) {
  for (size_t i = begin; i < block.size(); ++i) {
    if (!error_.status.ok()) return;
    if (block[i].kind == Statement::Kind::kBarrier) {
      if (!IsLeftOut(block[i])) EmitBarrier(block[i]);
      continue;
    }
    if (++statements_ + expressions_.emitted() > kLargestPhase) {
      error_.Set(
          Decline(DeclineReason::kTooLarge,
                  Concat({"more than ", kLargestPhase, " instructions"})));
      return;
    }
    if (IsLeftOut(block[i])) continue;
    if (block[i].kind != Statement::Kind::kCheck) {
      EmitStatement(block[i]);
    } else if (EmitCheck(block, i)) {
      return;
    }
    AfterStatement(block[i]);
  }
}

void BlockEmitter::EmitStatement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return EmitFor(statement);
    case Statement::Kind::kIf:
      return EmitIf(statement);
    case Statement::Kind::kStore:
      return EmitStore(statement);
    // EmitBlock handles checks and barriers, so there is nothing to emit here.
    case Statement::Kind::kCheck:
    case Statement::Kind::kBarrier:
      return;
    case Statement::Kind::kSlot:
      return EmitSlot(statement);
    case Statement::Kind::kFirst:
      return EmitFirst(statement);
    case Statement::Kind::kPrefetch:
      return EmitPrefetch(statement);
    case Statement::Kind::kAwait:
      return EmitAwait(statement);
  }
}

// --- loops

void BlockEmitter::EmitFor(const Statement& statement) {
  const NodeId extent = ExtentOf(statement.variable);
  switch (statement.loop) {
    case LoopKind::kUnrolled:
      return EmitUnrolled(statement, Constant(extent));
    case LoopKind::kVector:
      return EmitVector(statement, Constant(extent));
    case LoopKind::kDot:
      if (EmitDot(statement)) return;
      return EmitUnrolled(statement, Constant(extent));
    case LoopKind::kSerial:
      return EmitSerial(statement);
    case LoopKind::kInvocation:
    case LoopKind::kSubgroup:
    case LoopKind::kMatrix:
      return EmitInvocations(statement);
  }
}

void BlockEmitter::EmitSerial(const Statement& statement) {
  const NodeId extent = ExtentOf(statement.variable);
  expressions_.BeginStatement();
  Value* end = expressions_.Emit(extent);
  EmitLoop(statement.variable, b_.getInt64(0), end,
           nest_.pool[extent].range.low < 1, statement.body);
}

void BlockEmitter::EmitUnrolled(const Statement& statement, int64_t extent) {
  Scopes& scopes = expressions_.scopes();
  for (int64_t i = 0; i < extent && error_.status.ok(); ++i) {
    scopes.Enter(nullptr, statement.variable,
                 b_.getInt64(static_cast<uint64_t>(i)));
    EmitBlock(statement.body);
    scopes.Leave();
  }
}

// Emits a vector loop of more than one iteration as vectors. The number of
// lanes is the extent rounded up to a power of two: for other numbers LLVM 19
// makes gathers and masked loads that trap or read masked lanes. Lanes beyond
// the extent are masked off. The loop variable has its last value in them,
// since ranges of expressions only hold for values that the loop has.
void BlockEmitter::EmitVector(const Statement& statement, int64_t extent) {
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

void BlockEmitter::EmitLoop(NodeId variable, Value* begin, Value* end,
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
  EnterBody();
  EmitBlock(body);
  LeaveBody();
  expressions_.scopes().Leave();
  loop.Finish(after);
}

// --- conditions

void BlockEmitter::EmitIf(const Statement& statement) {
  expressions_.BeginStatement();
  Value* condition = expressions_.Emit(statement.condition);
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(condition)) {
    if (known->isNullValue()) return;
    if (known->isAllOnesValue()) return EmitBlock(statement.body);
  }
  if (IsVector(condition)) return EmitLanesIf(statement, condition);
  EmitBranch(condition, [&] { EmitBlock(statement.body); });
}

// Emits an `if` whose condition differs from lane to lane: the body runs with a
// mask, and is skipped if no lane is active. So some lane is active in the
// body, and operations that all lanes share (an access of one element, the
// check of one index) need no mask. Unlike EmitBranch, this opens no scope, so
// values of the body may be computed before it: some lane is active most of the
// time.
void BlockEmitter::EmitLanesIf(const Statement& statement, Value* condition) {
  Value* const outer = expressions_.mask();
  Value* mask = outer ? b_.CreateAnd(outer, condition) : condition;
  // On machines with mask registers a branch costs more than the masked
  // statements that it skips. The branch would also delay the computation of
  // stored values, so that their operands would occupy registers longer.
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

bool BlockEmitter::IsOfLanes(std::span<const NodeId> indices) {
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

bool BlockEmitter::IsOfLanes(const Block& block) {
  return std::ranges::all_of(block, [&](const Statement& statement) {
    if (statement.kind != Statement::Kind::kStore) return false;
    for (const loops::Store& store : statement.stores) {
      if (store.update != tensor::Update::kAssign || store.indices.empty() ||
          !IsOfLanes(store.indices))
        return false;
    }
    const std::vector<NodeId> roots = loops::RootsOf(nest_.pool, statement);
    return std::ranges::all_of(
        loops::NodesUnder(nest_.pool, roots), [&](NodeId id) {
          const tensor::Node& node = nest_.pool[id];
          if (node.opcode == tensor::Opcode::kPad) return false;
          if (node.opcode != tensor::Opcode::kLoad ||
              nest_.buffers[node.buffer].scope == loops::MemoryScope::kRegister)
            return true;
          return !node.operands.empty() && IsOfLanes(node.operands);
        });
  });
}

// --- checks, prefetches

BlockEmitter::Checked BlockEmitter::EmitChecked(const Statement& check) {
  expressions_.BeginStatement();
  Value* inside = expressions_.EmitInBounds(check.index, check.extent);
  Value* index = expressions_.Emit(check.index);
  Value* extent = expressions_.Emit(check.extent);
  if (!IsVector(inside)) return {inside, index, extent};
  Value* outside = b_.CreateNot(inside);
  if (Value* mask = expressions_.mask()) outside = b_.CreateAnd(outside, mask);
  return {b_.CreateNot(b_.CreateOrReduce(outside)), FirstLane(index, outside),
          FirstLane(extent, outside)};
}

void BlockEmitter::EmitPrefetch(const Statement& statement) {
  expressions_.BeginStatement();
  expressions_.memory().Prefetch(statement.buffer,
                                 expressions_.Emit(statement.index));
}

Value* BlockEmitter::FirstLane(Value* value, Value* which) {
  if (!IsVector(value)) return value;
  const auto lanes = static_cast<unsigned>(expressions_.scopes().lanes());
  Value* bits = b_.CreateBitCast(which, b_.getIntNTy(lanes));
  // If no lane failed, cttz returns the number of lanes. It is clamped to the
  // last lane, so that the extraction is defined; its result is not used then.
  Value* lane =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse());
  Value* last = llvm::ConstantInt::get(lane->getType(), lanes - 1);
  lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lane, last);
  return b_.CreateExtractElement(value, lane);
}

}  // namespace ember::jit::llvm_ir

#include "jit/ptx/phase_emitter.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/rounding.h"
#include "jit/backend/decline_reasons.h"
#include "jit/llvm/emit/block_emitter.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/loops/walk.h"
#include "jit/loops/workgroup.h"
#include "jit/ptx/arguments.h"
#include "jit/ptx/box_functions.h"
#include "jit/ptx/box_producer.h"
#include "jit/ptx/combiner.h"
#include "jit/ptx/device_functions.h"
#include "jit/ptx/dot_products.h"
#include "jit/ptx/kernel_function.h"
#include "jit/ptx/matrices.h"
#include "jit/ptx/ring_barriers.h"
#include "jit/target/cuda_architecture.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm_ir::Address;
using llvm_ir::BlockEmitter;
using llvm_ir::ExpressionEmitter;
using llvm_ir::TargetTraits;

using gpu::CheckRecord;
using gpu::PhaseCode;
using llvm::BasicBlock;
using llvm::Value;
using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;

namespace {

// Number of the barrier (bar.sync) of all threads but the producer's.
constexpr int64_t kConsumers = 1;

class PhaseEmitter final : public BlockEmitter {
 public:
  PhaseEmitter(const loops::LoopNest& nest, bool is_prologue,
               const loops::Workgroup& workgroup, const Layout& layout,
               const Target& target, PtxArguments& arguments,
               llvm::Function& function)
      : BlockEmitter(nest, is_prologue, arguments, TraitsOf(target), function),
        workgroup_(workgroup),
        layout_(layout),
        arguments_(arguments),
        combiner_(b_, function, stores_),
        dots_(nest, b_, expressions_),
        matrices_(nest, workgroup, target, b_, function, expressions_, error_) {
    if (!workgroup.rings.empty()) {
      ring_barriers_.emplace(b_, function, workgroup.rings, [this] {
        return arguments_.Shared(b_, workgroup_.slot_barriers);
      });
    }
    stores_.StoreOnlyIf([this](uint32_t buffer) -> Value* {
      return IsOfFirst(buffer) ? is_first_ : nullptr;
    });
  }

  Status EmitTask(const loops::Phase& phase);
  int64_t barriers() const { return barriers_; }
  int64_t matrix_products() const { return matrices_.products(); }

 private:
  bool IsLeftOut(const Statement& statement) const override;
  void AfterStatement(const Statement& statement) override;
  void EnterBody() override {
    matrices_.EnterBody();
    ++depth_;
  }
  void LeaveBody() override;
  bool EmitDot(const Statement& loop) override {
    // If only the first thread stores the result, EmitStore emits the loop.
    const auto dot = dots_.Find(loop);
    return dot && !IsOfFirst(dot->store->buffer) &&
           dots_.Emit(*dot, loop.variable);
  }
  void EmitStore(const Statement& statement) override;
  void EmitAwait(const Statement& await) override;
  void EmitBarrier(const Statement& barrier) override {
    if (barrier.orders_stores) EmitOrderStores(b_);
    Synchronize();
  }
  void EmitInvocations(const Statement& statement) override;
  bool EmitCheck(const Block& block, size_t number) override;
  // Emits the asynchronous store as cp.async. Returns false if its lanes are no
  // neighbours, or if some are outside of the buffer and others are not.
  bool BeginCopy(const loops::Store& store);
  // Emits a loop over the tasks of a workgroup of a persistent kernel: from the
  // workgroup's first task on, in steps of the number of workgroups. EmitRoles
  // emits such a loop for each role.
  void EmitTasks(const loops::Phase& phase, Value* first, Value* tasks);
  void EmitRoles(const loops::Phase& phase, Value* first, Value* tasks);
  void EmitProducing(const Statement& copy);
  Value* RingSlotOf(NodeId index) {
    expressions_.BeginStatement();
    return expressions_.Emit(index);
  }
  void EmitSubgroups(const Statement& statement);
  void EmitCombining(const Statement& statement, int64_t extent);
  // Returns the value of the store for this invocation.
  Value* OwnValue(const Statement& loop, const loops::Store& store,
                  int64_t extent);
  void Fail(const Statement& check, const Checked& checked);
  // True if only the first invocation stores to the buffer: the store is to
  // memory and outside invocation loops, in code that all invocations execute.
  bool IsOfFirst(uint32_t buffer) const {
    return !is_in_first_ &&
           workgroup_.mode == loops::Workgroup::Mode::kInvocations &&
           !in_invocations_ && !arguments_.IsLocal(buffer);
  }
  // Emits a barrier of all threads but the producer's.
  void Synchronize() {
    ++barriers_;
    matrices_.Await();
    if (workgroup_.has_producer)
      EmitSynchronize(b_, kConsumers, workgroup_.invocations);
    else
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
  }
  // Returns a 32-bit special register as an i64.
  Value* Register(llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
  }
  Value* Long(int64_t value) {
    return b_.getInt64(static_cast<uint64_t>(value));
  }

  const loops::Workgroup& workgroup_;
  const Layout& layout_;
  PtxArguments& arguments_;
  Combiner combiner_;
  DotProducts dots_;
  Matrices matrices_;
  NodeId subgroup_ = 0;          // variable of the surrounding subgroup loop
  Value* invocation_ = nullptr;  // number of the invocation, an i64
  Value* is_first_ = nullptr;
  bool in_invocations_ = false;
  // true in code that only the first invocation executes
  bool is_in_first_ = false;
  int64_t barriers_ = 0;
  // For phases with roles: `is_producer_` says which role's code is emitted;
  // `depth_` is the number of surrounding bodies.
  std::optional<RingBarriers> ring_barriers_;
  bool is_producer_ = false;
  int64_t depth_ = 0;
  // the value of `depth_` in the loop that reads rings
  int64_t depth_of_iterations_ = 0;
};

// True if the current role leaves the statement out. The producer keeps the
// loop over slots.
bool PhaseEmitter::IsLeftOut(const Statement& statement) const {
  if (workgroup_.rings.empty()) return false;
  // Barriers of slots replace the awaits.
  if (statement.kind == Statement::Kind::kAwait) return true;
  if (!workgroup_.has_producer) return false;
  return is_producer_ ? !loops::HasProducer(statement) : statement.of_producer;
}

void PhaseEmitter::AfterStatement(const Statement& statement) {
  if (is_producer_) return;
  if (statement.stays_in_flight) matrices_.LetGoOn();
  const bool has_products_in_flight =
      std::ranges::any_of(statement.body, &Statement::stays_in_flight);
  if (has_products_in_flight) matrices_.AwaitAll();
  const bool fills_rings =
      ring_barriers_ && !statement.of_producer && loops::HasProducer(statement);
  if (fills_rings) ring_barriers_->LeaveLoop(matrices_.lane());
}

// The products of the previous iteration have been awaited at the end of an
// iteration, so the slots that they read are released.
void PhaseEmitter::LeaveBody() {
  matrices_.LeaveBody();
  if (ring_barriers_ && depth_ == depth_of_iterations_)
    ring_barriers_->LeaveIteration(matrices_.lane());
  --depth_;
}

Status PhaseEmitter::EmitTask(const loops::Phase& phase) {
  BasicBlock* const entry = NewBlock("entry");
  BasicBlock* const start = NewBlock("start");
  b_.SetInsertPoint(entry);
  using namespace llvm::Intrinsic;
  invocation_ = Register(nvvm_read_ptx_sreg_tid_x);
  is_first_ = b_.CreateICmpEQ(invocation_, Long(0));
  matrices_.SetInvocation(invocation_);
  Value* const row = b_.CreateMul(Register(nvvm_read_ptx_sreg_ctaid_y),
                                  Register(nvvm_read_ptx_sreg_nctaid_x));
  Value* const workgroup =
      b_.CreateAdd(row, Register(nvvm_read_ptx_sreg_ctaid_x));
  arguments_.set_workgroup(workgroup);
  Value* task = workgroup;
  if (workgroup_.mode == loops::Workgroup::Mode::kTaskEach) {
    task = b_.CreateAdd(b_.CreateMul(task, Long(workgroup_.invocations)),
                        invocation_);
  }
  const bool has_slices =
      std::ranges::any_of(layout_.bindings, &PhaseCode::Binding::is_sliced);
  if (has_slices) {
    task =
        b_.CreateAdd(task, arguments_.Parameter(b_, nest_.parameters.size()));
  }
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  expressions_.scopes().Enter(entry);
  Value* const tasks = expressions_.Emit(ExtentOf(phase.task));
  if (ring_barriers_) {
    EmitBranch(is_first_, [&] { ring_barriers_->Make(); });
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
  }
  if (workgroup_.has_producer) {
    EmitRoles(phase, task, tasks);
  } else {
    if (ring_barriers_) {
      ring_barriers_->EnterProducer();
      ring_barriers_->EnterConsumers();
    }
    BasicBlock* const enter = NewBlock("task");
    BasicBlock* const body = NewBlock("body");
    BasicBlock* const done = NewBlock("done");
    b_.CreateCondBr(b_.CreateICmpSLT(task, tasks), enter, done);
    b_.SetInsertPoint(enter);
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    expressions_.scopes().Enter(enter, phase.task, task);
    EmitBlock(phase.body);
    matrices_.Await();
    expressions_.scopes().Leave();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
  b_.CreateRetVoid();
  return std::move(error_.status);
}

// Emits both roles. Each goes through the tasks of the workgroup. The producer
// needs only one thread, so the others of its warp end at once; it may be a
// task ahead.
void PhaseEmitter::EmitRoles(const loops::Phase& phase, Value* first,
                             Value* tasks) {
  Value* const consumers = Long(workgroup_.invocations);
  EmitBranch(b_.CreateICmpEQ(invocation_, consumers), [&] {
    is_producer_ = true;
    ring_barriers_->EnterProducer();
    EmitTasks(phase, first, tasks);
    is_producer_ = false;
  });
  EmitBranch(b_.CreateICmpULT(invocation_, consumers), [&] {
    ring_barriers_->EnterConsumers();
    EmitTasks(phase, first, tasks);
  });
}

void PhaseEmitter::EmitTasks(const loops::Phase& phase, Value* first,
                             Value* tasks) {
  BasicBlock* const before = NewBlock("tasks");
  BasicBlock* const header = NewBlock("task");
  BasicBlock* const body = NewBlock("body");
  BasicBlock* const after = NewBlock("done");
  b_.CreateCondBr(b_.CreateICmpSLT(first, tasks), before, after);
  b_.SetInsertPoint(before);
  Value* const workgroups =
      b_.CreateMul(Register(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                   Register(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y));
  b_.CreateBr(header);
  b_.SetInsertPoint(header);
  llvm::PHINode* const task = b_.CreatePHI(b_.getInt64Ty(), 2, "task");
  task->addIncoming(first, before);
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  expressions_.scopes().Enter(header, phase.task, task);
  EnterBody();
  EmitBlock(phase.body);
  const bool goes_on = workgroup_.most_workgroups != 0;
  LeaveBody();
  expressions_.scopes().Leave();
  if (goes_on) {
    Value* const next =
        b_.CreateAdd(task, workgroups, "", /*HasNUW=*/true, /*HasNSW=*/true);
    task->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, tasks), header, after);
  } else {
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

// Emits a statement's stores. If all stores are to memory, only the first
// invocation computes the values: the others must not read memory to which it
// may be storing.
void PhaseEmitter::EmitStore(const Statement& statement) {
  const bool is_of_first = std::ranges::all_of(
      statement.stores,
      [&](const loops::Store& store) { return IsOfFirst(store.buffer); });
  if (statement.stores.size() == 1 && statement.stores[0].is_async &&
      BeginCopy(statement.stores[0])) {
    return;
  }
  if (!is_of_first) return stores_.Emit(statement.stores);
  EmitBranch(is_first_, [&] {
    is_in_first_ = true;
    stores_.Emit(statement.stores);
    is_in_first_ = false;
  });
}

bool PhaseEmitter::BeginCopy(const loops::Store& store) {
  const int lanes = std::max(expressions_.scopes().lanes(), 1);
  const int64_t bytes = lanes * DTypeByteSize(nest_.buffers[store.buffer].type);
  expressions_.BeginStatement();
  const std::optional<ExpressionEmitter::Run> run =
      expressions_.RunOf(store.value);
  if (!run) return false;
  const Address to =
      expressions_.memory().AddressOf(store.buffer, store.indices);
  if (to.kind != (expressions_.scopes().lanes() == 0
                      ? Address::Kind::kUniform
                      : Address::Kind::kContiguous)) {
    return false;
  }
  Value* const all = b_.getInt32(static_cast<uint32_t>(bytes));
  EmitCopyAsync(b_, static_cast<int>(bytes), to.pointer, run->begin,
                b_.CreateSelect(run->in_bounds, all, b_.getInt32(0)));
  return true;
}

void PhaseEmitter::EmitAwait(const Statement& await) {
  EmitAwaitCopies(b_, await.groups);
}

// Emits the producer's copy of one box. If there is no producer warp, the first
// thread of the last warp is the producer.
void PhaseEmitter::EmitProducing(const Statement& copy) {
  const auto emit = [&] {
    EmitBoxes(nest_, copy, *ring_barriers_, arguments_, expressions_, b_);
  };
  if (is_producer_) return emit();
  const int64_t producer = workgroup_.invocations - kWarpLanes;
  EmitBranch(b_.CreateICmpEQ(invocation_, Long(producer)), emit);
}

void PhaseEmitter::EmitInvocations(const Statement& statement) {
  if (statement.box != nullptr) return EmitProducing(statement);
  if (statement.loop == LoopKind::kMatrix)
    return matrices_.Emit(statement, subgroup_);
  if (statement.loop == LoopKind::kSubgroup) return EmitSubgroups(statement);
  const int64_t extent = Constant(ExtentOf(statement.variable));
  if (loops::SaysHowToCombine(statement))
    return EmitCombining(statement, extent);
  in_invocations_ = true;
  const auto body = [&] {
    expressions_.scopes().EnterBound(statement.variable, invocation_);
    EmitBlock(statement.body);
    expressions_.scopes().Leave();
  };
  if (extent == workgroup_.invocations) {
    body();
  } else {
    EmitBranch(b_.CreateICmpULT(invocation_, Long(extent)), body);
  }
  in_invocations_ = false;
}

// Each value of the subgroup loop runs on a whole warp, so the threads of a
// warp do not diverge.
void PhaseEmitter::EmitSubgroups(const Statement& statement) {
  const int64_t extent = Constant(ExtentOf(statement.variable));
  in_invocations_ = true;
  subgroup_ = statement.variable;
  const auto body = [&] {
    const auto ring_slot_of = [this](NodeId index) {
      return RingSlotOf(index);
    };
    if (ring_barriers_ && ring_barriers_->BeforeReader(statement, ring_slot_of))
      depth_of_iterations_ = depth_;
    expressions_.scopes().EnterBound(statement.variable, matrices_.warp());
    EmitBlock(statement.body);
    expressions_.scopes().Leave();
    if (!ring_barriers_ || statement.releases.empty()) return;
    matrices_.Await();
    ring_barriers_->AfterReader(statement, ring_slot_of, matrices_.lane());
  };
  if (extent * kWarpLanes == workgroup_.invocations) {
    body();
  } else {
    EmitBranch(b_.CreateICmpULT(matrices_.warp(), Long(extent)), body);
  }
  in_invocations_ = false;
}

Value* PhaseEmitter::OwnValue(const Statement& loop, const loops::Store& store,
                              int64_t extent) {
  Value* value = nullptr;
  const auto emit = [&] {
    expressions_.scopes().EnterBound(loop.variable, invocation_);
    value = expressions_.Emit(store.value);
    expressions_.scopes().Leave();
  };
  expressions_.BeginStatement();
  if (extent == workgroup_.invocations) {
    emit();
    return value;
  }
  BasicBlock* own = nullptr;
  BasicBlock* const before = b_.GetInsertBlock();
  EmitBranch(b_.CreateICmpULT(invocation_, Long(extent)), [&] {
    emit();
    own = b_.GetInsertBlock();
  });
  // Values that were computed in the branch are not available after the branch,
  // so they are forgotten.
  expressions_.BeginStatement();
  llvm::PHINode* const result = b_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, own);
  result->addIncoming(stores_.Identity(store), before);
  return result;
}

// Combines the values of all invocations; the first invocation stores the
// result.
void PhaseEmitter::EmitCombining(const Statement& statement, int64_t extent) {
  std::vector<std::pair<const loops::Store*, Value*>> all;
  for (const loops::Store& store : statement.body[0].stores) {
    // The memory in which values are combined is in use until the first
    // invocation has read it, so a barrier follows before its next use.
    if (!all.empty() && workgroup_.parts > 1) Synchronize();
    Value* const own = OwnValue(statement, store, extent);
    Value* const parts =
        workgroup_.parts > 1 ? arguments_.Shared(b_, /*offset=*/0) : nullptr;
    all.emplace_back(
        &store, combiner_.Combine(nest_.buffers[store.buffer].type, store, own,
                                  invocation_, workgroup_.parts, parts,
                                  [this] { Synchronize(); }));
  }
  EmitBranch(is_first_, [&] {
    for (const auto& [store, value] : all) {
      expressions_.BeginStatement();
      stores_.EmitValue(*store, value);
    }
  });
  expressions_.BeginStatement();
}

bool PhaseEmitter::EmitCheck(const Block& block, size_t number) {
  const Checked checked = EmitChecked(block[number]);
  const auto* const known = llvm::dyn_cast<llvm::ConstantInt>(checked.inside);
  if (known != nullptr && known->isOne()) return false;
  // The rest of the block runs only where the check holds. A thread that fails
  // it executes no further barriers of the block, and no other thread is left
  // waiting for it.
  EmitBranch(b_.CreateNot(checked.inside),
             [&] { Fail(block[number], checked); });
  EmitBranch(checked.inside, [&] { EmitBlock(block, number + 1); });
  return true;
}

// Emits the record of a failed check. The first thread that fails a check
// records the index and the extent.
void PhaseEmitter::Fail(const Statement& check, const Checked& checked) {
  Value* const record = function_.getArg(layout_.record);
  const auto field = [&](size_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), record, offset);
  };
  Value* const exchanged = b_.CreateAtomicCmpXchg(
      field(offsetof(CheckRecord, flag)), b_.getInt32(0), b_.getInt32(1),
      llvm::Align(4), llvm::AtomicOrdering::Monotonic,
      llvm::AtomicOrdering::Monotonic);
  EmitBranch(b_.CreateExtractValue(exchanged, 1), [&] {
    b_.CreateAlignedStore(b_.getInt32(check.buffer),
                          field(offsetof(CheckRecord, buffer)), llvm::Align(4));
    b_.CreateAlignedStore(b_.getInt32(check.dim),
                          field(offsetof(CheckRecord, dim)), llvm::Align(4));
    b_.CreateAlignedStore(checked.index, field(offsetof(CheckRecord, index)),
                          llvm::Align(8));
    b_.CreateAlignedStore(checked.extent, field(offsetof(CheckRecord, extent)),
                          llvm::Align(8));
  });
}

}  // namespace

TargetTraits TraitsOf(const Target& target) {
  TargetTraits traits;
  traits.has_fma = true;
  traits.has_half_conversion = true;
  traits.has_nan_extremes = target.architecture >= kFirstWithNanExtremes;
  traits.has_exponential = true;
  traits.is_gpu = true;
  return traits;
}

StatusOr<PhaseCode> EmitPhase(const loops::LoopNest& nest,
                              const loops::Phase& phase, bool is_prologue,
                              const std::string& name, const Target& target,
                              llvm::Module& module) {
  const loops::Workgroup& workgroup = phase.workgroup;
  const Layout layout = LayOut(nest, phase);
  if (layout.shared_bytes > target.shared_bytes) {
    return Decline(DeclineReason::kDeviceLimit,
                   Concat({layout.shared_bytes,
                           " bytes of a workgroup's memory, where there are ",
                           target.shared_bytes}));
  }
  if (const int64_t bytes = ArgumentBytes(layout); bytes > kMaxArgumentBytes) {
    return Decline(DeclineReason::kDeviceLimit,
                   Concat({bytes, " bytes of arguments, where there are ",
                           kMaxArgumentBytes}));
  }
  const int64_t invocations =
      workgroup.invocations +
      (workgroup.has_producer ? target.subgroup_size : 0);
  llvm::Function* const function =
      CreateKernel(nest, layout, workgroup, name, invocations, target, module);
  PtxArguments arguments(
      nest, workgroup, layout, *function,
      SharedOf(module, workgroup.HasPanels() ? kPanelAlignment
                                             : target.shared_alignment));
  PhaseEmitter emitter(nest, is_prologue, workgroup, layout, target, arguments,
                       *function);
  EMBER_RETURN_IF_ERROR(emitter.EmitTask(phase));
  PhaseCode code;
  code.entry_point = name;
  code.bindings = layout.bindings;
  code.has_checks = workgroup.has_checks;
  code.has_slices =
      std::ranges::any_of(layout.bindings, &PhaseCode::Binding::is_sliced);
  code.tasks_per_workgroup = workgroup.mode == loops::Workgroup::Mode::kTaskEach
                                 ? workgroup.invocations
                                 : 1;
  code.iterations = workgroup.iterations;
  code.boxes = layout.boxes;
  code.most_workgroups = workgroup.most_workgroups;
  code.invocations = invocations;
  code.shared_bytes = code.dynamic_shared_bytes = layout.shared_bytes;
  code.barriers = emitter.barriers();
  code.multiply_adds = emitter.matrix_products();
  return code;
}

}  // namespace ember::jit::ptx

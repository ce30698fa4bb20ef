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
#include "jit/ptx/device_functions.h"
#include "jit/ptx/dot_products.h"
#include "jit/ptx/kernel_function.h"
#include "jit/ptx/matrices.h"
#include "jit/ptx/ring_barriers.h"
#include "jit/ptx/subgroup_combiner.h"
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

// Number of the hardware barrier (bar.sync) by which all threads except the
// producer's synchronise.
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
        combiner_(b_, stores_),
        dots_(nest, b_, expressions_),
        matrices_(nest, workgroup, target, b_, function, expressions_, error_) {
    if (!workgroup.rings.empty()) {
      ring_barriers_.emplace(b_, function, workgroup.rings, [this] {
        return arguments_.Shared(b_, workgroup_.slot_barriers);
      });
    }
  }

  Status EmitTask(const loops::Phase& phase);
  int64_t barriers() const { return barriers_; }
  int64_t matrix_products() const { return matrices_.products(); }

 private:
  bool IsLeftOut(const Statement& statement) const override;
  void AfterStatement(const Statement& statement) override;
  void EnterBody() override { matrices_.EnterBody(); }
  void LeaveBody() override { matrices_.LeaveBody(); }
  bool EmitDot(const Statement& loop) override {
    const auto dot = dots_.Find(loop);
    return dot && dots_.Emit(*dot, loop.variable);
  }
  void EmitStore(const Statement& statement) override;
  void EmitFirst(const Statement& first) override {
    EmitBranch(is_first_, [&] { EmitBlock(first.body); });
  }
  void EmitSlot(const Statement& statement) override;
  void EmitAwait(const Statement& await) override;
  void EmitBarrier(const Statement& barrier) override {
    if (barrier.orders_stores) EmitOrderStores(b_);
    Synchronize();
  }
  void EmitInvocations(const Statement& statement) override;
  bool EmitCheck(const Block& block, size_t number) override;
  // Emits an asynchronous store as cp.async. Returns false if that is
  // impossible: the lanes are not contiguous, or only some of them are in
  // bounds.
  bool BeginCopy(const loops::Store& store);
  // EmitTasks emits the loop over the tasks of a workgroup of a persistent
  // kernel: from its first task on, in steps of the number of workgroups.
  // EmitRoles emits such a loop for the producer and another one for the other
  // warps.
  void EmitTasks(const loops::Phase& phase, Value* first, Value* tasks);
  void EmitRoles(const loops::Phase& phase, Value* first, Value* tasks);
  // Emits the code of emit() so that only the producer executes it. If the
  // workgroup has no producer warp, the first thread of its last warp is the
  // producer.
  template <typename Emit>
  void EmitOfProducer(Emit&& emit);
  void EmitSubgroups(const Statement& statement);
  // Emits stores that combine the values of a subgroup (Store::combining).
  void EmitCombining(const std::vector<loops::Store>& stores);
  void Fail(const Statement& check, const Checked& checked);
  // Emits a barrier of all threads except the producer's.
  void Synchronize() {
    ++barriers_;
    matrices_.Await();
    if (workgroup_.has_producer)
      EmitSynchronize(b_, kConsumers, workgroup_.invocations);
    else
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
  }
  // Reads a 32-bit special register, such as the thread's number, and returns
  // it as an i64.
  Value* Register(llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
  }
  Value* Long(int64_t value) {
    return b_.getInt64(static_cast<uint64_t>(value));
  }

  const loops::Workgroup& workgroup_;
  const Layout& layout_;
  PtxArguments& arguments_;
  SubgroupCombiner combiner_;
  DotProducts dots_;
  Matrices matrices_;
  // Variable of the surrounding subgroup loop (a value is a warp).
  NodeId subgroup_ = 0;
  Value* invocation_ = nullptr;  // number of the thread's invocation, an i64
  Value* is_first_ = nullptr;
  int64_t barriers_ = 0;
  // ring_barriers_: the barriers of ring slots, in phases with rings.
  // is_producer_: true while the producer's code is emitted.
  std::optional<RingBarriers> ring_barriers_;
  bool is_producer_ = false;
};

// True if the role whose code is emitted (producer or consumer) does not
// execute the statement. The producer also keeps loops that contain its
// statements.
bool PhaseEmitter::IsLeftOut(const Statement& statement) const {
  if (!workgroup_.has_producer) return false;
  return is_producer_ ? !loops::HasProducer(statement) : statement.of_producer;
}

void PhaseEmitter::AfterStatement(const Statement& statement) {
  if (is_producer_) return;
  if (statement.stays_in_flight) matrices_.LetGoOn();
  const bool has_products_in_flight =
      std::ranges::any_of(statement.body, &Statement::stays_in_flight);
  if (has_products_in_flight) matrices_.AwaitAll();
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

// Emits the code of both roles, producer and consumers. Each has its own loop
// over the workgroup's tasks, so the producer may be a task ahead. The producer
// is a single thread; the other threads of its warp end at once.
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

void PhaseEmitter::EmitStore(const Statement& statement) {
  if (loops::CombinesSubgroups(statement))
    return EmitCombining(statement.stores);
  if (statement.stores.size() == 1 && statement.stores[0].is_async &&
      BeginCopy(statement.stores[0])) {
    return;
  }
  stores_.Emit(statement.stores);
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

template <typename Emit>
void PhaseEmitter::EmitOfProducer(Emit&& emit) {
  if (is_producer_) return emit();
  const int64_t producer = workgroup_.invocations - kWarpLanes;
  EmitBranch(b_.CreateICmpEQ(invocation_, Long(producer)), emit);
}

void PhaseEmitter::EmitSlot(const Statement& statement) {
  const size_t ring = statement.slot.ring;
  const auto slot = [&] {
    expressions_.BeginStatement();
    return expressions_.Emit(statement.slot.slot);
  };
  switch (statement.step) {
    case loops::SlotStep::kFill:
      return EmitOfProducer([&] { ring_barriers_->BeginFill(ring, slot()); });
    case loops::SlotStep::kAwait:
      return ring_barriers_->AwaitFull(ring, slot());
    case loops::SlotStep::kRelease:
      matrices_.AwaitEarlier();
      return ring_barriers_->Release(ring, slot(), matrices_.lane());
  }
}

void PhaseEmitter::EmitInvocations(const Statement& statement) {
  if (statement.box != nullptr) {
    return EmitOfProducer([&] {
      EmitBoxes(nest_, statement, *ring_barriers_, arguments_, expressions_,
                b_);
    });
  }
  if (statement.loop == LoopKind::kMatrix)
    return matrices_.Emit(statement, subgroup_);
  if (statement.loop == LoopKind::kSubgroup) return EmitSubgroups(statement);
  const int64_t extent = Constant(ExtentOf(statement.variable));
  const bool has_subgroups = statement.subgroup_size != 0;
  const auto body = [&] {
    expressions_.scopes().EnterBound(statement.variable, invocation_);
    if (has_subgroups)
      expressions_.scopes().EnterBound(statement.subgroup, matrices_.warp());
    EmitBlock(statement.body);
    if (has_subgroups) expressions_.scopes().Leave();
    expressions_.scopes().Leave();
  };
  if (extent == workgroup_.invocations) {
    body();
  } else {
    EmitBranch(b_.CreateICmpULT(invocation_, Long(extent)), body);
  }
}

// Emits a subgroup loop: warp s runs value s, so all threads of a warp take the
// same path.
void PhaseEmitter::EmitSubgroups(const Statement& statement) {
  const int64_t extent = Constant(ExtentOf(statement.variable));
  subgroup_ = statement.variable;
  const auto body = [&] {
    expressions_.scopes().EnterBound(statement.variable, matrices_.warp());
    EmitBlock(statement.body);
    expressions_.scopes().Leave();
  };
  if (extent * kWarpLanes == workgroup_.invocations) {
    body();
  } else {
    EmitBranch(b_.CreateICmpULT(matrices_.warp(), Long(extent)), body);
  }
}

// Emits stores that combine the values of a warp by shuffles; lane 0 stores the
// result.
void PhaseEmitter::EmitCombining(const std::vector<loops::Store>& stores) {
  expressions_.BeginStatement();
  std::vector<Value*> values;
  for (const loops::Store& store : stores) {
    const DType type = nest_.buffers[store.buffer].type;
    values.push_back(
        combiner_.Combine(type, store, expressions_.Emit(store.value)));
  }
  EmitBranch(b_.CreateICmpEQ(matrices_.lane(), Long(0)), [&] {
    for (size_t i = 0; i < stores.size(); ++i) {
      expressions_.BeginStatement();
      stores_.EmitValue(stores[i], values[i]);
    }
  });
  expressions_.BeginStatement();
}

bool PhaseEmitter::EmitCheck(const Block& block, size_t number) {
  const Checked checked = EmitChecked(block[number]);
  const auto* const known = llvm::dyn_cast<llvm::ConstantInt>(checked.inside);
  if (known != nullptr && known->isOne()) return false;
  // A thread that fails the check skips the rest of the block, including its
  // barriers. No other thread is left waiting at a barrier: a check outside of
  // loops over invocations fails for all threads, and inside of them there are
  // no barriers.
  EmitBranch(b_.CreateNot(checked.inside),
             [&] { Fail(block[number], checked); });
  EmitBranch(checked.inside, [&] { EmitBlock(block, number + 1); });
  return true;
}

// Emits the code that records a failed check: the first thread that fails one
// sets the record's flag atomically, and stores the check's buffer and dim, the
// index and the extent.
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

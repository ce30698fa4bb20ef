#include "jit/spirv/phase_emitter.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/loops/walk.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/dot_products.h"
#include "jit/spirv/entry_point.h"
#include "jit/spirv/expression_emitter.h"
#include "jit/spirv/matrices.h"
#include "jit/spirv/memory.h"
#include "jit/spirv/store_emitter.h"
#include "jit/spirv/subgroup_combiner.h"

namespace ember::jit::spirv {

using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

// Largest number of instructions of a phase. Drivers take about a second to
// compile so many.
constexpr int64_t kLargestPhase = 60000;

// The vector loop and the invocation loop around the current statement.
struct Surroundings {
  // The lanes of a vector loop. Their code is emitted one after the other.
  struct Lanes {
    NodeId variable = 0;
    int64_t count = 0;
    // Condition under which each lane is active; empty: all lanes are.
    std::vector<Value> masks;
  };
  std::optional<Lanes> lanes;
  Value invocation;  // number of the invocation in its workgroup
};

// Sets `stored` to true for the buffers that the block stores to.
void CollectStores(const Block& block, std::vector<bool>& stored) {
  for (const Statement& statement : block) {
    for (const loops::Store& store : statement.stores)
      stored[store.buffer] = true;
    CollectStores(statement.body, stored);
  }
}
class PhaseEmitter {
 public:
  PhaseEmitter(loops::LoopNest& nest, const loops::Phase& phase,
               const Target& target, Id words, ModuleBuilder& module)
      : nest_(nest),
        phase_(phase),
        workgroup_(phase.workgroup),
        words_(words),
        module_(module),
        c_(module),
        arithmetic_(c_, target, error_),
        memory_(nest, workgroup_, c_, arithmetic_.conversions(), target, code_,
                error_),
        combiner_(c_, arithmetic_),
        expressions_(nest_, workgroup_, words, c_, memory_, arithmetic_,
                     error_),
        dots_(nest, target, c_, expressions_),
        matrices_(nest, workgroup_, c_, memory_, expressions_, code_, error_),
        stores_(nest, c_, memory_, arithmetic_, expressions_, code_),
        subgroup_size_(target.subgroup_size) {}

  StatusOr<gpu::PhaseCode> Run(std::string name, const Target& target);

 private:
  void EmitTask();
  void SetSlices(Value workgroup);
  void EmitBlock(const Block& block, size_t begin = 0);
  void EmitStatement(const Statement& statement);
  void EmitFor(const Statement& statement);
  void EmitSerial(const Statement& statement);
  void EmitUnrolled(const Statement& statement, int64_t extent);
  void EmitVector(const Statement& statement, int64_t extent);
  // Emits a dot loop by the device's dot product instructions, one per lane.
  // Returns false and emits nothing if that is impossible, for example if some
  // lanes are masked off.
  bool EmitDot(const Statement& statement);
  void EmitInvocations(const Statement& statement, int64_t extent);
  // Emits a subgroup loop: subgroup s runs value s. Subgroups beyond the last
  // value skip the body.
  void EmitSubgroups(const Statement& statement, int64_t extent);
  // Returns the number of the invocation's subgroup.
  Value SubgroupNumber();
  // Emits stores that combine the values of a subgroup; one invocation of the
  // subgroup stores the result.
  void EmitCombining(const std::vector<loops::Store>& stores);
  void EmitFirst(const Statement& first);
  void EmitIf(const Statement& statement);
  void EmitLanesIf(const Statement& statement, std::vector<Value> conditions);
  void EmitBranch(Value condition, const Block& block);
  // Emits a check and the rest of the block, which runs only if the check
  // holds.
  void EmitCheck(const Block& block, size_t number);
  void EmitStore(const Statement& statement);
  // Calls visit() once for each lane of the surrounding vector loop, with the
  // lane's variable and mask set, or once if there is no such loop.
  template <typename Visit>
  void ForEachLane(Visit&& visit);
  std::optional<Value> MaskOf(size_t lane) const;
  int64_t Constant(NodeId id) const { return *nest_.pool.IntegerConstant(id); }

  loops::LoopNest& nest_;
  const loops::Phase& phase_;
  const loops::Workgroup& workgroup_;
  const Id words_;
  ModuleBuilder& module_;
  Status error_;
  gpu::PhaseCode code_;
  CodeBuilder c_;
  Arithmetic arithmetic_;
  Memory memory_;
  SubgroupCombiner combiner_;
  ExpressionEmitter expressions_;
  DotProducts dots_;
  Matrices matrices_;
  Surroundings around_;
  StoreEmitter stores_;
  const int64_t subgroup_size_;
  bool has_subgroups_ = false;
  NodeId subgroup_ = 0;  // the variable of the surrounding subgroup loop
};

StatusOr<gpu::PhaseCode> PhaseEmitter::Run(std::string name,
                                           const Target& target) {
  code_.entry_point = std::move(name);
  code_.has_checks = workgroup_.has_checks;
  code_.invocations = workgroup_.invocations;
  code_.iterations = workgroup_.iterations;
  code_.shared_bytes = workgroup_.shared_bytes;
  code_.tasks_per_workgroup =
      workgroup_.mode == loops::Workgroup::Mode::kTaskEach
          ? workgroup_.invocations
          : 1;
  EmitTask();
  EMBER_RETURN_IF_ERROR(error_);
  memory_.Finish();
  const Id function = module_.NewId();
  module_.AddFunction(c_.Finish(function));
  std::vector<Id> interface = memory_.interface();
  interface.push_back(
      module_.BuiltIn(spv::BuiltIn::LocalInvocationIndex, 0, ""));
  interface.push_back(module_.BuiltIn(spv::BuiltIn::WorkgroupId, 0, ""));
  interface.push_back(module_.BuiltIn(spv::BuiltIn::NumWorkgroups, 0, ""));
  const Id subgroup = module_.KnownBuiltIn(spv::BuiltIn::SubgroupId);
  if (subgroup != 0 && has_subgroups_) interface.push_back(subgroup);
  interface.push_back(words_);
  DeclareEntryPoint(module_, function, code_.entry_point, interface,
                    workgroup_.invocations, target);
  return std::move(code_);
}

void PhaseEmitter::EmitTask() {
  expressions_.EnterEntry();
  Value workgroup;
  {
    const CodeBuilder::At at(c_, 0);
    around_.invocation =
        c_.Load(Scalar::kI32,
                module_.BuiltIn(spv::BuiltIn::LocalInvocationIndex,
                                module_.TypeOf(Scalar::kI32), "invocation"),
                0);
    workgroup = WorkgroupNumber(c_);
  }
  Value task = workgroup;
  if (workgroup_.mode == loops::Workgroup::Mode::kTaskEach) {
    task = c_.Add(c_.Multiply(task, c_.Int(workgroup_.invocations)),
                  around_.invocation);
  }
  if (code_.has_slices) {
    task = c_.Add(task, expressions_.PushedWord(static_cast<uint32_t>(
                            2 * nest_.parameters.size())));
  }
  // The number of tasks fits 32 bits, since it is at most gpu::kMaxExtent.
  const Value tasks =
      expressions_.EmitIndex(loops::ExtentOf(nest_.pool, phase_.task));
  c_.If(c_.Less(task, tasks, true), [&] {
    expressions_.EnterBranch();
    expressions_.EnterBinding(phase_.task, task, /*outermost=*/1);
    SetSlices(workgroup);
    EmitBlock(phase_.body);
    expressions_.Leave();
    expressions_.Leave();
  });
}

void PhaseEmitter::SetSlices(Value workgroup) {
  for (const gpu::PhaseCode::Binding& binding : code_.bindings) {
    if (!binding.is_sliced) continue;
    Value first = workgroup;
    const std::vector<NodeId> extents = nest_.buffers[binding.buffer].extents;
    for (NodeId extent : extents)
      first = c_.Multiply(first, expressions_.EmitIndex(extent));
    memory_.SetSlice(binding.buffer, first);
  }
}

void PhaseEmitter::EmitBlock(const Block& block, size_t begin) {
  for (size_t i = begin; i < block.size() && error_.ok(); ++i) {
    if (block[i].kind == Statement::Kind::kBarrier) {
      memory_.EmitBarrier();
      continue;
    }
    if (c_.size() > kLargestPhase) {
      error_ = Decline(DeclineReason::kTooLarge,
                       Concat({"more than ", kLargestPhase, " instructions"}));
      return;
    }
    expressions_.BeginStatement();
    if (block[i].kind == Statement::Kind::kCheck) return EmitCheck(block, i);
    EmitStatement(block[i]);
  }
}

void PhaseEmitter::EmitStatement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return EmitFor(statement);
    case Statement::Kind::kIf:
      return EmitIf(statement);
    case Statement::Kind::kStore:
      return EmitStore(statement);
    case Statement::Kind::kFirst:
      return EmitFirst(statement);
    // EmitBlock handles checks and barriers, so there is nothing to emit here.
    case Statement::Kind::kCheck:
    case Statement::Kind::kBarrier:
    case Statement::Kind::kPrefetch:
    case Statement::Kind::kAwait:
    case Statement::Kind::kSlot:
      return;
  }
}

// --- loops

void PhaseEmitter::EmitFor(const Statement& statement) {
  const NodeId extent = loops::ExtentOf(nest_.pool, statement.variable);
  switch (statement.loop) {
    case LoopKind::kSerial:
      EmitSerial(statement);
      break;
    case LoopKind::kDot:
      if (EmitDot(statement)) break;
      [[fallthrough]];
    case LoopKind::kUnrolled:
      EmitUnrolled(statement, Constant(extent));
      break;
    case LoopKind::kVector:
      EmitVector(statement, Constant(extent));
      break;
    case LoopKind::kInvocation:
      EmitInvocations(statement, Constant(extent));
      break;
    case LoopKind::kSubgroup:
      EmitSubgroups(statement, Constant(extent));
      break;
    case LoopKind::kMatrix:
      matrices_.Emit(statement, subgroup_);
      break;
  }
}

void PhaseEmitter::EmitSerial(const Statement& statement) {
  const NodeId extent = loops::ExtentOf(nest_.pool, statement.variable);
  const Value end = expressions_.EmitShort(extent);
  if (c_.IsKnown(end, 0)) return;
  std::vector<bool> stored(nest_.buffers.size());
  CollectStores(statement.body, stored);
  memory_.Changed(stored);
  c_.Loop(end, [&](Value value) {
    expressions_.EnterLoop(statement.variable, value);
    EmitBlock(statement.body);
    expressions_.Leave();
  });
}

void PhaseEmitter::EmitUnrolled(const Statement& statement, int64_t extent) {
  for (int64_t i = 0; i < extent && error_.ok(); ++i) {
    expressions_.EnterBinding(statement.variable, c_.Int(i), 0);
    EmitBlock(statement.body);
    expressions_.Leave();
  }
}

void PhaseEmitter::EmitVector(const Statement& statement, int64_t extent) {
  if (extent == 1) return EmitUnrolled(statement, extent);
  around_.lanes = Surroundings::Lanes{statement.variable, extent, {}};
  EmitBlock(statement.body);
  around_.lanes.reset();
}

bool PhaseEmitter::EmitDot(const Statement& statement) {
  if (around_.lanes && !around_.lanes->masks.empty()) return false;
  const StatusOr<loops::DotProduct> dot = loops::DotProductOf(nest_, statement);
  if (!dot.ok()) return false;
  std::vector<StoreEmitter::Pending> all;
  ForEachLane([&] {
    expressions_.EnterBinding(statement.variable, c_.Int(0), 0);
    StoreEmitter::Pending& pending = all.emplace_back();
    pending.store = dot->store;
    pending.value = dots_.Emit(*dot);
    pending.element =
        expressions_.Element(dot->store->buffer, dot->store->indices);
    expressions_.Leave();
  });
  code_.multiply_adds += static_cast<int64_t>(all.size());
  stores_.StoreAll(all, 1);
  return true;
}

void PhaseEmitter::EmitCombining(const std::vector<loops::Store>& stores) {
  std::vector<StoreEmitter::Pending> all;
  for (const loops::Store& store : stores) {
    StoreEmitter::Pending& pending = all.emplace_back();
    pending.store = &store;
    pending.element = expressions_.Element(store.buffer, store.indices);
    pending.value = combiner_.Combine(nest_.buffers[store.buffer].type,
                                      loops::UpdateOf(store.combining),
                                      expressions_.Emit(store.value));
  }
  c_.If(combiner_.IsElected(), [&] {
    expressions_.EnterBranch();
    for (const StoreEmitter::Pending& pending : all) stores_.Write(pending);
    expressions_.Leave();
  });
}

Value PhaseEmitter::SubgroupNumber() {
  module_.Require(spv::Capability::GroupNonUniform);
  has_subgroups_ = true;
  const Id variable = module_.BuiltIn(spv::BuiltIn::SubgroupId,
                                      module_.TypeOf(Scalar::kI32), "subgroup");
  const CodeBuilder::At at(c_, 0);
  return c_.Load(Scalar::kI32, variable, 0);
}

void PhaseEmitter::EmitInvocations(const Statement& statement, int64_t extent) {
  const bool has_subgroups =
      statement.subgroup_size != 0 &&
      Constant(loops::ExtentOf(nest_.pool, statement.subgroup)) > 1;
  const auto body = [&] {
    expressions_.EnterBinding(statement.variable, around_.invocation, 0);
    if (has_subgroups)
      expressions_.EnterBinding(statement.subgroup, SubgroupNumber(), 0);
    EmitBlock(statement.body);
    if (has_subgroups) expressions_.Leave();
    expressions_.Leave();
  };
  if (extent == workgroup_.invocations) {
    body();
  } else {
    c_.If(c_.Less(around_.invocation, c_.Int(extent), true), [&] {
      expressions_.EnterBranch();
      body();
      expressions_.Leave();
    });
  }
}

void PhaseEmitter::EmitSubgroups(const Statement& statement, int64_t extent) {
  const Value subgroup = SubgroupNumber();
  subgroup_ = statement.variable;
  const auto body = [&] {
    expressions_.EnterBinding(statement.variable, subgroup, 0);
    EmitBlock(statement.body);
    expressions_.Leave();
  };
  if (extent * subgroup_size_ == workgroup_.invocations) {
    body();
  } else {
    c_.If(c_.Less(subgroup, c_.Int(extent), true), [&] {
      expressions_.EnterBranch();
      body();
      expressions_.Leave();
    });
  }
}

// --- lanes

std::optional<Value> PhaseEmitter::MaskOf(size_t lane) const {
  if (!around_.lanes || around_.lanes->masks.empty()) return std::nullopt;
  return around_.lanes->masks[lane];
}

template <typename Visit>
void PhaseEmitter::ForEachLane(Visit&& visit) {
  if (!around_.lanes) return visit();
  for (int64_t lane = 0; lane < around_.lanes->count; ++lane) {
    const std::optional<Value> mask = MaskOf(static_cast<size_t>(lane));
    if (mask && c_.IsKnown(*mask, 0)) continue;
    expressions_.EnterBinding(around_.lanes->variable, c_.Int(lane), 0);
    expressions_.SetMask(mask);
    visit();
    expressions_.SetMask(std::nullopt);
    expressions_.Leave();
  }
}

// --- conditions

void PhaseEmitter::EmitBranch(Value condition, const Block& block) {
  if (const auto known = c_.Known(condition)) {
    if (*known != 0) EmitBlock(block);
    return;
  }
  c_.If(condition, [&] {
    expressions_.EnterBranch();
    EmitBlock(block);
    expressions_.Leave();
  });
}

void PhaseEmitter::EmitFirst(const Statement& first) {
  c_.If(c_.Equal(around_.invocation, c_.Int(0)), [&] {
    expressions_.EnterBranch();
    EmitBlock(first.body);
    expressions_.Leave();
  });
}

void PhaseEmitter::EmitIf(const Statement& statement) {
  std::vector<Value> conditions;
  if (!around_.lanes)
    return EmitBranch(expressions_.Emit(statement.condition), statement.body);
  for (int64_t lane = 0; lane < around_.lanes->count; ++lane) {
    const std::optional<Value> mask = MaskOf(static_cast<size_t>(lane));
    expressions_.EnterBinding(around_.lanes->variable, c_.Int(lane), 0);
    expressions_.SetMask(mask);
    const Value condition = expressions_.Emit(statement.condition);
    conditions.push_back(mask ? c_.And(*mask, condition) : condition);
    expressions_.SetMask(std::nullopt);
    expressions_.Leave();
  }
  EmitLanesIf(statement, std::move(conditions));
}

// Emits an `if` whose condition differs between lanes: the body is in a branch
// that is skipped if no lane is active, and its lanes are masked.
void PhaseEmitter::EmitLanesIf(const Statement& statement,
                               std::vector<Value> conditions) {
  Value any = c_.Bool(false);
  bool are_all_on = true;
  for (const Value& condition : conditions) {
    any = c_.Or(any, condition);
    are_all_on &= c_.IsKnown(condition, 1);
  }
  std::vector<Value> outer =
      std::exchange(around_.lanes->masks,
                    are_all_on ? std::vector<Value>() : std::move(conditions));
  EmitBranch(any, statement.body);
  around_.lanes->masks = std::move(outer);
}

void PhaseEmitter::EmitCheck(const Block& block, size_t number) {
  const Statement& check = block[number];
  // `inside`: a bool that is true if the indices of all active lanes are in
  // bounds. `index` and `extent`: values of the last active lane that is not in
  // bounds, for the error.
  Value inside = c_.Bool(true);
  Value index = c_.Int(0), extent = c_.Int(0);
  bool is_first = true;
  ForEachLane([&] {
    Value in_bounds =
        expressions_.InBounds(check.index, check.extent, check.test);
    if (c_.IsKnown(in_bounds, 1)) return;
    const bool is_short =
        expressions_.Fits(check.index) && expressions_.Fits(check.extent);
    const Value i = is_short ? expressions_.EmitIndex(check.index)
                             : expressions_.Emit(check.index);
    const Value n = is_short ? expressions_.EmitIndex(check.extent)
                             : expressions_.Emit(check.extent);
    if (const std::optional<Value> mask = expressions_.mask())
      in_bounds = c_.Or(in_bounds, c_.Not(*mask));
    index = is_first ? i : c_.Select(in_bounds, index, i);
    extent = is_first ? n : c_.Select(in_bounds, extent, n);
    is_first = false;
    inside = c_.And(inside, in_bounds);
  });
  if (c_.IsKnown(inside, 1)) return EmitBlock(block, number + 1);
  c_.IfElse(
      inside,
      [&] {
        expressions_.EnterBranch();
        EmitBlock(block, number + 1);
        expressions_.Leave();
      },
      [&] { memory_.Fail(check, index, extent); });
}

// --- stores

void PhaseEmitter::EmitStore(const Statement& statement) {
  if (loops::CombinesSubgroups(statement))
    return EmitCombining(statement.stores);
  std::vector<StoreEmitter::Pending> all;
  ForEachLane([&] {
    for (const loops::Store& store : statement.stores)
      all.push_back(stores_.Prepare(store));
  });
  stores_.StoreAll(all, statement.stores.size());
}

}  // namespace

StatusOr<gpu::PhaseCode> EmitPhase(loops::LoopNest& nest,
                                   const loops::Phase& phase,
                                   std::string entry_point,
                                   const Target& target, Id words,
                                   ModuleBuilder& module) {
  PhaseEmitter emitter(nest, phase, target, words, module);
  return emitter.Run(std::move(entry_point), target);
}

}  // namespace ember::jit::spirv

#include "jit/spirv/phase_plan.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/loops/walk.h"
#include "jit/spirv/conversions.h"

namespace ember::jit::spirv {

using loops::Block;
using loops::Buffer;
using loops::LoopKind;
using loops::Scope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// Of arrays of one invocation that runs a task by itself.
constexpr int64_t kPrivateBytes = 1024;
// Invocations for as many tasks: a subgroup or two of today's devices.
constexpr int64_t kTasksTogether = 64;
// Everything that is larger is open for the plan.
constexpr int64_t kLargestArray = int64_t{1} << 20;

bool IsInvocationLoop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor &&
         statement.loop == LoopKind::kInvocation;
}

// Which buffers something touches.
struct Accesses {
  std::vector<bool> reads, writes;

  explicit Accesses(size_t buffers) : reads(buffers), writes(buffers) {}
  void Add(const Accesses& other) {
    for (size_t i = 0; i < reads.size(); ++i) {
      reads[i] = reads[i] || other.reads[i];
      writes[i] = writes[i] || other.writes[i];
    }
  }
  bool operator==(const Accesses&) const = default;
};

class Planner {
 public:
  Planner(const loops::LoopNest& nest, const loops::Phase& phase,
          const spirv::Target& target)
      : nest_(nest), phase_(phase), target_(target) {
    plan_.places.resize(nest.buffers.size());
  }

  StatusOr<PhasePlan> Run() {
    Survey(phase_.body, nullptr);
    if (largest_ > target_.invocations) {
      return Decline(DeclineReason::kDeviceLimit,
                     Concat({largest_, " invocations, where a workgroup has ",
                             target_.invocations}));
    }
    const int64_t iterations = MostIterations(phase_.body);
    if (iterations > target_.iterations) {
      return Decline(DeclineReason::kDeviceLimit,
                     Concat({"up to ", iterations,
                             " iterations of an invocation's loops, where the "
                             "driver ends them after ",
                             target_.iterations}));
    }
    ChooseMode();
    for (size_t i = 0; i < plan_.places.size(); ++i) PlaceBuffer(i);
    if (plan_.mode == PhasePlan::Mode::kInvocations) {
      Accesses pending(plan_.places.size());
      PlanBarriers(phase_.body, pending);
      NoteCoherent();
    }
    return std::move(plan_);
  }

 private:
  // --- what there is ---

  void Survey(const Block& block, const Statement* invocations) {
    for (const Statement& statement : block) {
      const Statement* around = invocations;
      if (IsInvocationLoop(statement)) {
        around = &statement;
        largest_ =
            std::max(largest_, *nest_.pool.IntegerConstant(loops::ExtentOf(
                                   nest_.pool, statement.variable)));
        has_invocations_ = true;
      }
      plan_.has_checks |= statement.kind == Statement::Kind::kCheck;
      SurveyAccesses(statement, around);
      Survey(statement.body, around);
    }
  }

  // Of all loops of one invocation; open extents count as what they may be.
  int64_t MostIterations(const Block& block) const {
    constexpr int64_t kMany = int64_t{1} << 40;
    int64_t total = 0;
    for (const Statement& statement : block) {
      int64_t inside = MostIterations(statement.body);
      if (statement.kind == Statement::Kind::kFor) {
        const tensor::NodeId extent =
            loops::ExtentOf(nest_.pool, statement.variable);
        const int64_t times =
            std::clamp<int64_t>(nest_.pool[extent].range.high, 0, kMany);
        if (statement.loop == LoopKind::kSerial) {
          inside = std::min(times, kMany / (inside + 1)) * (inside + 1);
        } else if (statement.loop != LoopKind::kInvocation) {
          inside = std::min(times, kMany / (inside + 1)) * inside;
        }
      }
      total = std::min(total + inside, kMany);
    }
    return total;
  }

  void SurveyAccesses(const Statement& statement, const Statement* around) {
    if (statement.kind == Statement::Kind::kPrefetch) return;
    for (NodeId id :
         loops::NodesUnder(nest_.pool, loops::RootsOf(nest_.pool, statement))) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad) continue;
      PhasePlan::Place& place = plan_.places[node.buffer];
      place.is_read = true;
      if (node.operands.size() > (node.opcode == Opcode::kPad))
        NoteFirstIndex(node.operands[0], around, place);
    }
    for (const loops::Target& store : statement.targets) {
      PhasePlan::Place& place = plan_.places[store.buffer];
      place.is_written = true;
      place.is_read |= store.update != tensor::Update::kAssign;
      if (!store.indices.empty())
        NoteFirstIndex(store.indices[0], around, place);
    }
  }

  // The verifier saw to it that all accesses are of this kind if one is.
  static void NoteFirstIndex(NodeId index, const Statement* around,
                             PhasePlan::Place& place) {
    if (around != nullptr && index == around->variable)
      place.of_invocation = true;
  }

  // --- where it is ---

  int64_t RegisterBytes(size_t number) const {
    const Buffer& buffer = nest_.buffers[number];
    return ConstantElements(nest_, buffer) *
           std::max<int64_t>(BitsOf(RegisterType(buffer.type)) / 8, 4);
  }

  bool IsUsed(size_t i) const {
    return plan_.places[i].is_read || plan_.places[i].is_written;
  }

  void ChooseMode() {
    plan_.mode = PhasePlan::Mode::kInvocations;
    plan_.invocations = std::max<int64_t>(largest_, 1);
    if (has_invocations_) return;
    int64_t bytes = 0;
    bool is_open = false;
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      if (nest_.buffers[i].scope != Scope::kTask || !IsUsed(i)) continue;
      bytes += RegisterBytes(i);
      is_open |= ConstantElements(nest_, nest_.buffers[i]) == 0;
    }
    const bool is_small = !is_open && bytes <= kPrivateBytes;
    plan_.mode =
        is_small ? PhasePlan::Mode::kTaskEach : PhasePlan::Mode::kAlone;
    plan_.invocations =
        is_small ? std::min(kTasksTogether, target_.invocations) : 1;
  }

  void PlaceBuffer(size_t i) {
    PhasePlan::Place& place = plan_.places[i];
    if (!IsUsed(i)) return;
    place.kind = KindOf(i);
    place.of_invocation &= place.kind == PhasePlan::Kind::kRegisters;
    if (place.kind == PhasePlan::Kind::kShared)
      plan_.shared_bytes += RegisterBytes(i);
  }

  PhasePlan::Kind KindOf(size_t i) const {
    switch (nest_.buffers[i].scope) {
      case Scope::kInput:
      case Scope::kOutput:
      case Scope::kPacked:
      case Scope::kCall:
        return PhasePlan::Kind::kMemory;
      case Scope::kRegister:
        return PhasePlan::Kind::kRegisters;
      case Scope::kTask:
        break;
    }
    if (plan_.mode == PhasePlan::Mode::kTaskEach)
      return PhasePlan::Kind::kPrivate;
    const int64_t bytes = RegisterBytes(i);
    const bool fits =
        bytes > 0 && plan_.shared_bytes + bytes <= target_.shared_bytes;
    return fits ? PhasePlan::Kind::kShared : PhasePlan::Kind::kSlices;
  }

  // --- where invocations meet ---

  bool IsOfMany(size_t buffer) const {
    const PhasePlan::Kind kind = plan_.places[buffer].kind;
    return kind == PhasePlan::Kind::kMemory ||
           kind == PhasePlan::Kind::kSlices || kind == PhasePlan::Kind::kShared;
  }

  // An output may be the memory of an input of its type and shape (MayAlias of
  // the dispatch).
  bool MayBeOneMemory(size_t a, size_t b) const {
    if (a == b) return true;
    const Buffer& x = nest_.buffers[a];
    const Buffer& y = nest_.buffers[b];
    const bool are_arguments =
        (x.scope == Scope::kInput && y.scope == Scope::kOutput) ||
        (x.scope == Scope::kOutput && y.scope == Scope::kInput);
    if (!are_arguments || x.type != y.type ||
        x.extents.size() != y.extents.size())
      return false;
    for (size_t dim = 0; dim < x.extents.size(); ++dim) {
      const auto n = nest_.pool.IntegerConstant(x.extents[dim]);
      const auto m = nest_.pool.IntegerConstant(y.extents[dim]);
      if (n && m && *n != *m) return false;
    }
    return true;
  }

  bool Conflict(const Accesses& before, const Accesses& now) const {
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      if (!before.reads[i] && !before.writes[i]) continue;
      for (size_t j = 0; j < plan_.places.size(); ++j) {
        const bool one_writes = (before.writes[i] && now.writes[j]) ||
                                (before.writes[i] && now.reads[j]) ||
                                (before.reads[i] && now.writes[j]);
        if (one_writes && MayBeOneMemory(i, j)) return true;
      }
    }
    return false;
  }

  // Of the statement, without its body.
  Accesses OwnAccesses(const Statement& statement) const {
    Accesses accesses(plan_.places.size());
    if (statement.kind == Statement::Kind::kPrefetch) return accesses;
    for (NodeId id :
         loops::NodesUnder(nest_.pool, loops::RootsOf(nest_.pool, statement))) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
        accesses.reads[node.buffer] = IsOfMany(node.buffer);
    }
    for (const loops::Target& store : statement.targets) {
      const bool is_of_many = IsOfMany(store.buffer);
      accesses.writes[store.buffer] = is_of_many;
      if (store.update != tensor::Update::kAssign && is_of_many)
        accesses.reads[store.buffer] = true;
    }
    return accesses;
  }

  Accesses AllAccesses(const Statement& statement) const {
    Accesses accesses = OwnAccesses(statement);
    for (const Statement& inner : statement.body)
      accesses.Add(AllAccesses(inner));
    return accesses;
  }

  // What is done by all at once between two meetings: an invocation loop, a
  // store, what a condition reads.
  void Step(const Statement& statement, const Accesses& accesses,
            Accesses& pending) {
    if (plan_.barriers.contains(&statement) || Conflict(pending, accesses)) {
      NoteShared(pending, accesses);
      plan_.barriers.insert(&statement);
      pending = Accesses(plan_.places.size());
    }
    pending.Add(accesses);
  }

  // pending: what was done since invocations met last, before and after.
  void PlanBarriers(const Block& block, Accesses& pending) {
    for (const Statement& statement : block) {
      if (IsInvocationLoop(statement)) {
        Step(statement, AllAccesses(statement), pending);
        continue;
      }
      Step(statement, OwnAccesses(statement), pending);
      if (statement.kind == Statement::Kind::kFor) {
        PlanLoop(statement, pending);
      } else if (statement.kind == Statement::Kind::kIf) {
        const Accesses skipped = pending;
        PlanBarriers(statement.body, pending);
        pending.Add(skipped);
      }
    }
  }

  // An iteration begins with what the one before it left. Barriers are only
  // added, and what may be pending at its begin only grows, so this ends.
  void PlanLoop(const Statement& loop, Accesses& pending) {
    const Accesses skipped = pending;
    while (true) {
      Accesses begin = pending;
      PlanBarriers(loop.body, pending);
      Accesses both = begin;
      both.Add(pending);
      if (both == begin) break;
      pending = std::move(both);
    }
    pending.Add(skipped);
  }

  void NoteShared(const Accesses& before, const Accesses& now) {
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      const bool is_touched = (before.writes[i] || now.writes[i]) &&
                              (before.reads[i] || before.writes[i]) &&
                              (now.reads[i] || now.writes[i]);
      if (is_touched) plan_.places[i].is_coherent = true;
    }
  }

  void NoteCoherent() {
    for (PhasePlan::Place& place : plan_.places) {
      place.is_coherent &= place.kind == PhasePlan::Kind::kMemory ||
                           place.kind == PhasePlan::Kind::kSlices;
    }
  }

  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  const spirv::Target& target_;
  PhasePlan plan_;
  bool has_invocations_ = false;
  int64_t largest_ = 0;
};

}  // namespace

StatusOr<PhasePlan> PlanPhase(const loops::LoopNest& nest,
                              const loops::Phase& phase,
                              const spirv::Target& target) {
  return Planner(nest, phase, target).Run();
}

void CollectStores(const Block& block, std::vector<bool>& stored) {
  for (const Statement& statement : block) {
    for (const loops::Target& store : statement.targets)
      stored[store.buffer] = true;
    CollectStores(statement.body, stored);
  }
}

int64_t ConstantElements(const loops::LoopNest& nest, const Buffer& buffer) {
  int64_t elements = 1;
  for (NodeId extent : buffer.extents) {
    const std::optional<int64_t> known = nest.pool.IntegerConstant(extent);
    if (!known || *known <= 0 || *known > kLargestArray) return 0;
    elements *= *known;
    if (elements > kLargestArray) return 0;
  }
  return elements;
}

}  // namespace ember::jit::spirv

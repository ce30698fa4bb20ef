#include "jit/gpu/barriers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "jit/loops/combining.h"
#include "jit/loops/walk.h"
#include "tensor/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Buffer;
using loops::IsInvocationLoop;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// Of a buffer: bit h for the half that is read, or written, in turn t of its
// loop where h = t mod 2; outside of the loop, half h. Both, where it is not
// known, or the buffer has no halves.
using Halves = uint8_t;
constexpr Halves kBoth = 3;

Halves Swapped(Halves halves) {
  return static_cast<Halves>((halves >> 1) | ((halves & 1) << 1));
}

// Which buffers something touches. The last number is that of the memory in
// which invocations combine values.
struct Touched {
  std::vector<Halves> reads, writes;

  explicit Touched(size_t buffers) : reads(buffers + 1), writes(buffers + 1) {}
  void Add(const Touched& other) {
    for (size_t i = 0; i < reads.size(); ++i) {
      reads[i] |= other.reads[i];
      writes[i] |= other.writes[i];
    }
  }
  template <typename Change>
  void ForEachHalves(size_t buffer, Change&& change) {
    reads[buffer] = change(reads[buffer]);
    writes[buffer] = change(writes[buffer]);
  }
  bool operator==(const Touched&) const = default;
};

struct Accesses {
  Touched by_all;    // by any invocation
  Touched by_first;  // by the first one only, which sees what it did itself

  explicit Accesses(size_t buffers) : by_all(buffers), by_first(buffers) {}
  void Add(const Accesses& other) {
    by_all.Add(other.by_all);
    by_first.Add(other.by_first);
  }
  bool operator==(const Accesses&) const = default;
};

// The halves of a first index, as turns of a loop have them.
struct Turn {
  std::optional<NodeId> variable;  // none: a constant half
  int64_t offset = 0;
};

class Planner {
 public:
  Planner(const loops::LoopNest& nest, const SharedMemory& memory)
      : nest_(nest), memory_(memory), turns_(nest.buffers.size()) {
    result_.is_coherent.resize(nest.buffers.size());
    result_.is_ordered.resize(nest.buffers.size());
  }

  Barriers Run(const Block& body) {
    FindTurns(body);
    Accesses pending(nest_.buffers.size());
    Plan(body, pending);
    FindOrdered(body);
    return std::move(result_);
  }

 private:
  // --- halves ---

  // An index in 0..1 is its own remainder.
  std::optional<Turn> TurnOf(NodeId index) const {
    const tensor::Node& node = nest_.pool[index];
    const bool is_remainder = node.opcode == Opcode::kModulo &&
                              nest_.pool.IntegerConstant(node.operands[1]) == 2;
    const auto sum =
        tensor::Linearize(nest_.pool, is_remainder ? node.operands[0] : index);
    if (!sum) return std::nullopt;
    Turn turn{.variable = std::nullopt, .offset = sum->constant};
    for (const tensor::LinearTerm& term : sum->terms) {
      if (term.coefficient % 2 == 0) continue;
      if (turn.variable || nest_.pool[term.node].opcode != Opcode::kAxis)
        return std::nullopt;
      turn.variable = term.node;
    }
    return turn;
  }

  // The loops whose turns buffers have halves for: serial ones outside of
  // invocation loops, the first of them that is met.
  void FindTurns(const Block& block) {
    for (const Statement& statement : block) {
      if (statement.kind == Statement::Kind::kFor &&
          statement.loop == LoopKind::kSerial) {
        FindTurnsOf(statement.variable, statement.body);
      }
      if (!IsInvocationLoop(statement)) FindTurns(statement.body);
    }
  }

  void FindTurnsOf(NodeId variable, const Block& block) {
    for (const Statement& statement : block) {
      ForEachAccess(statement, [&](uint32_t buffer, bool,
                                   std::span<const NodeId> indices) {
        if (!HasHalves(buffer) || turns_[buffer]) return;
        const std::optional<Turn> turn = TurnOf(indices[0]);
        if (turn && turn->variable == variable) turns_[buffer] = variable;
      });
      FindTurnsOf(variable, statement.body);
    }
  }

  bool HasHalves(uint32_t number) const {
    const Buffer& buffer = nest_.buffers[number];
    return buffer.scope == MemoryScope::kTask && buffer.extents.size() > 1 &&
           nest_.pool.IntegerConstant(buffer.extents[0]) == 2;
  }

  Halves HalvesOf(uint32_t buffer, std::span<const NodeId> indices) const {
    if (!memory_.is_of_many[buffer]) return 0;
    if (!turns_[buffer]) return kBoth;
    const std::optional<Turn> turn = TurnOf(indices[0]);
    const bool is_inside =
        std::ranges::find(around_, *turns_[buffer]) != around_.end();
    const std::optional<NodeId> wanted =
        is_inside ? turns_[buffer] : std::nullopt;
    if (!turn || turn->variable != wanted) return kBoth;
    return (turn->offset & 1) == 0 ? 1 : 2;
  }

  // --- accesses ---

  // visit(buffer, stores, indices) for what the statement itself touches.
  template <typename Visit>
  void ForEachAccess(const Statement& statement, Visit&& visit) const {
    if (statement.kind == Statement::Kind::kPrefetch) return;
    for (NodeId id :
         loops::NodesUnder(nest_.pool, loops::RootsOf(nest_.pool, statement))) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
        visit(node.buffer, false, std::span<const NodeId>(node.operands));
    }
    for (const loops::Store& store : statement.stores) {
      const std::span<const NodeId> indices(store.indices);
      visit(store.buffer, true, indices);
      if (store.update != tensor::Update::kAssign)
        visit(store.buffer, false, indices);
    }
  }

  // Of the statement, without its body. stores_first: only the first invocation
  // stores, and reads what it updates.
  Accesses OwnAccesses(const Statement& statement, bool stores_first) const {
    Accesses accesses(nest_.buffers.size());
    bool behind_loads = false;
    ForEachAccess(statement, [&](uint32_t buffer, bool stores,
                                 std::span<const NodeId> indices) {
      behind_loads |= stores;
      Touched& touched =
          behind_loads && stores_first ? accesses.by_first : accesses.by_all;
      (stores ? touched.writes : touched.reads)[buffer] |=
          HalvesOf(buffer, indices);
    });
    return accesses;
  }

  Accesses AllAccesses(const Statement& statement) const {
    const bool combines = loops::IsCombining(nest_.pool, statement);
    Accesses accesses = OwnAccesses(statement, /*stores_first=*/false);
    for (const Statement& inner : statement.body) {
      accesses.Add(combines ? OwnAccesses(inner, /*stores_first=*/true)
                            : AllAccesses(inner));
    }
    if (combines && memory_.has_parts) {
      accesses.by_all.reads.back() = kBoth;
      accesses.by_all.writes.back() = kBoth;
    }
    return accesses;
  }

  // --- conflicts ---

  // An output may be the memory of an input of its type and shape (MayAlias of
  // the dispatch).
  bool MayBeOneMemory(size_t a, size_t b) const {
    if (std::max(a, b) == nest_.buffers.size()) return false;
    const Buffer& x = nest_.buffers[a];
    const Buffer& y = nest_.buffers[b];
    const bool are_arguments =
        (x.scope == MemoryScope::kInput && y.scope == MemoryScope::kOutput) ||
        (x.scope == MemoryScope::kOutput && y.scope == MemoryScope::kInput);
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
    return Conflict(before.by_all, now.by_all) ||
           Conflict(before.by_all, now.by_first) ||
           Conflict(before.by_first, now.by_all);
  }

  bool Conflict(const Touched& before, const Touched& now) const {
    for (size_t i = 0; i < before.reads.size(); ++i) {
      if (before.reads[i] == 0 && before.writes[i] == 0) continue;
      const bool one_writes =
          ((before.writes[i] & (now.writes[i] | now.reads[i])) |
           (before.reads[i] & now.writes[i])) != 0;
      if (one_writes) return true;
      for (size_t j = 0; j < before.reads.size(); ++j) {
        const bool other_writes =
            (before.writes[i] != 0 && (now.writes[j] | now.reads[j]) != 0) ||
            (before.reads[i] != 0 && now.writes[j] != 0);
        if (i != j && other_writes && MayBeOneMemory(i, j)) return true;
      }
    }
    return false;
  }

  // --- where they meet ---

  // What is done by all at once between two meetings: an invocation loop, a
  // store, what a condition reads.
  void Step(const Statement& statement, const Accesses& accesses,
            Accesses& pending) {
    if (result_.before.contains(&statement) || Conflict(pending, accesses)) {
      NoteCoherent(pending, accesses);
      result_.before.insert(&statement);
      pending = Accesses(nest_.buffers.size());
    }
    pending.Add(accesses);
  }

  // pending: what was done since invocations met last, before and after.
  void Plan(const Block& block, Accesses& pending) {
    for (const Statement& statement : block) {
      if (IsInvocationLoop(statement)) {
        Step(statement, AllAccesses(statement), pending);
        continue;
      }
      Step(statement, OwnAccesses(statement, /*stores_first=*/true), pending);
      if (statement.kind == Statement::Kind::kFor) {
        PlanLoop(statement, pending);
      } else if (statement.kind == Statement::Kind::kIf) {
        const Accesses skipped = pending;
        Plan(statement.body, pending);
        pending.Add(skipped);
      }
    }
  }

  // An iteration begins with what the one before it left. Barriers are only
  // added, and what may be pending at its begin only grows, so this ends. The
  // first turn is 0, so that halves are at its begin what they were before.
  void PlanLoop(const Statement& loop, Accesses& pending) {
    const Accesses skipped = pending;
    around_.push_back(loop.variable);
    while (true) {
      const Accesses begin = pending;
      Plan(loop.body, pending);
      Accesses next = pending;
      ForEachTurning(loop.variable, next, Swapped);
      next.Add(begin);
      if (next == begin) break;
      pending = std::move(next);
    }
    around_.pop_back();
    // Which turn was the last is not known.
    ForEachTurning(loop.variable, pending, [](Halves halves) -> Halves {
      return halves == 0 ? 0 : kBoth;
    });
    const auto turns =
        nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, loop.variable));
    if (turns.value_or(0) < 1) pending.Add(skipped);
  }

  // The buffers that have halves for the turns of the loop.
  template <typename Change>
  void ForEachTurning(NodeId variable, Accesses& accesses,
                      Change&& change) const {
    for (size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i] != variable) continue;
      accesses.by_all.ForEachHalves(i, change);
      accesses.by_first.ForEachHalves(i, change);
    }
  }

  void NoteCoherent(const Accesses& all_before, const Accesses& all_now) {
    Touched before = all_before.by_all, now = all_now.by_all;
    before.Add(all_before.by_first);
    now.Add(all_now.by_first);
    for (size_t i = 0; i < result_.is_coherent.size(); ++i) {
      const bool is_touched = (before.writes[i] | now.writes[i]) != 0 &&
                              (before.reads[i] | before.writes[i]) != 0 &&
                              (now.reads[i] | now.writes[i]) != 0;
      if (is_touched) result_.is_coherent[i] = true;
    }
  }

  // --- across barriers ---

  // How many statements touch a buffer, those in loops counting as two.
  struct Uses {
    int touches = 0;
    bool reads = false, writes = false, by_all = false;
  };

  void CountUses(const Accesses& accesses, int weight,
                 std::vector<Uses>& uses) const {
    for (size_t i = 0; i < uses.size(); ++i) {
      const Halves all_reads = accesses.by_all.reads[i],
                   all_writes = accesses.by_all.writes[i],
                   reads = all_reads | accesses.by_first.reads[i],
                   writes = all_writes | accesses.by_first.writes[i];
      if ((reads | writes) == 0) continue;
      uses[i].touches += weight;
      uses[i].reads |= reads != 0;
      uses[i].writes |= writes != 0;
      uses[i].by_all |= (all_reads | all_writes) != 0;
    }
  }

  void CountUses(const Block& block, int weight,
                 std::vector<Uses>& uses) const {
    for (const Statement& statement : block) {
      if (IsInvocationLoop(statement)) {
        CountUses(AllAccesses(statement), weight, uses);
        continue;
      }
      CountUses(OwnAccesses(statement, /*stores_first=*/true), weight, uses);
      const bool is_loop = statement.kind == Statement::Kind::kFor;
      CountUses(statement.body, is_loop ? 2 : weight, uses);
    }
  }

  // A barrier may have been put for the sake of another buffer: what it stands
  // between is looked for in the whole phase.
  void FindOrdered(const Block& body) {
    if (result_.before.empty()) return;
    std::vector<Uses> uses(nest_.buffers.size());
    CountUses(body, 1, uses);
    for (size_t i = 0; i < uses.size(); ++i) {
      const bool is_ordered =
          uses[i].writes && uses[i].by_all && uses[i].touches > 1;
      if (is_ordered) result_.is_ordered[i] = true;
      if (is_ordered && uses[i].reads) result_.is_coherent[i] = true;
      for (size_t j = 0; j < uses.size(); ++j) {
        const bool one_writes = uses[i].writes || uses[j].writes;
        const bool are_used = uses[i].touches > 0 && uses[j].touches > 0;
        if (i != j && one_writes && are_used && MayBeOneMemory(i, j))
          result_.is_ordered[i] = true;
      }
      if (result_.is_coherent[i]) result_.is_ordered[i] = true;
    }
  }

  const loops::LoopNest& nest_;
  const SharedMemory& memory_;
  std::vector<std::optional<NodeId>> turns_;  // by buffer: the loop's variable
  std::vector<NodeId> around_;                // of the loops that are planned
  Barriers result_;
};

}  // namespace

Barriers PlanBarriers(const loops::LoopNest& nest, const Block& body,
                      const SharedMemory& memory) {
  return Planner(nest, memory).Run(body);
}

}  // namespace ember::jit::gpu

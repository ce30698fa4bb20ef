#include "jit/gpu/lifetimes.h"

#include <algorithm>
#include <array>
#include <span>

#include "jit/loops/walk.h"

namespace ember::jit::gpu {
namespace {

using loops::Block;
using loops::LoopNest;
using loops::NodeId;
using loops::Statement;
using tensor::Opcode;

bool IsLoadOf(const tensor::Node& node, uint32_t buffer) {
  return (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) &&
         node.buffer == buffer;
}

// The kinds of accesses that statements have to one buffer.
struct Touch {
  bool stores = false;
  bool loads = false;  // true if the statement loads from the buffer, or
                       // updates it
  void Add(const Touch& other) {
    stores |= other.stores;
    loads |= other.loads;
  }
};

Touch TouchOf(const LoopNest& nest, const Statement& statement,
              uint32_t buffer) {
  Touch touch;
  for (const loops::Store& store : statement.stores) {
    if (store.buffer != buffer) continue;
    touch.stores = true;
    touch.loads |= store.update != tensor::Update::kAssign;
  }
  for (NodeId id :
       loops::NodesUnder(nest.pool, loops::RootsOf(nest.pool, statement))) {
    touch.loads |= IsLoadOf(nest.pool[id], buffer);
  }
  for (const Statement& inner : statement.body)
    touch.Add(TouchOf(nest, inner, buffer));
  return touch;
}

void CollectTouched(const LoopNest& nest, const Statement& statement,
                    std::vector<bool>& touched) {
  for (const loops::Store& store : statement.stores)
    touched[store.buffer] = true;
  for (NodeId id :
       loops::NodesUnder(nest.pool, loops::RootsOf(nest.pool, statement))) {
    const tensor::Node& node = nest.pool[id];
    if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
      touched[node.buffer] = true;
  }
  for (const Statement& inner : statement.body)
    CollectTouched(nest, inner, touched);
}

// Checks that every iteration of a loop stores to the same elements of a
// buffer. If `loads` is true, every iteration must also load the same elements,
// and the condition of each selection (kSelect) of a loaded value must be the
// same in all iterations.
class SameInEachIteration {
 public:
  SameInEachIteration(const LoopNest& nest, NodeId variable, uint32_t buffer,
                      bool loads)
      : nest_(nest), variable_(variable), buffer_(buffer), loads_(loads) {}

  bool Holds(const Statement& statement) const {
    if (!TouchesIt(statement)) return true;
    if (statement.kind == Statement::Kind::kIf &&
        !IsSame(statement.condition)) {
      return false;
    }
    if (statement.kind == Statement::Kind::kFor &&
        !IsSame(loops::ExtentOf(nest_.pool, statement.variable))) {
      return false;
    }
    for (const loops::Store& store : statement.stores) {
      if (store.buffer == buffer_ &&
          !std::ranges::all_of(store.indices,
                               [&](NodeId index) { return IsSame(index); })) {
        return false;
      }
    }
    if (loads_ && !HaveSameLoads(statement)) return false;
    return std::ranges::all_of(
        statement.body, [&](const Statement& inner) { return Holds(inner); });
  }

 private:
  bool TouchesIt(const Statement& statement) const {
    const Touch touch = TouchOf(nest_, statement, buffer_);
    return touch.stores || (loads_ && touch.loads);
  }

  // True if the expression has the same value in each iteration, because it
  // contains neither the loop's variable nor a load.
  bool IsSame(NodeId value) const {
    for (NodeId id : loops::NodesUnder(nest_.pool, std::array{value})) {
      const Opcode opcode = nest_.pool[id].opcode;
      if (id == variable_ || opcode == Opcode::kLoad || opcode == Opcode::kPad)
        return false;
    }
    return true;
  }

  // True if the statement loads the same elements of the buffer in each
  // iteration. The condition of a selection must not depend on the iteration
  // either: otherwise a loaded value might be used in some iterations only.
  bool HaveSameLoads(const Statement& statement) const {
    const std::vector<NodeId> nodes =
        loops::NodesUnder(nest_.pool, loops::RootsOf(nest_.pool, statement));
    const bool has_it = std::ranges::any_of(
        nodes, [&](NodeId id) { return IsLoadOf(nest_.pool[id], buffer_); });
    if (!has_it) return true;
    return std::ranges::all_of(nodes, [&](NodeId id) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kSelect) return IsSame(node.operands[0]);
      return !IsLoadOf(node, buffer_) ||
             std::ranges::all_of(node.operands,
                                 [&](NodeId index) { return IsSame(index); });
    });
  }

  const LoopNest& nest_;
  const NodeId variable_;
  const uint32_t buffer_;
  const bool loads_;
};

// True if no iteration of a loop reads what an earlier one has stored to a
// buffer that nothing outside the loop touches. There are two proofs. One: all
// iterations store to and load from the same elements. No element is stored
// before the first iteration, so that iteration must store each element before
// it loads it, and the others do the same. Two: all stores to the buffer are in
// one statement, the first that touches it, and go to the same elements in each
// iteration. Loads after that statement then read elements of this iteration,
// or ones that were never stored.
bool LeavesNothing(const LoopNest& nest, const Statement& loop,
                   uint32_t buffer) {
  Touch first;
  bool is_stored_again = false;
  for (const Statement& statement : loop.body) {
    const Touch touch = TouchOf(nest, statement, buffer);
    if (!first.stores && !first.loads)
      first = touch;
    else
      is_stored_again |= touch.stores;
  }
  const bool is_stored_first = first.stores && !first.loads && !is_stored_again;
  const SameInEachIteration same(nest, loop.variable, buffer, !is_stored_first);
  return std::ranges::all_of(
      loop.body, [&](const Statement& inner) { return same.Holds(inner); });
}

}  // namespace

Lifetimes::Lifetimes(const LoopNest& nest, const Block& body)
    : intervals_(nest.buffers.size()), bodies_(nest.buffers.size()) {
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < nest.buffers.size(); ++i) {
    if (nest.buffers[i].scope == loops::MemoryScope::kTask)
      buffers.push_back(i);
  }
  Find(nest, body, buffers, /*level=*/0);
}

void Lifetimes::Find(const LoopNest& nest, const Block& body,
                     const std::vector<uint32_t>& buffers, size_t level) {
  for (const uint32_t buffer : buffers) {
    intervals_[buffer].emplace_back();
    bodies_[buffer].push_back(&body);
  }
  for (size_t i = 0; i < body.size(); ++i) {
    std::vector<bool> touched(nest.buffers.size());
    CollectTouched(nest, body[i], touched);
    for (const uint32_t buffer : buffers) {
      if (!touched[buffer]) continue;
      Interval& interval = intervals_[buffer][level];
      interval.begin = std::min(interval.begin, i);
      interval.end = i + 1;
    }
  }
  for (size_t i = 0; i < body.size(); ++i) {
    const Statement& loop = body[i];
    if (loop.kind != Statement::Kind::kFor ||
        loop.loop != loops::LoopKind::kSerial) {
      continue;
    }
    std::vector<uint32_t> inside;
    for (const uint32_t buffer : buffers) {
      if (intervals_[buffer][level] == Interval{i, i + 1} &&
          LeavesNothing(nest, loop, buffer)) {
        inside.push_back(buffer);
      }
    }
    if (!inside.empty()) Find(nest, loop.body, inside, level + 1);
  }
}

size_t Lifetimes::CommonLevels(size_t a, size_t b, bool& are_apart) const {
  const size_t levels = std::min(intervals_[a].size(), intervals_[b].size());
  for (size_t level = 0; level < levels; ++level) {
    const Interval& of_a = intervals_[a][level];
    const Interval& of_b = intervals_[b][level];
    are_apart = of_a.end <= of_b.begin || of_b.end <= of_a.begin;
    if (are_apart || of_a != of_b || of_a.end != of_a.begin + 1)
      return level + 1;
  }
  return levels;
}

bool Lifetimes::MayOverlap(size_t a, size_t b) const {
  bool are_apart = false;
  CommonLevels(a, b, are_apart);
  return !are_apart;
}

bool Lifetimes::HaveBarriersBetween(size_t a, size_t b) const {
  bool are_apart = false;
  const size_t levels = CommonLevels(a, b, are_apart);
  if (levels < 2)
    return true;  // the two buffers are in no common loop, so
                  // sharing bytes needs no barrier in a loop
  const Block& body = *bodies_[a][levels - 1];
  const Interval& of_a = intervals_[a][levels - 1];
  const Interval& of_b = intervals_[b][levels - 1];
  // True if a statement from `begin` to the one before `end` is a barrier.
  const auto any = [&](size_t begin, size_t end) {
    return std::any_of(body.begin() + static_cast<std::ptrdiff_t>(begin),
                       body.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Statement& statement) {
                         return statement.kind == Statement::Kind::kBarrier;
                       });
  };
  const Interval& first = of_a.begin < of_b.begin ? of_a : of_b;
  const Interval& second = of_a.begin < of_b.begin ? of_b : of_a;
  return any(first.end, second.begin) &&
         (any(second.end, body.size()) || any(0, first.begin));
}

}  // namespace ember::jit::gpu

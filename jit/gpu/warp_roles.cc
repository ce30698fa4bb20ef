#include "jit/gpu/warp_roles.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "jit/gpu/rings.h"
#include "jit/loops/walk.h"
#include "tensor/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::NodeId;
using loops::Statement;
using tensor::Opcode;

namespace {

class Finder {
 public:
  Finder(const loops::LoopNest& nest, const Block& body,
         const SharedMemory& memory, const std::vector<SharedPanels>& panels)
      : nest_(nest),
        body_(body),
        memory_(memory),
        panels_(panels),
        rings_(nest, body, memory.is_of_many) {}

  std::optional<WarpRoles> Find(const ProductsInFlight& turns) {
    roles_.turns = turns;
    const auto loop = std::ranges::find(body_, turns.loop,
                                        [](const Statement& s) { return &s; });
    if (loop == body_.end()) return std::nullopt;
    for (auto before = body_.begin(); before != loop; ++before) {
      if (!LookAt(*before, std::nullopt)) return std::nullopt;
    }
    EndFill();
    const int64_t ahead = fills_;
    for (const Statement& statement : loop->body) {
      if (&statement != turns.products && !LookAt(statement, ahead))
        return std::nullopt;
    }
    EndFill();
    const bool is_filled_once = fills_ == ahead + 1;
    if (!is_filled_once || !are_alike_ || !ReadsItsSlots()) return std::nullopt;
    const auto leaves_rings = [&](const Statement* statement) {
      return !Touches(*statement, /*or_their_memory=*/true);
    };
    if (!std::ranges::all_of(others_, leaves_rings)) return std::nullopt;
    // Behind the loop, their memory is free.
    for (auto behind = loop + 1; behind != body_.end(); ++behind) {
      if (Touches(*behind, /*or_their_memory=*/false)) return std::nullopt;
    }
    roles_.rings.assign(filled_.begin(), filled_.end());
    for (const uint32_t ring : filled_)
      roles_.fill_bytes += bytes_of_ring_.at(ring);
    return roles_;
  }

 private:
  // --- fills ---

  // ahead: in the loop, how many turns further on its fill is for; nothing
  // before it, where fills are for turns 0, 1 and so on.
  bool LookAt(const Statement& statement, std::optional<int64_t> ahead) {
    if (statement.kind == Statement::Kind::kAwait) {
      roles_.of_producer.insert(&statement);
      EndFill();
      return true;
    }
    if (!HasAsyncStore(statement)) {
      EndFill();
      others_.push_back(&statement);
      return true;
    }
    if (statement.kind != Statement::Kind::kIf)
      return LookAtCopy(statement, ahead, /*is_guarded=*/false);
    // A branch is one fill.
    EndFill();
    if (!IsTurn(statement.condition, ahead)) return false;
    for (const Statement& inner : statement.body) {
      if (!HasAsyncStore(inner) || !LookAtCopy(inner, ahead, true))
        return false;
    }
    EndFill();
    roles_.of_producer.insert(&statement);
    return true;
  }

  bool LookAtCopy(const Statement& statement, std::optional<int64_t> ahead,
                  bool is_guarded) {
    const uint32_t ring = RingOf(statement);
    std::optional<BoxCopy> copy = BoxCopyOf(nest_, statement, panels_[ring]);
    const NodeId variable = roles_.turns.loop->variable;
    if (!copy || rings_.LoopOf(ring) != variable) return false;
    // A second copy to a ring begins the next fill.
    if (of_fill_.contains(ring)) EndFill();
    const int64_t number = ahead.value_or(fills_);
    if (roles_.slots == 0) roles_.slots = rings_.CountOf(ring);
    const auto turn = rings_.TurnOf(ring, copy->store->indices[0]);
    const bool is_of_turn =
        turn && turn->offset == number &&
        turn->variable == (ahead ? std::optional(variable) : std::nullopt);
    if (!is_of_turn || rings_.CountOf(ring) != roles_.slots ||
        (!is_guarded && !AllHaveTurn(ahead))) {
      return false;
    }
    if (of_fill_.empty()) roles_.begins_fill.insert(&statement);
    of_fill_.insert(ring);
    bytes_of_ring_[ring] = copy->slot_bytes;
    roles_.of_producer.insert(&statement);
    roles_.copies.emplace(&statement, *std::move(copy));
    return true;
  }

  // All fills are of the same rings.
  void EndFill() {
    if (of_fill_.empty()) return;
    if (fills_ == 0) filled_ = of_fill_;
    are_alike_ &= of_fill_ == filled_;
    ++fills_;
    of_fill_.clear();
  }

  // Whether each call has the turn of this fill, before the loop. In it, no
  // turn has one further on that all have.
  bool AllHaveTurn(std::optional<int64_t> ahead) const {
    const auto turns = nest_.pool.IntegerConstant(
        loops::ExtentOf(nest_.pool, roles_.turns.loop->variable));
    return !ahead && turns && fills_ < *turns;
  }

  // Whether the condition is number < turns, or, in the loop, k + ahead <
  // turns.
  bool IsTurn(NodeId condition, std::optional<int64_t> ahead) const {
    const tensor::Node& node = nest_.pool[condition];
    if (node.opcode != Opcode::kLess) return false;
    const NodeId variable = roles_.turns.loop->variable;
    const NodeId turns = loops::ExtentOf(nest_.pool, variable);
    const auto constant = nest_.pool.IntegerConstant(turns);
    const auto bound = nest_.pool.IntegerConstant(node.operands[1]);
    if (node.operands[1] != turns && (!constant || bound != constant))
      return false;
    const auto sum = tensor::Linearize(nest_.pool, node.operands[0],
                                       /*by_ranges=*/false);
    if (!sum || sum->constant != ahead.value_or(fills_)) return false;
    if (!ahead) return sum->terms.empty();
    return sum->terms.size() == 1 && sum->terms[0].node == variable &&
           sum->terms[0].coefficient == 1;
  }

  static bool HasAsyncStore(const Statement& statement) {
    return std::ranges::any_of(statement.stores, &loops::Store::is_async) ||
           std::ranges::any_of(statement.body, HasAsyncStore);
  }

  // Of the first asynchronous store.
  static uint32_t RingOf(const Statement& statement) {
    const Statement* inner = &statement;
    while (inner->stores.empty())
      inner = &*std::ranges::find_if(inner->body, HasAsyncStore);
    return inner->stores[0].buffer;
  }

  // --- what else there is ---

  // Whether the statement has to do with the rings, or awaits. Or_their_memory:
  // or with buffers that share memory with them.
  bool Touches(const Statement& statement, bool or_their_memory) const {
    bool touches =
        statement.kind == Statement::Kind::kAwait ||
        std::ranges::any_of(statement.stores, &loops::Store::is_async);
    ForEachAccess(
        nest_, statement, [&](uint32_t buffer, bool, std::span<const NodeId>) {
          for (const uint32_t ring : filled_) {
            touches |= buffer == ring ||
                       (or_their_memory &&
                        memory_.ranges[buffer].Meets(memory_.ranges[ring]));
          }
        });
    return touches ||
           std::ranges::any_of(statement.body, [&](const Statement& inner) {
             return Touches(inner, or_their_memory);
           });
  }

  // Whether the products read slot k mod n of rings, in turn k, and of the
  // loop's rings those that are filled.
  bool ReadsItsSlots() {
    bool are_own = true;
    const auto look = [&](uint32_t buffer, bool stores,
                          std::span<const NodeId> indices) {
      if (rings_.LoopOf(buffer) != roles_.turns.loop->variable) return;
      const auto turn = rings_.TurnOf(buffer, indices[0]);
      are_own &= !stores && filled_.contains(buffer) && turn &&
                 turn->variable == roles_.turns.loop->variable &&
                 turn->offset == 0;
      roles_.slot = indices[0];
      has_slot_ = true;
    };
    const auto visit = [&](const auto& self,
                           const Statement& statement) -> void {
      ForEachAccess(nest_, statement, look);
      for (const Statement& inner : statement.body) self(self, inner);
    };
    visit(visit, *roles_.turns.products);
    return are_own && has_slot_;
  }

  const loops::LoopNest& nest_;
  const Block& body_;
  const SharedMemory& memory_;
  const std::vector<SharedPanels>& panels_;
  const Rings rings_;
  WarpRoles roles_;
  int64_t fills_ = 0;
  bool are_alike_ = true;
  bool has_slot_ = false;
  std::set<uint32_t> of_fill_, filled_;  // rings
  std::map<uint32_t, int64_t> bytes_of_ring_;
  std::vector<const Statement*> others_;  // before the loop and in it
};

}  // namespace

std::optional<WarpRoles> FindWarpRoles(
    const loops::LoopNest& nest, const Block& body,
    const std::vector<ProductsInFlight>& turns, const SharedMemory& memory,
    const std::vector<SharedPanels>& panels) {
  if (turns.size() != 1) return std::nullopt;
  return Finder(nest, body, memory, panels).Find(turns[0]);
}

}  // namespace ember::jit::gpu

#include "jit/gpu/warp_roles.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "jit/gpu/box_copies.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/rings.h"
#include "jit/loops/copied_box.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using tensor::Opcode;

namespace {

// Smallest number of slots of a ring with which products may stay in flight:
// two iterations' products read one slot each, while a third slot is filled.
constexpr int kFewestRingSlotsToGoOn = 3;

bool HasAwait(const Statement& statement) {
  return statement.kind == Statement::Kind::kAwait ||
         std::ranges::any_of(statement.body, HasAwait);
}

bool IsSerialLoop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor &&
         statement.loop == LoopKind::kSerial;
}

class Marker {
 public:
  Marker(loops::LoopNest& nest, int64_t subgroups, const SharedMemory& memory,
         const std::vector<loops::Panels>& panels, Block& body)
      : nest_(nest),
        body_(body),
        subgroups_(subgroups),
        memory_(memory),
        panels_(panels),
        rings_(nest, body, memory.is_of_many) {}

  // Marks the statements that only the producer executes, and returns the
  // rings. Returns nothing if the phase has no such roles; some statements may
  // be marked even then.
  std::optional<WarpRoles> Mark() {
    const auto loop =
        std::ranges::find_if(body_, [](const Statement& statement) {
          return IsSerialLoop(statement) && HasAsyncStore(statement);
        });
    if (loop == body_.end()) return std::nullopt;
    roles_.loop = static_cast<size_t>(loop - body_.begin());
    FindRingBuffers(loop->body);
    if (filled_.empty() || !FindReaders() || !GroupBuffers())
      return std::nullopt;
    for (auto before = body_.begin(); before != loop; ++before) {
      if (!LookAt(*before)) return std::nullopt;
    }
    if (!EnterLoop()) return std::nullopt;
    for (size_t i = 0; i < loop->body.size(); ++i) {
      if (!IsReader(i) && !LookAt(loop->body[i])) return std::nullopt;
    }
    if (!LeaveLoop()) return std::nullopt;
    // The phase gets no roles if a statement after the loop accesses the rings
    // or copies asynchronously.
    for (auto behind = loop + 1; behind != body_.end(); ++behind) {
      if (Touches(*behind, /*or_their_memory=*/false)) return std::nullopt;
    }
    FindThoseThatGoOn();
    AddReads();
    AddFills(body_);
    LeaveOutAwaits(body_);
    roles_.loop = LoopWithReaders();
    return std::move(roles_);
  }

 private:
  // --- rings

  Statement& Loop() { return body_[roles_.loop]; }
  const Statement& Loop() const { return body_[roles_.loop]; }
  NodeId Variable() const { return Loop().variable; }

  // Finds the ring buffers to which the loop stores asynchronously.
  void FindRingBuffers(const Block& block) {
    for (const Statement& statement : block) {
      for (const loops::Store& store : statement.stores) {
        if (store.is_async && rings_.LoopOf(store.buffer) == Variable())
          filled_.insert(store.buffer);
      }
      FindRingBuffers(statement.body);
    }
  }

  template <typename Visit>
  void ForEachAccessWithin(const Statement& statement, Visit&& visit) const {
    ForEachAccess(nest_, statement, visit);
    for (const Statement& inner : statement.body)
      ForEachAccessWithin(inner, visit);
  }

  // Finds the statements of the loop that read rings. Returns true if they read
  // slot k mod n in iteration k, and no statement accesses the rings' memory in
  // another way.
  bool FindReaders() {
    bool are_own = true;
    for (size_t i = 0; i < Loop().body.size(); ++i) {
      const Statement& statement = Loop().body[i];
      // A statement that copies to rings is skipped, because LookAt checks it.
      if (HasAsyncStore(statement)) continue;
      ForEachAccessWithin(statement, [&](uint32_t buffer, bool stores,
                                         std::span<const NodeId> indices) {
        if (!filled_.contains(buffer)) {
          are_own &= !OverlapsRings(buffer);
          return;
        }
        const auto ring_index = rings_.RingIndexOf(buffer, indices[0]);
        are_own &= !stores && ring_index &&
                   ring_index->variable == Variable() &&
                   ring_index->offset == 0;
        readers_[buffer].insert(i);
        slots_[buffer] = indices[0];
      });
    }
    return are_own;
  }

  bool IsReader(size_t position) const {
    return std::ranges::any_of(readers_, [&](const auto& of_buffer) {
      return of_buffer.second.contains(position);
    });
  }

  // True if the buffer shares memory with a ring of another buffer.
  bool OverlapsRings(uint32_t buffer) const {
    return std::ranges::any_of(filled_, [&](uint32_t ring) {
      return ring != buffer &&
             memory_.ranges[buffer].Overlaps(memory_.ranges[ring]);
    });
  }

  // Groups the buffers with slots into rings: buffers whose slots the same
  // statements read, with the same index, are filled together as one ring.
  bool GroupBuffers() {
    for (const uint32_t buffer : filled_) {
      if (OverlapsRings(buffer)) return false;
      WarpRoles::Ring ring = {.slots = rings_.CountOf(buffer),
                              .slot = slots_[buffer]};
      for (const size_t position : readers_[buffer]) {
        const auto subgroups = SubgroupsOf(Loop().body[position]);
        if (!subgroups || (ring.subgroups != 0 && ring.subgroups != subgroups))
          return false;
        ring.subgroups = *subgroups;
        ring.readers.push_back(position);
      }
      if (ring.readers.empty()) return false;
      const auto known =
          std::ranges::find_if(roles_.rings, [&](const WarpRoles::Ring& other) {
            return other.slots == ring.slots && other.readers == ring.readers;
          });
      const auto number = static_cast<size_t>(known - roles_.rings.begin());
      if (known == roles_.rings.end()) roles_.rings.push_back(std::move(ring));
      roles_.rings[number].buffers.push_back(buffer);
      ring_of_[buffer] = number;
    }
    fills_.resize(roles_.rings.size());
    return true;
  }

  std::optional<int64_t> SubgroupsOf(const Statement& statement) const {
    if (statement.kind != Statement::Kind::kFor ||
        statement.loop != LoopKind::kSubgroup) {
      return std::nullopt;
    }
    return nest_.pool.IntegerConstant(
        loops::ExtentOf(nest_.pool, statement.variable));
  }

  // --- fills

  // The fills of one ring found so far. A fill is all copies to the ring for
  // one iteration. `ahead`: for fills in the loop, the number of iterations
  // from the current one to the one that is filled. It is empty before the
  // loop, where fills are for iterations 0, 1 and so on.
  struct Fills {
    int64_t count = 0;
    // buffers to which the fill in progress has already copied
    std::set<uint32_t> begun;
    std::optional<int64_t> ahead;
  };

  bool LookAt(Statement& statement) {
    if (statement.kind == Statement::Kind::kAwait) {
      statement.of_producer = true;
      return true;
    }
    if (!HasAsyncStore(statement))
      return !Touches(statement, /*or_their_memory=*/true);
    if (statement.kind != Statement::Kind::kIf)
      return LookAtCopy(statement, std::nullopt);
    // A branch contains all copies of a fill or none, so no fill may be in
    // progress where the branch begins.
    if (!AreWhole()) return false;
    for (Statement& inner : statement.body) {
      if (inner.kind == Statement::Kind::kBarrier) continue;
      if (!HasAsyncStore(inner) || !LookAtCopy(inner, statement.condition))
        return false;
    }
    statement.of_producer = true;
    return AreWhole();
  }

  bool AreWhole() const {
    return std::ranges::all_of(
        fills_, [](const Fills& fills) { return fills.begun.empty(); });
  }

  // Checks one copy to a ring, and records it. condition: the condition of the
  // surrounding branch, if there is one.
  bool LookAtCopy(Statement& statement, std::optional<NodeId> condition) {
    const uint32_t buffer = StoredBy(statement);
    const auto known = ring_of_.find(buffer);
    if (known == ring_of_.end()) return false;
    const std::optional<BoxCopy> copy =
        BoxCopyOf(nest_, statement, panels_[buffer]);
    if (!copy) return false;
    Fills& fills = fills_[known->second];
    const int64_t number = fills.ahead.value_or(fills.count);
    const auto ring_index = rings_.RingIndexOf(buffer, copy->store->indices[0]);
    const bool is_of_iteration =
        ring_index && ring_index->offset == number &&
        ring_index->variable ==
            (fills.ahead ? std::optional(Variable()) : std::nullopt);
    if (!is_of_iteration ||
        (condition ? !IsIteration(*condition, fills.ahead, number)
                   : fills.ahead || !AllHaveIteration(number))) {
      return false;
    }
    WarpRoles::Ring& ring = roles_.rings[known->second];
    const bool begins_fill = fills.begun.empty();
    if (!fills.begun.insert(buffer).second) return false;
    if (fills.count == 0) ring.fill_bytes += copy->ring_slot_bytes;
    if (fills.begun.size() == ring.buffers.size()) {
      fills.begun.clear();
      ++fills.count;
    }
    const auto box = std::make_shared<loops::CopiedBox>(*copy);
    box->ring = static_cast<uint32_t>(known->second);
    if (begins_fill) begin_fills_.push_back({box, copy->store->indices[0]});
    statement.box = box;
    statement.of_producer = true;
    return true;
  }

  // True if the loop has this iteration in every call. A copy before the loop
  // then needs no condition. A copy in the loop always needs one, because the
  // last iterations have no later iteration to copy for.
  bool AllHaveIteration(int64_t iteration) const {
    return iteration <
           nest_.pool[loops::ExtentOf(nest_.pool, Variable())].range.low;
  }

  // True if the condition says that the iteration which is copied for exists:
  // its number is less than the loop's extent. The number is constant before
  // the loop, and k plus a constant in iteration k of the loop.
  bool IsIteration(NodeId condition, std::optional<int64_t> ahead,
                   int64_t iteration) const {
    const tensor::Node& node = nest_.pool[condition];
    if (node.opcode != Opcode::kLess) return false;
    const NodeId iterations = loops::ExtentOf(nest_.pool, Variable());
    const auto constant = nest_.pool.IntegerConstant(iterations);
    const auto bound = nest_.pool.IntegerConstant(node.operands[1]);
    if (node.operands[1] != iterations && (!constant || bound != constant))
      return false;
    const auto sum = tensor::Linearize(nest_.pool, node.operands[0],
                                       /*by_ranges=*/false);
    if (!sum || sum->constant != iteration) return false;
    if (!ahead) return sum->terms.empty();
    return sum->terms.size() == 1 && sum->terms[0].node == Variable() &&
           sum->terms[0].coefficient == 1;
  }

  // Returns the buffer of the statement's first asynchronous store.
  static uint32_t StoredBy(const Statement& statement) {
    const Statement* inner = &statement;
    while (inner->stores.empty())
      inner = &*std::ranges::find_if(inner->body, HasAsyncStore);
    return inner->stores[0].buffer;
  }

  bool EnterLoop() {
    for (Fills& fills : fills_) {
      fills.ahead = fills.count;
      if (fills.count == 0) return false;
    }
    return AreWhole();
  }

  // True if each iteration of the loop fills each ring exactly once.
  bool LeaveLoop() const {
    return AreWhole() && std::ranges::all_of(fills_, [](const Fills& fills) {
             return fills.count == *fills.ahead + 1;
           });
  }

  // --- other statements

  // True if the statement accesses the rings, stores asynchronously, or awaits.
  // or_their_memory: also true if it accesses buffers that share memory with
  // the rings.
  bool Touches(const Statement& statement, bool or_their_memory) const {
    bool touches = HasAsyncStore(statement) || HasAwait(statement);
    ForEachAccessWithin(statement,
                        [&](uint32_t buffer, bool, std::span<const NodeId>) {
                          touches |= filled_.contains(buffer) ||
                                     (or_their_memory && OverlapsRings(buffer));
                        });
    return touches;
  }

  // --- Products that stay in flight in the next iteration. ---

  void FindThoseThatGoOn() {
    const std::optional<size_t> products =
        FindProducts(nest_, Loop(), memory_, subgroups_);
    if (!products) return;
    const auto may_go_on = [&](const WarpRoles::Ring& ring) {
      return ring.readers == std::vector{*products} &&
             ring.slots >= kFewestRingSlotsToGoOn;
    };
    if (!std::ranges::all_of(roles_.rings, may_go_on) ||
        !LeavesOthersAlone(Loop().body[*products])) {
      return;
    }
    for (WarpRoles::Ring& ring : roles_.rings) ring.goes_on = true;
  }

  // True if the loop stores to no shared memory that the products read, other
  // than the rings.
  bool LeavesOthersAlone(const Statement& products) const {
    bool leaves = true;
    ForEachAccessWithin(
        products, [&](uint32_t read, bool, std::span<const NodeId>) {
          if (filled_.contains(read) || !memory_.is_of_many[read]) return;
          const auto look = [&](uint32_t buffer, bool stores,
                                std::span<const NodeId>) {
            leaves &= !stores ||
                      (buffer != read &&
                       !memory_.ranges[buffer].Overlaps(memory_.ranges[read]));
          };
          ForEachAccessWithin(Loop(), look);
        });
    return leaves;
  }

  // --- steps of slots

  static Statement StepOf(loops::SlotStep step, size_t ring, NodeId slot) {
    Statement statement;
    statement.kind = Statement::Kind::kSlot;
    statement.step = step;
    statement.slot = {static_cast<uint32_t>(ring), slot};
    statement.of_producer = step == loops::SlotStep::kFill;
    return statement;
  }

  // Adds the statements with which readers await and release slots. A reader
  // whose products stay in flight releases its slot in the next iteration, or
  // after the loop.
  void AddReads() {
    using enum loops::SlotStep;
    for (size_t i = roles_.rings.size(); i-- > 0;) {
      const WarpRoles::Ring& ring = roles_.rings[i];
      Statement& first = Loop().body[ring.readers.front()];
      first.body.insert(first.body.begin(), StepOf(kAwait, i, ring.slot));
      first.stays_in_flight |= ring.goes_on;
    }
    for (size_t i = 0; i < roles_.rings.size(); ++i) {
      const WarpRoles::Ring& ring = roles_.rings[i];
      Statement& last = Loop().body[ring.readers.back()];
      if (!ring.goes_on)
        last.body.push_back(StepOf(kRelease, i, ring.slot));
      else
        AddLateReleases(i, last.variable);
    }
  }

  void AddLateReleases(size_t ring, NodeId subgroups) {
    const NodeId iterations = loops::ExtentOf(nest_.pool, Variable());
    const size_t loop = roles_.loop;
    body_[loop].body.push_back(LateRelease(ring, subgroups, Variable()));
    const bool has_any = nest_.pool[iterations].range.low > 0;
    Statement after = LateRelease(ring, subgroups, iterations);
    if (has_any) after = Statement(after.body[0]);
    body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(loop + 1 + ring),
                 std::move(after));
  }

  // Returns a statement that releases the slot read in the iteration before
  // `iteration`. In iteration 0 it has no effect.
  Statement LateRelease(size_t ring, NodeId subgroups, NodeId iteration) {
    const int64_t slots = roles_.rings[ring].slots;
    const NodeId zero = nest_.pool.Integer(0);
    const NodeId before[] = {iteration, nest_.pool.Integer(slots - 1)};
    const NodeId sum = Make(Opcode::kAdd, DType::kI64, before, 0);
    const NodeId operands[] = {sum, nest_.pool.Integer(slots)};
    const auto known = nest_.pool.IntegerConstant(iteration);
    const NodeId slot =
        known ? nest_.pool.Integer((*known + slots - 1) % slots)
              : Make(Opcode::kModulo, DType::kI64, operands, loops::kRaw);
    Statement subgroup;
    subgroup.kind = Statement::Kind::kFor;
    subgroup.loop = LoopKind::kSubgroup;
    subgroup.variable = subgroups;
    subgroup.body.push_back(StepOf(loops::SlotStep::kRelease, ring, slot));
    const NodeId is_later[] = {zero, iteration};
    Statement statement;
    statement.kind = Statement::Kind::kIf;
    statement.condition = Make(Opcode::kLess, DType::kBool, is_later, 0);
    statement.body.push_back(std::move(subgroup));
    return statement;
  }

  NodeId Make(Opcode opcode, DType type, std::span<const NodeId> operands,
              uint64_t immediate) {
    return nest_.pool.Intern(opcode, type, operands, immediate, /*scope=*/1);
  }

  // Inserts the statement that begins a fill before the first copy of each
  // fill.
  void AddFills(Block& block) const {
    Block result;
    for (Statement& statement : block) {
      const auto fill =
          std::ranges::find(begin_fills_, statement.box, &BeginOfFill::box);
      if (statement.box != nullptr && fill != begin_fills_.end()) {
        result.push_back(
            StepOf(loops::SlotStep::kFill, statement.box->ring, fill->slot));
      }
      AddFills(statement.body);
      result.push_back(std::move(statement));
    }
    block = std::move(result);
  }

  // Removes all awaits of asynchronous stores, which the awaits of slots have
  // replaced.
  static void LeaveOutAwaits(Block& block) {
    std::erase_if(block, [](const Statement& statement) {
      return statement.kind == Statement::Kind::kAwait;
    });
    for (Statement& statement : block) LeaveOutAwaits(statement.body);
  }

  // Searches for the loop again, because inserted statements have moved it.
  // Returns its position.
  size_t LoopWithReaders() const {
    const auto is_it = [&](const Statement& statement) {
      return IsSerialLoop(statement) && HasAsyncStore(statement);
    };
    return static_cast<size_t>(std::ranges::find_if(body_, is_it) -
                               body_.begin());
  }

  loops::LoopNest& nest_;
  Block& body_;
  const int64_t subgroups_;
  const SharedMemory& memory_;
  const std::vector<loops::Panels>& panels_;
  const Rings rings_;
  WarpRoles roles_;
  std::set<uint32_t> filled_;  // the buffers of all rings
  // For each buffer with ring slots: the positions, in the loop's body, of the
  // statements that read it.
  std::map<uint32_t, std::set<size_t>> readers_;
  // for each ring buffer: the index of the slot that its readers access
  std::map<uint32_t, NodeId> slots_;
  // for each ring buffer: the position of its ring in roles_.rings
  std::map<uint32_t, size_t> ring_of_;
  std::vector<Fills> fills_;  // for each ring: its fills so far
  // The first copy of a fill, before which the statement that begins the fill
  // is inserted, and the index of the fill's slot.
  struct BeginOfFill {
    std::shared_ptr<const loops::CopiedBox> box;
    NodeId slot = 0;
  };
  std::vector<BeginOfFill> begin_fills_;
};

}  // namespace

int64_t WarpRoles::BarrierCount() const {
  int64_t count = 0;
  for (const Ring& ring : rings) count += 2 * ring.slots;
  return count;
}

bool WarpRoles::GoesOn() const {
  return std::ranges::any_of(rings, &Ring::goes_on);
}

std::optional<WarpRoles> MarkWarpRoles(loops::LoopNest& nest, int64_t subgroups,
                                       const SharedMemory& memory,
                                       const std::vector<loops::Panels>& panels,
                                       Block& body) {
  Block marked = body;
  std::optional<WarpRoles> roles =
      Marker(nest, subgroups, memory, panels, marked).Mark();
  if (roles) body = std::move(marked);
  return roles;
}

}  // namespace ember::jit::gpu

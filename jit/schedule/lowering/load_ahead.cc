
#include "jit/schedule/lowering/load_ahead.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/loops/walk.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::Buffer;
using loops::LoopKind;
using loops::LoopNest;
using loops::MemoryScope;
using loops::Statement;
using loops::Store;
using tensor::Node;
using tensor::NodeId;
using tensor::Opcode;

NodeId Make(LoopNest& nest, Opcode opcode, DType type, NodeId a, NodeId b) {
  const NodeId operands[] = {a, b};
  return tensor::Simplifier(nest.pool).Make(opcode, type, operands);
}

bool StoresTo(const Statement& statement, uint32_t buffer) {
  return std::ranges::any_of(
             statement.stores,
             [&](const Store& store) { return store.buffer == buffer; }) ||
         std::ranges::any_of(statement.body, [&](const Statement& inner) {
           return StoresTo(inner, buffer);
         });
}

// Returns part of the block's statements: those that store to the buffer if
// `stores` is true, otherwise all others. The conditions around a statement and
// the checks right before it are kept with it.
Block PartOf(const Block& block, uint32_t buffer, bool stores) {
  Block part, checks;
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::kCheck) {
      checks.push_back(statement);
      continue;
    }
    Statement kept = statement;
    bool is_kept = StoresTo(statement, buffer) == stores;
    if (statement.kind == Statement::Kind::kIf) {
      kept.body = PartOf(statement.body, buffer, stores);
      is_kept = !kept.body.empty();
    }
    if (is_kept) {
      std::ranges::move(checks, std::back_inserter(part));
      part.push_back(std::move(kept));
    }
    checks.clear();
  }
  return part;
}

// Copies statements, with some variables replaced by expressions.
class Copier {
 public:
  enum class Mode : uint8_t { kDirect, kToRegisters, kFromRegisters, kAsync };

  // Makes the copies store to slot `slot` of the buffer `tile` where the
  // original statements store to `tile`.
  Copier(LoopNest& nest, uint32_t tile, NodeId slot, Mode mode = Mode::kDirect,
         uint32_t registers = 0)
      : nest_(nest),
        tile_(tile),
        slot_(slot),
        mode_(mode),
        registers_(registers),
        rewriter_(nest.pool, nest.pool,
                  [this](NodeId id) -> std::optional<NodeId> {
                    const auto known = values_.find(id);
                    if (known == values_.end()) return std::nullopt;
                    return known->second;
                  }) {}

  void Replace(NodeId variable, NodeId value) {
    values_.emplace(variable, value);
  }

  void Copy(const Block& block, Block& out) {
    for (const Statement& statement : block) {
      Statement copy = statement;
      switch (statement.kind) {
        case Statement::Kind::kFor:
          CopyLoop(statement, copy);
          break;
        case Statement::Kind::kIf:
          copy.condition = rewriter_.Rewrite(statement.condition);
          copy.body.clear();
          if (const auto known = nest_.pool.IntegerConstant(copy.condition)) {
            if (*known != 0) Copy(statement.body, out);
            continue;
          }
          Copy(statement.body, copy.body);
          break;
        case Statement::Kind::kStore:
          CopyStores(statement, copy);
          break;
        case Statement::Kind::kCheck:
        case Statement::Kind::kPrefetch:
          copy.index = rewriter_.Rewrite(statement.index);
          copy.extent = rewriter_.Rewrite(statement.extent);
          break;
        case Statement::Kind::kAwait:
        case Statement::Kind::kBarrier:
        case Statement::Kind::kSlot:
        case Statement::Kind::kFirst:
          break;
      }
      out.push_back(std::move(copy));
    }
  }

 private:
  void CopyLoop(const Statement& loop, Statement& copy) {
    const Node variable = nest_.pool[loop.variable];
    const NodeId extent = rewriter_.Rewrite(variable.operands[0]);
    copy.variable = loop.variable;
    if (extent != variable.operands[0]) {
      copy.variable =
          nest_.pool.Intern(Opcode::kAxis, DType::kI64, {&extent, 1},
                            variable.immediate, variable.scope);
      Replace(loop.variable, copy.variable);
    }
    around_.push_back(copy);
    around_.back().body.clear();
    copy.body.clear();
    Copy(loop.body, copy.body);
    around_.pop_back();
  }

  void CopyStores(const Statement& statement, Statement& copy) {
    for (size_t i = 0; i < statement.stores.size(); ++i) {
      const Store& original = statement.stores[i];
      Store& store = copy.stores[i];
      store.value = mode_ == Mode::kFromRegisters
                        ? LoadRegister()
                        : rewriter_.Rewrite(original.value);
      store.indices = rewriter_.Rewrite(original.indices);
      if (mode_ == Mode::kToRegisters) {
        store.buffer = registers_;
        store.indices = RegisterIndices();
      } else if (store.buffer == tile_) {
        store.indices.insert(store.indices.begin(), slot_);
        store.is_async = mode_ == Mode::kAsync && IsCopy(store.value);
      }
    }
  }

  // True if storing the value can be an asynchronous copy: the value is a load,
  // in an invocation loop, from memory that does not change while the phase
  // runs.
  bool IsCopy(NodeId value) const {
    const Node& node = nest_.pool[value];
    if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad)
      return false;
    const MemoryScope scope = nest_.buffers[node.buffer].scope;
    return (scope == MemoryScope::kInput || scope == MemoryScope::kPacked) &&
           std::ranges::any_of(around_, loops::IsInvocationLoop);
  }

  std::vector<NodeId> RegisterIndices() const {
    std::vector<NodeId> indices;
    for (const Statement& loop : around_) {
      if (loop.loop == LoopKind::kInvocation)
        indices.insert(indices.begin(), loop.variable);
      else
        indices.push_back(loop.variable);
    }
    return indices;
  }

  NodeId LoadRegister() {
    return nest_.pool.Intern(Opcode::kLoad, nest_.buffers[registers_].type,
                             RegisterIndices(), 0, 1, registers_);
  }

  LoopNest& nest_;
  uint32_t tile_;
  NodeId slot_;
  Mode mode_;
  uint32_t registers_;
  std::vector<Statement> around_;  // the loops around the copied statement,
                                   // outermost first
  std::map<NodeId, NodeId> values_;
  Rewriter rewriter_;
};

// Makes the statements read slot `slot` of the buffer `tile` where they read
// `tile`.
class RingSlotReader {
 public:
  RingSlotReader(LoopNest& nest, uint32_t tile, NodeId slot)
      : rewriter_(
            nest.pool, nest.pool,
            [](NodeId) -> std::optional<NodeId> { return std::nullopt; },
            [&nest, tile, slot](NodeId id, std::span<const NodeId> operands)
                -> std::optional<NodeId> {
              const Node node = nest.pool[id];
              const bool reads =
                  node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
              if (!reads || node.buffer != tile) return std::nullopt;
              std::vector<NodeId> indices = {slot};
              indices.insert(indices.end(), operands.begin(), operands.end());
              return nest.pool.Intern(node.opcode, node.type, indices,
                                      node.immediate, node.scope, node.buffer);
            }) {}

  void Rewrite(Block& block) {
    for (Statement& statement : block) {
      switch (statement.kind) {
        case Statement::Kind::kFor:
          // A loop itself needs no change, because its extent contains no load.
          break;
        case Statement::Kind::kIf:
          statement.condition = rewriter_.Rewrite(statement.condition);
          break;
        case Statement::Kind::kStore:
          for (Store& store : statement.stores) {
            store.value = rewriter_.Rewrite(store.value);
            store.indices = rewriter_.Rewrite(store.indices);
          }
          break;
        case Statement::Kind::kCheck:
          statement.index = rewriter_.Rewrite(statement.index);
          statement.extent = rewriter_.Rewrite(statement.extent);
          break;
        case Statement::Kind::kPrefetch:
          statement.index = rewriter_.Rewrite(statement.index);
          break;
        case Statement::Kind::kAwait:
        case Statement::Kind::kBarrier:
        case Statement::Kind::kSlot:
        case Statement::Kind::kFirst:
          break;
      }
      Rewrite(statement.body);
    }
  }

 private:
  Rewriter rewriter_;
};

// Finds the extents of the loops around each store, that of the invocation loop
// first. They are the extents of a buffer of registers. Returns false if two
// stores have loops of different extents, or if a loop is not unrolled, so that
// it cannot index registers.
using Extents = std::vector<NodeId>;
bool FindRegisterExtents(const LoopNest& nest, const Block& block,
                         Extents& invocation, Extents& others,
                         std::optional<Extents>& registers) {
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::kStore) {
      if (invocation.size() != 1) return false;
      Extents found = invocation;
      found.insert(found.end(), others.begin(), others.end());
      if (registers && *registers != found) return false;
      registers = std::move(found);
      continue;
    }
    Extents* around = nullptr;
    if (statement.kind == Statement::Kind::kFor) {
      const bool binds = statement.loop == LoopKind::kInvocation;
      if (!binds && statement.loop != LoopKind::kUnrolled &&
          statement.loop != LoopKind::kVector) {
        return false;
      }
      around = binds ? &invocation : &others;
      around->push_back(loops::ExtentOf(nest.pool, statement.variable));
    }
    if (!FindRegisterExtents(nest, statement.body, invocation, others,
                             registers))
      return false;
    if (around != nullptr) around->pop_back();
  }
  return true;
}

// Adds a buffer of registers to which each invocation loads its elements of the
// tile before it stores them there. Returns nullopt if registers cannot hold
// them.
std::optional<uint32_t> AddRegisters(const Block& loads, uint32_t tile,
                                     LoopNest& nest) {
  Extents invocation, others;
  std::optional<Extents> extents;
  if (!FindRegisterExtents(nest, loads, invocation, others, extents) ||
      !extents)
    return std::nullopt;
  Buffer registers;
  registers.name = nest.buffers[tile].name + ".ahead";
  const auto taken = [&](const Buffer& buffer) {
    return buffer.name == registers.name;
  };
  while (std::ranges::any_of(nest.buffers, taken)) registers.name += "_1";
  registers.type = nest.buffers[tile].type;
  registers.scope = MemoryScope::kRegister;
  registers.extents = *std::move(extents);
  nest.buffers.push_back(std::move(registers));
  return static_cast<uint32_t>(nest.buffers.size() - 1);
}

// Appends an If with the condition a < b around the statements.
void AppendIf(LoopNest& nest, NodeId a, NodeId b, Block statements,
              Block& out) {
  Statement branch;
  branch.kind = Statement::Kind::kIf;
  branch.condition = Make(nest, Opcode::kLess, DType::kBool, a, b);
  const auto known = nest.pool.IntegerConstant(branch.condition);
  if (statements.empty() || known == 0) return;
  if (known) {
    std::ranges::move(statements, std::back_inserter(out));
    return;
  }
  branch.body = std::move(statements);
  out.push_back(std::move(branch));
}

// Appends statements that load the tile for the given iteration into the slot.
// `loads`: the original statements in the loop's body, where `variable` is the
// loop's variable.
void AppendCopies(const Block& loads, const AheadTile& tile, NodeId variable,
                  NodeId iteration, NodeId slot, LoopNest& nest, Block& out) {
  Copier copier(nest, tile.buffer, slot, Copier::Mode::kAsync);
  copier.Replace(variable, iteration);
  copier.Copy(loads, out);
}

Statement AwaitAllBut(int64_t groups) {
  Statement await;
  await.kind = Statement::Kind::kAwait;
  await.groups = groups;
  return await;
}

// Makes the loop load the tiles asynchronously; all have the same number of
// slots. Moves the loads out of the loop's body. before: gets the loads for the
// first iterations, which come before the loop. awaits: gets the statements
// with which each iteration begins. copies: gets the loads for a later
// iteration.
void LoadAsync(std::span<const AheadTile> tiles, Statement& loop, Block& before,
               Block& awaits, Block& copies, LoopNest& nest) {
  const int64_t slots = tiles[0].slots;
  const int64_t ahead = slots - (tiles[0].has_spare ? 2 : 1);
  const NodeId extent = loops::ExtentOf(nest.pool, loop.variable);
  const NodeId count = nest.pool.Integer(slots);
  const auto slot_of = [&](NodeId iteration) {
    return Make(nest, Opcode::kModulo, DType::kI64, iteration, count);
  };
  std::vector<Block> loads;
  for (const AheadTile& tile : tiles) {
    loads.push_back(PartOf(loop.body, tile.buffer, true));
    loop.body = PartOf(loop.body, tile.buffer, false);
    RingSlotReader(nest, tile.buffer, slot_of(loop.variable))
        .Rewrite(loop.body);
    std::vector<NodeId>& extents = nest.buffers[tile.buffer].extents;
    extents.insert(extents.begin(), count);
  }
  const auto append = [&](NodeId iteration, Block& out) {
    Block of_iteration;
    for (size_t i = 0; i < tiles.size(); ++i) {
      AppendCopies(loads[i], tiles[i], loop.variable, iteration,
                   slot_of(iteration), nest, of_iteration);
    }
    AppendIf(nest, iteration, extent, std::move(of_iteration), out);
  };
  for (int64_t iteration = 0; iteration < ahead; ++iteration) {
    if (iteration > 0) before.push_back(AwaitAllBut(ahead - 1));
    append(nest.pool.Integer(iteration), before);
  }
  awaits.push_back(AwaitAllBut(ahead - 1));
  append(Make(nest, Opcode::kAdd, DType::kI64, loop.variable,
              nest.pool.Integer(ahead)),
         copies);
}

}  // namespace

std::vector<AheadTile> TilesAhead(const Schedule& schedule, int stage,
                                  int loop) {
  std::vector<AheadTile> tiles;
  for (int i = 0; i < stage; ++i) {
    const StagePlan& plan = schedule.plan(i);
    if (plan.ahead.buffering == Buffering::kSingle ||
        plan.attach_stage != stage || plan.attach_loop != loop) {
      continue;
    }
    tiles.push_back(
        {.buffer = schedule.computation().stages[i].stores[0].buffer,
         .by_registers = plan.ahead.buffering == Buffering::kDoubleByRegisters,
         .slots =
             plan.ahead.buffering == Buffering::kAsync ? plan.ahead.slots : 0,
         .is_late = plan.ahead.is_late,
         .has_spare = plan.ahead.has_spare});
  }
  return tiles;
}

void LoadAhead(std::span<const AheadTile> tiles, Statement& loop, Block& before,
               LoopNest& nest) {
  const NodeId extent = loops::ExtentOf(nest.pool, loop.variable);
  const std::optional<int64_t> iterations = nest.pool.IntegerConstant(extent);
  if (tiles.empty() || (iterations && *iterations < 2)) return;
  const NodeId zero = nest.pool.Integer(0), two = nest.pool.Integer(2);
  const NodeId next = Make(nest, Opcode::kAdd, DType::kI64, loop.variable,
                           nest.pool.Integer(1));
  const NodeId half =
      Make(nest, Opcode::kModulo, DType::kI64, loop.variable, two);
  const NodeId other = Make(nest, Opcode::kModulo, DType::kI64, next, two);
  Block first, begin, end, awaits, copies;
  std::vector<AheadTile> by_copies;
  for (const AheadTile& tile : tiles) {
    if (tile.slots != 0) by_copies.push_back(tile);
  }
  if (!by_copies.empty())
    LoadAsync(by_copies, loop, before, awaits, copies, nest);
  const bool are_late = !by_copies.empty() && by_copies[0].is_late;
  for (const AheadTile& tile : tiles) {
    if (tile.slots != 0) continue;
    const Block loads = PartOf(loop.body, tile.buffer, true);
    loop.body = PartOf(loop.body, tile.buffer, false);
    RingSlotReader(nest, tile.buffer, half).Rewrite(loop.body);
    std::vector<NodeId>& extents = nest.buffers[tile.buffer].extents;
    extents.insert(extents.begin(), two);
    Copier at_first(nest, tile.buffer, zero);
    at_first.Replace(loop.variable, zero);
    at_first.Copy(loads, first);
    std::optional<uint32_t> registers;
    if (tile.by_registers) registers = AddRegisters(loads, tile.buffer, nest);
    if (registers) {
      Copier early(nest, tile.buffer, other, Copier::Mode::kToRegisters,
                   *registers);
      early.Replace(loop.variable, next);
      early.Copy(loads, begin);
    }
    Copier late(
        nest, tile.buffer, other,
        registers ? Copier::Mode::kFromRegisters : Copier::Mode::kDirect,
        registers.value_or(0));
    late.Replace(loop.variable, next);
    late.Copy(loads, end);
  }
  AppendIf(nest, zero, extent, std::move(first), before);
  Block body;
  std::ranges::move(awaits, std::back_inserter(body));
  if (!are_late) std::ranges::move(copies, std::back_inserter(body));
  AppendIf(nest, next, extent, std::move(begin), body);
  std::ranges::move(loop.body, std::back_inserter(body));
  if (are_late) std::ranges::move(copies, std::back_inserter(body));
  AppendIf(nest, next, extent, std::move(end), body);
  loop.body = std::move(body);
}

}  // namespace ember::schedule

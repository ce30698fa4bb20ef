
#include "jit/schedule/lowering/own_tiles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/loops/walk.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using tensor::Node;
using tensor::NodeId;
using tensor::Opcode;

// Largest number of iterations, of all loops around an access together, for
// which its indices are evaluated.
constexpr int64_t kMaxPoints = int64_t{1} << 16;

// Evaluates index expressions for many values of their variables.
class Table {
 public:
  Table(const loops::LoopNest& nest, std::span<const NodeId> roots,
        std::span<const NodeId> variables)
      : nest_(nest),
        roots_(roots.begin(), roots.end()),
        variables_(variables.begin(), variables.end()),
        order_(loops::NodesUnder(nest.pool, roots)) {}

  // Returns the values of the expressions for the values `point` of the
  // variables. Returns nullopt if an expression contains anything but these
  // variables and constants.
  std::optional<std::vector<int64_t>> At(std::span<const int64_t> point) {
    for (NodeId id : order_) {
      const Node& node = nest_.pool[id];
      switch (node.opcode) {
        case Opcode::kConstant:
          values_[id] = node.immediate;
          continue;
        case Opcode::kAxis: {
          const auto at = std::ranges::find(variables_, id);
          if (at == variables_.end()) return std::nullopt;
          values_[id] = static_cast<uint64_t>(
              point[static_cast<size_t>(at - variables_.begin())]);
          continue;
        }
        case Opcode::kParameter:
        case Opcode::kLoad:
        case Opcode::kPad:
          return std::nullopt;
        default:
          break;
      }
      std::array<uint64_t, 3> operands = {};
      for (size_t i = 0; i < node.operands.size() && i < operands.size(); ++i)
        operands[i] = values_[node.operands[i]];
      values_[id] = tensor::EvaluateScalar(
          node.opcode, nest_.pool[node.operands[0]].type, node.type,
          {operands[0], operands[1], operands[2]});
    }
    std::vector<int64_t> result;
    for (NodeId root : roots_)
      result.push_back(static_cast<int64_t>(values_[root]));
    return result;
  }

 private:
  const loops::LoopNest& nest_;
  std::vector<NodeId> roots_;
  std::vector<NodeId> variables_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, uint64_t> values_;
};

class Owner {
 public:
  explicit Owner(loops::LoopNest& nest)
      : nest_(nest), tiles_(nest.buffers.size()) {
    for (size_t i = 0; i < tiles_.size(); ++i) {
      tiles_[i].fits = nest.buffers[i].scope == MemoryScope::kTask &&
                       !nest.buffers[i].extents.empty();
    }
  }

  void Run() {
    for (const auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (const loops::Phase& phase : *phases) Visit(phase.body);
    }
    bool any = false;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      Tile& tile = tiles_[i];
      tile.fits &= !tile.extents.empty();
      if (!tile.fits) continue;
      any = true;
      nest_.buffers[i].extents.clear();
      for (int64_t extent : tile.extents)
        nest_.buffers[i].extents.push_back(nest_.pool.Integer(extent));
    }
    if (!any) return;
    Rewriter rewriter(nest_.pool, nest_.pool,
                      [&](NodeId id) { return Replace(id); });
    for (auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (loops::Phase& phase : *phases) Rewrite(phase.body, rewriter);
    }
  }

 private:
  // The common properties of all accesses to a buffer that were visited so far.
  struct Tile {
    bool fits = false;
    // extents of the loops around an access; empty before the first access is
    // visited
    std::vector<int64_t> extents;
    std::vector<int64_t> elements;  // for each iteration of the loops around an
                                    // access: the number of the accessed
                                    // element
  };
  struct LoopAround {
    NodeId variable = 0;
    LoopKind kind = LoopKind::kSerial;
  };

  // --- Finding the buffers that can be replaced. ---

  void Visit(const Block& block) {
    for (const Statement& statement : block) {
      if (statement.kind == Statement::Kind::kFor) {
        around_.push_back({statement.variable, statement.loop});
        Visit(statement.body);
        around_.pop_back();
        continue;
      }
      if (statement.kind == Statement::Kind::kPrefetch)
        tiles_[statement.buffer].fits = false;
      for (const loops::Store& store : statement.stores)
        VisitAccess(store.buffer, store.indices);
      for (NodeId id : loops::NodesUnder(
               nest_.pool, loops::RootsOf(nest_.pool, statement))) {
        const Node& node = nest_.pool[id];
        if (node.opcode == Opcode::kPad) tiles_[node.buffer].fits = false;
        if (node.opcode != Opcode::kLoad || !tiles_[node.buffer].fits) continue;
        const std::optional<std::vector<NodeId>> loops =
            VisitAccess(node.buffer, node.operands);
        if (!loops) continue;
        // One load node may occur in several places. If the loops around these
        // places differ, the buffer is not replaced.
        const auto [known, is_new] = loads_.emplace(id, *loops);
        if (!is_new && known->second != *loops)
          tiles_[node.buffer].fits = false;
      }
      Visit(statement.body);
    }
  }

  // Returns the variables of the loops on which the access depends, that of the
  // invocation loop first. Returns nullopt if the access does not fit the
  // earlier ones, so that the buffer is not replaced.
  std::optional<std::vector<NodeId>> VisitAccess(
      uint32_t buffer, const std::vector<NodeId>& indices) {
    Tile& tile = tiles_[buffer];
    if (!tile.fits) return std::nullopt;
    tile.fits = false;
    const std::optional<std::vector<NodeId>> variables = VariablesOf(indices);
    if (!variables) return std::nullopt;
    std::vector<int64_t> extents;
    int64_t points = 1;
    for (NodeId variable : *variables) {
      const std::optional<int64_t> extent =
          nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, variable));
      if (!extent || *extent < 1 || points > kMaxPoints / *extent)
        return std::nullopt;
      points *= *extent;
      extents.push_back(*extent);
    }
    if (!tile.extents.empty() && tile.extents != extents) return std::nullopt;
    const std::optional<std::vector<int64_t>> elements =
        ElementsOf(buffer, indices, *variables, extents, points);
    if (!elements) return std::nullopt;
    if (tile.extents.empty()) {
      if (!AreDistinct(*elements)) return std::nullopt;
      tile.extents = extents;
      tile.elements = *elements;
    }
    tile.fits = tile.elements == *elements;
    return variables;
  }

  // Returns the variables of loops around the access: of invocation loops, then
  // of the unrolled and vector loops whose variables the indices contain,
  // outermost first. Returns nullopt if no invocation loop is around it.
  std::optional<std::vector<NodeId>> VariablesOf(
      std::span<const NodeId> indices) const {
    std::vector<NodeId> variables;
    for (const LoopAround& loop : around_) {
      if (loop.kind == LoopKind::kInvocation)
        variables.insert(variables.begin(), loop.variable);
    }
    if (variables.empty()) return std::nullopt;
    const std::vector<NodeId> nodes = loops::NodesUnder(nest_.pool, indices);
    for (const LoopAround& loop : around_) {
      if ((loop.kind == LoopKind::kUnrolled ||
           loop.kind == LoopKind::kVector) &&
          std::ranges::find(nodes, loop.variable) != nodes.end()) {
        variables.push_back(loop.variable);
      }
    }
    return variables;
  }

  // Returns the number of the element that the access reads or stores, for each
  // iteration of the loops; nullopt if it is not known.
  std::optional<std::vector<int64_t>> ElementsOf(
      uint32_t buffer, std::span<const NodeId> indices,
      std::span<const NodeId> variables, std::span<const int64_t> extents,
      int64_t points) const {
    std::vector<int64_t> dims;
    for (NodeId extent : nest_.buffers[buffer].extents) {
      const std::optional<int64_t> constant =
          nest_.pool.IntegerConstant(extent);
      if (!constant) return std::nullopt;
      dims.push_back(*constant);
    }
    Table table(nest_, indices, variables);
    std::vector<int64_t> elements, point(extents.size());
    for (int64_t i = 0; i < points; ++i) {
      int64_t rest = i;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        point[d] = rest % extents[d];
      const std::optional<std::vector<int64_t>> at = table.At(point);
      if (!at) return std::nullopt;
      int64_t element = 0;
      for (size_t d = 0; d < dims.size(); ++d) {
        // An index outside of the buffer occurs only at a point that a guard
        // excludes. A buffer with such an access is not replaced.
        const bool inside = (*at)[d] >= 0 && (*at)[d] < dims[d];
        if (!inside) return std::nullopt;
        element = element * dims[d] + (*at)[d];
      }
      elements.push_back(element);
    }
    return elements;
  }

  static bool AreDistinct(std::vector<int64_t> elements) {
    std::ranges::sort(elements);
    return std::ranges::adjacent_find(elements) == elements.end();
  }

  // --- Replacing the indices. ---

  std::optional<NodeId> Replace(NodeId id) {
    const Node& node = nest_.pool[id];
    if (node.opcode != Opcode::kLoad || !tiles_[node.buffer].fits)
      return std::nullopt;
    const auto loops = loads_.find(id);
    if (loops == loads_.end()) return std::nullopt;
    return nest_.pool.Intern(Opcode::kLoad, node.type, loops->second,
                             node.immediate, node.scope, node.buffer);
  }

  void Rewrite(Block& block, Rewriter& rewriter) {
    for (Statement& statement : block) {
      switch (statement.kind) {
        case Statement::Kind::kFor:
          around_.push_back({statement.variable, statement.loop});
          Rewrite(statement.body, rewriter);
          around_.pop_back();
          break;
        case Statement::Kind::kIf:
          statement.condition = rewriter.Rewrite(statement.condition);
          Rewrite(statement.body, rewriter);
          break;
        case Statement::Kind::kCheck:
          statement.index = rewriter.Rewrite(statement.index);
          statement.extent = rewriter.Rewrite(statement.extent);
          break;
        case Statement::Kind::kPrefetch:
        case Statement::Kind::kAwait:
        case Statement::Kind::kBarrier:
        case Statement::Kind::kSlot:
        case Statement::Kind::kFirst:
          break;
        case Statement::Kind::kStore:
          for (loops::Store& store : statement.stores) {
            store.value = rewriter.Rewrite(store.value);
            store.indices = tiles_[store.buffer].fits
                                ? *VariablesOf(store.indices)
                                : rewriter.Rewrite(store.indices);
          }
          break;
      }
    }
  }

  loops::LoopNest& nest_;
  std::vector<Tile> tiles_;  // for each buffer: the common properties of its
                             // accesses
  // For each load: the variables of the loops on which it depends.
  std::unordered_map<NodeId, std::vector<NodeId>> loads_;
  std::vector<LoopAround> around_;  // the loops around the visited statement,
                                    // outermost first
};

}  // namespace

void MakeTilesOwn(loops::LoopNest& nest) { Owner(nest).Run(); }

}  // namespace ember::schedule

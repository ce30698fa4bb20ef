
#include "jit/schedule/core/split_dims.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// The quotient and the remainder of an index: index = high * factor + low, with
// low in 0..factor-1.
struct Digits {
  NodeId high = 0;
  NodeId low = 0;
  int64_t factor = 0;
};

std::optional<Digits> DigitsOf(const tensor::ExpressionPool& pool,
                               NodeId index) {
  const tensor::Node& sum = pool[index];
  if (sum.opcode != Opcode::kAdd) return std::nullopt;
  for (const int first : {0, 1}) {
    const tensor::Node& product = pool[sum.operands[first]];
    const NodeId low = sum.operands[1 - first];
    if (product.opcode != Opcode::kMultiply) continue;
    for (const int other : {0, 1}) {
      const std::optional<int64_t> factor =
          pool.IntegerConstant(product.operands[other]);
      if (!factor || *factor < 2) continue;
      const tensor::Interval range = pool[low].range;
      if (range.low < 0 || range.high >= *factor) continue;
      return Digits{product.operands[1 - other], low, *factor};
    }
  }
  return std::nullopt;
}

struct Dim {
  uint32_t buffer = 0;
  size_t number = 0;
  auto operator<=>(const Dim&) const = default;
};

struct Axis {
  size_t stage = 0;
  size_t number = 0;
  auto operator<=>(const Axis&) const = default;
};

// An axis of a sum of products whose values are the groups of a grouped
// product.
struct Group {
  size_t stage = 0;
  NodeId axis = 0;  // variable of the axis
  auto operator<=>(const Group&) const = default;
};

// The dims and axes that one change splits into two. The value of each entry is
// the extent of the second of the two, which holds the remainder (the low
// digit).
struct Plan {
  std::map<Dim, int64_t> dims;
  std::map<Axis, int64_t> axes;
};

class Splitter {
 public:
  explicit Splitter(Computation& computation)
      : c_(computation), pool_(computation.pool) {}

  void Run() {
    std::set<Group> groups;
    for (size_t b = 0; b < c_.buffers.size(); ++b) {
      if (!c_.buffers[b].is_constant) continue;
      // Visits the last dim first, because splitting a dim renumbers the dims
      // after it.
      for (size_t d = c_.buffers[b].extents.size(); d-- > 0;)
        SplitConstant({static_cast<uint32_t>(b), d}, groups);
    }
    for (const Group& group : groups) SplitByGroup(group);
  }

 private:
  void SplitConstant(const Dim& dim, std::set<Group>& groups) {
    const int64_t factor = FactorOf(dim);
    if (factor == 0) return;
    for (size_t s = 0; s < c_.stages.size(); ++s) {
      if (c_.stages[s].combiner != tensor::Combiner::kSum) continue;
      for (const auto& [of, index] : AccessesOf(s)) {
        if (of != dim) continue;
        const NodeId high = DigitsOf(pool_, index)->high;
        if (AxisOf(s, high)) groups.insert({s, high});
      }
    }
    Plan plan;
    plan.dims[dim] = factor;
    Apply(plan);
  }

  // Splits the dims that the sum of products reads or stores at indices whose
  // quotient (high digit) is the axis that counts groups. Dims that cannot be
  // split stay.
  void SplitByGroup(const Group& group) {
    // A split renumbers the dims after it, so the search starts again after
    // each split.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [dim, index] : AccessesOf(group.stage)) {
        const std::optional<Digits> digits = DigitsOf(pool_, index);
        Plan plan;
        if (!digits || digits->high != group.axis ||
            !AddDim(dim, digits->factor, plan) || !KeepsDigits(plan)) {
          continue;
        }
        Apply(plan);
        changed = true;
        break;
      }
    }
  }

  // --- Finding the accesses of buffers, and the digits of their indices. ---

  // Returns the indices of all loads and stores of a stage, each with its dim.
  std::vector<std::pair<Dim, NodeId>> AccessesOf(size_t stage) const {
    std::vector<std::pair<Dim, NodeId>> accesses;
    ForEachLoad(pool_, RootsOf(c_.stages[stage]), [&](NodeId load) {
      const tensor::Node& node = pool_[load];
      const size_t rank = c_.buffers[node.buffer].extents.size();
      for (size_t d = 0; d < rank; ++d)
        accesses.push_back({{node.buffer, d}, node.operands[d]});
    });
    for (const ComputationStore& store : c_.stages[stage].stores) {
      for (size_t d = 0; d < store.indices.size(); ++d)
        accesses.push_back({{store.buffer, d}, store.indices[d]});
    }
    return accesses;
  }

  std::optional<Axis> AxisOf(size_t stage, NodeId variable) const {
    const std::vector<ComputationAxis>& axes = c_.stages[stage].axes;
    const auto found =
        std::ranges::find(axes, variable, &ComputationAxis::variable);
    if (found == axes.end()) return std::nullopt;
    return Axis{stage, static_cast<size_t>(found - axes.begin())};
  }

  bool ReadsData(NodeId index) const {
    bool found = false;
    ForEachLoad(pool_, {&index, 1}, [&](NodeId) { found = true; });
    return found;
  }

  // --- Finding the dims and axes that have to be split together. ---

  bool AddDim(const Dim& dim, int64_t factor, Plan& plan) const {
    const auto [found, is_new] = plan.dims.emplace(dim, factor);
    if (!is_new) return found->second == factor;
    const std::optional<int64_t> size =
        pool_.IntegerConstant(c_.buffers[dim.buffer].extents[dim.number]);
    if (!size || *size % factor != 0) return false;
    for (size_t s = 0; s < c_.stages.size(); ++s) {
      for (const auto& [of, index] : AccessesOf(s)) {
        if (of.buffer != dim.buffer) continue;
        if (ReadsData(index)) return false;
        if (of != dim) continue;
        if (const auto axis = AxisOf(s, index)) {
          if (ExtentOf(*axis) != size || !AddAxis(*axis, factor, plan))
            return false;
          continue;
        }
        const std::optional<Digits> digits = DigitsOf(pool_, index);
        if (!digits || digits->factor != factor || AreExchanged(s, *digits))
          return false;
      }
    }
    return true;
  }

  // True if the stage's axes of the two digits are in another order than the
  // digits have in memory, as in a shuffle of channels. Such a dim is not
  // split. With it split, the stage would have the product's axes, but
  // computing it on the product's tiles would store the elements of each vector
  // far apart (ShuffleNet took 13 times as long).
  bool AreExchanged(size_t stage, const Digits& digits) const {
    const auto high = AxisOf(stage, digits.high);
    const auto low = AxisOf(stage, digits.low);
    return high && low && low->number < high->number;
  }

  bool AddAxis(const Axis& axis, int64_t factor, Plan& plan) const {
    const auto [found, is_new] = plan.axes.emplace(axis, factor);
    if (!is_new) return found->second == factor;
    const NodeId variable = c_.stages[axis.stage].axes[axis.number].variable;
    return std::ranges::all_of(AccessesOf(axis.stage), [&](const auto& access) {
      return access.second != variable || AddDim(access.first, factor, plan);
    });
  }

  // True if the split keeps the digits of all other accesses. It would change
  // them in an index of a split dim that contains one of the split axes, but is
  // not that axis alone.
  bool KeepsDigits(const Plan& plan) const {
    for (const auto& [dim, factor] : plan.dims) {
      for (size_t s = 0; s < c_.stages.size(); ++s) {
        for (const auto& [of, index] : AccessesOf(s)) {
          if (of != dim || AxisOf(s, index)) continue;
          for (const auto& [axis, unused] : plan.axes) {
            const ComputationStage& stage = c_.stages[axis.stage];
            if (axis.stage == s &&
                tensor::DependsOn(pool_, index,
                                  stage.axes[axis.number].variable)) {
              return false;
            }
          }
        }
      }
    }
    return true;
  }

  std::optional<int64_t> ExtentOf(const Axis& axis) const {
    return pool_.IntegerConstant(
        c_.stages[axis.stage].axes[axis.number].extent);
  }

  // Returns the factor by which all accesses split the index of the dim into
  // digits; 0 if they differ, if some index has no digits, or if the dim's
  // extent is not a constant multiple of the factor.
  int64_t FactorOf(const Dim& dim) const {
    const std::optional<int64_t> size =
        pool_.IntegerConstant(c_.buffers[dim.buffer].extents[dim.number]);
    if (!size) return 0;
    int64_t factor = 0;
    bool all = true;
    for (size_t s = 0; s < c_.stages.size(); ++s) {
      for (const auto& [of, index] : AccessesOf(s)) {
        if (of != dim) continue;
        const std::optional<Digits> digits = DigitsOf(pool_, index);
        all &= digits && (factor == 0 || digits->factor == factor);
        if (digits) factor = digits->factor;
      }
    }
    return all && factor > 0 && *size % factor == 0 ? factor : 0;
  }

  // --- Rewriting the computation with split dims and axes. ---

  void Apply(const Plan& plan) {
    for (size_t s = 0; s < c_.stages.size(); ++s) RewriteStage(s, plan);
    for (auto dim = plan.dims.rbegin(); dim != plan.dims.rend(); ++dim) {
      const auto& [of, factor] = *dim;
      std::vector<NodeId>& extents = c_.buffers[of.buffer].extents;
      const int64_t size = *pool_.IntegerConstant(extents[of.number]);
      extents[of.number] = pool_.Integer(size / factor);
      extents.insert(extents.begin() + static_cast<ptrdiff_t>(of.number) + 1,
                     pool_.Integer(factor));
    }
  }

  void RewriteStage(size_t number, const Plan& plan) {
    ComputationStage& stage = c_.stages[number];
    std::map<NodeId, Digits> halves;  // for each axis that is split: the
                                      // variables of its two new axes
    for (auto axis = plan.axes.rbegin(); axis != plan.axes.rend(); ++axis) {
      if (axis->first.stage != number) continue;
      const NodeId variable = stage.axes[axis->first.number].variable;
      halves[variable] = SplitAxis(stage, axis->first.number, axis->second);
    }
    const auto split = [&](uint32_t buffer, std::span<const NodeId> indices,
                           std::vector<NodeId> operands) {
      for (size_t d = indices.size(); d-- > 0;) {
        if (!plan.dims.contains({buffer, d})) continue;
        const auto half = halves.find(indices[d]);
        const Digits digits =
            half != halves.end() ? half->second : *DigitsOf(pool_, operands[d]);
        operands[d] = digits.high;
        operands.insert(operands.begin() + static_cast<ptrdiff_t>(d) + 1,
                        digits.low);
      }
      return operands;
    };
    Rewriter rewriter(
        pool_, pool_,
        [&](NodeId id) -> std::optional<NodeId> {
          const auto half = halves.find(id);
          if (half == halves.end()) return std::nullopt;
          const Digits& digits = half->second;
          return Make(Opcode::kAdd,
                      Make(Opcode::kMultiply, digits.high,
                           pool_.Integer(digits.factor)),
                      digits.low);
        },
        [&](NodeId id,
            std::span<const NodeId> rewritten) -> std::optional<NodeId> {
          const tensor::Node node = pool_[id];
          if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad)
            return std::nullopt;
          const std::vector<NodeId> operands =
              split(node.buffer,
                    std::span(node.operands)
                        .first(c_.buffers[node.buffer].extents.size()),
                    {rewritten.begin(), rewritten.end()});
          if (operands.size() == rewritten.size()) return std::nullopt;
          return pool_.Intern(node.opcode, node.type, operands, node.immediate,
                              node.scope, node.buffer);
        });
    for (auto* nodes : {&stage.values, &stage.initial, &stage.results})
      *nodes = rewriter.Rewrite(*nodes);
    for (ComputationStore& store : stage.stores) {
      store.indices =
          split(store.buffer, store.indices, rewriter.Rewrite(store.indices));
    }
  }

  // Replaces the axis by two, and returns their variables as the digits of its
  // value.
  Digits SplitAxis(ComputationStage& stage, size_t number, int64_t factor) {
    const ComputationAxis axis = stage.axes[number];
    const int64_t extent = *pool_.IntegerConstant(axis.extent);
    stage.axes[number] =
        c_.MakeAxis(axis.name + "_high", pool_.Integer(extent / factor));
    stage.axes.insert(stage.axes.begin() + static_cast<ptrdiff_t>(number) + 1,
                      c_.MakeAxis(axis.name + "_low", pool_.Integer(factor)));
    if (static_cast<int>(number) < stage.spatial_count) ++stage.spatial_count;
    return {stage.axes[number].variable, stage.axes[number + 1].variable,
            factor};
  }

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(pool_).Make(opcode, DType::kI64, operands);
  }

  Computation& c_;
  tensor::ExpressionPool& pool_;
};

}  // namespace

void SplitDims(Computation& computation) { Splitter(computation).Run(); }

}  // namespace ember::schedule

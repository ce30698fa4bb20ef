
#include "jit/schedule/core/collapse_axes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "jit/schedule/core/rewrite.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// A multiple of the number of elements that a vector of any machine and type
// holds.
constexpr int64_t kElementsOfVectors = 64;

// Two neighbouring axes of a stage, or dims of a buffer: those with the numbers
// `first` and `first` + 1.
struct Pair {
  int owner = 0;
  int first = 0;
  auto operator<=>(const Pair&) const = default;
};

// A load or a store, with its indices.
struct Access {
  int stage = 0;
  uint32_t buffer = 0;
  std::span<const NodeId> indices;
};

bool IsLoad(const tensor::Node& node) {
  return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
}

class Collapser {
 public:
  explicit Collapser(Computation& computation)
      : c_(computation), pool_(computation.pool) {}

  void Run() {
    while (CollapseOne()) {
    }
  }

 private:
  bool CollapseOne() {
    FindUses();
    for (size_t s = 0; s < c_.stages.size(); ++s) {
      const int count = static_cast<int>(c_.stages[s].axes.size());
      for (int a = 0; a + 1 < count; ++a) {
        if (!Closes({static_cast<int>(s), a})) continue;
        Apply();
        return true;
      }
    }
    return false;
  }

  // --- Finding the accesses of each axis and dim. ---

  void FindUses() {
    accesses_.clear();
    nodes_.assign(c_.stages.size(), {});
    last_from_data_.assign(c_.buffers.size(), -1);
    for (size_t s = 0; s < c_.stages.size(); ++s) {
      const ComputationStage& stage = c_.stages[s];
      for (const NodeId root : RootsOf(stage)) FindNodes(root, nodes_[s]);
      for (const NodeId id : nodes_[s]) {
        const tensor::Node& node = pool_[id];
        if (!IsLoad(node)) continue;
        const std::span<const NodeId> operands = node.operands;
        AddAccess({static_cast<int>(s), node.buffer,
                   operands.first(c_.buffers[node.buffer].extents.size())});
      }
      for (const ComputationStore& store : stage.stores)
        AddAccess({static_cast<int>(s), store.buffer, store.indices});
    }
  }

  void AddAccess(const Access& access) {
    accesses_.push_back(access);
    for (size_t d = 0; d < access.indices.size(); ++d) {
      std::set<NodeId> below;
      FindNodes(access.indices[d], below);
      if (std::ranges::any_of(below,
                              [&](NodeId id) { return IsLoad(pool_[id]); })) {
        int& last = last_from_data_[access.buffer];
        last = std::max(last, static_cast<int>(d));
      }
    }
  }

  void FindNodes(NodeId root, std::set<NodeId>& found) const {
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!found.insert(id).second || pool_[id].opcode == Opcode::kAxis)
        continue;
      stack.insert(stack.end(), pool_[id].operands.begin(),
                   pool_[id].operands.end());
    }
  }

  // --- Finding the pairs that must be collapsed together. ---

  // True if the pair of axes can become one axis. Fills axes_ and dims_ with
  // all pairs of axes and of dims that must be collapsed together with it.
  bool Closes(const Pair& seed) {
    axes_ = {seed};
    dims_.clear();
    std::vector<Pair> open = {seed};
    while (!open.empty()) {
      const Pair axes = open.back();
      open.pop_back();
      if (!IsCandidate(axes) || !FindDims(axes)) return false;
      for (const Pair& dims : dims_) {
        if (!FindAxes(dims, open)) return false;
      }
    }
    // Collapsing brings nothing if the second dim of each pair is the innermost
    // dim of its buffer and is a multiple of vectors long: vectors then run
    // along rows anyway.
    return std::any_of(dims_.begin(), dims_.end(), [&](const Pair& dims) {
      const auto& extents = c_.buffers[dims.owner].extents;
      return SizeOf(extents[dims.first + 1]) % kElementsOfVectors != 0 ||
             std::any_of(extents.begin() + dims.first + 2, extents.end(),
                         [&](NodeId extent) { return SizeOf(extent) != 1; });
    });
  }

  bool IsCandidate(const Pair& axes) const {
    const ComputationStage& stage = c_.stages[axes.owner];
    // A spatial axis and a reduction axis cannot become one axis.
    if (axes.first + 1 == stage.spatial_count) return false;
    return SizeOf(stage.axes[axes.first].extent) > 1 &&
           SizeOf(stage.axes[axes.first + 1].extent) > 1;
  }

  // Adds the pairs of dims that the pair of axes indexes. Returns false if an
  // access or a value uses the axes in another way.
  bool FindDims(const Pair& axes) {
    const ComputationStage& stage = c_.stages[axes.owner];
    const NodeId x = stage.axes[axes.first].variable;
    const NodeId y = stage.axes[axes.first + 1].variable;
    for (const Access& access : accesses_) {
      if (access.stage != axes.owner) continue;
      for (size_t d = 0; d < access.indices.size(); ++d) {
        if (access.indices[d] == y && (d == 0 || access.indices[d - 1] != x)) {
          return false;
        }
        if (access.indices[d] != x) continue;
        if (d + 1 == access.indices.size() || access.indices[d + 1] != y)
          return false;
        dims_.insert({static_cast<int>(access.buffer), static_cast<int>(d)});
      }
    }
    const auto is_used = [&](NodeId id) { return id == x || id == y; };
    for (const NodeId id : nodes_[axes.owner]) {
      const tensor::Node& node = pool_[id];
      if (node.opcode == Opcode::kAxis) continue;
      const size_t indices =
          IsLoad(node) ? c_.buffers[node.buffer].extents.size() : 0;
      if (std::any_of(node.operands.begin() + static_cast<ptrdiff_t>(indices),
                      node.operands.end(), is_used)) {
        return false;
      }
    }
    for (const auto* roots : {&stage.values, &stage.initial, &stage.results}) {
      if (std::any_of(roots->begin(), roots->end(), is_used)) return false;
    }
    return true;
  }

  // Adds the pairs of axes that index the pair of dims, in any stage. Returns
  // false if some access indexes these dims in another way, or if they must
  // keep their numbers.
  bool FindAxes(const Pair& dims, std::vector<Pair>& open) {
    // If a loaded value indexes a dim, that dim and the dims before it keep
    // their numbers, because the message of a failed check names the dim.
    if (dims.first <= last_from_data_[dims.owner]) return false;
    const ComputationBuffer& buffer = c_.buffers[dims.owner];
    for (const Access& access : accesses_) {
      if (static_cast<int>(access.buffer) != dims.owner) continue;
      const std::vector<ComputationAxis>& axes = c_.stages[access.stage].axes;
      const auto x = std::find_if(
          axes.begin(), axes.end(), [&](const ComputationAxis& axis) {
            return axis.variable == access.indices[dims.first];
          });
      if (x == axes.end() || x + 1 == axes.end() ||
          (x + 1)->variable != access.indices[dims.first + 1] ||
          SizeOf(x->extent) != SizeOf(buffer.extents[dims.first]) ||
          SizeOf((x + 1)->extent) != SizeOf(buffer.extents[dims.first + 1])) {
        return false;
      }
      const Pair pair{access.stage, static_cast<int>(x - axes.begin())};
      // An axis that would be in two pairs is collapsed in neither.
      for (const int other : {-1, 1}) {
        if (axes_.contains({pair.owner, pair.first + other})) return false;
      }
      if (axes_.insert(pair).second) open.push_back(pair);
    }
    return !dims_.contains({dims.owner, dims.first - 1}) &&
           !dims_.contains({dims.owner, dims.first + 1});
  }

  int64_t SizeOf(NodeId extent) const {
    return pool_.IntegerConstant(extent).value_or(-1);
  }

  // --- Rewriting the computation with the collapsed axes. ---

  void Apply() {
    for (size_t s = 0; s < c_.stages.size(); ++s)
      RewriteStage(static_cast<int>(s));
    for (auto dims = dims_.rbegin(); dims != dims_.rend(); ++dims) {
      std::vector<NodeId>& extents = c_.buffers[dims->owner].extents;
      extents[dims->first] =
          Product(extents[dims->first], extents[dims->first + 1]);
      extents.erase(extents.begin() + dims->first + 1);
    }
  }

  NodeId Product(NodeId a, NodeId b) {
    return pool_.Constant(static_cast<uint64_t>(SizeOf(a) * SizeOf(b)),
                          DType::kI64);
  }

  void RewriteStage(int number) {
    ComputationStage& stage = c_.stages[number];
    // the first axis of each collapsed pair, and the new axis
    std::vector<std::pair<NodeId, NodeId>> merged;
    for (auto pair = axes_.rbegin(); pair != axes_.rend(); ++pair) {
      if (pair->owner != number) continue;
      ComputationAxis& x = stage.axes[pair->first];
      const ComputationAxis& y = stage.axes[pair->first + 1];
      ComputationAxis both =
          c_.MakeAxis(x.name + y.name, Product(x.extent, y.extent));
      merged.emplace_back(x.variable, both.variable);
      stage.axes.erase(stage.axes.begin() + pair->first + 1);
      stage.axes[pair->first] = std::move(both);
      if (pair->first < stage.spatial_count) --stage.spatial_count;
    }
    Rewriter rewriter(
        pool_, pool_,
        [&](NodeId id) -> std::optional<NodeId> {
          for (const auto& [axis, both] : merged) {
            if (id == axis) return both;
          }
          return std::nullopt;
        },
        [&](NodeId id,
            std::span<const NodeId> operands) -> std::optional<NodeId> {
          const tensor::Node node = pool_[id];
          if (!IsLoad(node) || !IsCollapsed(node.buffer)) return std::nullopt;
          return pool_.Intern(
              node.opcode, node.type,
              WithoutSeconds(node.buffer, {operands.begin(), operands.end()}),
              node.immediate, node.scope, node.buffer);
        });
    for (auto* nodes : {&stage.values, &stage.initial, &stage.results})
      *nodes = rewriter.Rewrite(*nodes);
    for (ComputationStore& store : stage.stores) {
      store.indices =
          WithoutSeconds(store.buffer, rewriter.Rewrite(store.indices));
    }
  }

  bool IsCollapsed(uint32_t buffer) const {
    return std::any_of(dims_.begin(), dims_.end(), [&](const Pair& dims) {
      return dims.owner == static_cast<int>(buffer);
    });
  }

  std::vector<NodeId> WithoutSeconds(uint32_t buffer,
                                     std::vector<NodeId> indices) const {
    for (auto dims = dims_.rbegin(); dims != dims_.rend(); ++dims) {
      if (dims->owner == static_cast<int>(buffer))
        indices.erase(indices.begin() + dims->first + 1);
    }
    return indices;
  }

  Computation& c_;
  tensor::ExpressionPool& pool_;
  std::vector<Access> accesses_;
  // for each stage: the nodes that its expressions consist of
  std::vector<std::set<NodeId>> nodes_;
  // for each buffer: the last dim that some access indexes by a loaded value;
  // -1 if there is none
  std::vector<int> last_from_data_;
  std::set<Pair> axes_;
  std::set<Pair> dims_;
};

}  // namespace

void CollapseAxes(Computation& computation) { Collapser(computation).Run(); }

}  // namespace ember::schedule

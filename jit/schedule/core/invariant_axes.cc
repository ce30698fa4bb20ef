#include "jit/schedule/core/invariant_axes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

class Dropper {
 public:
  explicit Dropper(Computation& computation) : c_(computation) {}

  void Run() {
    FindUses();
    for (size_t i = 0; i < c_.stages.size(); ++i) {
      if (!IsCandidate(static_cast<int>(i))) continue;
      std::vector<size_t> dropped;
      const auto rank = static_cast<size_t>(c_.stages[i].spatial_count);
      for (size_t d = 0; d < rank; ++d) {
        if (IsInvariant(c_.stages[i], d)) dropped.push_back(d);
      }
      if (dropped.empty()) continue;
      if (IsResult(i)) CopyResult(i);
      Drop(c_.stages[i], c_.stages[i].stores[0].buffer, dropped);
    }
  }

 private:
  bool IsResult(size_t number) const {
    return c_.buffers[c_.stages[number].stores[0].buffer].role ==
           BufferRole::kOutput;
  }

  // Makes the stage store to a temporary, and adds a stage that copies the
  // temporary to the stage's former result.
  void CopyResult(size_t number) {
    ComputationStage copy;
    copy.name = c_.stages[number].name;
    ComputationStore& to = copy.stores.emplace_back();
    to.buffer = c_.stages[number].stores[0].buffer;
    const auto temporary = static_cast<uint32_t>(c_.buffers.size());
    c_.buffers.push_back(c_.buffers[to.buffer]);
    ComputationBuffer& same = c_.buffers.back();
    same.name += ".same";
    same.role = BufferRole::kTemporary;
    ComputationStage& stage = c_.stages[number];
    stage.name = same.name;
    stage.stores[0].buffer = temporary;
    copy.spatial_count = stage.spatial_count;
    for (int a = 0; a < stage.spatial_count; ++a) {
      const ComputationAxis& axis = stage.axes[static_cast<size_t>(a)];
      copy.axes.push_back(c_.MakeAxis(axis.name, axis.extent));
      to.indices.push_back(copy.axes.back().variable);
    }
    copy.values.push_back(c_.pool.Intern(tensor::Opcode::kLoad, same.type,
                                         to.indices, 0, /*scope=*/1,
                                         temporary));
    c_.stages.insert(c_.stages.begin() + static_cast<ptrdiff_t>(number) + 1,
                     std::move(copy));
    stores_.push_back(1);
    is_plainly_read_.push_back(true);
  }

  void FindUses() {
    stores_.assign(c_.buffers.size(), 0);
    is_plainly_read_.assign(c_.buffers.size(), true);
    for (const ComputationStage& stage : c_.stages) {
      for (const ComputationStore& store : stage.stores)
        ++stores_[store.buffer];
      ForEachLoad(c_.pool, RootsOf(stage), [&](NodeId load) {
        // A load that may be out of bounds (a pad, or one with a check) depends
        // on the buffer's extents, so these must stay.
        if (c_.pool[load].opcode != tensor::Opcode::kLoad || !IsSafe(c_, load))
          is_plainly_read_[c_.pool[load].buffer] = false;
      });
    }
  }

  bool IsCandidate(int number) const {
    const ComputationStage& stage = c_.stages[static_cast<size_t>(number)];
    const uint32_t buffer = stage.stores[0].buffer;
    return stage.stores.size() == 1 && stage.has_reduction() &&
           (IsResult(static_cast<size_t>(number)) ||
            (c_.buffers[buffer].role == BufferRole::kTemporary &&
             is_plainly_read_[buffer])) &&
           stores_[buffer] == 1 && StoresAreIdentity(c_, number) &&
           AccessesAreSafe(c_, number);
  }

  bool IsInvariant(const ComputationStage& stage, size_t axis) const {
    const ComputationAxis& a = stage.axes[axis];
    const tensor::Interval extent = c_.pool[a.extent].range;
    // An axis that may have no points stays, because without it the stage would
    // compute something. Removing an axis of exactly one point would save
    // nothing.
    if (extent.low < 1 || extent.high <= 1) return false;
    const auto depends = [&](NodeId id) {
      return tensor::DependsOn(c_.pool, id, a.variable);
    };
    return std::ranges::none_of(stage.values, depends) &&
           std::ranges::none_of(stage.initial, depends) &&
           std::ranges::none_of(stage.results, depends);
  }

  void Drop(ComputationStage& stage, uint32_t buffer,
            const std::vector<size_t>& dims) {
    const NodeId one = c_.pool.Integer(1);
    for (const size_t d : dims) {
      stage.axes[d] = c_.MakeAxis(stage.axes[d].name, one);
      stage.stores[0].indices[d] = stage.axes[d].variable;
      c_.buffers[buffer].extents[d] = one;
    }
    for (ComputationStage& reader : c_.stages) {
      Rewriter rewriter(
          c_.pool, c_.pool,
          [](NodeId) -> std::optional<NodeId> { return std::nullopt; },
          [&](NodeId id,
              std::span<const NodeId> operands) -> std::optional<NodeId> {
            const tensor::Node node = c_.pool[id];
            if (node.opcode != tensor::Opcode::kLoad || node.buffer != buffer)
              return std::nullopt;
            std::vector<NodeId> indices(operands.begin(), operands.end());
            for (const size_t d : dims) indices[d] = c_.pool.Integer(0);
            return c_.pool.Intern(node.opcode, node.type, indices,
                                  node.immediate, node.scope, node.buffer);
          });
      for (auto* nodes : {&reader.values, &reader.initial, &reader.results})
        *nodes = rewriter.Rewrite(*nodes);
      for (ComputationStore& store : reader.stores)
        store.indices = rewriter.Rewrite(store.indices);
    }
  }

  Computation& c_;
  std::vector<int> stores_;  // number of stages that store to each buffer
  // for each buffer: true if every load of it is provably in bounds and not
  // padded
  std::vector<bool> is_plainly_read_;
};

}  // namespace

void DropInvariantAxes(Computation& computation) { Dropper(computation).Run(); }

}  // namespace ember::schedule

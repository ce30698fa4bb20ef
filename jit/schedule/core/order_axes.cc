#include "jit/schedule/core/order_axes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace ember::schedule {
namespace {

// Returns, for each buffer, true if some stage reads it.
std::vector<bool> ReadBuffers(const Computation& c) {
  std::vector<bool> is_read(c.buffers.size());
  for (const ComputationStage& stage : c.stages) {
    ForEachLoad(c.pool, RootsOf(stage),
                [&](NodeId load) { is_read[c.pool[load].buffer] = true; });
  }
  return is_read;
}

bool IsPoint(const Computation& c, const ComputationAxis& axis) {
  return c.pool[axis.extent].range.high <= 1;
}

// Returns the numbers of the stage's axes that index the loaded temporary, in
// the order of its dims. Axes of one point are left out.
std::vector<size_t> AxesInDims(const Computation& c,
                               const ComputationStage& stage, NodeId load) {
  const tensor::Node& node = c.pool[load];
  std::vector<size_t> axes;
  for (size_t d = 0; d < c.buffers[node.buffer].extents.size(); ++d) {
    for (size_t a = 0; a < static_cast<size_t>(stage.spatial_count); ++a) {
      if (stage.axes[a].variable == node.operands[d] &&
          !IsPoint(c, stage.axes[a]) &&
          std::ranges::find(axes, a) == axes.end())
        axes.push_back(a);
    }
  }
  return axes;
}

// Returns the stage's axes that index a temporary, in the order of the
// temporary's dims. If the stage loads several temporaries, the one that is
// indexed by most axes counts.
std::vector<size_t> OrderOf(const Computation& c,
                            const ComputationStage& stage) {
  std::vector<size_t> order;
  ForEachLoad(c.pool, RootsOf(stage), [&](NodeId load) {
    const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
    if (buffer.role != BufferRole::kTemporary) return;
    std::vector<size_t> axes = AxesInDims(c, stage, load);
    if (axes.size() > order.size()) order = std::move(axes);
  });
  return order;
}

void Order(const Computation& c, ComputationStage& stage) {
  size_t last = static_cast<size_t>(stage.spatial_count);
  while (last > 0 && IsPoint(c, stage.axes[last - 1])) --last;
  if (last == 0) return;
  std::vector<size_t> order = OrderOf(c, stage);
  const auto lanes = std::ranges::find(order, last - 1);
  // Nothing is reordered if the stage's last axis, along which vectors run,
  // indexes another dim than the temporary's last one: the temporary is then
  // read transposed.
  if (lanes != order.end() && lanes + 1 != order.end()) return;
  if (lanes != order.end()) order.pop_back();
  // The positions that the axes to be reordered take among the stage's axes.
  std::vector<size_t> places = order;
  std::ranges::sort(places);
  const std::vector<ComputationAxis> before = stage.axes;
  for (size_t i = 0; i < places.size(); ++i)
    stage.axes[places[i]] = before[order[i]];
}

}  // namespace

void OrderAxes(Computation& computation) {
  const std::vector<bool> is_read = ReadBuffers(computation);
  for (ComputationStage& stage : computation.stages) {
    // A stage whose results another stage reads keeps its order, because
    // readers assume that the stage's axes have the order of the results' dims.
    const bool is_used = std::ranges::any_of(
        stage.stores,
        [&](const ComputationStore& store) { return is_read[store.buffer]; });
    if (stage.spatial_count >= 3 && !is_used &&
        stage.combiner != tensor::Combiner::kFold)
      Order(computation, stage);
  }
}

}  // namespace ember::schedule

// Vectors for stages whose points are as they are in memory (elementwise
// arithmetic, copies, pooling along channels): an invocation has neighbours,
// which it loads and stores at once.
#include "jit/schedule/gpu/gpu_vector_rule.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "jit/loops/walk.h"
#include "jit/schedule/rules/stage_shape.h"
#include "tensor/linear.h"

namespace ember::schedule {
namespace {

using tensor::Combiner;
using tensor::Opcode;

// Of what an instruction moves, and of elements that it moves several of.
constexpr int64_t kVectorBytes = 16;
constexpr int64_t kWidestElement = 4;
// Instructions that are written out, of all lanes together.
constexpr int64_t kMostInstructions = 1600;

// Whether elements at the indices that are neighbours along the axis begin at
// multiples of `lanes` wherever the axis does, in a buffer with these extents,
// which ends at one.
bool IsAligned(const Computation& c, std::span<const NodeId> indices,
               std::span<const NodeId> extents, NodeId axis, int64_t lanes) {
  if (indices.empty()) return false;
  const auto last = tensor::Linearize(c.pool, indices.back());
  if (!last || last->constant % lanes != 0) return false;
  for (const tensor::LinearTerm& term : last->terms) {
    if (term.node != axis && term.coefficient % lanes != 0) return false;
  }
  const auto row = c.pool.IntegerConstant(extents.back());
  return row && *row % lanes == 0;
}

int64_t InstructionsOf(const Computation& c, const ComputationStage& stage) {
  return std::ranges::count_if(
      loops::NodesUnder(c.pool, stage.values),
      [&](NodeId id) { return c.pool[id].opcode != Opcode::kAxis; });
}

bool FitVectors(const Computation& c, const StageShape& shape, int axis,
                int64_t lanes) {
  const ComputationStage& stage = shape.stage();
  const NodeId variable = stage.axes[static_cast<size_t>(axis)].variable;
  const auto extent = shape.Extent(axis);
  if (!extent || *extent % lanes != 0) return false;
  for (const ComputationStore& store : stage.stores) {
    if (store.update != tensor::Update::kAssign ||
        !IsAligned(c, store.indices, c.buffers[store.buffer].extents, variable,
                   lanes)) {
      return false;
    }
  }
  return std::ranges::all_of(shape.loads(), [&](NodeId load) {
    const tensor::Node& node = c.pool[load];
    const auto& extents = c.buffers[node.buffer].extents;
    switch (shape.StrideOf(load, axis)) {
      case Stride::kNone:
        return true;
      case Stride::kUnit:
        return IsAligned(c, std::span(node.operands).first(extents.size()),
                         extents, variable, lanes);
      case Stride::kOther:
        break;
    }
    return false;
  });
}

}  // namespace

int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& c,
                      int number) {
  const StageShape shape(c, number);
  const ComputationStage& stage = shape.stage();
  const int axis = shape.spatial_count() - 1;
  if (axis < 0 || stage.combiner == Combiner::kFold ||
      !shape.StoresAlong(axis)) {
    return 1;
  }
  int64_t bytes = 1;
  for (const ComputationStore& store : stage.stores)
    bytes =
        std::max<int64_t>(bytes, DTypeByteSize(c.buffers[store.buffer].type));
  for (NodeId load : shape.loads())
    bytes = std::max<int64_t>(bytes, shape.BytesOf(load));
  if (bytes > kWidestElement) return 1;
  const int64_t points = shape.LikelyPoints(0, shape.spatial_count());
  const int64_t instructions = InstructionsOf(c, stage);
  for (int64_t lanes = kVectorBytes / bytes; lanes > 1; lanes /= 2) {
    if (points >= lanes * gpu.busy_invocations &&
        instructions * lanes <= kMostInstructions &&
        FitVectors(c, shape, axis, lanes)) {
      return lanes;
    }
  }
  return 1;
}

}  // namespace ember::schedule

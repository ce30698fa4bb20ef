
#include "jit/schedule/rules/stage_shape.h"

#include <algorithm>

#include "jit/loops/analysis/dot_product.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::Opcode;

// Value that is assumed for an extent that is not constant.
constexpr int64_t kGuess = 64;

// Returns the stride with which indices move along the axis. `extents`: the
// extents of the indexed dims.
Stride StrideOfIndices(const ExpressionPool& pool,
                       std::span<const NodeId> extents,
                       std::span<const NodeId> indices, NodeId axis) {
  // Trailing dims with one element do not count: elements along the dim before
  // them are contiguous.
  size_t last = indices.size();
  while (last > 1 && pool.IntegerConstant(extents[last - 1]) == 1) --last;
  Stride stride = Stride::kNone;
  for (size_t d = 0; d < indices.size(); ++d) {
    const std::optional<int64_t> coefficient =
        tensor::CoefficientOf(pool, indices[d], axis);
    if (coefficient == 0) continue;
    const bool unit = coefficient == 1 && d + 1 == last;
    stride = unit && stride == Stride::kNone ? Stride::kUnit : Stride::kOther;
  }
  return stride;
}

}  // namespace

StageShape::StageShape(const Computation& computation, int stage)
    : c_(computation), stage_(computation.stages[stage]) {
  ForEachLoad(c_.pool, RootsOf(stage_),
              [&](NodeId load) { loads_.push_back(load); });
}

std::optional<int64_t> StageShape::Extent(int axis) const {
  return c_.pool.IntegerConstant(stage_.axes[axis].extent);
}

int64_t StageShape::LikelyExtent(int axis) const {
  return Extent(axis).value_or(kGuess);
}

int64_t StageShape::LikelyPoints(int first, int end) const {
  int64_t points = 1;
  for (int a = first; a < end; ++a) {
    points *= std::max<int64_t>(LikelyExtent(a), 1);
    points = std::min(points, int64_t{1} << 40);
  }
  return points;
}

Stride StageShape::StrideOf(NodeId load, int axis) const {
  const tensor::Node& node = c_.pool[load];
  const std::vector<NodeId>& extents = c_.buffers[node.buffer].extents;
  return StrideOfIndices(c_.pool, extents,
                         std::span(node.operands).first(extents.size()),
                         stage_.axes[axis].variable);
}

bool StageShape::MovesAlone(NodeId load, int axis) const {
  const tensor::Node& node = c_.pool[load];
  const size_t rank = c_.buffers[node.buffer].extents.size();
  const NodeId variable = stage_.axes[axis].variable;
  int moving = 0, alone = 0;
  for (size_t d = 0; d < rank; ++d) {
    moving += tensor::CoefficientOf(c_.pool, node.operands[d], variable) != 0;
    alone += node.operands[d] == variable;
  }
  return moving == 1 && alone == 1;
}

bool StageShape::ReadsConstant(NodeId load) const {
  return c_.buffers[c_.pool[load].buffer].is_constant;
}

bool StageShape::ReadsSmallBytes(NodeId load) const {
  const ComputationBuffer& buffer = c_.buffers[c_.pool[load].buffer];
  return buffer.is_constant && buffer.type == DType::kI8 &&
         buffer.values.Within({-loops::kSmallByte, loops::kSmallByte});
}

bool StageShape::IsPadded(NodeId load) const {
  return c_.pool[load].opcode == Opcode::kPad;
}

int StageShape::BytesOf(NodeId load) const {
  return DTypeByteSize(c_.pool[load].type);
}

int64_t StageShape::StepOf(NodeId load, int axis) const {
  const tensor::Node& node = c_.pool[load];
  const size_t rank = c_.buffers[node.buffer].extents.size();
  int64_t most = 0;
  for (size_t d = 0; d < rank; ++d) {
    const std::optional<int64_t> step = tensor::CoefficientOf(
        c_.pool, node.operands[d], stage_.axes[axis].variable);
    if (!step) return 0;
    most = std::max(most, *step < 0 ? -*step : *step);
  }
  return most;
}

int64_t StageShape::LikelyBytes(NodeId load, int first) const {
  int64_t bytes = BytesOf(load);
  for (int a = first; a < axis_count(); ++a) {
    if (StrideOf(load, a) != Stride::kNone)
      bytes = std::min(bytes * LikelyExtent(a), int64_t{1} << 40);
  }
  return bytes;
}

LoadWalk StageShape::WalkOf(NodeId load) const {
  const tensor::Node& node = c_.pool[load];
  const std::vector<NodeId>& extents = c_.buffers[node.buffer].extents;
  LoadWalk walk;
  for (size_t d = 0; d < extents.size(); ++d) {
    walk.dims.push_back(c_.pool.IntegerConstant(extents[d]).value_or(kGuess));
    std::vector<int64_t>& steps = walk.steps.emplace_back();
    for (const ComputationAxis& axis : stage_.axes) {
      steps.push_back(
          tensor::CoefficientOf(c_.pool, node.operands[d], axis.variable)
              .value_or(1));
    }
  }
  return walk;
}

int64_t StageShape::LikelyBufferBytes(NodeId load) const {
  int64_t bytes = BytesOf(load);
  for (int64_t dim : WalkOf(load).dims)
    bytes = std::min(bytes * std::max<int64_t>(dim, 1), int64_t{1} << 40);
  return bytes;
}

LoadWalk::Pieces LoadWalk::Over(std::span<const int64_t> extents) const {
  Pieces pieces;
  bool is_whole = true;  // true if the loads read all elements of the dims
                         // behind dim d
  for (size_t d = dims.size(); d-- > 0;) {
    // `span`: distance, along dim d, from the first element that is read to the
    // last, plus one. `places`: largest possible number of different elements
    // along d that are read.
    int64_t span = 1;
    int64_t places = 1;
    for (size_t a = 0; a < extents.size(); ++a) {
      const int64_t step = steps[d][a];
      if (step == 0) continue;
      span += (step < 0 ? -step : step) * (extents[a] - 1);
      places = std::min(places * extents[a], int64_t{1} << 40);
    }
    span = std::min(span, dims[d]);
    places = std::min(places, span);
    const bool is_row = is_whole && places == span;
    (is_row ? pieces.elements : pieces.count) *= places;
    is_whole = is_row && places == dims[d];
  }
  return pieces;
}

bool StageShape::StoresAlong(int axis) const {
  return std::all_of(
      stage_.stores.begin(), stage_.stores.end(), [&](const auto& store) {
        return StrideOfIndices(c_.pool, c_.buffers[store.buffer].extents,
                               store.indices,
                               stage_.axes[axis].variable) == Stride::kUnit;
      });
}

bool StageShape::StoresAlongBoth(int axis) const {
  const std::optional<int64_t> extent = Extent(axis);
  if (axis < 1 || !extent || !StoresAlong(axis)) return false;
  return std::all_of(
      stage_.stores.begin(), stage_.stores.end(), [&](const auto& store) {
        // Points along the two fused axes are contiguous if the axes are
        // quotient and remainder of one index, or if each is the index of one
        // of the last two dims.
        const size_t rank = store.indices.size();
        const NodeId before = stage_.axes[axis - 1].variable;
        const bool apart =
            rank > 1 &&
            tensor::CoefficientOf(c_.pool, store.indices[rank - 2], before) ==
                1 &&
            c_.pool.IntegerConstant(
                c_.buffers[store.buffer].extents[rank - 1]) == extent;
        for (size_t d = 0; d < rank; ++d) {
          const std::optional<int64_t> coefficient =
              tensor::CoefficientOf(c_.pool, store.indices[d], before);
          const int64_t expected =
              apart ? (d + 2 == rank ? 1 : 0) : (d + 1 == rank ? *extent : 0);
          if (coefficient != expected) return false;
        }
        return true;
      });
}

int StageShape::WidestBytes() const {
  int bytes = 1;
  for (NodeId value : stage_.values) {
    // Narrow floats count as f32, in which arithmetic is done.
    const DType type = c_.pool[value].type;
    bytes = std::max(bytes, IsFloat(type) ? std::max(4, DTypeByteSize(type))
                                          : DTypeByteSize(type));
  }
  for (NodeId load : loads_)
    bytes = std::max(bytes, DTypeByteSize(c_.pool[load].type));
  return bytes;
}

bool StageShape::SumsIntegers() const {
  return IsInteger(c_.pool[stage_.values[0]].type);
}

bool StageShape::IsProduct() const {
  if (stage_.combiner != tensor::Combiner::kSum || stage_.values.size() != 1 ||
      stage_.spatial_count == 0) {
    return false;
  }
  NodeId value = stage_.values[0];
  if (c_.pool[value].opcode == Opcode::kCast)
    value = c_.pool[value].operands[0];
  return c_.pool[value].opcode == Opcode::kMultiply && loads_.size() >= 2;
}

bool StageShape::SharesOperands() const {
  if (!IsProduct()) return false;
  for (int a = 0; a < spatial_count(); ++a) {
    if (LikelyExtent(a) < 2) continue;
    const auto moves = [&](NodeId load) {
      return StrideOf(load, a) != Stride::kNone;
    };
    if (std::ranges::any_of(loads_, moves) &&
        !std::ranges::all_of(loads_, moves)) {
      return true;
    }
  }
  return false;
}

}  // namespace ember::schedule

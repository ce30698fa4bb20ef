// Describes how the loads of a stage move with its axes, and how large the
// stage is. Default schedules are chosen by it.
#ifndef EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_
#define EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// The distance in memory between the elements that a load reads at successive
// values of an axis.
enum class Stride : uint8_t {
  kNone,  // the same element is read at all values of the axis
  kUnit,  // the next value of the axis reads the next element in memory
  kOther
};

// Describes how a load moves through its buffer. dims: the buffer's likely
// extents. steps[dim][axis]: the distance by which a step along the axis moves
// the index of the dim; 1 if it is not known.
struct LoadWalk {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> steps;  // steps[dim][axis]

  // The memory that a load reads while each axis takes `extents` values:
  // `count` contiguous pieces of `elements` elements.
  struct Pieces {
    int64_t count = 1;
    int64_t elements = 1;  // number of elements per piece
  };
  Pieces Over(std::span<const int64_t> extents) const;
};

class StageShape {
 public:
  StageShape(const Computation& computation, int stage);

  const ComputationStage& stage() const { return stage_; }
  int spatial_count() const { return stage_.spatial_count; }
  int axis_count() const { return static_cast<int>(stage_.axes.size()); }

  // Returns the extent of an axis, if it is constant; otherwise nullopt.
  std::optional<int64_t> Extent(int axis) const;
  // Returns the extent of an axis if it is constant, otherwise an assumed
  // value.
  int64_t LikelyExtent(int axis) const;
  // Return the likely number of points of the stage, each element of a
  // reduction counted as one. The second function counts only axes first ..
  // end-1.
  int64_t LikelyPoints() const { return LikelyPoints(0, axis_count()); }
  int64_t LikelyPoints(int first, int end) const;

  const std::vector<NodeId>& loads() const { return loads_; }
  Stride StrideOf(NodeId load, int axis) const;
  // True if the axis is an index of the load, and no other index depends on it.
  bool MovesAlone(NodeId load, int axis) const;
  // True if the load reads a constant of the module, whose elements never
  // change.
  bool ReadsConstant(NodeId load) const;
  // True if the load reads a constant of bytes that are small enough for byte
  // dot products (jit/loops/analysis/dot_product.h).
  bool ReadsSmallBytes(NodeId load) const;
  // True if the load is padded: outside of the buffer it gives a default value.
  bool IsPadded(NodeId load) const;
  // Returns the number of bytes of the loaded element.
  int BytesOf(NodeId load) const;
  // Returns the distance, in elements of one dim, by which a step along the
  // axis moves the load: the largest of all dims. Returns 0 if the load does
  // not move, or if the distance is not known.
  int64_t StepOf(NodeId load, int axis) const;
  // Returns the likely number of bytes that the load reads in all iterations
  // over the axes from `first` on.
  int64_t LikelyBytes(NodeId load, int first) const;
  // Describes how the load moves through its buffer.
  LoadWalk WalkOf(NodeId load) const;
  // Returns the likely size in bytes of the buffer that the load reads from.
  int64_t LikelyBufferBytes(NodeId load) const;
  // True if all stores to neighbouring points along the axis are contiguous in
  // memory.
  bool StoresAlong(int axis) const;
  // True if results are contiguous in memory along the axis and the axis before
  // it together, as in one fused loop.
  bool StoresAlongBoth(int axis) const;
  // Returns the number of bytes of the widest value that is stored, loaded or
  // accumulated. A narrow float that is computed counts as 4 bytes.
  int WidestBytes() const;

  // True if the stage accumulates integers.
  bool SumsIntegers() const;

  // True if the stage is a sum of products of at least two loads, and has a
  // spatial axis, so that it can be computed on register tiles.
  bool IsProduct() const;
  // True if the stage is a product in which results along some spatial axis
  // share an operand: one load reads the same element for them while other
  // loads move. A tile of results then reuses that element.
  bool SharesOperands() const;

 private:
  const Computation& c_;
  const ComputationStage& stage_;
  std::vector<NodeId> loads_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_

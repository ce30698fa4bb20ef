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

// The distance that a load moves in memory per step along an axis.
enum class Stride : uint8_t {
  kNone,  // every value of the axis reads the same element
  kUnit,  // the axis' next value reads the next element in memory
  kOther
};

// A load's path through its buffer: the buffer's likely extents, and how far
// the load moves in each of these dims with each axis (1 if that is not known).
struct LoadWalk {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> steps;  // steps[dim][axis]

  // The memory that is read while each axis takes `extents` values. It consists
  // of `count` pieces, each of which is contiguous.
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
  // Returns the extent of an axis if it is constant, otherwise a guess.
  int64_t LikelyExtent(int axis) const;
  // Returns the likely number of points, including reductions; the second form
  // only counts axes first..end-1.
  int64_t LikelyPoints() const { return LikelyPoints(0, axis_count()); }
  int64_t LikelyPoints(int first, int end) const;

  const std::vector<NodeId>& loads() const { return loads_; }
  Stride StrideOf(NodeId load, int axis) const;
  // True if one index of the load is the axis and no other index depends on it.
  bool MovesAlone(NodeId load, int axis) const;
  // True if the elements that the load reads never change.
  bool ReadsConstant(NodeId load) const;
  // True if the load reads a constant of bytes that are small enough for byte
  // dot products (jit/loops/analysis/dot_product.h).
  bool ReadsSmallBytes(NodeId load) const;
  // True if the load gives a default value outside of the buffer.
  bool IsPadded(NodeId load) const;
  // Returns the number of bytes of an element that the load reads.
  int BytesOf(NodeId load) const;
  // Returns the number of elements by which a step along the axis moves the
  // load in a dim: the largest of all dims; 0 if it does not move, or if that
  // is not known.
  int64_t StepOf(NodeId load, int axis) const;
  // Returns the likely number of bytes that the load reads while the axes from
  // `first` on move.
  int64_t LikelyBytes(NodeId load, int first) const;
  // Returns the load's path through its buffer.
  LoadWalk WalkOf(NodeId load) const;
  // Returns the likely size in bytes of the buffer that the load reads from.
  int64_t LikelyBufferBytes(NodeId load) const;
  // True if, in each store, neighbouring points along the axis are neighbours
  // in memory.
  bool StoresAlong(int axis) const;
  // True if the axis and the one before it are two digits of the address of
  // results: fused into one loop, they run along memory.
  bool StoresAlongBoth(int axis) const;
  // Returns the number of bytes of the widest value that is stored, loaded or
  // accumulated.
  int WidestBytes() const;

  // True if the first value that is combined is an integer.
  bool SumsIntegers() const;

  // True if the stage is a sum of products over at least one axis, which
  // register tiles serve.
  bool IsProduct() const;
  // True if the stage is a product, and along some spatial axis one load reads
  // the same element while other loads move: a tile of results reuses that
  // element.
  bool SharesOperands() const;

 private:
  const Computation& c_;
  const ComputationStage& stage_;
  std::vector<NodeId> loads_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_

// How the loads of a stage move with its axes, and how large it is: what
// default schedules are chosen from.
#ifndef EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_
#define EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Of a load, along an axis.
enum class Stride : uint8_t {
  kNone,  // the same element
  kUnit,  // the next element in memory
  kOther
};

// Of a load: the likely extents of its buffer, and how far it moves in each of
// these dims with each axis (where that is not known: by 1).
struct LoadWalk {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> steps;  // by dim, then by axis

  // What is read while each axis takes `extents` values: pieces of elements
  // that lie one behind the other in memory.
  struct Pieces {
    int64_t count = 1;
    int64_t elements = 1;  // of each
  };
  Pieces Over(std::span<const int64_t> extents) const;
};

class StageShape {
 public:
  StageShape(const Computation& computation, int stage);

  const ComputationStage& stage() const { return stage_; }
  int spatial_count() const { return stage_.spatial_count; }
  int axis_count() const { return static_cast<int>(stage_.axes.size()); }

  // Of an axis, if it is constant.
  std::optional<int64_t> Extent(int axis) const;
  // Constant, or a guess where it is open.
  int64_t LikelyExtent(int axis) const;
  // Likely number of points, reductions included; and of axes first..end-1.
  int64_t LikelyPoints() const { return LikelyPoints(0, axis_count()); }
  int64_t LikelyPoints(int first, int end) const;

  const std::vector<NodeId>& loads() const { return loads_; }
  Stride StrideOf(NodeId load, int axis) const;
  // Whether one index of the load is the axis, and no other one moves with it.
  bool MovesAlone(NodeId load, int axis) const;
  // Whether what the load reads never changes.
  bool ReadsConstant(NodeId load) const;
  // Whether it reads a constant of small bytes (jit/loops/dot_product.h).
  bool ReadsSmallBytes(NodeId load) const;
  // Whether it gives a value of its own for what is outside.
  bool IsPadded(NodeId load) const;
  // Bytes of an element that the load reads.
  int BytesOf(NodeId load) const;
  // How many elements of some dim a step along the axis moves by: the most of
  // all dims; 0 if none, or if it is not known.
  int64_t StepOf(NodeId load, int axis) const;
  // Likely number of bytes that the load reads while the axes from `first` on
  // move.
  int64_t LikelyBytes(NodeId load, int first) const;
  // How the load walks through its buffer.
  LoadWalk WalkOf(NodeId load) const;
  // Likely size of the buffer that the load reads from.
  int64_t LikelyBufferBytes(NodeId load) const;
  // Of each store: whether neighbouring points along the axis are neighbours in
  // memory.
  bool StoresAlong(int axis) const;
  // Whether the axis and the one before it are two digits of where results lie:
  // as one loop they run along memory.
  bool StoresAlongBoth(int axis) const;
  // Bytes of the widest value that is stored, loaded or accumulated.
  int WidestBytes() const;

  // Whether the first value that is combined is an integer.
  bool SumsIntegers() const;

  // A sum of products over at least one axis: what register tiles are for.
  bool IsProduct() const;
  // A product with a load that stays where others move, along an axis of
  // points: a tile of results uses it again.
  bool SharesOperands() const;

 private:
  const Computation& c_;
  const ComputationStage& stage_;
  std::vector<NodeId> loads_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_SHAPE_H_

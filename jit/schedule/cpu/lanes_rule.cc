// Lanes for stages that are no products, and tiles for those that transpose.
//
// If elements are loaded along one axis and stored along another, lanes run
// along the stores, so that each lane reads another cache line. The lines are
// used whole if the axis that loads run along moves next, to the end of a line,
// before the lanes move on:
//
//   y[i, j] = x[j, i]  ->  for i_line { for j_block { for i_in_line < 16 {
//                            vector j_lane < 8 { ... } } } }
//
// A copy of a few elements of each lane's line (`cache_read`) is loaded line by
// line. Lanes read the elements from it, which needs only shuffles in registers
// (jit/llvm/emit/load_column.h).
#include "jit/schedule/cpu/lanes_rule.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

constexpr int64_t kLineBytes = 64;
// Number of bytes of a cache line that one instruction loads
// (jit/llvm/emit/load_column.h).
constexpr int64_t kChunkBytes = 16;
constexpr int64_t kFewestNarrowLanes = 4;
// Largest number of vectors in a period. If lanes run over two fused axes, a
// lane has the same index of the inner axis again after that many vectors
// (PeriodOf). All vectors of a period are unrolled.
constexpr int64_t kLongestPeriod = 16;

struct LaneAxis {
  int axis = -1;    // number of the axis along which lanes run; -1: no vectors
  int before = -1;  // number of an axis that is fused with `axis`; -1: none
  int64_t lanes = 1;
  // true if `axis` is spatial; false if it is a reduction axis
  bool over_points = false;
};

// True if some load reads contiguous elements along the axis `axis`, and
// elements that are far apart along `other`.
bool LoadsAlongInstead(const StageShape& shape, int axis, int other) {
  return std::ranges::any_of(shape.loads(), [&](NodeId load) {
    return shape.StrideOf(load, axis) == Stride::kUnit &&
           shape.StrideOf(load, other) == Stride::kOther;
  });
}

// Returns the number of lanes for a sum of `extent` elements: `lanes`, halved
// until no lane is empty, but no further than to 8. Shorter sums get 1 lane,
// because most of their time would go into adding up the lanes at the end.
int64_t LanesOfSum(int64_t extent, int64_t lanes) {
  constexpr int64_t kFewest = 8;
  while (lanes > kFewest && lanes > extent) lanes /= 2;
  return extent >= lanes ? lanes : 1;
}

// Chooses the axis of the lanes. If the last axis is short (the channels of a
// pixel), it may be fused with the axis before it, so that a vector has lanes
// over several pixels. The index of a lane must then be split into pixel and
// channel. That takes shuffles if the number of channels is a power of two,
// divisions of vectors for other numbers, and a condition for each lane if
// loads are padded. In the last two cases the axes are not fused: lanes run
// along the pixels and store their results one by one, or they are the channels
// of one pixel.
LaneAxis ChooseLanes(const jit::CpuModel& cpu, const Computation& c,
                     const StageShape& shape, int number,
                     const CommonAxes& common) {
  LaneAxis result;
  if (!StoresAreDistinct(c, number)) return result;
  result.lanes = cpu.vector_bytes / shape.WidestBytes();
  // True if each load reads contiguous elements along the axis, or the same
  // element. If all read the same element, results must be contiguous along the
  // axis.
  const auto moves_along = [&](int a) {
    bool unit = false, moves = false;
    for (NodeId load : shape.loads()) {
      const Stride stride = shape.StrideOf(load, a);
      if (stride == Stride::kOther) return false;
      unit |= stride == Stride::kUnit;
      moves |= stride != Stride::kNone;
    }
    return unit || (!moves && shape.StoresAlong(a));
  };
  int spatial = shape.spatial_count() - 1;
  while (spatial >= 0 &&
         (common.IsCommon(spatial) || shape.LikelyExtent(spatial) < 2)) {
    --spatial;
  }
  const int last = shape.axis_count() - 1;
  const bool reduces = shape.stage().has_reduction();
  const bool fold = shape.stage().combiner == tensor::Combiner::kFold;
  int chosen = spatial;
  result.over_points = chosen >= 0;
  const int64_t sum_lanes =
      reduces ? LanesOfSum(shape.LikelyExtent(last), result.lanes) : 1;
  // If a sum has fewer elements than a vector has lanes, adding up the lanes
  // would take most of its time. Then each lane computes a sum of its own.
  const bool is_short_sum = sum_lanes < result.lanes && chosen >= 0 &&
                            shape.LikelyExtent(chosen) >= result.lanes;
  if (reduces && !fold && !(result.over_points && moves_along(chosen)) &&
      sum_lanes > 1 && !is_short_sum) {
    result.axis = last;
    result.lanes = sum_lanes;
    result.over_points = false;
    return result;
  }
  if (chosen < 0 || result.lanes < 2) return result;
  const bool short_axis = shape.LikelyExtent(chosen) < result.lanes;
  if (short_axis && chosen > 0 && !common.IsCommon(chosen - 1) &&
      shape.StoresAlongBoth(chosen)) {
    const int64_t digit = shape.LikelyExtent(chosen);
    // The largest power of two that divides the number of results per point.
    const int64_t whole = digit & -digit;
    const auto is_padded = [&](NodeId load) { return shape.IsPadded(load); };
    if (digit != whole && LoadsAlongInstead(shape, chosen - 1, chosen)) {
      --chosen;
    } else if (whole >= kFewestNarrowLanes &&
               std::ranges::any_of(shape.loads(), is_padded)) {
      result.lanes = whole;
    } else {
      result.before = chosen - 1;
    }
  } else if (shape.LikelyExtent(chosen) * kFewestNarrowLanes <= result.lanes &&
             !reduces && chosen > 0 && !common.IsCommon(chosen - 1) &&
             shape.LikelyExtent(chosen - 1) >= result.lanes) {
    // The axis is much shorter than a vector, so lanes run along the axis
    // before it, and store their results one by one.
    --chosen;
  } else {
    result.lanes =
        cpu.LanesFor(shape.WidestBytes(), shape.LikelyExtent(chosen));
    if (result.lanes < 2) return result;
  }
  result.axis = chosen;
  return result;
}

// Returns the largest of lanes, lanes / 2, and so on that divides the extent,
// because a partial vector would be masked. Returns `lanes` if none of 4 or
// more does.
int64_t LanesThatDivide(const std::optional<int64_t>& extent, int64_t lanes) {
  for (int64_t fewer = lanes; extent && fewer >= 4; fewer /= 2) {
    if (*extent % fewer == 0) return fewer;
  }
  return lanes;
}

// Costs on CPUs without mask registers, in cycles: of a vector; of an element
// of a partial vector with elements of less than four bytes, which are accessed
// one by one; and of a partial vector with larger elements, which is masked.
// The number of lanes is chosen so that the sum is least.
constexpr int64_t kVectorCycles = 1;
constexpr int64_t kNarrowElementCycles = 3;
constexpr int64_t kMaskedVectorCycles = 8;

// Returns the best number of lanes, up to `lanes`, for elements of `bytes`
// bytes on a CPU without mask registers.
int64_t LanesWithoutMasks(const std::optional<int64_t>& extent, int64_t lanes,
                          int64_t bytes) {
  if (!extent) return lanes;
  const auto cycles = [&](int64_t count) {
    const int64_t rest = *extent % count;
    if (bytes < 4)
      return *extent / count * kVectorCycles + rest * kNarrowElementCycles;
    return *extent / count * kVectorCycles +
           (rest == 0 ? 0 : kVectorCycles + kMaskedVectorCycles);
  };
  int64_t best = lanes;
  for (int64_t fewer = lanes / 2; fewer >= kFewestNarrowLanes; fewer /= 2) {
    if (cycles(fewer) < cycles(best)) best = fewer;
  }
  return best;
}

// An axis along which a load reads whole cache lines while lanes run along
// another axis.
struct LineAxis {
  int axis = -1;      // number of the axis along which the load reads lines;
                      // -1: none
  int64_t line = 1;   // number of the buffer's elements in a cache line
  int64_t chunk = 1;  // number of elements that one instruction loads
  BufferRef buffer;   // the buffer that the load reads
  // the dim of the buffer along which lanes move; -1: no tile of the buffer is
  // copied
  int rows = -1;
};

// Returns the dim of the load that is indexed by the axis, or by a sum of the
// axis and another term; -1 if there is none.
int DimOf(const Computation& c, NodeId load, NodeId axis) {
  const tensor::Node& node = c.pool[load];
  const size_t rank = c.buffers[node.buffer].extents.size();
  for (size_t d = 0; d < rank; ++d) {
    const tensor::Node& index = c.pool[node.operands[d]];
    const bool is_sum = index.opcode == tensor::Opcode::kAdd &&
                        std::find(index.operands.begin(), index.operands.end(),
                                  axis) != index.operands.end();
    if (node.operands[d] == axis || is_sum) return static_cast<int>(d);
  }
  return -1;
}

// Returns the index without a constant that is added to it.
NodeId WithoutConstant(const Computation& c, NodeId index) {
  const tensor::Node& node = c.pool[index];
  if (node.opcode != tensor::Opcode::kAdd) return index;
  for (size_t i = 0; i < 2; ++i) {
    if (c.pool.IntegerConstant(node.operands[i])) return node.operands[1 - i];
  }
  return index;
}

// True if a tile of the load's buffer can be copied: in a few iterations all
// loads of the buffer together read a few elements of each dim, and always the
// same number, because their indices differ only by constants. Padded loads of
// open extents are excluded, because a copy cannot contain elements outside of
// the buffer.
bool ReadsTiles(const Computation& c, const StageShape& shape, NodeId load) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  if (shape.IsPadded(load) && !std::ranges::all_of(extents, [&](NodeId extent) {
        return c.pool.IntegerConstant(extent).has_value();
      }))
    return false;
  return std::ranges::all_of(shape.loads(), [&](NodeId other) {
    const tensor::Node& same = c.pool[other];
    if (same.buffer != node.buffer) return true;
    for (size_t d = 0; d < extents.size(); ++d) {
      if (WithoutConstant(c, same.operands[d]) !=
          WithoutConstant(c, node.operands[d]))
        return false;
    }
    return true;
  });
}

LineAxis ChooseLine(const Computation& c, const StageShape& shape,
                    const LaneAxis& lanes, const CommonAxes& common) {
  LineAxis result;
  if (shape.stage().has_reduction()) return result;
  // Looks at the loads of the most bytes first: cache lines matter most for
  // these.
  std::vector<NodeId> loads = shape.loads();
  std::ranges::stable_sort(loads, std::ranges::greater(), [&](NodeId load) {
    return shape.LikelyBytes(load, 0);
  });
  for (NodeId load : loads) {
    if (shape.StrideOf(load, lanes.axis) != Stride::kOther) continue;
    for (int a = shape.spatial_count(); a-- > 0;) {
      if (a == lanes.axis || a == lanes.before || common.IsCommon(a) ||
          shape.LikelyExtent(a) < 2) {
        continue;
      }
      if (shape.StrideOf(load, a) != Stride::kUnit) continue;
      const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
      result.axis = a;
      result.line = kLineBytes / shape.BytesOf(load);
      result.chunk = std::min(kChunkBytes / shape.BytesOf(load), lanes.lanes);
      result.buffer = {buffer.name};
      // A tile has rows along the dim in which lanes move, and is one chunk
      // long in the last dim. So lanes must not move in the last dim, and must
      // not run over two fused axes.
      const NodeId lane = shape.stage().axes[lanes.axis].variable;
      const NodeId along = c.pool[load].operands[buffer.extents.size() - 1];
      if (lanes.before < 0 && result.chunk > 1 &&
          shape.LikelyExtent(a) >= result.chunk && !buffer.may_be_overwritten &&
          !tensor::DependsOn(c.pool, along, lane) &&
          ReadsTiles(c, shape, load)) {
        result.rows = DimOf(c, load, lane);
      }
      return result;
    }
  }
  return result;
}

// Makes the loops `inner` the innermost ones of the stage, in this order.
void MoveInside(const StageRef& stage, const std::vector<LoopRef>& inner,
                ScheduleWriter& writer) {
  std::vector<LoopRef> order;
  for (const LoopRef& loop : writer.LoopsOf(stage)) {
    if (std::ranges::find(inner, loop) == inner.end()) order.push_back(loop);
  }
  order.insert(order.end(), inner.begin(), inner.end());
  writer.Reorder(std::move(order));
}

// Orders the loops of a stage whose loads read cache lines along `axis`: the
// loop within a line goes inside the loop over blocks of lanes. If possible, a
// copy of a tile of the input is made for each chunk of a line.
void ScheduleLine(const LoopRef& axis, const LineAxis& line, bool splits,
                  const LoopRef& lane, ScheduleWriter& writer) {
  const StageRef& stage = axis.stage;
  LoopRef inner = axis;
  if (splits) {
    const auto [lines, in_line] =
        writer.Split(axis, line.line, "_line", "_in_line");
    writer.Do(Peel{lines});
    inner = in_line;
  }
  const StageRef copy{stage.name + ".tile"};
  // A stage that is attached to another one's loop gets no tile, because its
  // input cannot be copied there.
  const bool is_tiled =
      line.rows >= 0 &&
      writer.schedule().plan(writer.NumberOf(stage)).attach_stage < 0 &&
      writer.Try(
          CacheRead{.reader = stage, .buffer = line.buffer, .copy = copy.name});
  if (!is_tiled) return MoveInside(stage, {inner, lane}, writer);
  const LoopRef part{stage, axis.name + "_part"},
      row{stage, axis.name + "_row"};
  writer.Do(Split{.loop = inner,
                  .factor = line.chunk,
                  .outer = part.name,
                  .inner = row.name});
  if (!splits) writer.Do(Peel{part});
  MoveInside(stage, {part, row, lane}, writer);
  writer.Do(Unroll{row});
  writer.Do(ComputeAt{.producer = copy, .loop = part});
  const std::vector<LoopRef> loops = writer.LoopsOf(copy);
  writer.Do(Unroll{loops[static_cast<size_t>(line.rows)]});
  writer.Do(Vectorize{loops.back()});
}

// Returns the number of vectors after which each lane has the same index along
// lanes.axis again. Returns 1 if no axis is fused with that axis, if the number
// is not known or too large, or if the two axes have fewer points than that.
int64_t PeriodOf(const StageShape& shape, const LaneAxis& lanes) {
  const std::optional<int64_t> digit = shape.Extent(lanes.axis);
  if (lanes.before < 0 || !digit || *digit < 2) return 1;
  const int64_t period = std::lcm(*digit, lanes.lanes) / lanes.lanes;
  const bool is_filled =
      shape.LikelyExtent(lanes.before) * *digit >= period * lanes.lanes;
  return period <= kLongestPeriod && is_filled ? period : 1;
}

// Splits the fused loop into periods of vectors and unrolls them. The index of
// each lane along the inner axis is then a constant, and needs no division.
void SplitPeriods(const LoopRef& axis, int64_t period, int64_t lanes,
                  ScheduleWriter& writer) {
  const auto [tile, rest] =
      writer.Split(axis, period * lanes, "_tile", "_rest");
  writer.Do(Peel{tile});
  const LoopRef part{axis.stage, axis.name + "_part"},
      lane{axis.stage, axis.name + "_lane"};
  writer.Do(Split{
      .loop = rest, .factor = lanes, .outer = part.name, .inner = lane.name});
  MoveInside(axis.stage, {part, lane}, writer);
  writer.Do(Unroll{part});
  writer.Do(Vectorize{lane});
}

}  // namespace

int64_t VectorsSideBySide(int64_t count) {
  constexpr int64_t kMaxVectors = 4;
  for (int64_t vectors = kMaxVectors; vectors > 1; --vectors) {
    if (count % vectors == 0) return vectors;
  }
  // kMaxVectors does not divide the number of vectors, so the remaining vectors
  // are computed after the loop.
  return count > 2 * kMaxVectors ? kMaxVectors : 1;
}

bool SplitVectorsSideBySide(const LoopRef& axis, int64_t lanes, int64_t vectors,
                            ScheduleWriter& writer) {
  const LoopRef tile{axis.stage, axis.name + "_tile"},
      rest{axis.stage, axis.name + "_rest"};
  if (vectors < 2 || !writer.Try(Split{.loop = axis,
                                       .factor = lanes * vectors,
                                       .outer = tile.name,
                                       .inner = rest.name})) {
    return false;
  }
  const LoopRef vector{axis.stage, axis.name + "_vector"},
      lane{axis.stage, axis.name + "_lane"};
  writer.Do(Split{
      .loop = rest, .factor = lanes, .outer = vector.name, .inner = lane.name});
  MoveInside(axis.stage, {vector, lane}, writer);
  writer.Do(Unroll{vector});
  writer.Do(Vectorize{lane});
  return true;
}

void ScheduleLanes(const jit::CpuModel& cpu, const StageRef& stage,
                   const CommonAxes& common, ScheduleWriter& writer,
                   const LanePart& part) {
  const int number = writer.NumberOf(stage);
  LaneAxis lanes;
  LineAxis line;
  bool splits = false;
  // true if the last of several vectors is partial, and the CPU accesses it
  // element by element or with slow masks
  bool has_part = false;
  // true if the results of a vector are not contiguous in memory
  bool is_apart = false;
  int64_t period = 1;
  int64_t side_by_side = 1;
  LoopRef axis;
  std::optional<LoopRef> before, along;
  {
    const StageShape shape(writer.computation(), number);
    lanes = ChooseLanes(cpu, writer.computation(), shape, number, common);
    if (lanes.axis < 0) return;
    if (lanes.over_points)
      line = ChooseLine(writer.computation(), shape, lanes, common);
    if (line.rows >= 0) {
      lanes.lanes = LanesThatDivide(shape.Extent(lanes.axis), lanes.lanes);
      line.chunk = std::min(line.chunk, lanes.lanes);
    }
    const std::optional<int64_t> extent = shape.Extent(lanes.axis);
    if (lanes.over_points && lanes.before < 0 && line.axis < 0 &&
        !cpu.has_masks) {
      lanes.lanes = LanesWithoutMasks(extent, lanes.lanes, shape.WidestBytes());
      has_part = extent && *extent > lanes.lanes && *extent % lanes.lanes != 0;
    }
    const auto loop_of = [&](int a) {
      return part.split && a == part.split->axis
                 ? part.split->inner
                 : LoopRef{stage, shape.stage().axes[a].name};
    };
    axis = loop_of(lanes.axis);
    if (lanes.before >= 0) before = loop_of(lanes.before);
    period = PeriodOf(shape, lanes);
    is_apart = lanes.over_points && !shape.StoresAlong(lanes.axis);
    // The loop gets no vectors if nothing about them is fast. Without mask
    // registers the lanes would be loaded and stored one by one: elements are
    // narrow, each lane of a padded load has a condition, and results are not
    // contiguous.
    if (is_apart && !cpu.has_masks && shape.WidestBytes() < 4 &&
        std::ranges::any_of(
            shape.loads(), [&](NodeId load) { return shape.IsPadded(load); })) {
      return;
    }
    const std::optional<int64_t> points = part.points ? part.points : extent;
    if (points && lanes.over_points && !is_apart && lanes.before < 0 &&
        line.axis < 0 && shape.stage().has_reduction() &&
        *points % lanes.lanes == 0) {
      side_by_side = VectorsSideBySide(*points / lanes.lanes);
    }
    if (line.axis >= 0) {
      along = {stage, shape.stage().axes[line.axis].name};
      splits = shape.LikelyExtent(line.axis) > line.line;
    }
  }
  if (before) {
    const LoopRef fused{stage, before->name + "_" + axis.name};
    writer.Do(Fuse{.outer = *before, .inner = axis, .fused = fused.name});
    axis = fused;
  }
  if (period > 1) return SplitPeriods(axis, period, lanes.lanes, writer);
  if (SplitVectorsSideBySide(axis, lanes.lanes, side_by_side, writer)) return;
  const LoopRef block{stage, axis.name + "_block"},
      lane{stage, axis.name + "_lane"};
  // In a stage that is computed for a few points of another one, a split into
  // more lanes than points would compute some results twice, so it may be
  // refused. Then fewer lanes are tried.
  while (!writer.Try(Split{.loop = axis,
                           .factor = lanes.lanes,
                           .outer = block.name,
                           .inner = lane.name})) {
    if (along || lanes.lanes <= kFewestNarrowLanes) return;
    lanes.lanes /= 2;
  }
  // The partial vector is computed after the loop (peeled) where a mask would
  // be slow. A few shuffles load transposed tiles, or elements of two fused
  // axes, but with a mask these loads become gathers. Results that are not
  // contiguous are stored one by one, and a mask puts each store under a
  // condition.
  if (before || along || has_part || is_apart) writer.Do(Peel{block});
  if (along) {
    ScheduleLine(*along, line, splits, lane, writer);
  } else if (lanes.over_points) {
    // The loop over lanes becomes the innermost loop, inside the reductions.
    MoveInside(stage, {lane}, writer);
  }
  writer.Do(Vectorize{lane});
}

}  // namespace ember::schedule

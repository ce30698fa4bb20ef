#include "jit/schedule/cpu/sum_lanes_rule.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Cycles per element of a factor that is copied to another order. The copy
// reads and writes one element at a time.
constexpr double kCopyCycles = 3;
// Cycles per lane that is loaded by itself, because elements are not
// contiguous.
constexpr double kLaneCycles = 0.6;
// Cycles per multiply-add of vectors, and per load of a vector.
constexpr double kMultiplyCycles = 0.5;
constexpr double kLoadCycles = 0.5;
// kChainCycles: latency of an addition. kLoopCycles: cycles per iteration that
// the loop itself takes.
constexpr double kChainCycles = 4;
constexpr double kLoopCycles = 1;
// The ratio of the time of a register tile to that of its multiply-adds alone.
constexpr double kTileOverhead = 1.2;
constexpr int64_t kMaxRows = 4;
constexpr int64_t kMaxColumns = 8;
// Smallest number of vectors of a sum for which this rule is used. Shorter sums
// take less time than adding up the lanes at their end.
constexpr int64_t kFewestSteps = 2;

struct SumTile {
  int u = -1;  // number of the axis along which the tile has rows; -1: none
  int v = 0;   // number of the axis along which the tile has columns
  int k = 0;   // number of the reduction axis along which lanes run
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t lanes = 1;
};

// True if the rule makes a packed copy of the constant that is loaded: it is
// not contiguous along the sum, and the axis of the sum is one of the load's
// indices and occurs in no other.
bool IsPackedForSum(const StageShape& shape, NodeId load, int k) {
  return shape.StrideOf(load, k) == Stride::kOther &&
         shape.ReadsConstant(load) && shape.MovesAlone(load, k);
}

class SumTileChooser {
 public:
  SumTileChooser(const jit::CpuModel& cpu, const StageShape& shape)
      : cpu_(cpu), shape_(shape) {}

  std::optional<SumTile> Choose() {
    SumTile tile;
    tile.v = LastAxisWithPoints();
    tile.k = shape_.axis_count() - 1;
    if (tile.v < 0 || shape_.SumsIntegers() || !LiesAlong(tile.k))
      return std::nullopt;
    const double reading = ReadingCycles(tile.v);
    const std::optional<int64_t> length = shape_.Extent(tile.k);
    if (!length) return std::nullopt;
    tile.lanes = cpu_.vector_bytes / shape_.WidestBytes();
    if (tile.lanes < 2 || *length < kFewestSteps * tile.lanes)
      return std::nullopt;
    tile.u = RowAxis(tile.v);
    // If no factor has to be copied, a register tile with vectors along v is
    // better, unless its vectors would be at most half full.
    const int64_t filled = std::min(tile.lanes, shape_.LikelyExtent(tile.v));
    if (reading == 0 && filled * 2 > tile.lanes) return std::nullopt;
    const double packed = reading + kTileOverhead * kMultiplyCycles * Points() /
                                        static_cast<double>(filled);
    std::optional<SumTile> best;
    double best_cost = packed;
    const int64_t most_rows =
        tile.u < 0 ? 1 : std::min(kMaxRows, shape_.LikelyExtent(tile.u));
    const int64_t most_columns =
        std::min(kMaxColumns, shape_.LikelyExtent(tile.v));
    for (tile.rows = 1; tile.rows <= most_rows; ++tile.rows) {
      for (tile.columns = 1; tile.columns <= most_columns; ++tile.columns) {
        const double cost = CostOf(tile);
        if (!Fits(tile) || cost >= best_cost) continue;
        best = tile;
        best_cost = cost;
      }
    }
    return best;
  }

 private:
  int LastAxisWithPoints() const {
    for (int a = shape_.spatial_count(); a-- > 0;) {
      if (shape_.LikelyExtent(a) > 1) return a;
    }
    return -1;
  }

  // True if lanes can run along the axis: no factor is padded, and along the
  // axis each factor is contiguous, constant in value, or a constant of the
  // module that can be packed to be contiguous. At least two factors must move
  // along the axis.
  bool LiesAlong(int axis) const {
    int moving = 0;
    for (NodeId load : shape_.loads()) {
      const Stride stride = shape_.StrideOf(load, axis);
      const bool is_packed = IsPackedForSum(shape_, load, axis);
      if ((stride == Stride::kOther && !is_packed) || shape_.IsPadded(load))
        return false;
      moving += stride != Stride::kNone;
    }
    return moving >= 2;
  }

  // Returns the extra cycles of a register tile with lanes along the axis, for
  // factors that are neither constants of the module nor contiguous along it.
  // Such a factor is copied in each call, or, if the axis is only a term of an
  // index, each lane is loaded by itself.
  double ReadingCycles(int axis) const {
    double cycles = 0;
    for (NodeId load : shape_.loads()) {
      if (shape_.StrideOf(load, axis) != Stride::kOther ||
          shape_.ReadsConstant(load)) {
        continue;
      }
      cycles +=
          shape_.MovesAlone(load, axis)
              ? kCopyCycles * static_cast<double>(shape_.LikelyBytes(load, 0) /
                                                  shape_.BytesOf(load))
              : kLaneCycles * Points();
    }
    return cycles;
  }

  // Returns the last axis along which a tile can have rows that share loads:
  // some factor moves along `v`, the axis of the columns, but not along that
  // axis. Returns -1 if there is none.
  int RowAxis(int v) const {
    for (int u = shape_.spatial_count(); u-- > 0;) {
      if (u == v || shape_.Extent(u).value_or(1) < 2) continue;
      for (NodeId load : shape_.loads()) {
        if (shape_.StrideOf(load, u) == Stride::kNone &&
            shape_.StrideOf(load, v) != Stride::kNone)
          return u;
      }
    }
    return -1;
  }

  double Points() const {
    return static_cast<double>(shape_.LikelyPoints(0, shape_.axis_count()));
  }

  bool Fits(const SumTile& tile) const {
    return tile.rows * tile.columns + std::min(tile.rows, tile.columns) + 1 <=
           cpu_.vector_registers;
  }

  double CostOf(const SumTile& tile) const {
    const auto results = static_cast<double>(tile.rows * tile.columns);
    const auto loads = static_cast<double>(tile.rows + tile.columns);
    const double steps = static_cast<double>(shape_.LikelyPoints(
                             shape_.spatial_count(), shape_.axis_count())) /
                         static_cast<double>(tile.lanes);
    // Adding up the lanes of a vector takes log2(lanes) steps, each of which
    // adds one half of the lanes to the other.
    const double sum =
        2.0 *
        static_cast<double>(std::bit_width(static_cast<uint64_t>(tile.lanes)));
    double tiles = TilesOf(tile.v, tile.columns);
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      if (a != tile.v)
        tiles *= a == tile.u ? TilesOf(a, tile.rows)
                             : static_cast<double>(shape_.LikelyExtent(a));
    }
    const double step = std::max(
        {kMultiplyCycles * results, kLoadCycles * loads, kChainCycles});
    return tiles * (steps * (step + kLoopCycles) + results * sum);
  }

  double TilesOf(int axis, int64_t size) const {
    return static_cast<double>(
        DivideRoundingUp(shape_.LikelyExtent(axis), size));
  }

  const jit::CpuModel& cpu_;
  const StageShape& shape_;
};

// Packs the constants that are not contiguous along the sum, once for all
// calls. Returns false, and changes nothing, if that is refused.
bool PackForSum(const jit::CpuModel& cpu, const StageRef& product, int k,
                ScheduleWriter& writer) {
  std::vector<Pack> packs;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.NumberOf(product));
    for (NodeId load : shape.loads()) {
      if (!IsPackedForSum(shape, load, k)) continue;
      const tensor::Node& node = c.pool[load];
      const ComputationBuffer& buffer = c.buffers[node.buffer];
      std::vector<LayoutDim> dims, last;
      for (size_t d = 0; d < buffer.extents.size(); ++d) {
        const bool is_along =
            node.operands[d] ==
            shape.stage().axes[static_cast<size_t>(k)].variable;
        (is_along ? last : dims).push_back({.dim = d});
      }
      dims.insert(dims.end(), last.begin(), last.end());
      packs.push_back({.reader = product,
                       .buffer = {buffer.name},
                       .layout = std::move(dims),
                       .copy = buffer.name + ".sums"});
    }
  }
  if (packs.empty()) return true;
  const Schedule before = writer.schedule();
  for (const Pack& pack : packs) {
    if (!writer.Try(pack)) {
      writer.Replace(before);
      return false;
    }
    ScheduleLanes(cpu, {pack.copy}, {}, writer);
  }
  return true;
}

// The loops of a stage that is computed in tiles of results.
struct TileLoops {
  std::vector<LoopRef> outer;  // the loops outside of a tile
  std::optional<LoopRef> rows;
  LoopRef columns;
  std::optional<LoopRef> lanes;  // the loop over the lanes of the sum; only for
                                 // the product
};

// Orders the loops: `outer`, the reductions except the lanes' loop, rows,
// columns, lanes. Unrolls rows and columns, and vectorises the lanes.
void OrderSumTile(const TileLoops& tile, ScheduleWriter& writer) {
  const StageRef& stage = tile.columns.stage;
  std::vector<LoopRef> order = tile.outer;
  const StagePlan& plan = writer.schedule().plan(writer.NumberOf(stage));
  for (int number : plan.order) {
    const LoopRef loop{stage, plan.loops[number].name};
    if (plan.loops[number].is_reduction && loop != tile.lanes)
      order.push_back(loop);
  }
  if (tile.rows) order.push_back(*tile.rows);
  order.push_back(tile.columns);
  if (tile.lanes) order.push_back(*tile.lanes);
  writer.Reorder(std::move(order));
  if (tile.rows) writer.Do(Unroll{*tile.rows});
  writer.Do(Unroll{tile.columns});
  if (tile.lanes) writer.Do(Vectorize{*tile.lanes});
}

// Splits the loop over the sum into a loop over steps and a loop over lanes,
// which is returned.
LoopRef SplitLanes(const StageRef& product, const SumTile& tile,
                   ScheduleWriter& writer) {
  LoopRef k(product, "");
  bool has_rest = false;
  {
    const StageShape shape(writer.computation(), writer.NumberOf(product));
    k.name = shape.stage().axes[static_cast<size_t>(tile.k)].name;
    has_rest = *shape.Extent(tile.k) % tile.lanes != 0;
  }
  const auto [step, lane] = writer.Split(k, tile.lanes, "_step", "_lane");
  if (has_rest) writer.Do(Peel{step});
  return lane;
}

}  // namespace

bool ScheduleSumLanes(const jit::CpuModel& cpu, const StageGroup& group,
                      const StageRef& product, ScheduleWriter& writer) {
  const int number = writer.NumberOf(product);
  if (!StoresAreDistinct(writer.computation(), number)) return false;
  const std::optional<RootAxes> root = RootAxesOf(writer, group, product);
  if (!root) return false;
  std::optional<SumTile> tile;
  bool is_large = false;
  // true if the extent of the axis of the columns is not constant
  bool is_open = false;
  {
    const StageShape shape(writer.computation(), number);
    tile = SumTileChooser(cpu, shape).Choose();
    if (!tile) return false;
    is_large = IsWorthThreads(shape.LikelyPoints());
    is_open = !shape.Extent(tile->v);
  }
  // Returns the loop of a stage of the group over the axis that is equal to
  // axis `axis` of the product; nullopt if there is none.
  const auto axis_of = [&](const StageRef& stage,
                           int axis) -> std::optional<LoopRef> {
    if (axis < 0) return std::nullopt;
    const std::optional<LoopRef>& of_root =
        root->axes[static_cast<size_t>(axis)];
    return stage == group.root ? of_root
                               : AxisOfMember(writer, group, stage, of_root);
  };
  const auto lacks = [&](const StageRef& stage) {
    return !axis_of(stage, tile->v) ||
           (tile->u >= 0 && !axis_of(stage, tile->u));
  };
  if (lacks(group.root) || std::ranges::any_of(group.members, lacks))
    return false;
  if (!PackForSum(cpu, product, tile->k, writer)) return false;
  TileLoops loops{.outer = root->others};
  for (size_t a = 0; a < root->axes.size(); ++a) {
    const int axis = static_cast<int>(a);
    if (axis != tile->u && axis != tile->v && root->axes[a])
      loops.outer.push_back(*root->axes[a]);
  }
  std::optional<LoopRef> row_tiles;
  if (const std::optional<LoopRef> u = axis_of(group.root, tile->u)) {
    const auto [tiles, row] = writer.Split(*u, tile->rows, "_tile", "_row");
    writer.Do(Peel{tiles});
    row_tiles = tiles;
    loops.rows = row;
  }
  const auto [column_tiles, column] = writer.Split(
      *axis_of(group.root, tile->v), tile->columns, "_tile", "_column");
  writer.Do(Peel{column_tiles});
  loops.columns = column;
  // The loop over tiles of rows is inside the one over tiles of columns.
  // Usually there are fewer rows, so what they read stays in the cache, and
  // what a tile of columns reads is loaded once.
  loops.outer.push_back(column_tiles);
  if (row_tiles) loops.outer.push_back(*row_tiles);
  if (group.root == product) loops.lanes = SplitLanes(product, *tile, writer);
  OrderSumTile(loops, writer);
  const LoopRef tasks =
      writer.FuseLoops(group.root, 0, loops.outer.size(), "tasks");
  if (is_large) writer.Do(Parallel{tasks});
  for (size_t i = group.members.size(); i-- > 0;) {
    const StageRef& member = group.members[i];
    writer.Do(ComputeAt{.producer = member, .loop = tasks});
    // The member is computed for one tile at a time, so its own axes become the
    // rows and columns of the tile.
    TileLoops own{.rows = axis_of(member, tile->u),
                  .columns = *axis_of(member, tile->v)};
    const ComputationStage& stage = writer.StageAt(member);
    for (int a = 0; a < stage.spatial_count; ++a) {
      const LoopRef axis{member, stage.axes[static_cast<size_t>(a)].name};
      if (axis != own.rows && axis != own.columns) own.outer.push_back(axis);
    }
    // The member's extent is at most that of a tile, but this is known only
    // after lowering. So an open extent is split again.
    if (is_open) {
      const auto [tiles, rest] =
          writer.Split(own.columns, tile->columns, "_tile", "_column");
      own.outer.push_back(tiles);
      own.columns = rest;
    }
    if (member == product) own.lanes = SplitLanes(product, *tile, writer);
    OrderSumTile(own, writer);
  }
  return writer.status().ok();
}

}  // namespace ember::schedule

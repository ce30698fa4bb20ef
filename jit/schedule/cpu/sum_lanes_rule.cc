#include "jit/schedule/cpu/sum_lanes_rule.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
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

// Cycles per element that is copied to another order. The copy reads and writes
// one element at a time.
constexpr double kCopyCycles = 3;
// Cycles per lane that is loaded by itself.
constexpr double kLaneCycles = 0.6;
// Cycles per multiply-add of vectors, and per load of a vector.
constexpr double kMultiplyCycles = 0.5;
constexpr double kLoadCycles = 0.5;
// Cycles until the result of an addition can be used again, and cycles per
// iteration that the loop itself takes.
constexpr double kChainCycles = 4;
constexpr double kLoopCycles = 1;
// A register tile takes this many times as long as its multiply-adds alone.
constexpr double kTileOverhead = 1.2;
constexpr int64_t kMaxRows = 4;
constexpr int64_t kMaxColumns = 8;
// Smallest number of vectors of a sum. With fewer, adding up the lanes takes
// longer than the sum itself.
constexpr int64_t kFewestSteps = 2;

struct SumTile {
  int u = -1;  // number of the axis of the rows; -1: none
  int v = 0;   // number of the axis of the columns
  int k = 0;   // number of the reduction axis, along which lanes run
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t lanes = 1;
};

// True if the load reads constants that are not contiguous along the sum, so
// that a packed copy of them is made.
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
    // If nothing has to be copied, the rule only pays if a register tile's
    // vectors, along v, would be at most half full.
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

  // True if each factor's elements are contiguous along the axis, are the same,
  // or are constants that can be packed to be contiguous. At least two factors
  // must move along the axis.
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

  // Returns the cycles for reading factors that are not contiguous if lanes run
  // along the axis. Such a factor is copied in each call. If the axis is only a
  // part of an index, each lane is loaded by itself instead.
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

  // Returns the last axis along which a factor that moves along v does not
  // move, so that rows share its loads; -1 if there is none.
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
    // Lanes are added up by halves: the number of steps is the logarithm of
    // `lanes`.
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

// Packs constants that are not contiguous along the sum, once, so that they
// are. Returns false, and changes nothing, if that is refused.
bool PackForSum(const jit::CpuModel& cpu, const std::string& product, int k,
                ScheduleWriter& writer) {
  // pairs of a buffer's name and the new order of its dims
  std::vector<std::pair<std::string, std::string>> packs;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    for (NodeId load : shape.loads()) {
      if (!IsPackedForSum(shape, load, k)) continue;
      const tensor::Node& node = c.pool[load];
      const ComputationBuffer& buffer = c.buffers[node.buffer];
      std::string dims, last;
      for (size_t d = 0; d < buffer.extents.size(); ++d) {
        const bool is_along =
            node.operands[d] ==
            shape.stage().axes[static_cast<size_t>(k)].variable;
        (is_along ? last : dims) += " " + std::to_string(d);
      }
      packs.emplace_back(buffer.name, dims + last);
    }
  }
  if (packs.empty()) return true;
  const Schedule before = writer.schedule();
  for (const auto& [buffer, dims] : packs) {
    const std::string copy = buffer + ".sums";
    if (!writer.Try("pack %" + product + " %" + buffer + dims + " -> " +
                    copy)) {
      writer.Replace(before);
      return false;
    }
    ScheduleLanes(cpu, copy, {}, writer);
  }
  return true;
}

// Orders the loops of the product: `outer`, the reductions except the lanes'
// loop, rows, columns, lanes. Unrolls rows and columns, and vectorises the
// lanes.
void OrderSumTile(const std::string& product,
                  const std::vector<std::string>& outer,
                  const std::string& rows, const std::string& columns,
                  const std::string& lanes, ScheduleWriter& writer) {
  std::vector<std::string> order = outer;
  const StagePlan& plan = writer.schedule().plan(writer.StageOf(product));
  for (int loop : plan.order) {
    if (plan.loops[loop].is_reduction && plan.loops[loop].name != lanes)
      order.push_back(plan.loops[loop].name);
  }
  if (!rows.empty()) order.push_back(rows);
  order.push_back(columns);
  if (!lanes.empty()) order.push_back(lanes);
  writer.Reorder(product, order);
  if (!rows.empty()) writer.Do("unroll %" + product + " " + rows);
  writer.Do("unroll %" + product + " " + columns);
  if (!lanes.empty()) writer.Do("vectorize %" + product + " " + lanes);
}

// Splits the sum's loop into steps and lanes. Returns the name of the lanes'
// loop.
std::string SplitLanes(const std::string& product, const SumTile& tile,
                       ScheduleWriter& writer) {
  std::string k;
  bool has_rest = false;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    k = shape.stage().axes[static_cast<size_t>(tile.k)].name;
    has_rest = *shape.Extent(tile.k) % tile.lanes != 0;
  }
  writer.Do("split %" + product + " " + k + " " + std::to_string(tile.lanes) +
            " -> " + k + "_step " + k + "_lane");
  if (has_rest) writer.Do("peel %" + product + " " + k + "_step");
  return k + "_lane";
}

}  // namespace

bool ScheduleSumLanes(const jit::CpuModel& cpu, const StageGroup& group,
                      const std::string& product, ScheduleWriter& writer) {
  const int number = writer.StageOf(product);
  if (!StoresAreDistinct(writer.computation(), number)) return false;
  const std::optional<RootAxes> root = RootAxesOf(writer, group, product);
  if (!root) return false;
  const std::vector<std::string>& axes = root->names;
  std::optional<SumTile> tile;
  bool is_large = false;
  // True if the extent of the columns' axis is not constant.
  bool is_open = false;
  {
    const StageShape shape(writer.computation(), number);
    tile = SumTileChooser(cpu, shape).Choose();
    if (!tile) return false;
    is_large = IsWorthThreads(shape.LikelyPoints());
    is_open = !shape.Extent(tile->v);
  }
  // Returns the name of an axis of the product in a stage of the group.
  const auto name_in = [&](const std::string& stage, int axis) {
    if (axis < 0) return std::string();
    const std::string& of_root = axes[static_cast<size_t>(axis)];
    return stage == group.root ? of_root
                               : AxisOfMember(writer, group, stage, of_root);
  };
  const auto lacks = [&](const std::string& stage) {
    return name_in(stage, tile->v).empty() ||
           (tile->u >= 0 && name_in(stage, tile->u).empty());
  };
  if (lacks(group.root) || std::ranges::any_of(group.members, lacks))
    return false;
  if (!PackForSum(cpu, product, tile->k, writer)) return false;
  const std::string u = name_in(group.root, tile->u);
  const std::string v = name_in(group.root, tile->v);
  const std::string at = " %" + group.root + " ";
  if (tile->u >= 0) {
    writer.Do("split" + at + u + " " + std::to_string(tile->rows) + " -> " + u +
              "_tile " + u + "_row");
    writer.Do("peel" + at + u + "_tile");
  }
  writer.Do("split" + at + v + " " + std::to_string(tile->columns) + " -> " +
            v + "_tile " + v + "_column");
  writer.Do("peel" + at + v + "_tile");
  // Tiles of rows are inside tiles of columns: there are fewer rows, and they
  // stay in the cache.
  std::vector<std::string> outer = root->others;
  for (size_t a = 0; a < axes.size(); ++a) {
    const int axis = static_cast<int>(a);
    if (axis != tile->u && axis != tile->v && !axes[a].empty())
      outer.push_back(axes[a]);
  }
  outer.push_back(v + "_tile");
  if (tile->u >= 0) outer.push_back(u + "_tile");
  const std::string rows = tile->u >= 0 ? u + "_row" : "";
  const bool is_root = group.root == product;
  const std::string lanes =
      is_root ? SplitLanes(product, *tile, writer) : std::string();
  OrderSumTile(group.root, outer, rows, v + "_column", lanes, writer);
  const std::string tasks =
      writer.FuseLoops(group.root, 0, outer.size(), "tasks");
  if (is_large) writer.Do("parallel %" + group.root + " " + tasks);
  for (size_t i = group.members.size(); i-- > 0;) {
    const std::string& member = group.members[i];
    writer.Do("compute_at %" + member + " %" + group.root + " " + tasks);
    // A task computes one tile, so in the task the member's own axes run over
    // that tile.
    const std::string member_u = name_in(member, tile->u);
    std::string member_v = name_in(member, tile->v);
    std::vector<std::string> others;
    const ComputationStage& stage =
        writer.computation()
            .stages[static_cast<size_t>(writer.StageOf(member))];
    for (int a = 0; a < stage.spatial_count; ++a) {
      const std::string& own = stage.axes[static_cast<size_t>(a)].name;
      if (own != member_u && own != member_v) others.push_back(own);
    }
    // In the task the extent is that of a tile, but only lowering knows that.
    if (is_open) {
      writer.Do("split %" + member + " " + member_v + " " +
                std::to_string(tile->columns) + " -> " + member_v + "_tile " +
                member_v + "_column");
      others.push_back(member_v + "_tile");
      member_v += "_column";
    }
    const std::string member_lanes =
        member == product ? SplitLanes(product, *tile, writer) : std::string();
    OrderSumTile(member, others, member_u, member_v, member_lanes, writer);
  }
  return writer.status().ok();
}

}  // namespace ember::schedule

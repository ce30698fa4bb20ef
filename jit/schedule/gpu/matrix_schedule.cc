#include "jit/schedule/gpu/matrix_schedule.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "jit/schedule/gpu/matrix_factors.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/gpu/vector_rule.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Largest number of matrix products in the unrolled body of the loop over
// slices, in all steps of the sum together.
constexpr int64_t kMaxWrittenOut = 128;

using Loops = std::vector<LoopRef>;

void Append(Loops& loops, const Loops& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

// The loops over the results of a product that is computed in tiles.
struct TileLoops {
  Loops tiles;  // the loops over tiles
  // For each axis of the results: the loop over its part in a tile. If the axis
  // is not divided into tiles, the loop over the whole axis.
  Loops within;
};

class MatrixScheduler {
 public:
  MatrixScheduler(const jit::GpuModel& gpu, const MatrixPlan& plan,
                  ScheduleWriter& writer)
      : gpu_(gpu), plan_(plan), writer_(writer) {}

  // Schedules the product so that its matrices are stored directly to its
  // results.
  std::optional<LoopRef> StoreDirectly(const StageRef& product) {
    if (!Pad(product)) return std::nullopt;
    factors_ = FindMatrixFactors(plan_, product, writer_);
    TileLoops loops{.tiles = {}, .within = AxesOf(product)};
    for (size_t a = 0; a < loops.within.size(); ++a) {
      if (plan_.SizeOf(a) == 1)
        loops.tiles.push_back(loops.within[a]);
      else
        Divide(a, loops);
    }
    const LoopRef tasks = ScheduleTile(product, loops);
    writer_.Do(Parallel{tasks});
    return tasks;
  }

  // Schedules the product so that its matrices are stored to memory of the
  // workgroup, and the root, which reads them from there.
  std::optional<LoopRef> StoreForRoot(const StageRef& root, StageRef product,
                                      std::set<StageRef>& done) {
    if (!Pad(product)) return std::nullopt;
    if (root == product) {
      product = {root.name + ".matrices"};
      if (!writer_.Try(CacheWrite{.stage = root, .computing = product.name}))
        return std::nullopt;
    }
    factors_ = FindMatrixFactors(plan_, product, writer_);
    const int64_t lanes = LanesOfRoot(root, product);
    const RootLoops loops = SplitRoot(root, lanes);
    Loops order = loops.tiles;
    Append(order, loops.points);
    if (loops.lane) order.push_back(*loops.lane);
    writer_.Reorder(order);
    const LoopRef tasks =
        writer_.FuseLoops(root, 0, loops.tiles.size(), "tasks");
    writer_.Do(Parallel{tasks});
    const LoopRef points =
        writer_.FuseLoops(root, 1, loops.points.size(), "points");
    const auto [round, item] =
        writer_.Split(points, Threads(), "_round", "_item");
    // An invocation computes all its points before the next barrier. Values
    // that do not depend on the point are loaded once for all of them.
    order = {tasks, item, round};
    if (loops.lane) order.push_back(*loops.lane);
    writer_.Reorder(order);
    writer_.Do(Bind{item});
    const LoopRef point = UnrollIterations(round, plan_.PointsOfTile() / lanes);
    if (loops.lane) writer_.Do(Vectorize{*loops.lane});
    const std::set<StageRef> joined = JoinPoints(
        gpu_, root, point, writer_.NumberOf(product) + 1, done, writer_);
    // If a stage cannot be attached to the loop over lanes, neighbouring
    // results are not computed as a vector but one after the other.
    if (loops.lane) VectorizeJoined(root, joined, writer_);
    if (!writer_.Try(ComputeAt{.producer = product, .loop = tasks}))
      return std::nullopt;
    // Along rows and columns the product covers a whole tile; its other axes
    // have one point in a tile.
    ScheduleTile(product,
                 {.tiles = OtherAxesOf(product), .within = AxesOf(product)});
    done.insert(product);
    return point;
  }

  // Schedules a product that is computed for a tile of rows. Returns false if
  // some primitive is refused.
  bool StoreRows(const StageRef& product, const RowFactors& known) {
    if (!Pad(product)) return false;
    copying_subgroups_ = known.subgroups;
    factors_ = FindMatrixFactors(plan_, product, writer_);
    for (MatrixFactor& factor : factors_) {
      factor.is_gathered = known.gathered.contains({factor.buffer.name});
      factor.around = factor.is_of_columns ? known.columns : known.rows;
    }
    std::erase_if(factors_, [&](const MatrixFactor& factor) {
      return known.resident.contains(factor.buffer);
    });
    TileLoops loops{.tiles = OtherAxesOf(product), .within = AxesOf(product)};
    Divide(static_cast<size_t>(plan_.columns), loops);
    ScheduleTile(product, loops);
    return writer_.status().ok();
  }

 private:
  int64_t Threads() const {
    return std::max(plan_.Subgroups(), copying_subgroups_) * gpu_.subgroup_size;
  }

  // Splits the loop over an axis of the results into a loop over tiles and a
  // loop within a tile.
  void Divide(size_t axis, TileLoops& loops) {
    LoopRef& within = loops.within[axis];
    const auto [tile, rest] =
        writer_.Split(within, plan_.SizeOf(axis), "_tile", "_rest");
    loops.tiles.push_back(tile);
    within = rest;
  }

  // The root's loops over tiles (`tiles`), and over the points of a tile
  // (`points`). lane: the loop over the neighbouring points that an invocation
  // computes as a vector; nullopt if there are none.
  struct RootLoops {
    Loops tiles, points;
    std::optional<LoopRef> lane;
  };
  RootLoops SplitRoot(const StageRef& root, int64_t lanes) {
    RootLoops loops;
    const Loops axes = AxesOf(root);
    for (size_t a = 0; a < axes.size(); ++a) {
      if (plan_.SizeOf(a) == 1) {
        loops.tiles.push_back(axes[a]);
        continue;
      }
      const auto [tile, rest] =
          writer_.Split(axes[a], plan_.SizeOf(a), "_tile", "_rest");
      loops.tiles.push_back(tile);
      loops.points.push_back(rest);
      if (lanes == 1 || static_cast<int>(a) != plan_.columns) continue;
      const auto [vector, lane] =
          writer_.Split(rest, lanes, "_vector", "_lane");
      loops.points.back() = vector;
      loops.lane = lane;
    }
    return loops;
  }

  // Unrolls four iterations of the loop in which an invocation computes its
  // points of the tile, if four divides their number. Loads of one iteration
  // then overlap with the arithmetic of others. Returns the innermost loop.
  LoopRef UnrollIterations(const LoopRef& loop, int64_t points) {
    constexpr int64_t kTogether = 4;
    if (points % (Threads() * kTogether) != 0) return loop;
    const LoopRef together =
        writer_.Split(loop, kTogether, "s", "_together").inner;
    writer_.Do(Unroll{together});
    return together;
  }

  Loops AxesOf(const StageRef& ref) const {
    const ComputationStage& stage = writer_.StageAt(ref);
    Loops axes;
    for (int a = 0; a < stage.spatial_count; ++a)
      axes.push_back({ref, stage.axes[static_cast<size_t>(a)].name});
    return axes;
  }
  Loops OtherAxesOf(const StageRef& stage) const {
    const Loops all = AxesOf(stage);
    Loops axes;
    for (size_t a = 0; a < all.size(); ++a) {
      if (plan_.SizeOf(a) == 1) axes.push_back(all[a]);
    }
    return axes;
  }
  LoopRef StepsOf(const StageRef& product) const {
    const auto axis = static_cast<size_t>(plan_.steps);
    return {product, writer_.StageAt(product).axes[axis].name};
  }

  bool Pad(const StageRef& product) {
    return plan_.is_exact ||
           writer_.Try(PadReduction{.loop = StepsOf(product),
                                    .factor = plan_.type.depth});
  }

  // Returns the number of neighbouring results of the root that an invocation
  // computes at once: 4, if all stages allow vectors, 4 divides a tile's
  // columns, and no tile is partial along them, otherwise 1.
  int64_t LanesOfRoot(const StageRef& root, const StageRef& product) const {
    constexpr int64_t kLanes = 4;
    const Computation& c = writer_.computation();
    const StageShape shape(c, writer_.NumberOf(root));
    const auto extent = shape.Extent(plan_.columns);
    const bool is_whole = extent && *extent % plan_.ColumnsOfTile() == 0 &&
                          plan_.ColumnsOfTile() % kLanes == 0;
    // The stages between the product and the root, which may be computed for a
    // point of the root.
    std::set<StageRef> between;
    for (int i = writer_.NumberOf(product) + 1; i < writer_.NumberOf(root); ++i)
      between.insert({c.stages[static_cast<size_t>(i)].name});
    const bool have_lanes =
        between.empty() || (plan_.columns == shape.spatial_count() - 1 &&
                            HaveLanes(c, root, between));
    return is_whole && have_lanes && shape.StoresAlong(plan_.columns) ? kLanes
                                                                      : 1;
  }

  // Schedules the loops of the product for a tile of results. Returns the loop
  // over tiles.
  LoopRef ScheduleTile(const StageRef& product, const TileLoops& loops) {
    const ComputationStage& stage = writer_.StageAt(product);
    Loops tiles = loops.tiles;
    // If the stage has an `end`, its results are the pieces of stream-K
    // (jit/schedule/primitives/stream.cc): a range of slices has a piece in
    // each tile that it touches. One workgroup should compute all pieces of a
    // range. In a wide product (whose instructions several subgroups execute
    // together) each piece is a task. Its kernel is usually persistent
    // (jit/gpu/specialise_warps.cc decides), so that a workgroup takes the next
    // piece of its range in each round. In other products a range is a task,
    // with a loop over its pieces.
    Loops pieces;
    if (stage.end && !plan_.IsWide()) {
      pieces.push_back(tiles.front());
      tiles.erase(tiles.begin());
    }
    Loops reductions;
    for (size_t a = loops.within.size(); a < stage.axes.size(); ++a) {
      if (static_cast<int>(a) != plan_.steps)
        reductions.push_back({product, stage.axes[a].name});
    }
    const auto within = [&](int axis) {
      return loops.within[static_cast<size_t>(axis)];
    };
    const MatrixLoops of_rows =
        plan_.has_row_panels
            ? SplitInRounds(within(plan_.rows), plan_.row_tile, plan_.type.rows)
            : SplitMatrices(within(plan_.rows), plan_.row_tile,
                            plan_.type.rows);
    const MatrixLoops of_columns = SplitMatrices(
        within(plan_.columns), plan_.column_tile, plan_.type.columns);
    const auto [slice, rest] =
        writer_.Split(StepsOf(product), plan_.slice, "_slice", "_rest");
    const auto [step, matrix] =
        writer_.Split(rest, plan_.type.depth, "_step", "_matrix");
    Loops subgroups;
    if (plan_.lines >= 0 && plan_.line_tile > 1)
      subgroups.push_back(within(plan_.lines));
    // Consecutive subgroups have different columns of the tile. In wide
    // products they have different rows instead, because subgroups that execute
    // an instruction together must follow each other along rows.
    subgroups.push_back((plan_.IsWide() ? of_columns : of_rows).subgroup);
    subgroups.push_back((plan_.IsWide() ? of_rows : of_columns).subgroup);
    Loops order = tiles;
    Append(order, pieces);
    Append(order, reductions);
    order.push_back(slice);
    const size_t first = order.size();
    Append(order, subgroups);
    Append(order, {step, of_rows.count, of_columns.count, of_rows.matrix,
                   of_columns.matrix, matrix});
    writer_.Reorder(order);
    const LoopRef tasks = writer_.FuseLoops(product, 0, tiles.size(), "tasks");
    const LoopRef bound = writer_.FuseLoops(
        product, first - tiles.size() + (tiles.empty() ? 0 : 1),
        subgroups.size(), "subgroups");
    // Fuses the loops outside of the loop over slices with it. Copies ahead
    // then start only once, before the fused loop, not for each of the outer
    // iterations.
    LoopRef iterations = slice;
    if (plan_.fuses_iterations) {
      iterations =
          writer_.FuseLoops(product, (tiles.empty() ? 0 : 1) + pieces.size(),
                            reductions.size() + 1, "iterations");
    }
    const int64_t written = plan_.row_tile.matrices *
                            plan_.column_tile.matrices *
                            (plan_.slice / plan_.type.depth);
    if (written <= kMaxWrittenOut) writer_.Do(Unroll{step});
    writer_.Do(Unroll{of_rows.count});
    writer_.Do(Unroll{of_columns.count});
    const std::vector<SliceCopy> copies =
        CopyFactors(plan_, factors_, iterations, Threads(), writer_);
    writer_.Do(MultiplyMatrices{.subgroups = bound,
                                .rows = of_rows.matrix,
                                .columns = of_columns.matrix,
                                .steps = matrix});
    if (!copies.empty() && writer_.status().ok())
      LoadSlicesAhead(copies, writer_);
    return tasks;
  }

  // The loops into which the rows or the columns of a tile are split: over
  // subgroups, over the matrices of a subgroup, and within a matrix.
  struct MatrixLoops {
    LoopRef subgroup, count, matrix;
  };
  // Splits the loop so that the matrices of one subgroup are next to each
  // other.
  MatrixLoops SplitMatrices(const LoopRef& loop, const GpuMatrixTile& tile,
                            int64_t size) {
    const auto [subgroup, part] =
        writer_.Split(loop, tile.matrices * size, "_subgroup", "_part");
    const auto [count, matrix] = writer_.Split(part, size, "_count", "_matrix");
    return {.subgroup = subgroup, .count = count, .matrix = matrix};
  }
  // Splits the loop so that neighbouring matrices belong to consecutive
  // subgroups.
  MatrixLoops SplitInRounds(const LoopRef& loop, const GpuMatrixTile& tile,
                            int64_t size) {
    const auto [count, round] =
        writer_.Split(loop, tile.subgroups * size, "_count", "_round");
    const auto [subgroup, matrix] =
        writer_.Split(round, size, "_subgroup", "_matrix");
    return {.subgroup = subgroup, .count = count, .matrix = matrix};
  }

  const jit::GpuModel& gpu_;
  const MatrixPlan plan_;
  ScheduleWriter& writer_;
  std::vector<MatrixFactor> factors_;
  // Smallest number of subgroups that copy slices. It is more than the number
  // that multiplies if other stages of the workgroup need more.
  int64_t copying_subgroups_ = 0;
};

}  // namespace

std::optional<LoopRef> StoreMatrices(const jit::GpuModel& gpu,
                                     const MatrixPlan& plan,
                                     const StageRef& product,
                                     ScheduleWriter& writer) {
  return MatrixScheduler(gpu, plan, writer).StoreDirectly(product);
}

std::optional<LoopRef> StoreMatricesForRoot(
    const jit::GpuModel& gpu, const MatrixPlan& plan, const StageRef& root,
    const StageRef& product, std::set<StageRef>& done, ScheduleWriter& writer) {
  return MatrixScheduler(gpu, plan, writer).StoreForRoot(root, product, done);
}

bool ScheduleMatricesOfRows(const jit::GpuModel& gpu, const MatrixPlan& plan,
                            const StageRef& product, const RowFactors& factors,
                            ScheduleWriter& writer) {
  return MatrixScheduler(gpu, plan, writer).StoreRows(product, factors);
}

}  // namespace ember::schedule

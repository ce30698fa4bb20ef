#include "jit/schedule/gpu/matrix_rule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "jit/pipeline/lower.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/matrix_packing.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/gpu/vector_rule.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Number of bytes that an invocation copies at once.
constexpr int64_t kCopiedBytes = 16;
// Bytes of a word of a memory bank, and number of banks from which the lanes of
// a matrix row read.
constexpr int64_t kBankBytes = 4;
constexpr int64_t kBanksOfRow = 8;
// Number of slots of a factor that is copied one iteration ahead.
constexpr int64_t kSlotsOneAhead = 2;
// Largest number of matrix products in the unrolled code of an iteration,
// counted with the unrolled steps of the sum.
constexpr int64_t kMaxWrittenOut = 128;

using Loops = std::vector<LoopRef>;

void Append(Loops& loops, const Loops& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

// A factor of the product, whose slices are copied to memory of the workgroup.
struct Factor {
  BufferRef buffer;
  int64_t lanes = 1;
  // True if all slices have the same size, which is known when compiling.
  bool is_constant = false;
  DType type = DType::kF16;
  int64_t row_bytes = 0;  // bytes of a slice's row; 0: not known
  bool is_of_columns = false;
  bool lies_along_steps = false;
  // True if a stage with the buffer's name computes the factor slice by slice.
  bool is_gathered = false;
  std::vector<size_t> dims = {};  // order of the slice's dims (DimsByLines)
  // The loop in which the slice is copied, if that is not the product's loop
  // over slices.
  std::optional<LoopRef> around = std::nullopt;
};

// The loops of a product's results, divided into tiles.
struct TileLoops {
  Loops tiles;  // the loops over the tiles
  // For each axis of the results, the loop over the axis' part of a tile. It is
  // the axis itself, if the axis is not divided.
  Loops within;
};

class MatrixScheduler {
 public:
  MatrixScheduler(const jit::GpuModel& gpu, const MatrixPlan& plan,
                  ScheduleWriter& writer)
      : gpu_(gpu), plan_(plan), writer_(writer) {}

  // Stores the product's matrices directly to its results.
  std::optional<LoopRef> StoreDirectly(const StageRef& product) {
    if (!Pad(product)) return std::nullopt;
    FindFactors(product);
    TileLoops loops{.tiles = {}, .within = AxesOf(product)};
    for (size_t a = 0; a < loops.within.size(); ++a) {
      if (SizeOf(a) == 1)
        loops.tiles.push_back(loops.within[a]);
      else
        Divide(a, loops);
    }
    const LoopRef tasks = ScheduleTile(product, loops);
    writer_.Do(Parallel{tasks});
    return tasks;
  }

  // Stores the product's matrices to memory of the workgroup, from which the
  // root reads them.
  std::optional<LoopRef> StoreForRoot(const StageRef& root, StageRef product,
                                      std::set<StageRef>& done) {
    if (!Pad(product)) return std::nullopt;
    if (root == product) {
      product = {root.name + ".matrices"};
      if (!writer_.Try(CacheWrite{.stage = root, .computing = product.name}))
        return std::nullopt;
    }
    FindFactors(product);
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
    // An invocation finishes all its points before the next barrier, and loads
    // values that these points share only once.
    order = {tasks, item, round};
    if (loops.lane) order.push_back(*loops.lane);
    writer_.Reorder(order);
    writer_.Do(Bind{item});
    const LoopRef point = UnrollIterations(round, PointsOfTile() / lanes);
    if (loops.lane) writer_.Do(Vectorize{*loops.lane});
    const std::set<StageRef> joined = JoinPoints(
        gpu_, root, point, writer_.NumberOf(product) + 1, done, writer_);
    // If attaching a stage is refused, neighbouring results are computed one
    // after the other instead of as vectors.
    if (loops.lane) VectorizeJoined(root, joined, writer_);
    if (!writer_.Try(ComputeAt{.producer = product, .loop = tasks}))
      return std::nullopt;
    // The product covers the whole tile; its other axes have one point.
    ScheduleTile(product,
                 {.tiles = OtherAxesOf(product), .within = AxesOf(product)});
    done.insert(product);
    return point;
  }

  // Computes the product for a tile of rows. Returns false if some primitive is
  // refused.
  bool StoreRows(const StageRef& product, const RowFactors& known) {
    if (!Pad(product)) return false;
    copying_subgroups_ = known.subgroups;
    FindFactors(product);
    for (Factor& factor : factors_) {
      factor.is_gathered = known.gathered.contains({factor.buffer.name});
      factor.around = factor.is_of_columns ? known.columns : known.rows;
    }
    std::erase_if(factors_, [&](const Factor& factor) {
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

  // Returns the size of the results' tile along an axis.
  int64_t SizeOf(size_t axis) const {
    const int a = static_cast<int>(axis);
    if (a == plan_.rows) return plan_.RowsOfTile();
    if (a == plan_.columns) return plan_.ColumnsOfTile();
    return a == plan_.lines ? plan_.line_tile : 1;
  }

  int64_t PointsOfTile() const {
    return plan_.RowsOfTile() * plan_.ColumnsOfTile() * plan_.line_tile;
  }

  // Divides an axis of the results into tiles.
  void Divide(size_t axis, TileLoops& loops) {
    LoopRef& within = loops.within[axis];
    const auto [tile, rest] =
        writer_.Split(within, SizeOf(axis), "_tile", "_rest");
    loops.tiles.push_back(tile);
    within = rest;
  }

  // The root's loops over tiles and over the points of a tile. lane: the loop
  // over the neighbours that an invocation finishes at once, if there are
  // several.
  struct RootLoops {
    Loops tiles, points;
    std::optional<LoopRef> lane;
  };
  RootLoops SplitRoot(const StageRef& root, int64_t lanes) {
    RootLoops loops;
    const Loops axes = AxesOf(root);
    for (size_t a = 0; a < axes.size(); ++a) {
      if (SizeOf(a) == 1) {
        loops.tiles.push_back(axes[a]);
        continue;
      }
      const auto [tile, rest] =
          writer_.Split(axes[a], SizeOf(a), "_tile", "_rest");
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

  // Unrolls several of the iterations in which a workgroup finishes the points
  // of its tile, if that number divides them, so that loads of one overlap with
  // the arithmetic of others. Returns the innermost loop.
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
      if (SizeOf(a) == 1) axes.push_back(all[a]);
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

  // Finds the factors that the product reads after the primitives applied so
  // far.
  void FindFactors(const StageRef& product) {
    const Computation& c = writer_.computation();
    const ComputationStage& stage = writer_.StageAt(product);
    factors_.clear();
    ForEachLoad(c.pool, stage.values, [&](NodeId load) {
      factors_.push_back(
          {{c.buffers[c.pool[load].buffer].name},
           LanesOfCopy(stage, load),
           IsConstantSlice(c, stage, load),
           c.pool[load].type,
           RowElementsOf(stage, load) * DTypeByteSize(c.pool[load].type),
           tensor::DependsOn(
               c.pool, load,
               stage.axes[static_cast<size_t>(plan_.columns)].variable),
           LastAxisOf(stage, load) == static_cast<size_t>(plan_.steps)});
      // If the product reads panels of rows, a panel contains the rows of
      // consecutive lines, so the copy has its dims in the order lines, rows.
      Factor& factor = factors_.back();
      if (plan_.has_row_panels && plan_.line_tile > 1 &&
          !factor.is_of_columns && factor.lies_along_steps) {
        factor.dims = DimsByLines(c, stage, load, plan_.lines, plan_.rows);
      }
    });
  }

  // Returns the axis that moves the load along the factor's last dim; nullopt
  // if there is none.
  std::optional<size_t> LastAxisOf(const ComputationStage& stage,
                                   NodeId load) const {
    const auto row = RowOf(writer_.computation(), stage, load);
    return row ? std::optional(row->axis) : std::nullopt;
  }

  int64_t SizeInSlice(size_t axis) const {
    return static_cast<int>(axis) == plan_.steps ? plan_.slice : SizeOf(axis);
  }

  // Returns the number of elements of a slice's row; 0 if it is not known.
  int64_t RowElementsOf(const ComputationStage& stage, NodeId load) const {
    const std::optional<size_t> axis = LastAxisOf(stage, load);
    return axis ? SizeInSlice(*axis) : 0;
  }

  // Returns the number of neighbouring elements that an invocation copies at
  // once: a vector if whole vectors fill each slice, otherwise 1.
  int64_t LanesOfCopy(const ComputationStage& stage, NodeId load) const {
    const Computation& c = writer_.computation();
    const tensor::Node& node = c.pool[load];
    const std::optional<RowOfLoad> row = RowOf(c, stage, load);
    if (!row) return 1;
    const auto extent = c.pool.IntegerConstant(stage.axes[row->axis].extent);
    const int64_t lanes = kCopiedBytes / DTypeByteSize(node.type);
    // Either all lanes of a vector are padded or none, so no element of the
    // copy may be outside of the buffer's last dim.
    const int64_t size = SizeInSlice(row->axis);
    const bool is_whole = row->is_inside && extent && *extent % size == 0 &&
                          size % lanes == 0 && row->start % lanes == 0;
    return is_whole ? lanes : 1;
  }

  // Returns the number of neighbouring results that an invocation finishes at
  // once: a vector if possible, otherwise 1.
  int64_t LanesOfRoot(const StageRef& root, const StageRef& product) const {
    constexpr int64_t kLanes = 4;
    const Computation& c = writer_.computation();
    const StageShape shape(c, writer_.NumberOf(root));
    const auto extent = shape.Extent(plan_.columns);
    const bool is_whole = extent && *extent % plan_.ColumnsOfTile() == 0 &&
                          plan_.ColumnsOfTile() % kLanes == 0;
    // The stages between the product and the root, which may be computed at the
    // root's point.
    std::set<StageRef> between;
    for (int i = writer_.NumberOf(product) + 1; i < writer_.NumberOf(root); ++i)
      between.insert({c.stages[static_cast<size_t>(i)].name});
    const bool have_lanes =
        between.empty() || (plan_.columns == shape.spatial_count() - 1 &&
                            HaveLanes(c, root, between));
    return is_whole && have_lanes && shape.StoresAlong(plan_.columns) ? kLanes
                                                                      : 1;
  }

  // Schedules the product's loops inside a tile. Returns the loop over the
  // tiles.
  LoopRef ScheduleTile(const StageRef& product, const TileLoops& loops) {
    const ComputationStage& stage = writer_.StageAt(product);
    Loops tiles = loops.tiles;
    // If the stage has an `end`, its results are the pieces of stream-K
    // (jit/schedule/primitives/stream.cc): a range of slices has a piece in
    // each tile of results that it touches. One workgroup is to compute all
    // pieces of a range. For a wide product (an instruction of several
    // subgroups) each piece is a task: its kernel is usually persistent
    // (jit/gpu/phase_order.cc decides), and then a workgroup takes the next
    // piece of its range in each round. In other products a range is a task,
    // inside of which a loop runs over the pieces.
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
    // Consecutive subgroups have different columns, or, in wide products,
    // different rows.
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
    // Fuses the loops around the slices with the loop over slices, so that the
    // ring of slices is filled only once, before the fused loop.
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
    CopyFactors(iterations);
    writer_.Do(MultiplyMatrices{.subgroups = bound,
                                .rows = of_rows.matrix,
                                .columns = of_columns.matrix,
                                .steps = matrix});
    if (!copies_.empty() && writer_.status().ok())
      LoadSlicesAhead(copies_, writer_);
    return tasks;
  }

  // The loops of rows or columns of a tile.
  struct MatrixLoops {
    LoopRef subgroup, count, matrix;
  };
  // Splits the loop so that each subgroup has matrices that are next to each
  // other.
  MatrixLoops SplitMatrices(const LoopRef& loop, const GpuMatrixTile& tile,
                            int64_t size) {
    const auto [subgroup, part] =
        writer_.Split(loop, tile.matrices * size, "_subgroup", "_part");
    const auto [count, matrix] = writer_.Split(part, size, "_count", "_matrix");
    return {.subgroup = subgroup, .count = count, .matrix = matrix};
  }
  // Splits the loop so that consecutive matrices belong to consecutive
  // subgroups.
  MatrixLoops SplitInRounds(const LoopRef& loop, const GpuMatrixTile& tile,
                            int64_t size) {
    const auto [count, round] =
        writer_.Split(loop, tile.subgroups * size, "_count", "_round");
    const auto [subgroup, matrix] =
        writer_.Split(round, size, "_subgroup", "_matrix");
    return {.subgroup = subgroup, .count = count, .matrix = matrix};
  }

  // Returns the padding of a slice's rows in elements. If rows are an even
  // number of 16 bytes long, they begin in few of the banks from which a
  // subgroup reads a matrix at once. Panels need no padding.
  int64_t RowPadding(const Factor& factor) const {
    if (plan_.IsWide() && (factor.is_of_columns || plan_.has_row_panels))
      return 0;
    // Matrices of 4 bytes with the other layout: four lanes read a row, and
    // eight a column, so neighbouring rows must be 8 banks apart.
    const int64_t bytes = DTypeByteSize(factor.type);
    if (bytes == kBankBytes && !factor.lies_along_steps) {
      const bool is_whole = factor.row_bytes % (kBanksOfRow * bytes) == 0;
      const bool is_odd = factor.row_bytes / (kBanksOfRow * bytes) % 2 != 0;
      return is_whole && !is_odd ? kBanksOfRow : 0;
    }
    const bool is_even = factor.row_bytes % (2 * kCopiedBytes) == 0;
    return is_even ? kCopiedBytes / bytes : 0;
  }

  // Copies slices of the factors. slices: the product's loop over slices.
  void CopyFactors(const LoopRef& slices) {
    const StageRef& product = slices.stage;
    copies_.clear();
    for (const Factor& factor : factors_) {
      StageRef copy{factor.buffer.name};
      if (!factor.is_gathered) {
        copy = {NameOfSlice(writer_.computation(), product, factor.buffer)};
        writer_.Do(CacheRead{.reader = product,
                             .buffer = factor.buffer,
                             .dims = factor.dims,
                             .copy = copy.name});
      }
      writer_.Do(
          ComputeAt{.producer = copy, .loop = factor.around.value_or(slices)});
      // If an error occurred, some load cannot be read from slices, and the
      // caller tries another schedule.
      if (!writer_.status().ok()) return;
      const int64_t padding = RowPadding(factor);
      if (padding != 0) writer_.Do(PadRows{.stage = copy, .elements = padding});
      const std::optional<LoopRef> rounds =
          BindTogether(copy, Threads(), factor.lanes, writer_);
      const bool is_ahead = factor.around && factor.is_of_columns;
      if (!plan_.is_double && !is_ahead) continue;
      copies_.push_back(
          {.stage = copy,
           // A copy with one point has no loop to unroll.
           .rounds = rounds.value_or(LoopRef{copy, ""}),
           .by_registers = plan_.by_registers,
           .slots = is_ahead ? kSlotsOneAhead : plan_.slots,
           // Copies of wide products start after the arithmetic (`late`), and
           // then have two more iterations to end. With only one, all would
           // wait for the copies.
           .is_late = !is_ahead && plan_.IsWide() && plan_.slots > 2,
           .has_spare = !is_ahead && plan_.GoesOn(),
           .is_constant = factor.is_constant,
           .bytes_at_once = factor.lanes * DTypeByteSize(factor.type)});
    }
  }

  const jit::GpuModel& gpu_;
  const MatrixPlan plan_;
  ScheduleWriter& writer_;
  std::vector<Factor> factors_;
  std::vector<SliceCopy> copies_;  // copies that may be loaded ahead
  // number of subgroups that copy; 0: the subgroups that multiply
  int64_t copying_subgroups_ = 0;
};

// True if the product's matrices may be stored directly to the results: whole
// matrices fill the results, and a result is only the sum, without further
// arithmetic.
bool MayStoreDirectly(const Computation& c, int number,
                      const MatrixPlan& plan) {
  const ComputationStage& stage = c.stages[static_cast<size_t>(number)];
  const auto is_whole = [&](int axis, int64_t size) {
    const auto extent =
        c.pool.IntegerConstant(stage.axes[static_cast<size_t>(axis)].extent);
    return extent && *extent % size == 0;
  };
  return c.buffers[stage.stores[0].buffer].type == plan.type.sum &&
         stage.stores[0].update == tensor::Update::kAssign &&
         is_whole(plan.rows, plan.type.rows) &&
         is_whole(plan.columns, plan.type.columns);
}

bool MayBeMatrices(const jit::GpuModel& gpu, const StageRef& root,
                   const StageRef& product, const Computation& c) {
  return !gpu.matrices.empty() &&
         StoresAreDistinct(c, c.FindStage(product.name)) &&
         (root == product || IsReadInPlace(c, product));
}

ProductCost CostOfPlan(const MatrixPlan& plan) {
  return {.all = plan.cost,
          .tiles = plan.tiles,
          .rows = {plan.rows, plan.RowsOfTile()},
          .columns = {plan.columns, plan.ColumnsOfTile()},
          .lines = {plan.lines, plan.line_tile},
          .steps = {plan.steps, plan.slice},
          .ranges = plan.ranges};
}

// Packs constant factors, if the product may be computed with matrices.
void PackFactors(const jit::GpuModel& gpu, const StageRef& product,
                 std::set<StageRef>& done, Schedule& schedule) {
  ScheduleWriter writer(schedule);
  for (const bool through_memory : {false, true}) {
    const std::optional<MatrixPlan> plan = PlanMatricesOnGpu(
        gpu, schedule.computation(), writer.NumberOf(product), through_memory);
    if (!plan) continue;
    return PackConstantsForMatrices(gpu, product, plan->steps, done, writer);
  }
}

}  // namespace

bool ScheduleMatricesOfRows(const jit::GpuModel& gpu, const MatrixPlan& plan,
                            const StageRef& product, const RowFactors& factors,
                            ScheduleWriter& writer) {
  return MatrixScheduler(gpu, plan, writer).StoreRows(product, factors);
}

std::optional<ProductCost> CostOfMatricesOnGpu(const jit::GpuModel& gpu,
                                               const StageRef& root,
                                               const StageRef& product,
                                               const std::set<StageRef>& done,
                                               const Schedule& schedule) {
  if (!MayBeMatrices(gpu, root, product, schedule.computation()))
    return std::nullopt;
  Schedule packed = schedule;
  std::set<StageRef> packed_done = done;
  if (!gpu.transposes_matrices) PackFactors(gpu, product, packed_done, packed);
  const Computation& c = packed.computation();
  const int number = c.FindStage(product.name);
  for (const bool directly : {true, false}) {
    if (directly && root != product) continue;
    const std::optional<MatrixPlan> plan =
        PlanMatricesOnGpu(gpu, c, number, /*through_memory=*/!directly);
    if (!plan || (directly && !MayStoreDirectly(c, number, *plan))) continue;
    return CostOfPlan(*plan);
  }
  return std::nullopt;
}

std::optional<ProductCost> TileOfRangesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& product,
                                             const Schedule& schedule) {
  const Computation& c = schedule.computation();
  if (!MayBeMatrices(gpu, product, product, c)) return std::nullopt;
  const auto plan =
      PlanMatricesOnGpu(gpu, c, c.FindStage(product.name),
                        /*through_memory=*/false, {.of_ranges = true});
  return plan ? std::optional(CostOfPlan(*plan)) : std::nullopt;
}

std::optional<LoopRef> ScheduleMatricesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& root,
                                             const StageRef& product,
                                             std::set<StageRef>& done,
                                             ScheduleWriter& writer) {
  if (!MayBeMatrices(gpu, root, product, writer.computation()))
    return std::nullopt;
  // Constant factors may have to be packed before their slices are copied, so
  // they are packed in a copy of the schedule first.
  Schedule packed = writer.schedule();
  std::set<StageRef> packed_done = done;
  if (!gpu.transposes_matrices) PackFactors(gpu, product, packed_done, packed);
  const Computation& c = packed.computation();
  const int number = c.FindStage(product.name);
  // Instructions of several subgroups (wide ones) have requirements that are
  // known only after lowering, most of all if both factors are in panels. So a
  // tile for them is tried first, and then a tile without them.
  jit::GpuModel narrow = gpu;
  std::erase_if(narrow.matrices, [](const loops::MatrixType& type) {
    return jit::WarpsOfMatrix(type) > 1;
  });
  const bool has_wide = narrow.matrices.size() != gpu.matrices.size();
  for (const bool directly : {true, false}) {
    if (directly && root != product) continue;
    for (const jit::GpuModel* model : {&gpu, &std::as_const(narrow)}) {
      if (model == &narrow && !has_wide) continue;
      std::optional<MatrixPlan> plan =
          PlanMatricesOnGpu(*model, c, number, /*through_memory=*/!directly);
      if (!plan) continue;
      if (directly && !MayStoreDirectly(c, number, *plan)) continue;
      for (const bool has_row_panels : {true, false}) {
        if (has_row_panels && !plan->has_row_panels) continue;
        plan->has_row_panels = has_row_panels;
        Schedule trial = packed;
        ScheduleWriter trial_writer(trial);
        std::set<StageRef> trial_done = packed_done;
        MatrixScheduler scheduler(*model, *plan, trial_writer);
        std::optional<LoopRef> point =
            directly ? scheduler.StoreDirectly(product)
                     : scheduler.StoreForRoot(root, product, trial_done);
        // Alignment and strides are known only after lowering, so the trial
        // schedule is lowered before it is accepted.
        if (!point || !trial_writer.status().ok()) continue;
        const auto nest = Lower(trial);
        if (!nest.ok()) continue;
        if (plan->IsWide() &&
            !jit::HasPanelsForWideProducts(*nest, has_row_panels)) {
          continue;
        }
        writer.Replace(std::move(trial));
        done = std::move(trial_done);
        done.insert(product);
        return point;
      }
    }
  }
  return std::nullopt;
}

}  // namespace ember::schedule

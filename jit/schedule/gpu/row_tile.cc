#include "jit/schedule/gpu/row_tile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/matrix_schedule.h"
#include "jit/schedule/gpu/matrix_tiles.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/row_runs.h"
#include "jit/schedule/gpu/row_tile_cost.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Number of neighbouring points that an invocation computes at once, and number
// of steps of a reduction that are unrolled.
constexpr int64_t kLanes = 4;
// Padding of rows in the workgroup's memory, so that neighbouring rows begin in
// different banks.
constexpr int64_t kRowPaddingBytes = 16;
// Largest number of partial results of a row for which each reader combines
// them itself, instead of a stage of its own.
constexpr int64_t kMaxInlined = 4;
// Largest number of rows of a workgroup that leaves half of a processor's
// registers to a second workgroup.
constexpr int64_t kMaxRowsOfTwo = 64;
// Largest number of results of one invocation in a fold over blocks. All of
// them are in one row, so they share the row's running total and maximum.
constexpr int64_t kMaxFolded = 32;
// Number of invocations per processor from which the number of processors is
// estimated if it is not known.
constexpr int64_t kInvocationsOfProcessor = 2048;
// Largest number of operand elements that a tile may read for each element that
// it keeps in the workgroup. Reading operands again in each tile, mostly from
// caches, is the price of keeping the results between the products out of
// memory.
constexpr int64_t kMaxOperands = 4;

class RowTileScheduler {
 public:
  RowTileScheduler(const jit::GpuModel& gpu, StageGroup group,
                   const RowTile& tile, ScheduleWriter& writer)
      : gpu_(gpu),
        group_(std::move(group)),
        tile_(tile),
        rows_(tile.rows),
        writer_(writer) {}

  bool Run() {
    if (rows_ > Invocations() || !HasConstantRows()) return false;
    FindFold();
    if (tile_.is_ahead && blocks_ < 2) return false;
    SplitReductions();
    ReadProductsOnce();
    if (!PlanProducts()) return false;
    around_root_ = ScheduleRoot();
    // All other stages are computed in the root's loop over tiles or, if there
    // is a fold over blocks, in its loop over blocks.
    LoopRef around = around_root_;
    if (IsFold(group_.root)) {
      around = ScheduleFold(group_.root, /*around=*/1);
      around_blocks_ = around;
    }
    for (size_t i = group_.members.size(); i-- > 0;) {
      const StageRef& member = group_.members[i];
      if (!writer_.Try(ComputeAt{.producer = member, .loop = around}))
        return false;
      if (!IsFold(member)) continue;
      around = ScheduleFold(member, /*around=*/0);
      around_blocks_ = around;
    }
    for (const StageRef& member : group_.members) {
      if (IsFold(member)) continue;
      if (IsProduct(member) ? !ScheduleProduct(member) : !ScheduleOther(member))
        return false;
    }
    return writer_.status().ok() && operands_ <= kMaxOperands * Kept() &&
           SharedBytes() <= gpu_.shared_bytes && FoldFits();
  }

  // Returns the group's members, and the stages that this schedule has added
  // for them.
  std::set<StageRef> Scheduled() const {
    std::set<StageRef> scheduled = gathers_;
    scheduled.insert(group_.members.begin(), group_.members.end());
    return scheduled;
  }

  bool IsAlone() const {
    return Tiles() <= Processors() || rows_ > kMaxRowsOfTwo ||
           2 * SharedBytes() > gpu_.shared_bytes;
  }

  // Returns the cost of all tiles. The unit is the work for one row and all of
  // its keys.
  double Cost() const {
    return CostOf({.tiles = Tiles(),
                   .processors = Processors(),
                   .rows = rows_,
                   .parts = tile_.parts,
                   .keys_of_block = KeysOfBlock(),
                   .blocks = blocks_,
                   .share_of_blocks = ShareOfBlocks(),
                   .is_wide = tile_.is_wide,
                   .is_ahead = tile_.is_ahead,
                   .is_alone = IsAlone()});
  }

 private:
  const Computation& c() const { return writer_.computation(); }
  StageShape ShapeOf(const StageRef& stage) const {
    return StageShape(c(), writer_.NumberOf(stage));
  }
  bool IsProduct(const StageRef& stage) const {
    return ShapeOf(stage).SharesOperands();
  }
  bool IsFold(const StageRef& stage) const {
    return writer_.StageAt(stage).combiner == tensor::Combiner::kFold;
  }
  int64_t Tiles() const {
    const StageShape root = ShapeOf(group_.root);
    const int row = group_.depth - 1;
    return root.LikelyPoints(0, row) * tile_.parts *
           DivideRoundingUp(root.LikelyExtent(row), rows_);
  }
  int64_t Processors() const {
    if (gpu_.processors != 0) return gpu_.processors;
    return std::max<int64_t>(gpu_.busy_invocations / kInvocationsOfProcessor,
                             1);
  }
  int64_t Invocations() const { return kRowTileSubgroups * gpu_.subgroup_size; }
  LoopRef LoopOf(const StageRef& stage, int number) const {
    return writer_.LoopsOf(stage)[static_cast<size_t>(number)];
  }

  // Returns the number of keys (elements of a row of scores) in a block; all
  // keys if there is one block.
  int64_t KeysOfBlock() const {
    int64_t keys = 1;
    for (const StageRef& member : group_.members) {
      if (!IsProduct(member) || (blocks_ > 1 && !of_block_.contains(member)))
        continue;
      keys = std::max(keys, ColumnsOf(member));
    }
    return keys;
  }

  // Returns the fraction of the blocks that tiles compute on average. A tile
  // skips blocks that a mask hides from all of its rows. The number of visible
  // keys is assumed to grow evenly from the first row to the last.
  double ShareOfBlocks() const {
    for (const StageRef& member : group_.members) {
      const std::optional<UsefulElements>& useful =
          writer_.StageAt(member).useful;
      if (!useful) continue;
      const int64_t length = blocks_ * useful->step;
      const tensor::Interval end = c().pool[useful->end].range;
      const double mean = static_cast<double>(std::min(end.low, length) +
                                              std::min(end.high, length) +
                                              useful->step + rows_) /
                          2;
      return std::min(mean / static_cast<double>(length), 1.0);
    }
    return 1;
  }

  // Splits the root into tiles of rows, which are the tasks, and returns the
  // loop over tasks. If the root is a fold of parts of the keys, each part of
  // each tile is a task.
  LoopRef ScheduleRoot() {
    const StageRef& root = group_.root;
    writer_.Split(LoopOf(root, group_.depth - 1), rows_, "_tile", "_rest");
    size_t count = static_cast<size_t>(group_.depth);
    if (IsFold(root)) {
      // Orders the root's loops: tiles, parts of the keys, blocks, then the
      // points of a tile.
      std::vector<LoopRef> order = writer_.LoopsOf(root);
      const auto points = order.begin() + group_.depth;
      std::rotate(points, order.end() - 1, order.end());
      const auto part = order.end() - 2;
      std::rotate(points, part, part + 1);
      writer_.Reorder(std::move(order));
      ++count;
    }
    const LoopRef tasks = writer_.FuseLoops(root, 0, count, "tasks");
    writer_.Do(Parallel{tasks});
    if (!IsFold(root)) BindPoints(root, 1, rows_ * ColumnsOf(root));
    return tasks;
  }

  // Schedules a fold: its loop over blocks comes right inside the `around`
  // outermost loops. In each block an invocation computes points of one row,
  // and all invocations compute equally many. Returns the loop over blocks.
  LoopRef ScheduleFold(const StageRef& stage, size_t around) {
    std::vector<LoopRef> order = writer_.LoopsOf(stage);
    // If the fold is the root, its loops over other rows are already fused to
    // tasks. Only the loop over the rows of a tile is inside the loop over
    // blocks.
    const size_t rows = around == 0 ? static_cast<size_t>(group_.depth) : 1;
    if (around == 0) {
      std::ranges::rotate(order, order.end() - 1);
      writer_.Reorder(order);
    }
    const size_t first = around + 1;
    const LoopRef columns = writer_.FuseLoops(
        stage, first + rows, order.size() - first - rows, "columns");
    const RowRuns runs = RunsOf(stage).value_or(
        RowRuns{.parts = Invocations() / rows_, .run = 1});
    const std::vector<LoopRef> inner = SplitRow(columns, runs, writer_);
    const LoopRef item = writer_.FuseLoops(stage, first, rows + 1, "points");
    writer_.Do(Bind{item});
    // The loops over the points of an invocation are unrolled, so that the
    // running sums stay in its registers.
    for (const LoopRef& loop : inner) writer_.Do(Unroll{loop});
    return order[around];
  }

  bool FoldFits() const {
    const auto fits = [&](const StageRef& stage) {
      const int64_t together = Invocations() / rows_;
      return !IsFold(stage) || (ColumnsOf(stage) % together == 0 &&
                                ColumnsOf(stage) / together <= kMaxFolded);
    };
    return fits(group_.root) && std::ranges::all_of(group_.members, fits);
  }

  // True if the rows of all stages have constant extents. If not, it is not
  // known whether a tile fits a workgroup.
  bool HasConstantRows() const {
    const auto is_constant = [&](const StageRef& stage) {
      const StageShape shape = ShapeOf(stage);
      for (int a = group_.depth; a < shape.axis_count(); ++a)
        if (!shape.Extent(a)) return false;
      return true;
    };
    return is_constant(group_.root) &&
           std::ranges::all_of(group_.members, is_constant);
  }

  // Returns how invocations divide a row of `columns` elements (row_runs.h).
  std::optional<RowRuns> RunsOf(int64_t columns) const {
    return RunsOfRow(columns, Invocations() / rows_);
  }
  // Returns how invocations divide the stage's rows. Applies to stages in which
  // only the last axis is along the row, and to stages of partial results of a
  // row; otherwise returns nullopt.
  std::optional<RowRuns> RunsOf(const StageRef& stage) const {
    const StageShape shape = ShapeOf(stage);
    const int last = shape.spatial_count() - 1;
    if (parts_.contains(stage))
      return RunsOf(parts_.at(stage) * shape.LikelyExtent(last + 1));
    if (IsProduct(stage)) return std::nullopt;
    const int64_t columns = ColumnsOf(stage);
    if (IsFold(stage)) return RunsOf(columns);
    if (shape.stage().has_reduction() || last < group_.depth)
      return std::nullopt;
    // The last axis is along the row alone if its extent is the number of
    // columns, or, in a stage that is computed block by block, that number
    // times the number of blocks.
    const int64_t extent = shape.LikelyExtent(last);
    const bool is_alone =
        extent == columns ||
        (last == group_.depth && extent == columns * TurnsOf(stage));
    return is_alone ? RunsOf(columns) : std::nullopt;
  }

  // Divides the iterations of all loops from number `first` on among the
  // invocations. `points_of_tile`: the number of these iterations in a tile.
  void BindPoints(const StageRef& stage, size_t first, int64_t points_of_tile) {
    const std::vector<LoopRef> loops = writer_.LoopsOf(stage);
    const std::optional<RowRuns> runs = RunsOf(stage);
    BoundLoops bound = {.first = first,
                        .count = loops.size() - first,
                        .points = points_of_tile,
                        .invocations = Invocations()};
    if (!runs) return BindNeighbours(stage, bound, LanesOf(stage), writer_);
    const auto inner = SplitRow(loops.back(), *runs, writer_);
    bound.points = rows_ * runs->parts;
    BindLoops(stage, bound, writer_);
    WriteOutPart(inner, writer_);
  }

  // Returns the number of neighbouring elements of a row that an invocation
  // computes at once: kLanes if the stage has no reduction and kLanes divides
  // the row, otherwise 1.
  int64_t LanesOf(const StageRef& stage) const {
    const StageShape shape = ShapeOf(stage);
    const int last = shape.spatial_count() - 1;
    if (shape.stage().has_reduction() || last < group_.depth) return 1;
    const std::optional<int64_t> extent = shape.Extent(last);
    return extent && *extent % kLanes == 0 ? kLanes : 1;
  }

  // Returns the number of elements that a row has in the stage's buffer, in one
  // block.
  int64_t ColumnsOf(const StageRef& stage) const {
    const auto parts = parts_.find(stage);
    if (parts != parts_.end()) return parts->second;
    const StageShape shape = ShapeOf(stage);
    return shape.LikelyPoints(std::min(group_.depth, shape.spatial_count()),
                              shape.spatial_count()) /
           (stage == group_.root ? tile_.parts : TurnsOf(stage));
  }
  // Returns how often a tile computes the stage: once for each block of all
  // parts if it belongs to a block of the fold, otherwise once.
  int64_t TurnsOf(const StageRef& stage) const {
    return of_block_.contains(stage) ? blocks_ * tile_.parts : 1;
  }
  bool HaveRuns(const std::vector<int>& stages, const RowRuns& runs) const {
    return std::ranges::all_of(stages, [&](int stage) {
      const StageRef ref{c().stages[static_cast<size_t>(stage)].name};
      return RunsOf(ref) == runs;
    });
  }
  // True if an invocation keeps its elements of the stage's rows in registers,
  // because all readers divide rows among the invocations in the same way.
  bool IsInRegisters(const StageRef& stage) const {
    const std::optional<RowRuns> runs = RunsOf(stage);
    return runs && !parts_.contains(stage) &&
           HaveRuns(ConsumersOf(c(), writer_.NumberOf(stage)), *runs);
  }
  int64_t BytesOf(const StageRef& stage) const {
    if (IsInRegisters(stage)) return 0;
    const int64_t columns = ColumnsOf(stage);
    int64_t bytes = 0;
    for (const ComputationStore& store : writer_.StageAt(stage).stores) {
      bytes += columns * DTypeByteSize(c().buffers[store.buffer].type) +
               (columns > 1 && !parts_.contains(stage) ? kRowPaddingBytes : 0);
    }
    return rows_ * bytes;
  }
  // Returns the number of elements that a tile stores to the workgroup's
  // memory, plus the number that it reads from there.
  int64_t Kept() const {
    int64_t elements = 0;
    for (const StageRef& member : group_.members) {
      if (!tiles_.contains(member))
        elements += 2 * rows_ * ColumnsOf(member) * TurnsOf(member);
    }
    return elements;
  }

  // Returns the largest number of bytes of the workgroup's memory that are in
  // use at once. A stage's results are in use from their computation to their
  // last read, and so are slices of products (jit/gpu/lifetimes.h). Running
  // sums of the fold are stored after all blocks.
  int64_t SharedBytes() const {
    int64_t most = 0;
    for (const StageRef& at : group_.members) {
      const int number = writer_.NumberOf(at);
      const bool is_of_fold = IsFold(at) || of_block_.contains(at);
      int64_t bytes = SlicesOf(at) + (is_of_fold ? bytes_ahead_ : 0);
      for (const StageRef& member : group_.members) {
        const int first = writer_.NumberOf(member);
        int last = first;
        for (const int reader : ConsumersOf(c(), first))
          last = std::max(last, reader);
        const bool is_stored = first < number || !IsFold(member);
        if (first <= number && number <= last && is_stored)
          bytes += BytesOf(member);
      }
      most = std::max(most, bytes);
    }
    return most;
  }
  int64_t SlicesOf(const StageRef& member) const {
    const auto slices = slice_bytes_.find(member);
    return slices == slice_bytes_.end() ? 0 : slices->second;
  }

  bool PlanProducts() {
    for (const StageRef& member : group_.members) {
      if (!IsProduct(member)) continue;
      std::optional<MatrixPlan> plan;
      // Fewer subgroups are tried if a product has too few columns to occupy
      // all of them.
      for (int64_t subgroups = kRowTileSubgroups; !plan && subgroups > 0;
           subgroups /= 2) {
        plan = PlanMatricesOnGpu(gpu_, c(), writer_.NumberOf(member),
                                 /*through_memory=*/false,
                                 {.rows = rows_,
                                  .columns = ColumnsOf(member),
                                  .subgroups = subgroups,
                                  .is_whole = tile_.is_ahead});
      }
      if (!plan || plan->rows != group_.depth - 1 ||
          plan->IsWide() != tile_.is_wide ||
          plan->has_row_panels != tile_.is_wide ||
          (tile_.is_ahead && !plan->is_exact)) {
        return false;
      }
      plans_[member] = *plan;
    }
    return true;
  }

  bool ScheduleProduct(const StageRef& product) {
    const MatrixPlan& plan = plans_.at(product);
    RowFactors factors = {.gathered = GathersFor(product),
                          .subgroups = kRowTileSubgroups};
    for (const StageRef& member : group_.members)
      factors.resident.insert(BufferOf(member));
    if (tile_.is_ahead) {
      factors.rows = around_root_;
      factors.columns = around_blocks_;
    }
    const StageShape shape = ShapeOf(product);
    operands_ += shape.LikelyPoints(group_.depth, shape.axis_count());
    NoteSlices(product, plan, factors);
    PadRows(product, plan.type.sum);
    gathers_.insert(factors.gathered.begin(), factors.gathered.end());
    return ScheduleMatricesOfRows(gpu_, plan, product, factors, writer_);
  }

  // Records how many bytes of the workgroup's memory the slices of the product
  // take.
  void NoteSlices(const StageRef& product, const MatrixPlan& plan,
                  const RowFactors& factors) {
    const int64_t rows = plan.RowsOfTile() * DTypeByteSize(plan.type.a),
                  columns = plan.ColumnsOfTile() * DTypeByteSize(plan.type.b);
    if (!tile_.is_ahead) {
      const int64_t slots = plan.slots != 0  ? plan.slots
                            : plan.is_double ? 2
                                             : 1;
      slice_bytes_[product] = (rows + columns) * plan.slice * slots;
      return;
    }
    bool has_rows = false;
    ForEachLoad(c().pool, writer_.StageAt(product).values, [&](NodeId load) {
      const BufferRef buffer{c().buffers[c().pool[load].buffer].name};
      has_rows |= factors.resident.contains(buffer);
    });
    const int64_t padding =
        plan.IsWide() ? 0 : kRowPaddingBytes * (rows_ + 2 * plan.slice);
    bytes_ahead_ +=
        2 * columns * plan.slice + padding + (has_rows ? 0 : rows * plan.slice);
  }

  // Returns the stages that look up a factor of the product in a table
  // (IsLookupForProducts) and that no other stage reads. The product computes
  // slices of them.
  std::set<StageRef> GathersFor(const StageRef& product) const {
    std::set<StageRef> gathers;
    const int number = writer_.NumberOf(product);
    for (int i = 0; i < number; ++i) {
      if (IsLookupForProducts(c(), i) && StoresAreIdentity(c(), i) &&
          ConsumersOf(c(), i) == std::vector{number}) {
        gathers.insert({c().stages[static_cast<size_t>(i)].name});
      }
    }
    return gathers;
  }

  BufferRef BufferOf(const StageRef& stage) const {
    return {c().buffers[writer_.StageAt(stage).stores[0].buffer].name};
  }

  // Pads the rows of the stage's buffer, unless a row has only one element or
  // consists of partial results.
  void PadRows(const StageRef& stage, DType type) {
    if (ColumnsOf(stage) == 1 || parts_.contains(stage)) return;
    const int64_t elements = kRowPaddingBytes / DTypeByteSize(type);
    writer_.Do(schedule::PadRows{.stage = stage, .elements = elements});
  }

  bool ScheduleOther(const StageRef& stage) {
    const int spatial = writer_.StageAt(stage).spatial_count;
    const uint32_t buffer = writer_.StageAt(stage).stores[0].buffer;
    if (parts_.contains(stage)) {
      // Moves the loop over the parts of a row inside the loop over rows, so
      // that the partial results of a row are contiguous.
      std::vector<LoopRef> order = writer_.LoopsOf(stage);
      std::rotate(order.begin(), order.begin() + 1, order.begin() + spatial);
      writer_.Reorder(std::move(order));
    }
    if (!IsInPanels(stage)) PadRows(stage, c().buffers[buffer].type);
    if (writer_.StageAt(stage).has_reduction()) {
      BindLoops(stage,
                {.count = static_cast<size_t>(spatial),
                 .points = rows_ * ColumnsOf(stage),
                 .invocations = Invocations()},
                writer_);
      WriteOutReduction(stage);
      return writer_.status().ok();
    }
    const bool is_in_rounds = !RunsOf(stage);
    BindPoints(stage, 0, rows_ * ColumnsOf(stage));
    // Invocations compute the stage's elements in rounds (BindNeighbours). The
    // loop over rounds is unrolled, so that an invocation computes an address
    // in the panels only once and adds constants for the other rounds.
    if (IsInPanels(stage) && is_in_rounds) writer_.Do(Unroll{LoopOf(stage, 1)});
    return writer_.status().ok();
  }

  // True if products of warpgroups read the stage's results from panels
  // (jit/target/shared_panels.h), whose rows need no padding.
  bool IsInPanels(const StageRef& stage) const {
    return tile_.is_wide &&
           std::ranges::any_of(plans_, [&](const auto& product) {
             return Reads(c(), writer_.NumberOf(product.first),
                          writer_.StageAt(stage).stores[0].buffer);
           });
  }

  // Unrolls kLanes steps of a reduction with one axis, if its length is a
  // larger multiple of kLanes. In a stage of partial results it unrolls all
  // steps of the part, as vectors.
  void WriteOutReduction(const StageRef& stage) {
    const LoopRef loop = writer_.LoopsOf(stage).back();
    const std::optional<RowRuns> runs = RunsOf(stage);
    if (runs && parts_.contains(stage))
      return WriteOutPart(SplitPart(loop, *runs, writer_), writer_);
    const StageShape shape = ShapeOf(stage);
    if (shape.axis_count() != shape.spatial_count() + 1) return;
    const std::optional<int64_t> steps = shape.Extent(shape.spatial_count());
    if (!steps || *steps % kLanes != 0 || *steps <= kLanes) return;
    writer_.Do(Unroll{writer_.Split(loop, kLanes, "_steps", "_step").inner});
  }

  // Finds the first fold over blocks in the group, and the stages before it,
  // which are computed for one block in each iteration of the fold.
  void FindFold() {
    StageRef fold = group_.root;
    for (const StageRef& member : group_.members) {
      if (IsFold(member)) {
        fold = member;
        break;
      }
      of_block_.insert(member);
    }
    if (!IsFold(fold)) return of_block_.clear();
    const StageShape shape = ShapeOf(fold);
    blocks_ = shape.LikelyExtent(shape.spatial_count());
  }

  // Divides each reduction along a row among several invocations: a new stage
  // (rfactor) computes partial results of interleaved elements, and the stage
  // itself combines these.
  void SplitReductions() {
    std::vector<StageRef> members;
    for (const StageRef& member : group_.members) {
      const int64_t parts = IsProduct(member) ? 1 : SplitReduction(member);
      if (parts > 1) {
        parts_[members.emplace_back(PartsOf(member))] = parts;
        if (of_block_.contains(member)) of_block_.insert(members.back());
        // If a row has few parts, the stage that combines them is inlined in
        // its readers. Then no invocation waits until another one has combined
        // them.
        if (parts <= kMaxInlined && writer_.Try(Inline{member})) {
          of_block_.erase(member);
          continue;
        }
      }
      members.push_back(member);
    }
    group_.members = std::move(members);
  }

  // If several stages read a product's rows and divide them in the same way,
  // splits the product in two: a new stage multiplies and stores to the
  // workgroup's memory, and the product's own stage copies its results to
  // registers.
  void ReadProductsOnce() {
    for (size_t i = 0; i < group_.members.size(); ++i) {
      const StageRef product = group_.members[i];
      const StageRef tile{product.name + ".tile"};
      if (!IsProduct(product)) continue;
      const auto runs = RunsOf(ColumnsOf(product));
      const auto readers = ConsumersOf(c(), writer_.NumberOf(product));
      if (!runs || readers.size() < 2 || !HaveRuns(readers, *runs)) continue;
      if (!writer_.Try(CacheWrite{.stage = product, .computing = tile.name}))
        continue;
      group_.members.insert(group_.members.begin() + static_cast<int>(i), tile);
      tiles_.insert(tile);
      if (of_block_.contains(product)) of_block_.insert(tile);
      ++i;
    }
  }

  // Returns the stage of partial results that SplitReduction makes for a stage.
  static StageRef PartsOf(const StageRef& stage) {
    return {stage.name + ".parts"};
  }

  // Splits the stage's reduction along the row into parts, one per invocation
  // of the row. Returns the number of parts; 1 if the reduction stays whole.
  int64_t SplitReduction(const StageRef& stage) {
    const StageShape shape = ShapeOf(stage);
    const int spatial = shape.spatial_count();
    if (shape.axis_count() != spatial + 1 || ColumnsOf(stage) != 1 ||
        IsFold(stage)) {
      return 1;
    }
    const int64_t length = shape.Extent(spatial).value_or(0);
    const int64_t parts = PartsOfRow(length, Invocations() / rows_);
    const std::optional<RowRuns> runs = RunsOf(length);
    const LoopDigit digit{.loop = {stage, shape.stage().axes.back().name},
                          .kind = LoopDigit::Kind::kRemainder,
                          .factor = parts,
                          .run = runs ? runs->run : 1};
    const bool is_split =
        parts > 1 && length % parts == 0 &&
        writer_.Try(Rfactor{.part = digit, .parts = PartsOf(stage).name});
    return is_split ? parts : 1;
  }

  const jit::GpuModel& gpu_;
  StageGroup group_;
  const RowTile tile_;
  const int64_t rows_;
  ScheduleWriter& writer_;
  // For each stage of partial results: the number of parts of a row.
  std::map<StageRef, int64_t> parts_;
  std::set<StageRef> of_block_;
  int64_t blocks_ = 1;
  // Number of elements of the columns' factors that a tile reads, for all
  // products.
  int64_t operands_ = 0;
  // the tile of matrices of each product
  std::map<StageRef, MatrixPlan> plans_;
  // number of bytes that the slices of each product take in the workgroup's
  // memory
  std::map<StageRef, int64_t> slice_bytes_;
  int64_t bytes_ahead_ = 0;  // number of bytes of the slices that are whole
                             // sums and are copied ahead
  // `around_root_`: the root's loop over tiles. `around_blocks_`: the fold's
  // loop over blocks, if the group has a fold.
  LoopRef around_root_;
  std::optional<LoopRef> around_blocks_;
  std::set<StageRef> gathers_;
  // new stages that compute a product whose own stage copies the results to
  // registers
  std::set<StageRef> tiles_;
};

}  // namespace

std::optional<ScheduledRowTile> ScheduleRowTile(const jit::GpuModel& gpu,
                                                const StageGroup& group,
                                                const RowTile& tile,
                                                ScheduleWriter& writer) {
  RowTileScheduler scheduler(gpu, group, tile, writer);
  if (!scheduler.Run()) return std::nullopt;
  return ScheduledRowTile{scheduler.Cost(), scheduler.IsAlone(),
                          scheduler.Scheduled()};
}

}  // namespace ember::schedule

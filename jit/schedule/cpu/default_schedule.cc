#include "jit/schedule/cpu/default_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/constant_stages.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/cpu/block_sums_rule.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/product_rule.h"
#include "jit/schedule/cpu/sum_lanes_rule.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/cpu/widen_rule.h"
#include "jit/schedule/cpu/winograd_rule.h"
#include "jit/schedule/primitives/online_softmax.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/schedule/rules/sum_rule.h"

namespace ember::schedule {
namespace {

// Largest number of rows that a group with products computes at once.
constexpr int64_t kMaxRows = 32;
// Largest and smallest number of elements of a softmax's row that form a block.
// With 32 rows, the scores and powers of a block, and the block's part of both
// operands, fit the first two levels of caches.
constexpr int64_t kMaxBlock = 1024;
constexpr int64_t kLeastBlock = 128;
// Number of values that a softmax keeps per element of a row: score, scaled
// score, power and weight.
constexpr int64_t kRowBuffers = 4;
// Smallest number of tasks per thread, so that the work can be balanced.
constexpr int64_t kTasksPerCore = 4;

class Chooser {
 public:
  Chooser(const jit::CpuModel& cpu, bool exact, Schedule& schedule)
      : cpu_(cpu), exact_(exact), writer_(schedule) {}

  Status Run() {
    WidenTemporaries(writer_);
    std::vector<StageRef> stages;
    for (const ComputationStage& stage : writer_.computation().stages)
      stages.push_back({stage.name});
    for (size_t i = stages.size(); i-- > 0;) {
      // The stage may be gone: the schedule of a later stage may have inlined
      // it.
      if (done_.contains(stages[i]) || writer_.NumberOf(stages[i]) < 0)
        continue;
      if (IsMadeOnce(writer_.NumberOf(stages[i]))) {
        ScheduleConstant(stages[i]);
        done_.insert(stages[i]);
        continue;
      }
      const std::optional<BlockSum> blocks =
          BlockSumOf(cpu_, writer_.schedule(), stages[i]);
      if (blocks && ScheduleBlockSum(cpu_, *blocks, writer_)) {
        done_.insert(blocks->total);
        done_.insert(blocks->product);
        continue;
      }
      const std::optional<StageRef> fold = SoftmaxInBlocks(stages[i]);
      const StageGroup group = GroupOf(stages[i]);
      done_.insert(group.root);
      done_.insert(group.members.begin(), group.members.end());
      if (!fold) {
        SkipHiddenKeys(group.root);
        for (const StageRef& member : group.members) SkipHiddenKeys(member);
        ScheduleGroup(group);
      } else if (!TryBlocks(group, *fold)) {
        ScheduleAlone(group.root);
        for (const StageRef& member : group.members) ScheduleAlone(member);
      }
    }
    SplitLongSums(writer_);
    return writer_.status();
  }

 private:
  bool IsProduct(const StageRef& stage) const {
    return StageShape(writer_.computation(), writer_.NumberOf(stage))
        .IsProduct();
  }
  bool IsElementwise(const StageRef& stage) const {
    return !writer_.StageAt(stage).has_reduction();
  }

  // True if MarkConstantStages has marked the stage as one that depends only on
  // constants and is computed once, when the kernel is made.
  bool IsMadeOnce(int stage) const {
    const Computation& c = writer_.computation();
    return c.buffers[c.stages[stage].stores[0].buffer].role ==
           BufferRole::kPacked;
  }

  // Schedules a stage that depends only on constants, after its readers. If all
  // readers depend only on constants, too, as copies in the layout of a product
  // do, the stage is inlined in them, so that its values are not in memory
  // twice.
  void ScheduleConstant(const StageRef& stage) {
    const std::vector<int> readers =
        ConsumersOf(writer_.computation(), writer_.NumberOf(stage));
    const bool is_copied = std::ranges::all_of(
        readers, [&](int reader) { return IsMadeOnce(reader); });
    if (is_copied && writer_.Try(Inline{stage})) return;
    ScheduleLanes(cpu_, stage, {}, writer_);
  }

  // Computes the product of a softmax in blocks (flash attention), if its rows
  // are so long that a core's part of the caches cannot even hold those of one
  // register tile. Returns the stage that folds the blocks; nullopt if nothing
  // changes.
  std::optional<StageRef> SoftmaxInBlocks(const StageRef& product) {
    if (exact_) return std::nullopt;
    const StatusOr<SoftmaxOfProduct> softmax =
        MatchSoftmaxOfProduct(writer_.schedule(), writer_.NumberOf(product));
    if (!softmax.ok()) return std::nullopt;
    const int64_t row_bytes =
        softmax->length * kRowBuffers * DTypeByteSize(DType::kF32);
    // Blocks are slower while the rows fit a core's part of the caches: whole
    // rows need no rescaling of sums (measured up to 12288 elements, Zen 3:
    // blocks took 0 to 12% longer).
    const int64_t room =
        std::max(cpu_.l2_bytes, cpu_.l3_bytes / std::max(cpu_.cores, 1));
    if (row_bytes * kRowsOfProduct <= room) return std::nullopt;
    int64_t block = kMaxBlock;
    while (block >= kLeastBlock && softmax->length % block != 0) --block;
    const StageRef fold{product.name + ".sums"};
    if (block < kLeastBlock) return std::nullopt;
    OnlineSoftmax step{.product = product,
                       .block = block,
                       .hidden = HiddenBlocks::kSkip,
                       .sum = fold.name,
                       .total = product.name + ".total"};
    if (!writer_.Try(step)) {
      step.hidden = HiddenBlocks::kCompute;
      if (!writer_.Try(step)) return std::nullopt;
    }
    blocked_.insert(product);
    return fold;
  }

  // Leaves out keys that a mask hides, if the stage is the product of a softmax
  // with such a mask.
  void SkipHiddenKeys(const StageRef& product) {
    // The form of the stages is tested first, because trying a primitive copies
    // the schedule, which takes longer.
    const bool is_softmax =
        MatchSoftmaxOfProduct(writer_.schedule(), writer_.NumberOf(product),
                              KeyCount::kAny)
            .ok();
    if (is_softmax) writer_.Try(SkipHidden{product});
  }

  // --- groups ---

  StageGroup GroupOf(const StageRef& root) {
    const int number = writer_.NumberOf(root);
    return schedule::GroupOf(
        writer_.schedule(), root, done_,
        [&](int stage, int depth, const StageGroup& group) {
          return IsWorthJoining(stage, number, depth, group);
        });
  }

  bool IsWorthJoining(int producer, int root, int depth,
                      const StageGroup& group) const {
    const StageShape outer(writer_.computation(), root);
    const StageShape inner(writer_.computation(), producer);
    if (IsLookupForProducts(writer_.computation(), producer)) return false;
    const StageRef stage{inner.stage().name};
    if (BlockSumOf(cpu_, writer_.schedule(), stage)) return false;
    int64_t rows = 1;
    for (int a = 0; a < depth; ++a) rows *= outer.LikelyExtent(a);
    // A group with a single row would compute the whole stage at once. An
    // elementwise stage after a product is better computed on the product's
    // tiles.
    if (rows < 2 && !inner.stage().has_reduction() && ReadsProduct(producer))
      return false;
    // A stage with much work joins only if the group has rows for all threads.
    if (IsWorthThreads(inner.LikelyPoints()) && rows < 2 * cpu_.cores)
      return false;
    // A root that is a product runs row by row over the rows of its operand. So
    // a stage joins it only if they have all of the root's axes but the last
    // spatial one in common.
    if (outer.IsProduct() && depth + 1 != outer.spatial_count()) return false;
    if (!inner.IsProduct()) return true;
    if (blocked_.contains(group.root)) return true;
    const StageRef product{inner.stage().name};
    // In other groups a product gets a register tile in two cases only: the
    // stages after it are elementwise and run on its tile, or the group has
    // several rows of it and its operands stay in a cache.
    const bool whole = depth == outer.spatial_count() &&
                       RootAxesOf(writer_, group, product).has_value();
    const bool plain = std::all_of(
        group.members.begin(), group.members.end(),
        [&](const StageRef& member) { return IsElementwise(member); });
    if (whole && plain && IsElementwise(group.root)) return true;
    return depth + 1 == inner.spatial_count() && !HasNarrowRows(inner) &&
           outer.LikelyExtent(depth - 1) >= kRowsOfProduct &&
           OperandsAreNear(inner, CommonAxesOf(group, depth, product));
  }

  // True if the stage reads the result of a product.
  bool ReadsProduct(int number) const {
    const Computation& c = writer_.computation();
    for (int p = 0; p < number; ++p) {
      if (StageShape(c, p).IsProduct() &&
          Reads(c, number, c.stages[p].stores[0].buffer))
        return true;
    }
    return false;
  }

  // True if rows of the product's results fill less than half a vector. Such a
  // product does not join a group, because alone it can have vectors along
  // another axis.
  bool HasNarrowRows(const StageShape& product) const {
    const int64_t lanes = cpu_.vector_bytes / product.WidestBytes();
    return product.LikelyExtent(product.spatial_count() - 1) * 2 < lanes;
  }

  // True if the product's operands, which are read again for each block of
  // rows, fit half of the core's second-level cache. If the results are larger
  // than half of the shared cache, it is enough that the operands fit a quarter
  // of the shared cache.
  bool OperandsAreNear(const StageShape& product,
                       const CommonAxes& common) const {
    const int64_t bytes = BytesPerRow(product, common);
    if (bytes <= cpu_.l2_bytes / 2) return true;
    int64_t results = product.WidestBytes();
    for (int a = 0; a < product.spatial_count(); ++a)
      results = std::min(results * product.LikelyExtent(a), int64_t{1} << 40);
    return bytes <= cpu_.l3_bytes / 4 && results > cpu_.l3_bytes / 2;
  }

  // Returns the number of bytes of the operands along the axes that the group's
  // stages do not have in common. These are read again for each block of rows.
  static int64_t BytesPerRow(const StageShape& shape,
                             const CommonAxes& common) {
    int64_t total = 0;
    for (NodeId load : shape.loads()) {
      int64_t bytes = shape.BytesOf(load);
      for (int a = 0; a < shape.axis_count(); ++a) {
        if (!common.IsCommon(a) && shape.StrideOf(load, a) != Stride::kNone)
          bytes = std::min(bytes * shape.LikelyExtent(a), int64_t{1} << 40);
      }
      total += bytes;
    }
    return total;
  }

  // --- schedules ---

  void ScheduleGroup(const StageGroup& group) {
    std::optional<StageRef> product;
    bool others_plain = true;
    for (const StageRef& member : group.members) {
      if (IsProduct(member))
        product = product ? std::nullopt : std::optional(member);
      else
        others_plain &= IsElementwise(member);
    }
    if (group.members.empty() && IsProduct(group.root)) product = group.root;
    const int spatial = writer_.StageAt(group.root).spatial_count;
    if (product && group.depth == spatial && others_plain &&
        (product == group.root || IsElementwise(group.root))) {
      // The rules below compute stages after the product on its tile. A stage
      // of the group before the product could not be computed there, so the
      // product must come first.
      if (product == group.root || group.members.front() == product) {
        if ((!exact_ && TryRule(ScheduleWinograd, group, *product)) ||
            TryRule(ScheduleSumLanes, group, *product) ||
            TryRule(ScheduleProduct, group, *product))
          return;
      }
    }
    ScheduleRows(group);
  }

  // The type of the rules that schedule a product together with the stages of
  // its group.
  using ProductRule = bool (*)(const jit::CpuModel& cpu,
                               const StageGroup& group, const StageRef& product,
                               ScheduleWriter& writer);

  // Applies the rule to a copy of the schedule if some member must run once.
  // Returns false if the rule does not apply, or if it cannot be proved that
  // each tile needs a different part of such a member.
  bool TryRule(ProductRule rule, const StageGroup& group,
               const StageRef& product) {
    const auto runs_once = [&](const StageRef& member) {
      return MustRunOnce(writer_.computation(), writer_.NumberOf(member));
    };
    if (std::ranges::none_of(group.members, runs_once))
      return rule(cpu_, group, product, writer_);
    Schedule trial = writer_.schedule();
    ScheduleWriter writer(trial);
    if (!rule(cpu_, group, product, writer) || !writer.status().ok())
      return false;
    writer_.Replace(std::move(trial));
    return true;
  }

  CommonAxes CommonAxesOf(const StageGroup& group, int depth,
                          const StageRef& stage) const {
    return schedule::CommonAxesOf(writer_, group, depth, stage);
  }

  // Schedules the loops of a member that is computed inside the root's loop.
  // Lanes run along axes of the member that are not equal to one of the root's
  // first `first` axes.
  void ScheduleMember(const StageGroup& group, const StageRef& member,
                      int first, std::optional<int64_t> points = {}) {
    if (IsProduct(member)) {
      const ComputationStage& stage = writer_.StageAt(member);
      const CommonAxes common = CommonAxesOf(group, group.depth, member);
      std::vector<LoopRef> fixed;
      std::optional<LoopRef> rows;
      for (int a = 0; a < stage.spatial_count; ++a) {
        const LoopRef axis{member, stage.axes[a].name};
        if (a == common.rows)
          rows = axis;
        else if (common.IsCommon(a))
          fixed.push_back(axis);
      }
      if (ScheduleProductInside(cpu_, member, common, fixed, rows, writer_))
        return;
    }
    ScheduleLanes(cpu_, member, CommonAxesOf(group, first, member), writer_,
                  {.points = points});
  }

  // Schedules a softmax in blocks if that is faster and legal. Otherwise
  // returns false, without a change.
  bool TryBlocks(const StageGroup& group, const StageRef& fold) {
    // Blocks are faster only if the stages have all of the root's axes in
    // common except the last.
    if (group.depth != writer_.StageAt(group.root).spatial_count - 1)
      return false;
    Schedule trial = writer_.schedule();
    Chooser chooser(cpu_, exact_, trial);
    chooser.done_ = done_;
    chooser.blocked_ = blocked_;
    chooser.ScheduleBlocks(group, fold);
    if (!chooser.writer_.status().ok()) return false;
    writer_.Replace(std::move(trial));
    return true;
  }

  // Schedules a softmax in blocks (jit/schedule/primitives/online_softmax.h). A
  // task is a tile of rows. In a task, a fold loops over the blocks of a row,
  // and each of its iterations computes all other stages for one block.
  void ScheduleBlocks(const StageGroup& group, const StageRef& fold) {
    const int depth = writer_.StageAt(group.root).spatial_count - 1;
    SplitRows(writer_.LoopsOf(group.root)[depth - 1], RowsOf(group));
    const LoopRef tasks =
        writer_.FuseLoops(group.root, 0, static_cast<size_t>(depth), "tasks");
    ScheduleLanes(cpu_, group.root, CommonAxesOf(group, depth, group.root),
                  writer_);
    writer_.Do(ComputeAt{.producer = fold, .loop = tasks});
    ScheduleLanes(cpu_, fold, CommonAxesOf(group, depth, fold), writer_);
    // Moves the loop over blocks outside the loops over rows and lanes.
    std::vector<LoopRef> loops = writer_.LoopsOf(fold);
    const LoopRef blocks{fold, writer_.StageAt(fold).axes.back().name};
    std::erase(loops, blocks);
    loops.insert(loops.begin() + depth - 1, blocks);
    writer_.Reorder(std::move(loops));
    for (size_t i = group.members.size(); i-- > 0;) {
      const StageRef& member = group.members[i];
      if (member == fold) continue;
      writer_.Do(ComputeAt{.producer = member, .loop = blocks});
    }
    for (const StageRef& member : group.members) {
      if (member != fold) ScheduleMember(group, member, depth);
    }
    writer_.Do(Parallel{tasks});
  }

  // Splits a loop over rows into tiles of `count` rows. Returns the loop over
  // the rows of a tile.
  LoopRef SplitRows(const LoopRef& rows, int64_t count) {
    const auto [tile, row] = writer_.Split(rows, count, "_tile", "_row");
    writer_.Do(Peel{tile});
    return row;
  }

  void ScheduleRows(const StageGroup& group) {
    if (group.members.empty()) return ScheduleAlone(group.root);
    const Computation& c = writer_.computation();
    const bool is_root_product = IsProduct(group.root);
    bool product = is_root_product;
    int64_t all_points =
        StageShape(c, writer_.NumberOf(group.root)).LikelyPoints();
    for (const StageRef& member : group.members) {
      product |= IsProduct(member);
      all_points += StageShape(c, writer_.NumberOf(member)).LikelyPoints();
    }
    int outer = group.depth;
    // number of the root's axis from which on lanes may run
    int first = group.depth;
    const std::vector<LoopRef> loops = writer_.LoopsOf(group.root);
    const int lane_axis = product ? -1 : LaneAxisOf(group);
    std::optional<LoopRef> points_of_task, product_rows;
    int64_t lanes = 1, vectors = 1;
    const int64_t narrow_rows =
        product || lane_axis >= 0 ? 0 : NarrowRowsOf(group);
    if (lane_axis >= 0) {
      // All stages have all axes of the root, so a task computes a few vectors
      // of points along the axis of the lanes.
      lanes = LanesOf(
          group,
          StageShape(c, writer_.NumberOf(group.root)).LikelyExtent(lane_axis));
      vectors = VectorsOf(group, lane_axis, lanes);
      points_of_task =
          writer_.Split(loops[lane_axis], lanes * vectors, "_tile", "_lanes")
              .inner;
      outer = lane_axis + 1;
      first = lane_axis;
    }
    if (product) product_rows = SplitRows(loops[outer - 1], RowsOf(group));
    std::optional<SplitAxis> rows_of_lanes;
    if (narrow_rows > 0) {
      // Rows are shorter than vectors, so the lanes of a vector run over
      // several rows. A task computes `narrow_rows` of them.
      first = outer - 1;
      rows_of_lanes = {first, SplitRows(loops[first], narrow_rows)};
    }
    const LoopRef rows = writer_.FuseLoops(group.root, 0, outer, "tasks");
    const std::set<StageRef> alone = ComputeMembersAt(group, rows);
    std::optional<int64_t> points;
    if (points_of_task) {
      points = lanes * vectors;
      if (!SplitVectorsSideBySide(*points_of_task, lanes, vectors, writer_))
        writer_.Do(Vectorize{*points_of_task});
    } else if (!is_root_product ||
               !ScheduleProductInside(
                   cpu_, group.root,
                   CommonAxesOf(group, group.depth, group.root), {rows},
                   product_rows, writer_)) {
      ScheduleLanes(cpu_, group.root, CommonAxesOf(group, first, group.root),
                    writer_, {.split = rows_of_lanes});
    }
    for (const StageRef& member : group.members) {
      if (alone.contains(member))
        ScheduleAlone(member);
      else
        ScheduleMember(group, member, first, points);
    }
    if (IsWorthThreads(all_points)) writer_.Do(Parallel{rows});
  }

  // Attaches the members to the root's loop. Returns the members that stay
  // outside of it: those that must run once although iterations may need
  // overlapping parts of them, and those that only such members read.
  std::set<StageRef> ComputeMembersAt(const StageGroup& group,
                                      const LoopRef& loop) {
    std::set<StageRef> alone;
    for (size_t i = group.members.size(); i-- > 0;) {
      const StageRef& member = group.members[i];
      const ComputeAt step{.producer = member, .loop = loop};
      const bool may_be_refused =
          !alone.empty() ||
          MustRunOnce(writer_.computation(), writer_.NumberOf(member));
      if (!may_be_refused)
        writer_.Do(step);
      else if (!writer_.Try(step))
        alone.insert(member);
    }
    return alone;
  }

  // Returns the number of rows that a group with products computes at once, a
  // multiple of the register tile's rows. With more rows the other operand is
  // read less often, but the rows must stay in the cache and leave enough tasks
  // for the threads.
  int64_t RowsOf(const StageGroup& group) const {
    const Computation& c = writer_.computation();
    int64_t tile = 1;
    int64_t row_bytes = 0;
    bool is_large = false;
    std::vector<StageRef> stages = group.members;
    stages.push_back(group.root);
    for (const StageRef& stage : stages) {
      const StageShape shape(c, writer_.NumberOf(stage));
      const CommonAxes common = CommonAxesOf(group, group.depth, stage);
      int64_t bytes = shape.WidestBytes();
      for (int a = 0; a < shape.spatial_count(); ++a) {
        if (!common.IsCommon(a))
          bytes *= std::max<int64_t>(shape.LikelyExtent(a), 1);
      }
      if (stage != group.root) row_bytes += bytes;
      is_large |= IsWorthThreads(shape.LikelyPoints());
      if (!shape.IsProduct()) continue;
      const int64_t rows = RowsOfProductInside(cpu_, shape, common);
      // A number of rows that is no multiple of the tile's rows would compute
      // extra rows in each block, so the least common multiple is used if it is
      // not too large.
      const int64_t both = std::lcm(tile, rows);
      tile = both <= kMaxRows ? both : std::max(tile, rows);
    }
    const StageShape root(c, writer_.NumberOf(group.root));
    const int64_t extent = root.LikelyExtent(group.depth - 1);
    int64_t others = 1;
    for (int a = 0; a + 1 < group.depth; ++a) others *= root.LikelyExtent(a);
    int64_t best = tile;
    for (int64_t rows = tile; rows <= kMaxRows; rows += tile) {
      const int64_t tasks = others * DivideRoundingUp(extent, rows);
      if (is_large && tasks < kTasksPerCore * cpu_.cores) break;
      const bool fits = rows * row_bytes <= cpu_.l2_bytes / 4;
      if (!fits && !blocked_.contains(group.root)) break;
      best = rows;
    }
    return best;
  }

  // Returns the number of rows that a group computes at once if rows are
  // shorter than vectors: lanes then run over several rows. Returns 0 if a row
  // of some stage fills a vector, if there are few rows, or if a stage is a
  // fold.
  int64_t NarrowRowsOf(const StageGroup& group) const {
    constexpr int64_t kVectorsOfRows = 4;
    const Computation& c = writer_.computation();
    std::vector<StageRef> stages = group.members;
    stages.push_back(group.root);
    int64_t lanes = 1;
    for (const StageRef& stage : stages) {
      const StageShape shape(c, writer_.NumberOf(stage));
      const int64_t of_vector = cpu_.vector_bytes / shape.WidestBytes();
      const CommonAxes common = CommonAxesOf(group, group.depth, stage);
      int64_t points = 1;  // number of points of a row
      for (int a = 0; a < shape.axis_count() && points < of_vector; ++a) {
        if (!common.IsCommon(a)) points *= shape.LikelyExtent(a);
      }
      if (points >= of_vector || common.rows < 0 ||
          shape.stage().combiner == tensor::Combiner::kFold) {
        return 0;
      }
      lanes = std::max(lanes, of_vector);
    }
    const StageShape root(c, writer_.NumberOf(group.root));
    const int64_t rows = lanes * kVectorsOfRows;
    return root.LikelyExtent(group.depth - 1) >= rows ? rows : 0;
  }

  // Returns the number of lanes of the group's vectors along an axis with
  // `neighbours` adjacent elements; 1: no vectors.
  int64_t LanesOf(const StageGroup& group, int64_t neighbours) const {
    const Computation& c = writer_.computation();
    int widest = StageShape(c, writer_.NumberOf(group.root)).WidestBytes();
    for (const StageRef& member : group.members) {
      widest = std::max(widest,
                        StageShape(c, writer_.NumberOf(member)).WidestBytes());
    }
    return cpu_.LanesFor(widest, neighbours);
  }

  // Returns how many vectors along the axis a task of the group computes side
  // by side.
  int64_t VectorsOf(const StageGroup& group, int axis, int64_t lanes) const {
    const Computation& c = writer_.computation();
    const StageShape root(c, writer_.NumberOf(group.root));
    const std::optional<int64_t> extent = root.Extent(axis);
    const bool reduces =
        std::ranges::any_of(group.members, [&](const StageRef& member) {
          return writer_.StageAt(member).has_reduction();
        });
    if (!reduces || !extent || *extent % lanes != 0) return 1;
    return VectorsSideBySide(*extent / lanes);
  }

  // Returns the number of the axis along which lanes run in all stages: the
  // root's last axis with more than one point. Returns -1 if some stage does
  // not have that axis, if vectors along it do not pay, or if the root is a
  // reduction.
  int LaneAxisOf(const StageGroup& group) const {
    const StageShape root(writer_.computation(), writer_.NumberOf(group.root));
    int axis = root.spatial_count() - 1;
    while (axis >= 0 && root.LikelyExtent(axis) < 2) --axis;
    const bool wanted = axis >= 0 && axis < group.depth &&
                        LanesOf(group, root.LikelyExtent(axis)) > 1 &&
                        !root.stage().has_reduction();
    return wanted ? axis : -1;
  }

  void ScheduleAlone(const StageRef& stage) {
    ScheduleLanes(cpu_, stage, {}, writer_,
                  {.split = SplitForTasks(cpu_, stage, writer_)});
    ScheduleTasks(cpu_, stage, writer_);
  }

  const jit::CpuModel& cpu_;
  const bool exact_;
  ScheduleWriter writer_;
  std::set<StageRef> done_;
  std::set<StageRef> blocked_;  // the roots of groups that compute a softmax in
                                // blocks
};

}  // namespace

Status ScheduleByModel(const jit::CpuModel& cpu, Schedule& schedule,
                       const ModelOptions& options) {
  MarkConstantStages(schedule.mutable_computation());
  return Chooser(cpu, options.exact, schedule).Run();
}

}  // namespace ember::schedule

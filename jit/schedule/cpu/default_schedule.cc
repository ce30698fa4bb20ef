#include "jit/schedule/cpu/default_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/constant_stages.h"
#include "jit/schedule/core/dependences.h"
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

// Largest number of rows that a group with products computes together.
constexpr int64_t kMaxRows = 32;
// Largest and smallest number of elements of a softmax's rows that are
// processed as one block. With 32 rows, the scores and powers of a block, and
// the block's part of both operands, fit the first two levels of caches.
constexpr int64_t kMaxBlock = 1024;
constexpr int64_t kLeastBlock = 128;
// Number of buffers of a softmax's row: scores, scaled scores, powers and
// weights.
constexpr int64_t kRowBuffers = 4;
// Smallest number of tasks per worker, so that the load can be balanced.
constexpr int64_t kTasksPerCore = 4;

class Chooser {
 public:
  Chooser(const jit::CpuModel& cpu, bool exact, Schedule& schedule)
      : cpu_(cpu), exact_(exact), writer_(schedule) {}

  Status Run() {
    WidenTemporaries(writer_);
    std::vector<std::string> names;
    for (const ComputationStage& stage : writer_.computation().stages)
      names.push_back(stage.name);
    for (size_t i = names.size(); i-- > 0;) {
      if (done_.contains(names[i])) continue;
      if (IsMadeOnce(writer_.StageOf(names[i]))) {
        ScheduleConstant(names[i]);
        done_.insert(names[i]);
        continue;
      }
      const std::string fold = SoftmaxInBlocks(names[i]);
      const StageGroup group = GroupOf(names[i]);
      done_.insert(group.root);
      done_.insert(group.members.begin(), group.members.end());
      if (fold.empty())
        ScheduleGroup(group);
      else
        ScheduleBlocks(group, fold);
    }
    SplitLongSums(writer_);
    return writer_.status();
  }

 private:
  bool IsProduct(const std::string& name) const {
    return StageShape(writer_.computation(), writer_.StageOf(name)).IsProduct();
  }
  bool IsElementwise(const std::string& name) const {
    return !writer_.computation().stages[writer_.StageOf(name)].has_reduction();
  }

  // True if the stage is computed when the kernel is made.
  bool IsMadeOnce(int stage) const {
    const Computation& c = writer_.computation();
    return c.buffers[c.stages[stage].stores[0].buffer].role ==
           BufferRole::kPacked;
  }

  // Schedules a stage of constants whose readers have schedules already. If all
  // readers are copies in a product's layout, they compute the stage
  // themselves, so that its values are not in memory twice.
  void ScheduleConstant(const std::string& name) {
    const std::vector<int> readers =
        ConsumersOf(writer_.computation(), writer_.StageOf(name));
    const bool is_copied = std::ranges::all_of(
        readers, [&](int reader) { return IsMadeOnce(reader); });
    if (is_copied && writer_.Try("inline %" + name)) return;
    ScheduleLanes(cpu_, name, {}, writer_);
  }

  // Computes the product of a softmax in blocks (flash attention), if its rows
  // are so long that not even those of one register tile stay in a core's part
  // of the caches. Returns the name of the stage that folds the blocks; empty
  // if nothing changes.
  std::string SoftmaxInBlocks(const std::string& product) {
    if (exact_) return "";
    const StatusOr<SoftmaxOfProduct> softmax =
        MatchSoftmaxOfProduct(writer_.schedule(), writer_.StageOf(product));
    if (!softmax.ok()) return "";
    const int64_t row_bytes =
        softmax->length * kRowBuffers * DTypeByteSize(DType::kF32);
    // Blocks do not pay while the rows fit a core's part of the caches: whole
    // rows are then as fast, and need no rescaling (measured up to 12288
    // elements, Zen 3: blocks took 0 to 12% longer).
    const int64_t room =
        std::max(cpu_.l2_bytes, cpu_.l3_bytes / std::max(cpu_.cores, 1));
    if (row_bytes * kRowsOfProduct <= room) return "";
    int64_t block = kMaxBlock;
    while (block >= kLeastBlock && softmax->length % block != 0) --block;
    const std::string fold = product + ".sums";
    if (block < kLeastBlock || !writer_.Try("online_softmax %" + product + " " +
                                            std::to_string(block) + " -> " +
                                            fold + " " + product + ".total")) {
      return "";
    }
    blocked_.insert(product);
    return fold;
  }

  // --- groups ---

  StageGroup GroupOf(const std::string& root) {
    const int number = writer_.StageOf(root);
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
    int64_t rows = 1;
    for (int a = 0; a < depth; ++a) rows *= outer.LikelyExtent(a);
    // In a group with one row the whole stage would be computed at once. An
    // elementwise stage after a product is better computed on the product's
    // tiles.
    if (rows < 2 && !inner.stage().has_reduction() && ReadsProduct(producer))
      return false;
    // There must be enough rows for all threads.
    if (IsWorthThreads(inner.LikelyPoints()) && rows < 2 * cpu_.cores)
      return false;
    // A product that is the root runs row by row over an operand's rows, so it
    // joins only if the axes in common are all but its last spatial one.
    if (outer.IsProduct() && depth + 1 != outer.spatial_count()) return false;
    if (!inner.IsProduct()) return true;
    if (blocked_.contains(group.root)) return true;
    // A product inside the group gets a register tile only if elementwise
    // stages follow it on the tile, or if the product has rows of its own.
    const bool whole =
        depth == outer.spatial_count() &&
        RootAxesOf(writer_, group, writer_.computation().stages[producer].name)
            .has_value();
    const bool plain = std::all_of(
        group.members.begin(), group.members.end(),
        [&](const std::string& member) { return IsElementwise(member); });
    if (whole && plain && IsElementwise(group.root)) return true;
    return depth + 1 == inner.spatial_count() && !HasNarrowRows(inner) &&
           outer.LikelyExtent(depth - 1) >= kRowsOfProduct &&
           OperandsAreNear(
               inner,
               CommonAxesOf(group, depth,
                            writer_.computation().stages[producer].name));
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

  // True if vectors along a row would be less than half full. A product outside
  // of a group can have its vectors along another axis.
  bool HasNarrowRows(const StageShape& product) const {
    const int64_t lanes = cpu_.vector_bytes / product.WidestBytes();
    return product.LikelyExtent(product.spatial_count() - 1) * 2 < lanes;
  }

  // True if the operands of a product, which each block of rows reads again,
  // fit the core's cache. If there are more results than fit the shared cache,
  // it is enough that the operands fit the shared cache.
  bool OperandsAreNear(const StageShape& product,
                       const CommonAxes& common) const {
    const int64_t bytes = BytesPerRow(product, common);
    if (bytes <= cpu_.l2_bytes / 2) return true;
    int64_t results = product.WidestBytes();
    for (int a = 0; a < product.spatial_count(); ++a)
      results = std::min(results * product.LikelyExtent(a), int64_t{1} << 40);
    return bytes <= cpu_.l3_bytes / 4 && results > cpu_.l3_bytes / 2;
  }

  // Returns the bytes of the operands along the axes that are not common, which
  // each block of rows reads again.
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
    std::string product;
    bool others_plain = true;
    for (const std::string& member : group.members) {
      if (IsProduct(member))
        product = product.empty() ? member : "";
      else
        others_plain &= IsElementwise(member);
    }
    if (group.members.empty() && IsProduct(group.root)) product = group.root;
    const int spatial =
        writer_.computation().stages[writer_.StageOf(group.root)].spatial_count;
    if (!product.empty() && group.depth == spatial && others_plain &&
        (product == group.root || IsElementwise(group.root))) {
      // A member before the product cannot be computed on the product's tile,
      // and it would prevent the order of loops that the tile needs.
      if (product == group.root || group.members.front() == product) {
        if (!exact_ && ScheduleWinograd(cpu_, group, product, writer_)) return;
        if (TryRule(ScheduleSumLanes, group, product) ||
            TryRule(ScheduleProduct, group, product))
          return;
      }
    }
    ScheduleRows(group);
  }

  // The type of rules that schedule a product with the stages of its group.
  using ProductRule = bool (*)(const jit::CpuModel& cpu,
                               const StageGroup& group,
                               const std::string& product,
                               ScheduleWriter& writer);

  // Returns false if a member must run once, and it cannot be proved that each
  // tile needs a different part of it.
  bool TryRule(ProductRule rule, const StageGroup& group,
               const std::string& product) {
    const auto runs_once = [&](const std::string& member) {
      return MustRunOnce(writer_.computation(), writer_.StageOf(member));
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
                          const std::string& stage) const {
    return schedule::CommonAxesOf(writer_, group, depth, stage);
  }

  // Schedules the loops of a member that is computed inside the root. Lanes run
  // along axes of the member that are not among the root's first `first` axes.
  void ScheduleMember(const StageGroup& group, const std::string& member,
                      int first) {
    if (IsProduct(member)) {
      const Computation& c = writer_.computation();
      const ComputationStage& stage = c.stages[writer_.StageOf(member)];
      const CommonAxes common = CommonAxesOf(group, group.depth, member);
      std::vector<std::string> fixed;
      std::string rows;
      for (int a = 0; a < stage.spatial_count; ++a) {
        if (a == common.rows)
          rows = stage.axes[a].name;
        else if (common.IsCommon(a))
          fixed.push_back(stage.axes[a].name);
      }
      if (ScheduleProductInside(cpu_, member, common, fixed, rows, writer_))
        return;
    }
    ScheduleLanes(cpu_, member, CommonAxesOf(group, first, member), writer_);
  }

  // Schedules a softmax in blocks (jit/schedule/primitives/online_softmax.h).
  // Tasks are blocks of rows. In each, the fold loops over the blocks of a row,
  // and all other stages are computed for one of these.
  void ScheduleBlocks(const StageGroup& group, const std::string& fold) {
    const Computation& c = writer_.computation();
    const int spatial = c.stages[writer_.StageOf(group.root)].spatial_count;
    const int depth = spatial - 1;
    if (group.depth != depth) {
      // Blocks are only scheduled if the group's common axes are all of the
      // root's axes except the last. Otherwise they are legal but have no
      // advantage.
      ScheduleAlone(group.root);
      for (const std::string& member : group.members) ScheduleAlone(member);
      return;
    }
    const std::string rows = writer_.LoopsOf(group.root)[depth - 1];
    writer_.Do("split %" + group.root + " " + rows + " " +
               std::to_string(RowsOf(group)) + " -> " + rows + "_tile " + rows +
               "_row");
    writer_.Do("peel %" + group.root + " " + rows + "_tile");
    const std::string tasks =
        writer_.FuseLoops(group.root, 0, static_cast<size_t>(depth), "tasks");
    ScheduleLanes(cpu_, group.root, CommonAxesOf(group, depth, group.root),
                  writer_);
    writer_.Do("compute_at %" + fold + " %" + group.root + " " + tasks);
    ScheduleLanes(cpu_, fold, CommonAxesOf(group, depth, fold), writer_);
    // Moves the loop over blocks around the rows and lanes.
    std::vector<std::string> loops = writer_.LoopsOf(fold);
    const std::string blocks = c.stages[writer_.StageOf(fold)].axes.back().name;
    std::erase(loops, blocks);
    loops.insert(loops.begin() + depth - 1, blocks);
    writer_.Reorder(fold, loops);
    for (size_t i = group.members.size(); i-- > 0;) {
      if (group.members[i] == fold) continue;
      writer_.Do("compute_at %" + group.members[i] + " %" + fold + " " +
                 blocks);
    }
    for (const std::string& member : group.members) {
      if (member != fold) ScheduleMember(group, member, depth);
    }
    writer_.Do("parallel %" + group.root + " " + tasks);
  }

  void ScheduleRows(const StageGroup& group) {
    if (group.members.empty()) return ScheduleAlone(group.root);
    const Computation& c = writer_.computation();
    const bool is_root_product = IsProduct(group.root);
    bool product = is_root_product;
    int64_t points = StageShape(c, writer_.StageOf(group.root)).LikelyPoints();
    for (const std::string& member : group.members) {
      product |= IsProduct(member);
      points += StageShape(c, writer_.StageOf(member)).LikelyPoints();
    }
    int outer = group.depth;
    // Number of the first axis along which lanes may run.
    int first = group.depth;
    std::vector<std::string> loops = writer_.LoopsOf(group.root);
    const int lane_axis = product ? -1 : LaneAxisOf(group);
    std::string product_rows;
    const int64_t narrow_rows =
        product || lane_axis >= 0 ? 0 : NarrowRowsOf(group);
    if (lane_axis >= 0) {
      // All stages have all of the axes. Points are computed one vector at a
      // time: a row of the group is the points of one vector.
      const int64_t lanes = LanesOf(
          group,
          StageShape(c, writer_.StageOf(group.root)).LikelyExtent(lane_axis));
      writer_.Do("split %" + group.root + " " + loops[lane_axis] + " " +
                 std::to_string(lanes) + " -> " + loops[lane_axis] + "_tile " +
                 loops[lane_axis] + "_lanes");
      outer = lane_axis + 1;
      first = lane_axis;
    }
    if (product) {
      const std::string& rows = loops[outer - 1];
      writer_.Do("split %" + group.root + " " + rows + " " +
                 std::to_string(RowsOf(group)) + " -> " + rows + "_tile " +
                 rows + "_row");
      writer_.Do("peel %" + group.root + " " + rows + "_tile");
      product_rows = rows + "_row";
    }
    std::string rows_of_lanes;
    if (narrow_rows > 0) {
      // Rows are shorter than vectors, so the lanes of a vector run over
      // several rows.
      const std::string& rows = loops[outer - 1];
      writer_.Do("split %" + group.root + " " + rows + " " +
                 std::to_string(narrow_rows) + " -> " + rows + "_tile " + rows +
                 "_row");
      writer_.Do("peel %" + group.root + " " + rows + "_tile");
      rows_of_lanes = rows + "_row";
      first = outer - 1;
    }
    const std::string rows = writer_.FuseLoops(group.root, 0, outer, "tasks");
    const std::set<std::string> alone = ComputeAt(group, rows);
    if (lane_axis >= 0) {
      writer_.Do("vectorize %" + group.root + " " + loops[first] + "_lanes");
    } else if (!is_root_product ||
               !ScheduleProductInside(
                   cpu_, group.root,
                   CommonAxesOf(group, group.depth, group.root), {rows},
                   product_rows, writer_)) {
      SplitAxis split;
      if (!rows_of_lanes.empty()) split = {first, rows_of_lanes};
      ScheduleLanes(cpu_, group.root, CommonAxesOf(group, first, group.root),
                    writer_, split);
    }
    for (const std::string& member : group.members) {
      if (alone.contains(member))
        ScheduleAlone(member);
      else
        ScheduleMember(group, member, first);
    }
    if (IsWorthThreads(points))
      writer_.Do("parallel %" + group.root + " " + rows);
  }

  // Computes the members in the root's loop. Returns the names of the stages
  // that stay outside: members that must run once, if it cannot be proved that
  // each iteration needs a different part of them, and members that only such
  // members need.
  std::set<std::string> ComputeAt(const StageGroup& group,
                                  const std::string& loop) {
    std::set<std::string> alone;
    for (size_t i = group.members.size(); i-- > 0;) {
      const std::string& member = group.members[i];
      const std::string line =
          "compute_at %" + member + " %" + group.root + " " + loop;
      const bool may_be_refused =
          !alone.empty() ||
          MustRunOnce(writer_.computation(), writer_.StageOf(member));
      if (!may_be_refused)
        writer_.Do(line);
      else if (!writer_.Try(line))
        alone.insert(member);
    }
    return alone;
  }

  // Returns the number of rows that a group with products computes together.
  // The number is a multiple of the register tile's rows. With more rows the
  // other operand is read less often, but must stay in the cache and leave
  // enough tasks for the workers.
  int64_t RowsOf(const StageGroup& group) const {
    const Computation& c = writer_.computation();
    int64_t tile = 1;
    int64_t row_bytes = 0;
    bool is_large = false;
    std::vector<std::string> stages = group.members;
    stages.push_back(group.root);
    for (const std::string& name : stages) {
      const StageShape shape(c, writer_.StageOf(name));
      const CommonAxes common = CommonAxesOf(group, group.depth, name);
      int64_t bytes = shape.WidestBytes();
      for (int a = 0; a < shape.spatial_count(); ++a) {
        if (!common.IsCommon(a))
          bytes *= std::max<int64_t>(shape.LikelyExtent(a), 1);
      }
      if (name != group.root) row_bytes += bytes;
      is_large |= IsWorthThreads(shape.LikelyPoints());
      if (!shape.IsProduct()) continue;
      const int64_t rows = RowsOfProductInside(cpu_, shape, common);
      // Tiles that do not divide the rows are padded in each block.
      const int64_t both = std::lcm(tile, rows);
      tile = both <= kMaxRows ? both : std::max(tile, rows);
    }
    const StageShape root(c, writer_.StageOf(group.root));
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

  // Returns the number of rows that a group computes together if, in each of
  // its stages, a row has fewer points than a vector has lanes. Returns 0 if
  // rows are longer, if there are only few, or if a stage is a fold.
  int64_t NarrowRowsOf(const StageGroup& group) const {
    constexpr int64_t kVectorsOfRows = 4;
    const Computation& c = writer_.computation();
    std::vector<std::string> stages = group.members;
    stages.push_back(group.root);
    int64_t lanes = 1;
    for (const std::string& name : stages) {
      const StageShape shape(c, writer_.StageOf(name));
      const int64_t of_vector = cpu_.vector_bytes / shape.WidestBytes();
      const CommonAxes common = CommonAxesOf(group, group.depth, name);
      int64_t points = 1;  // points of a row
      for (int a = 0; a < shape.axis_count() && points < of_vector; ++a) {
        if (!common.IsCommon(a)) points *= shape.LikelyExtent(a);
      }
      if (points >= of_vector || common.rows < 0 ||
          shape.stage().combiner == tensor::Combiner::kFold) {
        return 0;
      }
      lanes = std::max(lanes, of_vector);
    }
    const StageShape root(c, writer_.StageOf(group.root));
    const int64_t rows = lanes * kVectorsOfRows;
    return root.LikelyExtent(group.depth - 1) >= rows ? rows : 0;
  }

  // Returns the number of lanes of a vector for an axis with `neighbours`
  // adjacent elements; 1: no vectors.
  int64_t LanesOf(const StageGroup& group, int64_t neighbours) const {
    const Computation& c = writer_.computation();
    int widest = StageShape(c, writer_.StageOf(group.root)).WidestBytes();
    for (const std::string& member : group.members) {
      widest = std::max(widest,
                        StageShape(c, writer_.StageOf(member)).WidestBytes());
    }
    return cpu_.LanesFor(widest, neighbours);
  }

  // Returns the axis from which a row has to take lanes: the root's last axis
  // with more than one point, if all stages have it. Returns -1 if some stage
  // does not have it.
  int LaneAxisOf(const StageGroup& group) const {
    const StageShape root(writer_.computation(), writer_.StageOf(group.root));
    int axis = root.spatial_count() - 1;
    while (axis >= 0 && root.LikelyExtent(axis) < 2) --axis;
    const bool wanted = axis >= 0 && axis < group.depth &&
                        LanesOf(group, root.LikelyExtent(axis)) > 1 &&
                        !root.stage().has_reduction();
    return wanted ? axis : -1;
  }

  void ScheduleAlone(const std::string& name) {
    ScheduleLanes(cpu_, name, {}, writer_);
    ScheduleTasks(cpu_, name, writer_);
  }

  const jit::CpuModel& cpu_;
  const bool exact_;
  ScheduleWriter writer_;
  std::set<std::string> done_;
  // names of roots that compute a softmax in blocks
  std::set<std::string> blocked_;
};

}  // namespace

Status ScheduleByModel(const jit::CpuModel& cpu, Schedule& schedule,
                       const ModelOptions& options) {
  MarkConstantStages(schedule.mutable_computation());
  return Chooser(cpu, options.exact, schedule).Run();
}

}  // namespace ember::schedule

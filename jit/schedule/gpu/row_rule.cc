// Rows on GPUs: computes stages that need only a row of each other, with
// reductions along it, as one phase. A workgroup computes a row: each of its
// invocations computes some of the row's elements and a part of each reduction,
// and the parts are then combined. Values that only one invocation uses stay in
// its registers. If there are enough rows, or if rows are short, each
// invocation computes a row of its own.
//
// Long reductions to few results are split into parts, so that all processors
// are used.
#include "jit/schedule/gpu/row_rule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Largest number of elements of a row that an invocation keeps in registers.
constexpr int64_t kMaxInRegisters = 8;
// Largest number of bytes of a row that one invocation keeps in memory if it
// computes the row by itself: on a GPU, and on a CPU.
constexpr int64_t kOwnBytes = 512;
constexpr int64_t kOwnBytesOfCpu = 16 << 10;
// Largest number of iterations that one invocation runs for a reduction. Longer
// reductions are split.
constexpr int64_t kMaxIterations = 8192;
// Smallest number of iterations per invocation for which splitting a reduction
// is worth a second phase.
constexpr int64_t kFewestIterations = 16;
constexpr int64_t kMany = int64_t{1} << 40;
bool IsFold(const ComputationStage& stage) {
  return stage.combiner == tensor::Combiner::kFold;
}

class RowChooser {
 public:
  RowChooser(const jit::GpuModel& gpu, std::set<StageRef>& done,
             ScheduleWriter& writer)
      : gpu_(gpu), done_(done), writer_(writer) {}

  bool Run(const StageRef& root) {
    if (!StoresAreDistinct(c(), writer_.NumberOf(root)) ||
        IsFold(writer_.StageAt(root)) || ShapeOf(root).SharesOperands()) {
      return false;
    }
    group_ =
        GroupOf(writer_.schedule(), root, done_,
                [&](int stage, int depth, const StageGroup&) {
                  return IsWorthJoining(stage, writer_.NumberOf(root), depth);
                });
    bool reduces = writer_.StageAt(root).has_reduction();
    rows_ = ShapeOf(root).LikelyPoints(0, group_.depth);
    is_by_points_ = PointsInRow(root) == 1;
    length_ = LengthOf(root);
    for (const StageRef& member : group_.members) {
      reduces |= writer_.StageAt(member).has_reduction();
      is_by_points_ &= PointsInRow(member) == 1;
      length_ = std::max(length_, LengthOf(member));
    }
    if (!reduces) return false;
    const bool is_own = IsRowOfInvocation();
    // If all stages have the same spatial axes, the rule for points gives the
    // same schedule with fewer divisions of indices.
    if (is_own && is_by_points_) return false;
    done_.insert(group_.members.begin(), group_.members.end());
    if (is_own)
      ScheduleRowsOfInvocations();
    else
      ScheduleRowsOfWorkgroups();
    return true;
  }

 private:
  const Computation& c() const { return writer_.computation(); }
  StageShape ShapeOf(const StageRef& stage) const {
    return StageShape(c(), writer_.NumberOf(stage));
  }
  // PointsInRow returns the number of elements of a row that the stage stores;
  // LengthOf multiplies it by the number of elements that each of them
  // combines. The points are divided evenly among the rows, because rows do not
  // overlap.
  int64_t PointsInRow(const StageRef& stage) const {
    const StageShape shape = ShapeOf(stage);
    return PartOf(shape.LikelyPoints(0, shape.spatial_count()), rows_);
  }
  int64_t LengthOf(const StageRef& stage) const {
    return PartOf(ShapeOf(stage).LikelyPoints(), rows_);
  }
  static int64_t PartOf(int64_t points, int64_t rows) {
    return std::max<int64_t>((points + rows - 1) / std::max<int64_t>(rows, 1),
                             1);
  }

  bool IsWorthJoining(int stage, int root, int depth) const {
    const StageShape inner(c(), stage), outer(c(), root);
    if (inner.SharesOperands() || IsFold(inner.stage())) return false;
    // The stage joins the group if there are enough rows to keep the device
    // busy, or if a row of it is little work.
    const int64_t rows = outer.LikelyPoints(0, depth);
    const int64_t length = PartOf(inner.LikelyPoints(), rows);
    return rows * gpu_.workgroup_size * 2 >= gpu_.busy_invocations ||
           length <= gpu_.workgroup_size * kFewestIterations;
  }

  bool IsRowOfInvocation() const {
    if (length_ > kMaxIterations || group_.depth == 0) return false;
    int64_t bytes = 0;
    for (const StageRef& member : group_.members) {
      const int64_t points = PointsInRow(member);
      if (points > 1) bytes += points * ShapeOf(member).WidestBytes();
    }
    if (bytes > (gpu_.is_cpu_like ? kOwnBytesOfCpu : kOwnBytes)) return false;
    if (length_ < gpu_.subgroup_size) return true;
    if (rows_ < gpu_.busy_invocations) return false;
    // Invocations with a row each would read addresses that are far apart. On a
    // GPU each address costs a cache line; on a CPU it makes no difference.
    return gpu_.is_cpu_like || is_by_points_;
  }

  void ScheduleRowsOfInvocations() {
    const StageRef& root = group_.root;
    LoopRef item =
        writer_.FuseLoops(root, 0, static_cast<size_t>(group_.depth), "rows");
    bool is_constant = true;
    for (int a = 0; a < group_.depth; ++a)
      is_constant &= ShapeOf(root).Extent(a).has_value();
    if (!is_constant || rows_ > gpu_.workgroup_size) {
      const LoopRef tasks{root, "tasks"}, rows_item{root, "rows_item"};
      writer_.Do(Split{.loop = item,
                       .factor = gpu_.workgroup_size,
                       .outer = tasks.name,
                       .inner = rows_item.name});
      writer_.Do(Parallel{tasks});
      item = rows_item;
    }
    writer_.Do(Bind{item});
    ComputeMembersAt(item);
  }

  void ComputeMembersAt(const LoopRef& loop) {
    for (size_t i = group_.members.size(); i-- > 0;)
      writer_.Do(ComputeAt{.producer = group_.members[i], .loop = loop});
  }

  void ScheduleRowsOfWorkgroups() {
    const StageRef& root = group_.root;
    const auto depth = static_cast<size_t>(group_.depth);
    ChooseInvocations();
    if (depth > 0) {
      const LoopRef tasks = writer_.FuseLoops(root, 0, depth, "tasks");
      writer_.Do(Parallel{tasks});
      ComputeMembersAt(tasks);
    }
    for (const StageRef& member : group_.members) {
      const int fixed = FixedAxes(member);
      BindRow(member, fixed, static_cast<size_t>(fixed));
    }
    BindRow(root, group_.depth, depth > 0 ? 1 : 0);
  }

  // Chooses the number of invocations of a workgroup, so that each has few
  // elements of a row. Prefers numbers that divide the row.
  void ChooseInvocations() {
    const int64_t unit = gpu_.subgroup_size;
    const int64_t most = std::min(
        gpu_.max_invocations,
        gpu_.is_cpu_like ? gpu_.workgroup_size : 2 * gpu_.workgroup_size);
    for (int64_t n = unit; n <= most; n += unit) {
      if (length_ % n != 0 || length_ / n > kMaxInRegisters) continue;
      invocations_ = n;
      return;
    }
    invocations_ = std::min(unit, gpu_.max_invocations);
    // On a CPU device one thread runs a whole workgroup, so fewer invocations
    // are enough to use it fully.
    const int64_t enough = gpu_.is_cpu_like ? kMaxIterations : 4;
    while (invocations_ * 2 <= most && invocations_ * enough < length_)
      invocations_ *= 2;
  }

  // Returns how many of a member's axes, counted from the first, must stay
  // outside of the row: the last of them is equal to an axis that the group's
  // stages have in common.
  int FixedAxes(const StageRef& member) const {
    const int number = writer_.NumberOf(member);
    const std::vector<int> axes =
        AxesOfReader(writer_.schedule(), number,
                     writer_.schedule().plan(number).attach_stage);
    int fixed = 0;
    for (size_t a = 0; a < axes.size(); ++a) {
      if (axes[a] >= 0 && axes[a] < group_.depth)
        fixed = static_cast<int>(a) + 1;
    }
    return fixed;
  }

  // Binds loops of a stage in a row to invocations. `axis`: the first axis that
  // may be bound; `first`: the number of its loop. The loops over points are
  // bound, or, if there are fewer points than invocations and the reductions
  // are longer, the loops of the reductions.
  void BindRow(const StageRef& stage, int axis, size_t first) {
    std::string name = "row";
    size_t count = 0;
    std::optional<int64_t> extent;
    {
      const StageShape shape = ShapeOf(stage);
      const int spatial = shape.spatial_count();
      const int64_t points = shape.LikelyPoints(axis, spatial);
      const int64_t combined = shape.LikelyPoints(spatial, shape.axis_count());
      count = static_cast<size_t>(spatial - axis);
      extent = ExtentOf(shape, axis, spatial);
      if (combined > points && points < invocations_) {
        name = "combined";
        first += count;
        count = static_cast<size_t>(shape.axis_count() - spatial);
        extent = ExtentOf(shape, spatial, shape.axis_count());
      } else if (points <= 1) {
        return;
      }
    }
    BindLoop(writer_.FuseLoops(stage, first, count, name), extent);
  }

  // Returns the product of the extents of axes first .. end - 1, at most kMany;
  // nullopt if one is not constant.
  static std::optional<int64_t> ExtentOf(const StageShape& shape, int first,
                                         int end) {
    int64_t extent = 1;
    for (int a = first; a < end; ++a) {
      if (!shape.Extent(a)) return std::nullopt;
      extent = std::min(extent * *shape.Extent(a), kMany);
    }
    return extent;
  }

  void BindLoop(const LoopRef& loop, std::optional<int64_t> extent) {
    if (extent && *extent <= invocations_) return writer_.Do(Bind{loop});
    const auto [step, item] =
        writer_.Split(loop, invocations_, "_step", "_item");
    writer_.Reorder({item, step});
    writer_.Do(Bind{item});
    if (extent && *extent % invocations_ == 0 &&
        *extent / invocations_ <= kMaxInRegisters) {
      writer_.Do(Unroll{step});
    }
  }

  const jit::GpuModel& gpu_;
  std::set<StageRef>& done_;
  ScheduleWriter& writer_;
  StageGroup group_;
  int64_t rows_ = 1;
  int64_t length_ = 1;         // number of elements that the longest row stores
                               // and combines
  bool is_by_points_ = false;  // true if all stages have the same spatial axes
  int64_t invocations_ = 1;
};

}  // namespace

bool ScheduleRowsOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                       std::set<StageRef>& done, ScheduleWriter& writer) {
  return RowChooser(gpu, done, writer).Run(root);
}

bool SplitReductionOnGpu(const jit::GpuModel& gpu, const StageRef& stage,
                         const StageRef& parts_stage, ScheduleWriter& writer) {
  const int number = writer.NumberOf(stage);
  int axis = -1;
  int64_t parts = 1;
  Rfactor split{.parts = parts_stage.name};
  {
    const StageShape shape(writer.computation(), number);
    if (!shape.stage().has_reduction() || IsFold(shape.stage()) ||
        !StoresAreDistinct(writer.computation(), number)) {
      return false;
    }
    const int spatial = shape.spatial_count();
    const int64_t points = shape.LikelyPoints(0, spatial);
    const int64_t combined = shape.LikelyPoints(spatial, shape.axis_count());
    // `together`: number of invocations that compute one result together if the
    // reduction is not split.
    const int64_t together = shape.SharesOperands() ? 1
                             : gpu.is_cpu_like      ? gpu.subgroup_size
                                                    : gpu.workgroup_size;
    const int64_t busy = points * std::min(together, combined);
    const int64_t wanted = DivideRoundingUp(gpu.busy_invocations, busy);
    const int64_t worth = combined / (together * kFewestIterations);
    const int64_t needed = (combined + together * kMaxIterations - 1) /
                           (together * kMaxIterations);
    parts = std::max(std::min(wanted, worth), needed);
    // A second phase is not worth it for parts that only double or triple the
    // number of busy invocations, unless the reduction is too long for one
    // phase.
    if (parts < (needed > 1 ? 2 : 4)) return false;
    for (int a = spatial; a < shape.axis_count(); ++a) {
      if (axis < 0 || shape.LikelyExtent(a) > shape.LikelyExtent(axis))
        axis = a;
    }
    const int64_t extent = shape.LikelyExtent(axis);
    parts = std::min(parts, extent);
    if (parts < 2) return false;
    split.part = {.loop = {stage, shape.stage().axes[axis].name},
                  .kind = LoopDigit::Kind::kQuotient,
                  .factor = DivideRoundingUp(extent, parts)};
  }
  return writer.Try(split);
}

}  // namespace ember::schedule

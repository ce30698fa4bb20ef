// Rows on GPUs: computes stages that need only a row of each other, with
// reductions along it, as one phase. A workgroup has a row: its invocations
// take its elements by rounds, and combine their parts of a reduction. Values
// that only the invocation which computed them reads again are in its
// registers. If there are enough rows, or if rows are short, each invocation
// has a row of its own.
//
// Long reductions to few results are split, so that all processors have a part.
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

// Largest number of a row's elements that an invocation has in registers.
constexpr int64_t kMaxInRegisters = 8;
// Largest number of bytes of a row that an invocation with its own row keeps in
// memory.
constexpr int64_t kOwnBytes = 512;
constexpr int64_t kOwnBytesOfCpu = 16 << 10;
// Largest number of iterations of a reduction in one invocation; longer ones
// are split.
constexpr int64_t kMaxIterations = 8192;
// Smallest number of iterations of an invocation that is worth another phase.
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
    // If all stages have the same axes, the rule for points gives the same
    // schedule with fewer divisions.
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
  // Returns the number of elements of a row that the stage stores. LengthOf
  // also counts the elements that the stage combines. The points are divided
  // evenly by the number of rows, because no row needs another one, whichever
  // of the stage's axes count rows.
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
    // The stage joins the rows if there are enough rows to keep the processors
    // busy, or if a row has little work.
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
    // Neighbouring invocations would then read addresses that are far apart. On
    // a GPU that costs a cache line each; on a CPU it makes no difference.
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

  // Chooses as many invocations as take a few elements each, without a rest if
  // possible.
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
    // On a CPU, a workgroup runs on one thread, so fewer invocations are enough
    // to use it fully.
    const int64_t enough = gpu_.is_cpu_like ? kMaxIterations : 4;
    while (invocations_ * 2 <= most && invocations_ * enough < length_)
      invocations_ *= 2;
  }

  // Returns the number of a member's axes, from the first on, up to the last
  // one that has one value in a row.
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

  // Binds loops of a stage in a row to invocations. `first` is the number of
  // the first loop of the axis with number `axis`; only loops from there on are
  // bound. They are the loops over the stage's points. If there are fewer
  // points than invocations and the reductions are longer, they are those of
  // the reductions.
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

  // Returns the product of the axes' extents, if it is constant.
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
  int64_t length_ = 1;         // number of elements of the longest row
  bool is_by_points_ = false;  // true if all stages have the same axes
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
    // `together`: number of invocations that would work on one result if the
    // reduction were not split.
    const int64_t together = shape.SharesOperands() ? 1
                             : gpu.is_cpu_like      ? gpu.subgroup_size
                                                    : gpu.workgroup_size;
    const int64_t busy = points * std::min(together, combined);
    const int64_t wanted = DivideRoundingUp(gpu.busy_invocations, busy);
    const int64_t worth = combined / (together * kFewestIterations);
    const int64_t needed = (combined + together * kMaxIterations - 1) /
                           (together * kMaxIterations);
    parts = std::max(std::min(wanted, worth), needed);
    // Doubling the number of busy invocations is not worth another phase.
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

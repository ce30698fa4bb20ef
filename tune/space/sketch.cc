#include "tune/space/sketch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/registry/backends.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/schedule/rules/sum_rule.h"
#include "jit/target/cpu_model.h"
#include "jit/target/gpu_model.h"

namespace ember::tune {
namespace {

using schedule::Computation;
using schedule::ComputationStage;
using schedule::LoopRef;
using schedule::Schedule;
using schedule::ScheduleWriter;
using schedule::StageGroup;
using schedule::StageRef;
using schedule::StageShape;
using schedule::Stride;

// The loops into which one axis is split, outermost first. A loop is missing if
// the axis is not split at that level.
struct AxisLoops {
  std::optional<LoopRef> outer, tile, rows, vectors, lanes;
};

// The register tile of a stage: the block of results that is computed at once.
// Stages of a group share one tile, and packed operands are laid out for it.
struct Tile {
  // The spatial axis along which vector lanes run; -1: none.
  int lane_axis = -1;
  // The spatial axis along which the tile has several rows; -1: none.
  int row_axis = -1;
  int64_t lanes = 1;
  // Number of elements of the tile along `lane_axis`, a multiple of `lanes`.
  int64_t width = 1;
  int64_t rows = 1;
};

class Sketcher {
 public:
  Sketcher(std::string_view target, Random& random, Schedule& schedule)
      : random_(random), writer_(schedule) {
    is_device_ = &jit::BackendFor(target) != &jit::BackendFor("x86_64-linux");
    if (is_device_)
      gpu_ = jit::GpuModel::Of(target);
    else
      cpu_ = jit::CpuModel::Of(target);
  }

  Status Run() {
    std::vector<StageRef> stages;
    for (const ComputationStage& stage : writer_.computation().stages)
      stages.push_back({stage.name});
    const double join = random_.Pick(std::vector<double>{0.5, 0.9, 1});
    for (size_t i = stages.size(); i-- > 0;) {
      if (done_.contains(stages[i])) continue;
      const StageGroup group = schedule::GroupOf(
          writer_.schedule(), stages[i], done_,
          [&](int, int, const StageGroup&) { return random_.Chance(join); });
      done_.insert(group.root);
      done_.insert(group.members.begin(), group.members.end());
      ScheduleGroup(group);
    }
    schedule::SplitLongSums(writer_);
    return writer_.status();
  }

 private:
  StageShape ShapeOf(const StageRef& stage) const {
    return {writer_.computation(), writer_.NumberOf(stage)};
  }

  // --- choices ---

  // Returns a random divisor of the extent that is at most `most`; sometimes,
  // or if the extent is not constant, any number up to `most`.
  int64_t Factor(std::optional<int64_t> extent, int64_t most) {
    if (!extent || random_.Chance(0.15))
      return 1 + static_cast<int64_t>(random_.Below(static_cast<size_t>(most)));
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min(*extent, most); ++d) {
      if (*extent % d == 0) divisors.push_back(d);
    }
    return random_.Pick(divisors);
  }

  // Returns the spatial axis along which vector lanes or neighbouring
  // invocations run: in most cases the one along which results are contiguous.
  // Returns -1 if there is none.
  int LaneAxis(const StageShape& shape) {
    std::vector<int> axes;
    for (int a = 0; a < shape.spatial_count(); ++a) {
      if (shape.Extent(a) == 1) continue;
      axes.push_back(a);
      if (shape.StoresAlong(a) && random_.Chance(0.8)) return a;
    }
    return axes.empty() ? -1 : random_.Pick(axes);
  }

  int64_t LanesOf(const StageShape& shape, int axis) {
    int64_t lanes =
        std::max<int64_t>(cpu_.vector_bytes / shape.WidestBytes(), 1);
    if (random_.Chance(0.15)) lanes = std::max<int64_t>(lanes / 2, 1);
    const int64_t extent = shape.LikelyExtent(axis);
    while (lanes > 1 && lanes > extent) lanes /= 2;
    return lanes;
  }

  Tile ChooseTile(const StageShape& shape) {
    Tile tile;
    tile.lane_axis = LaneAxis(shape);
    if (tile.lane_axis >= 0) {
      if (!is_device_) tile.lanes = LanesOf(shape, tile.lane_axis);
      tile.width = tile.lanes * (1 + static_cast<int64_t>(random_.Below(4)));
    }
    std::vector<int> others;
    for (int a = 0; a < shape.spatial_count(); ++a) {
      if (a != tile.lane_axis && shape.Extent(a) != 1) others.push_back(a);
    }
    if (!others.empty() && random_.Chance(0.8)) {
      tile.row_axis =
          random_.Chance(0.7) ? others.back() : random_.Pick(others);
      tile.rows = Factor(shape.Extent(tile.row_axis), 14);
    }
    return tile;
  }

  // --- loops ---

  std::optional<std::pair<LoopRef, LoopRef>> Split(const LoopRef& loop,
                                                   int64_t factor,
                                                   std::string_view outer,
                                                   std::string_view inner) {
    const LoopRef o(loop.stage, Concat({loop.name, outer}));
    const LoopRef i(loop.stage, Concat({loop.name, inner}));
    if (factor < 1 || !writer_.Try(schedule::Split{.loop = loop,
                                                   .factor = factor,
                                                   .outer = o.name,
                                                   .inner = i.name})) {
      return std::nullopt;
    }
    return std::pair(o, i);
  }

  static void Append(const std::optional<LoopRef>& loop,
                     std::vector<LoopRef>& loops) {
    if (loop) loops.push_back(*loop);
  }

  // Splits the spatial axes of a stage. `has_outer` is true if the stage is not
  // attached to another one; it then gets outer loops, which become tasks and
  // cache tiles.
  std::vector<AxisLoops> SplitSpatial(const StageRef& stage, bool has_outer,
                                      const Tile& tile) {
    std::vector<AxisLoops> all;
    const int count = ShapeOf(stage).spatial_count();
    for (int a = 0; a < count; ++a) {
      AxisLoops loops;
      LoopRef rest(stage, ShapeOf(stage).stage().axes[a].name);
      if (a == tile.lane_axis) {
        if (has_outer) {
          if (const auto split = Split(rest, tile.width, "_o", "_r")) {
            loops.outer = split->first;
            rest = split->second;
          }
        }
        if (const auto split = Split(rest, tile.lanes, "_v", "_l")) {
          loops.vectors = split->first;
          loops.lanes = split->second;
        } else {
          loops.rows = rest;
        }
      } else if (has_outer) {
        loops.outer = rest;
        if (a == tile.row_axis && tile.rows > 1) {
          if (const auto split = Split(rest, tile.rows, "_o", "_u")) {
            loops.outer = split->first;
            loops.rows = split->second;
          }
        }
      } else {
        (a == tile.row_axis ? loops.rows : loops.outer) = rest;
      }
      if (has_outer && loops.outer && random_.Chance(0.3)) {
        const int64_t factor = int64_t{2} << random_.Below(5);
        if (const auto split = Split(*loops.outer, factor, "o", "t")) {
          loops.outer = split->first;
          loops.tile = split->second;
        }
      }
      all.push_back(std::move(loops));
    }
    return all;
  }

  // Splits the last reduction axis at random. Returns the reduction loops that
  // stay serial, and those that are to be unrolled.
  std::pair<std::vector<LoopRef>, std::vector<LoopRef>> SplitReductions(
      const StageRef& stage) {
    const StageShape shape = ShapeOf(stage);
    std::vector<LoopRef> serial, unrolled;
    for (int a = shape.spatial_count(); a < shape.axis_count(); ++a)
      serial.emplace_back(stage, shape.stage().axes[a].name);
    if (serial.empty()) return {};
    const int64_t factor = Factor(shape.Extent(shape.axis_count() - 1), 16);
    if (factor > 1) {
      if (const auto split = Split(serial.back(), factor, "_s", "_u")) {
        serial.back() = split->first;
        unrolled.push_back(split->second);
      }
    }
    if (random_.Chance(0.1)) random_.Shuffle(serial);
    return {serial, unrolled};
  }

  // Splits and orders the loops of a stage, and marks those to unroll and
  // vectorize. Returns the stage's outer loops, outermost first.
  std::vector<LoopRef> ScheduleLoops(const StageRef& stage, bool has_outer,
                                     const Tile& tile) {
    const std::vector<AxisLoops> axes = SplitSpatial(stage, has_outer, tile);
    auto [serial, unrolled] = SplitReductions(stage);
    std::vector<LoopRef> outer, tiles, rows, vectors, lanes;
    for (const AxisLoops& loops : axes) {
      Append(loops.outer, outer);
      Append(loops.tile, tiles);
      Append(loops.rows, rows);
      Append(loops.vectors, vectors);
      Append(loops.lanes, lanes);
    }
    if (random_.Chance(0.3)) random_.Shuffle(outer);
    std::vector<LoopRef> order = outer;
    const std::vector<LoopRef>* const inner_parts[] = {
        &tiles, &serial, &unrolled, &rows, &vectors, &lanes};
    for (const std::vector<LoopRef>* part : inner_parts)
      order.insert(order.end(), part->begin(), part->end());
    if (order.size() > 1) writer_.Try(schedule::Reorder{order});
    for (const std::vector<LoopRef>* part : {&unrolled, &rows, &vectors}) {
      for (const LoopRef& loop : *part) writer_.Try(schedule::Unroll{loop});
    }
    if (!is_device_) {
      for (const LoopRef& loop : lanes) writer_.Try(schedule::Vectorize{loop});
    }
    outer.insert(outer.end(), tiles.begin(), tiles.end());
    return outer;
  }

  // --- groups ---

  void ScheduleGroup(const StageGroup& group) {
    StageRef leader = group.root;
    for (const StageRef& member : group.members) {
      if (ShapeOf(member).IsProduct()) leader = member;
    }
    const Tile tile = ChooseTile(ShapeOf(leader));
    const int axes = ShapeOf(leader).spatial_count();
    const auto tile_of = [&](const StageRef& stage) {
      const StageShape shape = ShapeOf(stage);
      return shape.spatial_count() == axes ? tile : ChooseTile(shape);
    };
    PackOperands(leader, tile);
    std::vector<LoopRef> outer =
        ScheduleLoops(group.root, true, tile_of(group.root));
    // The root's loop to which the members are attached.
    std::optional<LoopRef> around;
    if (!group.members.empty() && !outer.empty()) {
      // Members are attached to a loop of the root's first `depth` axes, or in
      // most cases to any of the outer loops. Loops of the first axes come
      // first in `outer`.
      const size_t deepest =
          random_.Chance(0.7) ? outer.size()
                              : static_cast<size_t>(std::max(group.depth, 1));
      const size_t count =
          random_.Chance(0.6)
              ? std::min(deepest, outer.size())
              : 1 + random_.Below(std::min(deepest, outer.size()));
      around = is_device_ ? outer[count - 1] : FuseOuter(group.root, count);
    }
    for (size_t i = group.members.size(); i-- > 0;) {
      const StageRef& member = group.members[i];
      const bool is_attached =
          around && writer_.Try(schedule::ComputeAt{member, *around});
      ScheduleLoops(member, !is_attached, tile_of(member));
      if (!is_attached) ScheduleTasks(member);
    }
    if (around && !is_device_)
      writer_.Try(schedule::Parallel{*around});
    else
      ScheduleTasks(group.root);
  }

  // Runs the outermost spatial loops of a stage in parallel: as tasks on a CPU,
  // as workgroups and invocations on a device.
  void ScheduleTasks(const StageRef& stage) {
    const int number = writer_.NumberOf(stage);
    if (!StoresAreDistinct(writer_.computation(), number)) return;
    size_t count = 0;
    {
      const schedule::StagePlan& plan = writer_.schedule().plan(number);
      if (plan.attach_stage >= 0) return;
      for (const int loop : plan.order) {
        if (plan.loops[loop].is_reduction ||
            plan.loops[loop].mark != schedule::LoopMark::kSerial) {
          break;
        }
        ++count;
      }
    }
    if (count == 0) return;
    if (is_device_) return ScheduleInvocations(stage, count);
    count = random_.Chance(0.6) ? count : 1 + random_.Below(count);
    writer_.Try(schedule::Parallel{FuseOuter(stage, count)});
  }

  // Fuses the first `count` loops of a stage, or fewer if the `fuse` primitive
  // refuses one. Returns the fused loop.
  LoopRef FuseOuter(const StageRef& stage, size_t count) {
    std::vector<LoopRef> loops = writer_.LoopsOf(stage);
    LoopRef tasks = loops.front();
    for (size_t i = 1; i < count; ++i) {
      const LoopRef fused(stage, Concat({"tasks_", i}));
      if (!writer_.Try(schedule::Fuse{
              .outer = tasks, .inner = loops[i], .fused = fused.name}))
        break;
      tasks = fused;
    }
    return tasks;
  }

  // Fuses the first `count` loops and splits the result into blocks. Each block
  // is computed by a workgroup, with one invocation for each iteration in it.
  void ScheduleInvocations(const StageRef& stage, size_t count) {
    const LoopRef points = FuseOuter(stage, count);
    const int64_t most = std::min<int64_t>(gpu_.max_invocations,
                                           int64_t{32} << random_.Below(4));
    const auto split = Split(points, most, "_b", "_i");
    if (!split) return;
    writer_.Try(schedule::Parallel{split->first});
    if (writer_.Try(schedule::Bind{split->second}))
      CopyOperands(stage, split->first, split->second.name, most);
  }

  // Copies the operands of a matrix product to the workgroup's shared memory.
  // The copies are made in the first serial loop of the sum, which is moved
  // outside of the loop over invocations.
  void CopyOperands(const StageRef& stage, const LoopRef& blocks,
                    const std::string& invocations, int64_t count) {
    if (!ShapeOf(stage).IsProduct() || random_.Chance(0.4)) return;
    std::optional<LoopRef> sum;
    std::vector<LoopRef> order = {blocks};
    const int number = writer_.NumberOf(stage);
    const schedule::StagePlan& plan = writer_.schedule().plan(number);
    for (const int loop : plan.order) {
      const bool is_first_sum = plan.loops[loop].is_reduction && !sum;
      if (is_first_sum) sum = LoopRef(stage, plan.loops[loop].name);
    }
    if (!sum) return;
    order.push_back(*sum);
    order.emplace_back(stage, invocations);
    if (!writer_.Try(schedule::Reorder{order})) return;
    std::vector<schedule::BufferRef> buffers;
    {
      const StageShape shape = ShapeOf(stage);
      for (const schedule::NodeId load : shape.loads()) {
        const Computation& c = writer_.computation();
        buffers.push_back({c.buffers[c.pool[load].buffer].name});
      }
    }
    for (const schedule::BufferRef& buffer : buffers) {
      const StageRef copy{buffer.name + ".copy"};
      if (!writer_.Try(schedule::CacheRead{
              .reader = stage, .buffer = buffer, .copy = copy.name}) ||
          !writer_.Try(schedule::ComputeAt{copy, *sum}))
        continue;
      const size_t loops = writer_.LoopsOf(copy).size();
      if (const auto split = Split(FuseOuter(copy, loops), count, "_s", "_i"))
        writer_.Try(schedule::Bind{split->second});
    }
  }

  // Packs the operands of a product into a layout in which the elements that a
  // tile reads together are contiguous.
  void PackOperands(const StageRef& stage, const Tile& tile) {
    std::vector<schedule::Pack> packs;
    {
      const Computation& c = writer_.computation();
      const StageShape shape = ShapeOf(stage);
      if (!shape.IsProduct() || is_device_) return;
      for (const schedule::NodeId load : shape.loads()) {
        const tensor::Node& node = c.pool[load];
        if (node.opcode != tensor::Opcode::kLoad) continue;
        const schedule::ComputationBuffer& buffer = c.buffers[node.buffer];
        if (!random_.Chance(buffer.is_constant ? 0.7 : 0.15)) continue;
        const std::optional<schedule::Pack> pack =
            PackFor(shape, load, buffer, stage, tile);
        if (pack) packs.push_back(*pack);
      }
    }
    for (const schedule::Pack& pack : packs) {
      if (!writer_.Try(pack)) continue;
      const StageRef copy{pack.copy};
      ScheduleLoops(copy, true, ChooseTile(ShapeOf(copy)));
    }
  }

  std::optional<schedule::Pack> PackFor(
      const StageShape& shape, schedule::NodeId load,
      const schedule::ComputationBuffer& buffer, const StageRef& stage,
      const Tile& tile) {
    using enum schedule::LayoutDim::Part;
    const Computation& c = writer_.computation();
    const tensor::Node& node = c.pool[load];
    const size_t rank = buffer.extents.size();
    // The operand's dim that the packed layout splits: the one that the axis of
    // lanes indexes, or sometimes the one that the axis of rows indexes.
    const auto dim_of = [&](int axis) -> std::optional<size_t> {
      for (size_t d = 0; axis >= 0 && d < rank; ++d) {
        if (node.operands[d] == shape.stage().axes[axis].variable) return d;
      }
      return std::nullopt;
    };
    std::optional<size_t> dim = dim_of(tile.lane_axis);
    int64_t width = tile.width;
    if (!dim && random_.Chance(0.3)) {
      dim = dim_of(tile.row_axis);
      width = tile.rows;
    }
    if (!dim || width < 2) return std::nullopt;
    schedule::Pack pack{.reader = stage,
                        .buffer = {buffer.name},
                        .copy = buffer.name + ".packed"};
    pack.layout.push_back({*dim, kQuotient, width});
    for (size_t d = 0; d < rank; ++d) {
      if (d != dim) pack.layout.push_back({.dim = d});
    }
    pack.layout.push_back({*dim, kRemainder, width});
    return pack;
  }

  Random& random_;
  ScheduleWriter writer_;
  bool is_device_ = false;
  jit::CpuModel cpu_;
  jit::GpuModel gpu_;
  std::set<StageRef> done_;
};

}  // namespace

Status ScheduleBySketch(std::string_view target, Random& random,
                        Schedule& schedule) {
  return Sketcher(target, random, schedule).Run();
}

}  // namespace ember::tune

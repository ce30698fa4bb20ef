#include "jit/schedule/cpu/block_sums_rule.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/loops/analysis/dot_factor.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/rules/dot_plan.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

// Largest number of products of a block's sum that are unrolled.
constexpr int64_t kMaxSteps = 32;
// Largest number of parts of a block, each with a scale of its own, that are
// unrolled.
constexpr int64_t kMaxParts = 4;
// Largest number of products of a tile that are unrolled without dot
// instructions. Each product takes several instructions, which unpack the
// weight.
constexpr int64_t kMaxProducts = 256;
// Number of vectors of a tile with one row. Their sums are independent, which
// hides the latency of additions.
constexpr int64_t kVectorsOfRow = 2;

// The rows and vectors of a tile of results. Each vector of results takes two
// registers: the sum of the current block, and the total.
struct TileSize {
  int64_t rows = 1, vectors = 1, lanes = 1;
  int64_t width() const { return vectors * lanes; }
};

TileSize ChooseTile(const jit::CpuModel& cpu, const BlockSum& sum,
                    const StageShape& total) {
  TileSize tile{.lanes = cpu.Lanes(DType::kF32)};
  const int64_t rows = sum.m < 0 ? 1 : total.LikelyExtent(sum.m);
  const int64_t columns = total.LikelyExtent(sum.n);
  tile.vectors = columns >= kVectorsOfRow * tile.lanes ? kVectorsOfRow : 1;
  const int64_t results = (cpu.vector_registers - 4) / 2;
  while (tile.rows * 2 * tile.vectors <= results && tile.rows * 2 <= rows)
    tile.rows *= 2;
  return tile;
}

// Returns the number of the stage's axis whose variable the node is; -1 if
// there is none.
int AxisOf(const ComputationStage& stage, NodeId node) {
  for (size_t a = 0; a < stage.axes.size(); ++a) {
    if (stage.axes[a].variable == node) return static_cast<int>(a);
  }
  return -1;
}

// Returns the layout of a copy in which the `width` elements that a tile's
// vectors cover along dim `dim` are contiguous, for each index of the other
// dims.
std::vector<LayoutDim> LayoutOf(size_t rank, size_t dim, int64_t width) {
  using enum LayoutDim::Part;
  std::vector<LayoutDim> layout = {{dim, kQuotient, width}};
  for (size_t d = 0; d < rank; ++d) {
    if (d != dim) layout.push_back({.dim = d});
  }
  layout.push_back({dim, kRemainder, width});
  return layout;
}

class Rule {
 public:
  Rule(const jit::CpuModel& cpu, const BlockSum& sum, ScheduleWriter& writer)
      : cpu_(cpu), sum_(sum), writer_(writer) {
    const StageShape shape(writer.computation(), writer.NumberOf(sum.total));
    tile_ = ChooseTile(cpu, sum, shape);
    is_large_ = IsWorthThreads(
        StageShape(writer.computation(), Number(sum.product)).LikelyPoints());
  }

  bool Run() {
    InlineUnpacking();
    if (!PackFactors()) return false;
    PackAlong(sum_.total);
    return ScheduleTotal() && ScheduleInside();
  }

 private:
  int Number(const StageRef& stage) const { return writer_.NumberOf(stage); }
  LoopRef Axis(const StageRef& stage, int axis) const {
    return {stage, writer_.StageAt(stage).axes[axis].name};
  }

  // Inlines constant stages whose results have more bytes than the constants
  // that they are computed from: they unpack weights of a few bits, or scales.
  // Kernels then read the packed constants.
  void InlineUnpacking() {
    std::vector<StageRef> unpacking;
    for (const StageRef& reader : {sum_.product, sum_.total}) {
      for (int p = 0; p < Number(reader); ++p) {
        const StageShape shape(writer_.computation(), p);
        Unpacking found = UnpackingOf(p, Number(reader));
        if (found.bytes < shape.LikelyPoints() * BytesOfResult(p)) {
          unpacking.insert(unpacking.end(), found.stages.begin(),
                           found.stages.end());
        }
      }
    }
    for (const StageRef& stage : unpacking) writer_.Try(Inline{stage});
  }

  int64_t BytesOfResult(int stage) const {
    const Computation& c = writer_.computation();
    return DTypeByteSize(c.buffers[c.stages[stage].stores[0].buffer].type);
  }

  // A chain of constant stages that unpack a constant for one reader: a stage
  // that only `reader` reads, constant stages that only this stage reads, and
  // so on.
  struct Unpacking {
    std::vector<StageRef> stages;  // empty if the stage is not constant or has
                                   // other readers
    int64_t bytes = 0;             // bytes of the constants that the first
                                   // stages of the chain read
  };

  Unpacking UnpackingOf(int stage, int reader) const {
    const Computation& c = writer_.computation();
    const ComputationStage& of = c.stages[stage];
    Unpacking result;
    if (c.buffers[of.stores[0].buffer].role != BufferRole::kPacked ||
        ConsumersOf(c, stage) != std::vector<int>{reader}) {
      return result;
    }
    const StageShape shape(c, stage);
    for (NodeId load : shape.loads()) {
      Unpacking before;
      for (int p = 0; p < stage && before.stages.empty(); ++p) {
        if (c.stages[p].stores[0].buffer == c.pool[load].buffer)
          before = UnpackingOf(p, stage);
      }
      if (before.stages.empty()) before.bytes = shape.LikelyBufferBytes(load);
      result.stages.insert(result.stages.end(), before.stages.begin(),
                           before.stages.end());
      result.bytes += before.bytes;
    }
    result.stages.push_back({of.name});
    return result;
  }

  // Packs the weights in the layout of dot instructions if the CPU has them,
  // and splits off the loop for the instruction. Otherwise packs them for
  // vectors.
  bool PackFactors() {
    std::optional<DotPlan> plan;
    {
      const StageShape shape(writer_.computation(), Number(sum_.product));
      plan = PlanDots(
          writer_.computation(), shape, sum_.n,
          {.bytes = cpu_.has_byte_dots, .small = cpu_.has_small_byte_dots});
    }
    if (!plan || !plan->is_exact || plan->a.is_padded) {
      PackAlong(sum_.product);
      return true;
    }
    using enum LayoutDim::Part;
    const DotPlan::Factor& a = plan->a;
    if (!a.LiesAlong()) {
      std::vector<LayoutDim> steps = OtherDims(a, false);
      steps.push_back({a.step_dim, kQuotient, plan->count});
      steps.push_back({a.step_dim, kRemainder, plan->count});
      if (!Copy(sum_.product, a.buffer, std::move(steps), a.is_constant))
        return false;
    }
    std::vector<DotPlan::Factor> weights = {plan->b};
    weights.insert(weights.end(), plan->more_b.begin(), plan->more_b.end());
    for (const DotPlan::Factor& b : weights) {
      std::vector<LayoutDim> layout = {
          {b.vector_dim, kQuotient, tile_.width()}};
      for (const LayoutDim& dim : OtherDims(b, true)) layout.push_back(dim);
      layout.push_back({b.step_dim, kQuotient, plan->count});
      layout.push_back({b.vector_dim, kRemainder, tile_.width()});
      layout.push_back({b.step_dim, kRemainder, plan->count});
      if (!Copy(sum_.product, b.buffer, std::move(layout), b.is_constant))
        return false;
    }
    dot_ = writer_.Split(plan->reduction, plan->count, "_step", "_dot").inner;
    return true;
  }

  bool Copy(const StageRef& reader, const BufferRef& buffer,
            std::vector<LayoutDim> layout, bool is_constant) {
    const StageRef copy{buffer.name + ".packed"};
    if (!writer_.Try(Pack{.reader = reader,
                          .buffer = buffer,
                          .layout = std::move(layout),
                          .copy = copy.name})) {
      return false;
    }
    ScheduleLanes(cpu_, copy, {}, writer_);
    if (!is_constant) ScheduleTasks(cpu_, copy, writer_);
    return true;
  }

  // Packs the constants that the stage reads along n with a stride of more than
  // one element, so that vectors along n are contiguous.
  void PackAlong(const StageRef& stage) {
    struct Candidate {
      BufferRef buffer;
      std::vector<LayoutDim> layout;
    };
    std::vector<Candidate> candidates;
    {
      const Computation& c = writer_.computation();
      const StageShape shape(c, Number(stage));
      const NodeId axis = shape.stage().axes[sum_.n].variable;
      for (NodeId load : shape.loads()) {
        const Node& node = c.pool[load];
        const ComputationBuffer& buffer = c.buffers[node.buffer];
        if (node.opcode != Opcode::kLoad || !buffer.is_constant ||
            shape.StrideOf(load, sum_.n) != Stride::kOther) {
          continue;
        }
        const auto found = std::ranges::find(node.operands, axis);
        if (found == node.operands.end()) continue;
        candidates.push_back(
            {{buffer.name},
             LayoutOf(buffer.extents.size(),
                      static_cast<size_t>(found - node.operands.begin()),
                      tile_.width())});
      }
    }
    // Pack is refused if the stage has different loads of the buffer. The tile
    // then reads the buffer without a copy.
    for (Candidate& candidate : candidates)
      Copy(stage, candidate.buffer, std::move(candidate.layout), true);
  }

  // Splits the loop over an axis into a loop over tiles of `size` points, which
  // is added to `outer`, and a loop over the points of a tile, which is
  // returned.
  LoopRef SplitTiles(const LoopRef& axis, int64_t size,
                     std::vector<LoopRef>& outer) {
    const auto [tiles, point] = writer_.Split(axis, size, "_tile", "_point");
    writer_.Do(Peel{tiles});
    outer.push_back(tiles);
    return point;
  }

  // Returns the number of products that the sum of a block adds up, at most
  // kMaxSteps.
  int64_t StepsOfProduct() const {
    const StageShape shape(writer_.computation(), Number(sum_.product));
    int64_t steps = 1;
    for (int a = shape.spatial_count(); a < shape.axis_count(); ++a)
      steps *= std::min(shape.LikelyExtent(a), kMaxSteps);
    return std::min(steps, kMaxSteps);
  }

  bool ScheduleTotal() {
    const StageRef& stage = sum_.total;
    const int spatial = writer_.StageAt(stage).spatial_count;
    std::vector<LoopRef> outer, inner;
    for (int a = 0; a < spatial; ++a) {
      if (a != sum_.n && a != sum_.m) outer.push_back(Axis(stage, a));
    }
    // The loop over tiles of rows is inside the one over tiles of columns, so
    // that all rows read the weights of a tile while these are in the cache.
    const LoopRef columns =
        SplitTiles(Axis(stage, sum_.n), tile_.width(), outer);
    if (sum_.m >= 0) {
      inner.push_back(tile_.rows > 1
                          ? SplitTiles(Axis(stage, sum_.m), tile_.rows, outer)
                          : Axis(stage, sum_.m));
      if (tile_.rows == 1) {
        outer.push_back(inner.back());
        inner.clear();
      }
    }
    const size_t tasks = outer.size() - (sum_.m >= 0 ? 1 : 0);
    // If there are several sums and the innermost one is short, as that over
    // the parts of a block, it is unrolled, so that its iterations share loads.
    const auto axes = static_cast<int>(writer_.StageAt(stage).axes.size());
    std::vector<LoopRef> sums;
    for (int a = spatial; a < axes; ++a) sums.push_back(Axis(stage, a));
    blocks_ = sums.back();
    const std::optional<int64_t> parts =
        StageShape(writer_.computation(), Number(stage)).Extent(axes - 1);
    const bool has_parts =
        sums.size() > 1 && parts && *parts <= kMaxParts &&
        (dot_ || *parts * StepsOfProduct() * tile_.rows * tile_.vectors <=
                     kMaxProducts);
    const auto [vector, lane] =
        writer_.Split(columns, tile_.lanes, "_vector", "_lane");
    inner.push_back(vector);
    std::vector<LoopRef> order = outer;
    order.insert(order.end(), sums.begin(), sums.end());
    order.insert(order.end(), inner.begin(), inner.end());
    order.push_back(lane);
    writer_.Reorder(std::move(order));
    for (const LoopRef& loop : inner) writer_.Do(Unroll{loop});
    if (has_parts) writer_.Do(Unroll{blocks_});
    writer_.Do(Vectorize{lane});
    const LoopRef task = writer_.FuseLoops(stage, 0, tasks, "tasks");
    if (is_large_) writer_.Do(Parallel{task});
    return writer_.status().ok() &&
           writer_.Try(ComputeAt{.producer = sum_.product, .loop = blocks_});
  }

  // Schedules the stage that sums up the products of a block, for a tile of
  // results.
  bool ScheduleInside() {
    const StageRef& stage = sum_.product;
    const ComputationStage& of = writer_.StageAt(stage);
    std::vector<LoopRef> order, unrolled;
    for (int a = 0; a < of.spatial_count; ++a) {
      if (a != sum_.n && a != sum_.m) order.push_back(Axis(stage, a));
    }
    const StagePlan& plan = writer_.schedule().plan(Number(stage));
    int64_t steps = 1;
    std::vector<LoopRef> sums;
    for (int number : plan.order) {
      const LoopRef loop{stage, plan.loops[number].name};
      if (plan.loops[number].is_reduction && loop != dot_) sums.push_back(loop);
    }
    const StageShape shape(writer_.computation(), Number(stage));
    for (size_t s = sums.size(); s-- > 0;) {
      const auto extent =
          plan.IterationsOf(plan.FindLoop(sums[s].name),
                            [&](int axis) { return shape.Extent(axis); });
      if (!extent || steps * *extent > kMaxSteps) break;
      steps *= *extent;
      unrolled.push_back(sums[s]);
    }
    order.insert(order.end(), sums.begin(), sums.end());
    if (sum_.m >= 0) {
      order.push_back(Axis(stage, sum_.m));
      if (tile_.rows > 1) unrolled.push_back(order.back());
    }
    const auto [vector, lane] =
        writer_.Split(Axis(stage, sum_.n), tile_.lanes, "_vector", "_lane");
    order.push_back(vector);
    unrolled.push_back(vector);
    order.push_back(lane);
    if (dot_) order.push_back(*dot_);
    writer_.Reorder(std::move(order));
    for (const LoopRef& loop : unrolled) writer_.Do(Unroll{loop});
    if (dot_ && !writer_.Try(Tensorize{*dot_})) return false;
    writer_.Do(Vectorize{lane});
    return writer_.status().ok();
  }

  const jit::CpuModel& cpu_;
  const BlockSum& sum_;
  ScheduleWriter& writer_;
  TileSize tile_;
  bool is_large_ = false;
  std::optional<LoopRef> dot_;
  LoopRef blocks_;
};

}  // namespace

std::optional<BlockSum> BlockSumOf(const jit::CpuModel& cpu,
                                   const Schedule& schedule,
                                   const StageRef& total) {
  const Computation& c = schedule.computation();
  const int number = c.FindStage(total.name);
  const ComputationStage& stage = c.stages[number];
  const auto count = static_cast<int>(stage.axes.size());
  if (stage.combiner != tensor::Combiner::kSum || stage.values.size() != 1 ||
      count <= stage.spatial_count || stage.stores.size() != 1) {
    return std::nullopt;
  }
  const StageShape shape(c, number);
  for (NodeId load : shape.loads()) {
    const Node& node = c.pool[load];
    for (int p = 0; p < number; ++p) {
      const ComputationStage& producer = c.stages[p];
      if (producer.stores.size() != 1 ||
          producer.stores[0].buffer != node.buffer) {
        continue;
      }
      // The product must have the same spatial axes as the total, in the same
      // order.
      const StageShape inner(c, p);
      if (!inner.IsProduct() || producer.spatial_count != count ||
          ConsumersOf(c, p) != std::vector<int>{number} ||
          !StoresAreIdentity(c, p)) {
        continue;
      }
      bool is_same = node.opcode == Opcode::kLoad;
      // The index of an axis with one point may be written as 0.
      for (int a = 0; is_same && a < count; ++a) {
        is_same = AxisOf(stage, node.operands[a]) == a ||
                  (inner.Extent(a) == 1 &&
                   c.pool.IntegerConstant(node.operands[a]) == 0);
      }
      if (!is_same) continue;
      // Finds the axis n of the constant factor, along which lanes run, and the
      // axis m of the other factor, along which a tile has rows.
      BlockSum found{.total = total, .product = {producer.name}, .n = -1};
      for (int a = 0; a < stage.spatial_count; ++a) {
        bool moves_constant = false, moves_other = false;
        for (NodeId factor : inner.loads()) {
          if (inner.StrideOf(factor, a) == Stride::kNone) continue;
          (inner.ReadsConstant(factor) ? moves_constant : moves_other) = true;
        }
        if (moves_constant && !moves_other) found.n = a;
        if (moves_other && !moves_constant && inner.LikelyExtent(a) > 1)
          found.m = a;
      }
      if (found.n < 0 || inner.LikelyExtent(found.n) < cpu.Lanes(DType::kF32)) {
        continue;
      }
      return found;
    }
  }
  return std::nullopt;
}

bool ScheduleBlockSum(const jit::CpuModel& cpu, const BlockSum& sum,
                      ScheduleWriter& writer) {
  if (!StoresAreDistinct(writer.computation(), writer.NumberOf(sum.total)))
    return false;
  Schedule trial = writer.schedule();
  ScheduleWriter inner(trial);
  if (!Rule(cpu, sum, inner).Run() || !inner.status().ok()) return false;
  writer.Replace(std::move(trial));
  return true;
}

}  // namespace ember::schedule

// Schedules the loops of sums of products on GPUs in the tiles of tiles.h,
// and the slices of their operands in shared memory.
#include "jit/schedule/gpu/product_rule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/dot_rule.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/gpu/tiles.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// An operand of which slices are copied to shared memory.
struct Slice {
  BufferRef buffer;
  std::vector<LayoutDim> layout;  // dims of the copy, in order; empty: those of
                                  // the buffer
  int64_t lanes = 1;  // number of neighbouring elements that an invocation
                      // copies at once
  // true if all slices have the same size, which is known at compile time
  bool is_constant = false;
  int64_t bytes = 0;  // number of bytes of an element
};

// Returns the dims of the copy of a load's operand. The dim that moves along v
// is last, so that neighbouring invocations read neighbouring elements. Empty
// if the operand keeps its layout: if its load is padded, no dim moves along v,
// or that dim is already last.
std::vector<LayoutDim> LayoutOf(const Computation& c,
                                const ComputationStage& stage, NodeId load,
                                int v) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return {};
  const size_t rank = c.buffers[node.buffer].extents.size();
  std::vector<LayoutDim> layout, last;
  for (size_t d = 0; d < rank; ++d) {
    const bool is_along = node.operands[d] == stage.axes[v].variable;
    (is_along ? last : layout).push_back({.dim = d});
    if (is_along && d + 1 == rank) return {};
  }
  if (last.empty()) return {};
  layout.insert(layout.end(), last.begin(), last.end());
  return layout;
}

// Returns the number of neighbouring elements along the last dim of the copy
// that an invocation copies at once: 4 if whole aligned vectors fill each
// slice, otherwise 1.
int64_t LanesOfCopy(const Computation& c, const ComputationStage& stage,
                    NodeId load, const WorkgroupTile& tile) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  if (extents.empty()) return 1;
  const std::span<const NodeId> indices(node.operands.data(), extents.size());
  const NodeId v = stage.axes[static_cast<size_t>(tile.v)].variable;
  // `along`: true if the last dim of the copy moves along v. LayoutOf puts that
  // dim last, unless the load is padded.
  const bool along = node.opcode == Opcode::kLoad
                         ? std::ranges::find(indices, v) != indices.end()
                         : indices.back() == v;
  constexpr int64_t kLanes = 4;
  const int axis = along ? tile.v : tile.k;
  const int64_t size =
      along ? tile.axes[static_cast<size_t>(tile.v)].size() : tile.slice;
  const auto extent =
      c.pool.IntegerConstant(stage.axes[static_cast<size_t>(axis)].extent);
  const std::optional<RowOfLoad> row = RowOf(c, stage, load);
  if (!along && (!row || row->axis != static_cast<size_t>(axis))) return 1;
  // Copying by vectors requires that no element of a slice is outside of the
  // buffer's last dim, because then either all lanes of a vector are padding or
  // none.
  if (node.opcode == Opcode::kPad && (!row || !row->is_inside)) return 1;
  // Along v the slice begins where the tile does, at a multiple of the tile's
  // size. Otherwise it begins at the start of the row.
  const int64_t start = along ? 0 : row->start;
  const bool is_whole = extent && *extent % size == 0;
  return is_whole && size % kLanes == 0 && start % kLanes == 0 ? kLanes : 1;
}

std::vector<Slice> SlicesOf(const ProductOnGpu& product,
                            const WorkgroupTile& tile) {
  const Computation& c = product.c;
  const StageShape& shape = product.shape;
  std::vector<Slice> slices;
  for (size_t l = 0; l < tile.share.size(); ++l) {
    if (!tile.share[l]) continue;
    const NodeId load = shape.loads()[l];
    const BufferRef buffer{c.buffers[c.pool[load].buffer].name};
    const bool known = std::ranges::any_of(
        slices, [&](const Slice& slice) { return slice.buffer == buffer; });
    if (known) continue;
    if (product.dots) {
      slices.push_back({buffer, {}, product.dots->count});
      continue;
    }
    slices.push_back({buffer, LayoutOf(c, shape.stage(), load, tile.v),
                      LanesOfCopy(c, shape.stage(), load, tile),
                      IsConstantSlice(c, shape.stage(), load),
                      DTypeByteSize(c.pool[load].type)});
  }
  return slices;
}

// A product and the decisions about it: its dot loops, its tile, and the
// operands that are copied in slices.
struct ProductPlan {
  StageRef product;
  std::optional<GpuDots> dots;
  WorkgroupTile tile;
  std::vector<Slice> slices;
};

// The loops into which the loop over an axis is split: over tiles, over the
// elements of an invocation, over invocations, and over the lanes of a vector.
struct AxisLoops {
  LoopRef tile, registers, thread;
  std::optional<LoopRef> lane;
};

// Splits the loop `axis` into four loops, whose names are its name and _tile,
// _register, _thread and, if there are vectors, _lane.
AxisLoops SplitAxis(const LoopRef& axis, const AxisTile& tile,
                    ScheduleWriter& writer) {
  const auto [outer, rest] = writer.Split(axis, tile.size(), "_tile", "_rest");
  const auto part = [&](const std::string& suffix) {
    return LoopRef{axis.stage, axis.name + suffix};
  };
  AxisLoops loops{
      .tile = outer, .registers = part("_register"), .thread = part("_thread")};
  if (tile.lanes == 1) {
    writer.Do(Split{.loop = rest,
                    .factor = tile.threads,
                    .outer = loops.registers.name,
                    .inner = loops.thread.name});
    return loops;
  }
  const LoopRef vector = part("_vector");
  loops.lane = part("_lane");
  writer.Do(Split{.loop = rest,
                  .factor = tile.threads * tile.lanes,
                  .outer = loops.registers.name,
                  .inner = vector.name});
  writer.Do(Split{.loop = vector,
                  .factor = tile.lanes,
                  .outer = loops.thread.name,
                  .inner = loops.lane->name});
  return loops;
}

// The loops of a stage that is computed in tiles: over tiles, over the
// invocations of a workgroup, over the elements of an invocation, and over the
// lanes of a vector.
struct TileLoops {
  std::vector<LoopRef> tiles;
  std::vector<LoopRef> threads;
  std::vector<LoopRef> registers;
  std::optional<LoopRef> lanes;

  // Returns the loops over the points that one invocation has in a tile.
  std::vector<LoopRef> Points() const {
    std::vector<LoopRef> points = registers;
    if (lanes) points.push_back(*lanes);
    return points;
  }
};

TileLoops SplitTile(const StageRef& stage, const WorkgroupTile& tile,
                    ScheduleWriter& writer) {
  TileLoops loops;
  std::vector<LoopRef> axes;
  for (size_t a = 0; a < tile.axes.size(); ++a)
    axes.push_back({stage, writer.StageAt(stage).axes[a].name});
  for (size_t a = 0; a < axes.size(); ++a) {
    if (tile.axes[a].size() == 1) {
      loops.tiles.push_back(axes[a]);
      continue;
    }
    const AxisLoops axis = SplitAxis(axes[a], tile.axes[a], writer);
    loops.tiles.push_back(axis.tile);
    loops.threads.push_back(axis.thread);
    loops.registers.push_back(axis.registers);
    if (axis.lane) loops.lanes = axis.lane;
  }
  return loops;
}

// Returns the loops over a stage's reduction axes except axis `without`. If the
// stage has dot loops, the loop over words comes last.
std::vector<LoopRef> ReductionsOf(const ComputationStage& stage, int without,
                                  const std::optional<GpuDots>& dots) {
  std::vector<LoopRef> loops;
  for (int a = stage.spatial_count; a < static_cast<int>(stage.axes.size());
       ++a) {
    if (a != without && !(dots && a == dots->axis))
      loops.push_back({{stage.name}, stage.axes[a].name});
  }
  if (dots && dots->axis != without) loops.push_back(dots->steps);
  return loops;
}

void Append(std::vector<LoopRef>& loops, const std::vector<LoopRef>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

// Fuses the loops over invocations, the first of which is at position `first`.
// Binds the fused loop to invocations, and unrolls or vectorizes the other
// loops of the tile.
void MarkTile(const StageRef& stage, const TileLoops& loops, size_t first,
              ScheduleWriter& writer) {
  const LoopRef invocations =
      writer.FuseLoops(stage, first, loops.threads.size(), "invocations");
  writer.Do(Bind{invocations});
  for (const LoopRef& loop : loops.registers) writer.Do(Unroll{loop});
  if (loops.lanes) writer.Do(Vectorize{*loops.lanes});
}

// Adds a stage that copies slices of the operand for the product. Returns
// nullopt if the primitive is refused because an index is loaded or loads of
// the buffer differ. Invocations then read the operand in place.
std::optional<StageRef> CopySlice(const StageRef& product, const Slice& slice,
                                  ScheduleWriter& writer) {
  const StageRef copy{NameOfSlice(writer.computation(), product, slice.buffer)};
  const Pack packed{.reader = product,
                    .buffer = slice.buffer,
                    .layout = slice.layout,
                    .copy = copy.name};
  const CacheRead read{
      .reader = product, .buffer = slice.buffer, .copy = copy.name};
  const bool made =
      (!slice.layout.empty() && writer.Try(packed)) || writer.Try(read);
  return made ? std::optional(copy) : std::nullopt;
}

// Adds copies of slices of the product's operands, made in each iteration of
// the loop `at`.
void CopySlices(const ProductPlan& plan, const LoopRef& at,
                ScheduleWriter& writer) {
  const WorkgroupTile& tile = plan.tile;
  std::vector<SliceCopy> copies;
  for (const Slice& operand : plan.slices) {
    const auto copy = CopySlice(plan.product, operand, writer);
    if (!copy) continue;
    writer.Do(ComputeAt{.producer = *copy, .loop = at});
    const auto rounds =
        BindTogether(*copy, tile.Threads(), operand.lanes, writer);
    copies.push_back({.stage = *copy,
                      .rounds = rounds.value_or(LoopRef{*copy, ""}),
                      .by_registers = tile.by_registers,
                      .slots = tile.slots,
                      .is_constant = operand.is_constant,
                      .bytes_at_once = operand.lanes * operand.bytes});
  }
  if (tile.is_double) LoadSlicesAhead(copies, writer);
}

// Schedules the loops of a product inside a tile, and the copies of slices of
// its operands.
void ScheduleTile(const ProductPlan& plan, const TileLoops& loops,
                  ScheduleWriter& writer) {
  const auto& [product, dots, tile, slices] = plan;
  std::vector<LoopRef> order = loops.tiles;
  Append(order, ReductionsOf(writer.StageAt(product),
                             slices.empty() ? -1 : tile.k, dots));
  size_t first = loops.tiles.size();
  LoopRef slice{product, ""};  // the loop over slices, if operands are copied
  if (!slices.empty()) {
    const LoopRef k =
        dots ? dots->steps
             : LoopRef{product, writer.StageAt(product).axes[tile.k].name};
    const auto loops_of_k = writer.Split(k, tile.slice, "_slice", "_step");
    slice = loops_of_k.outer;
    order.push_back(slice);
    first = order.size();
    order.push_back(loops_of_k.inner);
  }
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(first),
               loops.threads.begin(), loops.threads.end());
  std::optional<LoopRef> steps;  // the loop over the steps of the sum that are
                                 // unrolled
  if (tile.steps > 1) {
    const auto [round, written] =
        writer.Split(order.back(), tile.steps, "_round", "_written");
    order.back() = round;
    order.push_back(written);
    steps = written;
  }
  Append(order, loops.Points());
  if (dots) order.push_back(dots->dot);
  writer.Reorder(order);
  if (dots) writer.Do(Tensorize{dots->dot});
  MarkTile(product, loops, first, writer);
  if (tile.fuses_iterations) {
    slice = writer.FuseLoops(product, loops.tiles.size(),
                             first - loops.tiles.size(), "iterations");
  }
  if (steps) writer.Do(Unroll{*steps});
  CopySlices(plan, slice, writer);
}

// Returns the loops of the product's dot instructions, after its factors were
// packed for them; nullopt if the product cannot have any.
std::optional<GpuDots> PackForDots(const jit::GpuModel& gpu,
                                   const StageRef& product,
                                   std::set<StageRef>& done,
                                   ScheduleWriter& writer) {
  const int v =
      VectorAxis(StageShape(writer.computation(), writer.NumberOf(product)));
  if (v < 0) return std::nullopt;
  return PackForDotsOnGpu(gpu, product, v, done, writer);
}

// Chooses the product's tile, and the operands that are copied in slices. Packs
// the factors if the product gets dot loops. Returns nullopt if no tile fits.
std::optional<ProductPlan> PlanProduct(const jit::GpuModel& gpu,
                                       const StageRef& product,
                                       std::set<StageRef>& done,
                                       ScheduleWriter& writer) {
  ProductPlan plan{.product = product,
                   .dots = PackForDots(gpu, product, done, writer)};
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.NumberOf(product));
  const ProductOnGpu on_gpu = {c, shape, plan.dots};
  auto tile = ChooseWorkgroupTile(gpu, on_gpu);
  if (!tile) return std::nullopt;
  plan.tile = std::move(*tile);
  plan.slices = SlicesOf(on_gpu, plan.tile);
  return plan;
}

}  // namespace

std::optional<ProductCost> CostOfProductOnGpu(const jit::GpuModel& gpu,
                                              const StageRef& product,
                                              const std::set<StageRef>& done,
                                              const Schedule& schedule) {
  Schedule trial = schedule;
  ScheduleWriter writer(trial);
  std::set<StageRef> trial_done = done;
  if (!StoresAreDistinct(writer.computation(), writer.NumberOf(product)))
    return std::nullopt;
  const auto dots = PackForDots(gpu, product, trial_done, writer);
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.NumberOf(product));
  const auto tile = ChooseWorkgroupTile(gpu, {c, shape, dots});
  if (!tile) return std::nullopt;
  return ProductCost{.all = tile->cost};
}

std::optional<LoopRef> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                            const StageRef& root,
                                            const StageRef& product,
                                            std::set<StageRef>& done,
                                            ScheduleWriter& writer) {
  if (!StoresAreDistinct(writer.computation(), writer.NumberOf(product)))
    return std::nullopt;
  const auto plan = PlanProduct(gpu, product, done, writer);
  if (!plan) return std::nullopt;
  if (root != product && !IsReadInPlace(writer.computation(), product))
    return std::nullopt;
  const TileLoops loops = SplitTile(root, plan->tile, writer);
  if (loops.registers.empty()) return std::nullopt;
  if (root == product) {
    ScheduleTile(*plan, loops, writer);
  } else {
    std::vector<LoopRef> order = loops.tiles;
    Append(order, loops.threads);
    Append(order, loops.Points());
    writer.Reorder(order);
    MarkTile(root, loops, loops.tiles.size(), writer);
  }
  const LoopRef tasks = writer.FuseLoops(root, 0, loops.tiles.size(), "tasks");
  writer.Do(Parallel{tasks});
  const LoopRef point = loops.Points().back();
  if (root != product) {
    JoinPoints(gpu, root, point, writer.NumberOf(product) + 1, done, writer);
    if (!writer.Try(ComputeAt{.producer = product, .loop = tasks}))
      return std::nullopt;
    const TileLoops own = SplitTile(product, plan->tile, writer);
    ScheduleTile(*plan, own, writer);
  }
  done.insert(product);
  return point;
}

}  // namespace ember::schedule

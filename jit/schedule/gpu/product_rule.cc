// Schedules the loops of sums of products on GPUs in the tiles of tiles.h,
// and the slices of their operands in shared memory.
#include "jit/schedule/gpu/product_rule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

// The slice of an operand that is copied to shared memory.
struct Slice {
  std::string buffer;
  std::string layout;  // order of the copy's dims; empty: unchanged
  int64_t lanes = 1;   // number of neighbours that an invocation copies at once
  // true if all slices have the same size, which is known when compiling
  bool is_constant = false;
  int64_t bytes = 0;  // bytes of an element
};

// Returns the layout with the dim that moves along v last, so that neighbouring
// invocations read neighbouring elements.
std::string LayoutOf(const Computation& c, const ComputationStage& stage,
                     NodeId load, int v) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return "";
  const size_t rank = c.buffers[node.buffer].extents.size();
  std::string layout, last;
  for (size_t d = 0; d < rank; ++d) {
    const bool is_along = node.operands[d] == stage.axes[v].variable;
    (is_along ? last : layout) += " " + std::to_string(d);
    if (is_along && d + 1 == rank) return "";
  }
  return last.empty() ? "" : layout + last;
}

// Returns the number of lanes along the last dim of the copy, if whole vectors
// fill each tile.
int64_t LanesOfCopy(const Computation& c, const ComputationStage& stage,
                    NodeId load, const WorkgroupTile& tile) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  if (extents.empty()) return 1;
  const std::span<const NodeId> indices(node.operands.data(), extents.size());
  const NodeId v = stage.axes[static_cast<size_t>(tile.v)].variable;
  // `along`: true if the copy's last dim moves along v. The layout of the copy
  // of a plain load puts that dim last; a padded load keeps its layout.
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
  // Either all lanes of a vector are padded or none, so no element of the copy
  // may be outside of the buffer's last dim.
  if (node.opcode == Opcode::kPad && (!row || !row->is_inside)) return 1;
  // If the operand moves along v, its copy begins at the tile.
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
    const std::string& buffer = c.buffers[c.pool[load].buffer].name;
    const bool known = std::ranges::any_of(
        slices, [&](const Slice& slice) { return slice.buffer == buffer; });
    if (known) continue;
    if (product.dots) {
      slices.push_back({buffer, "", product.dots->count});
      continue;
    }
    slices.push_back({buffer, LayoutOf(c, shape.stage(), load, tile.v),
                      LanesOfCopy(c, shape.stage(), load, tile),
                      IsConstantSlice(c, shape.stage(), load),
                      DTypeByteSize(c.pool[load].type)});
  }
  return slices;
}

// Splits axis a into a_tile, a_register and a_thread, and a_lane if there are
// lanes.
void SplitAxis(const std::string& stage, const std::string& axis,
               const AxisTile& tile, ScheduleWriter& writer) {
  const std::string at = "split %" + stage + " " + axis;
  writer.Do(at + " " + std::to_string(tile.size()) + " -> " + axis + "_tile " +
            axis + "_rest");
  if (tile.lanes == 1) {
    writer.Do(at + "_rest " + std::to_string(tile.threads) + " -> " + axis +
              "_register " + axis + "_thread");
    return;
  }
  writer.Do(at + "_rest " + std::to_string(tile.threads * tile.lanes) + " -> " +
            axis + "_register " + axis + "_vector");
  writer.Do(at + "_vector " + std::to_string(tile.lanes) + " -> " + axis +
            "_thread " + axis + "_lane");
}

// The names of a stage's loops in a tile.
struct TileLoops {
  std::vector<std::string> tiles;
  std::vector<std::string> threads;
  std::vector<std::string> registers;
  std::string lanes;  // the loop over lanes; empty: none

  // Returns the innermost loops, each over points of the tile.
  std::vector<std::string> Points() const {
    std::vector<std::string> points = registers;
    if (!lanes.empty()) points.push_back(lanes);
    return points;
  }
};

TileLoops SplitTile(const std::string& stage, const WorkgroupTile& tile,
                    ScheduleWriter& writer) {
  TileLoops loops;
  std::vector<std::string> axes;
  const int number = writer.StageOf(stage);
  for (size_t a = 0; a < tile.axes.size(); ++a)
    axes.push_back(writer.computation().stages[number].axes[a].name);
  for (size_t a = 0; a < axes.size(); ++a) {
    if (tile.axes[a].size() == 1) {
      loops.tiles.push_back(axes[a]);
      continue;
    }
    SplitAxis(stage, axes[a], tile.axes[a], writer);
    loops.tiles.push_back(axes[a] + "_tile");
    loops.threads.push_back(axes[a] + "_thread");
    loops.registers.push_back(axes[a] + "_register");
    if (tile.axes[a].lanes > 1) loops.lanes = axes[a] + "_lane";
  }
  return loops;
}

// Returns the names of a stage's reductions except axis `without`. The loop
// over words of dot loops is last.
std::vector<std::string> ReductionsOf(const Computation& c, int number,
                                      int without,
                                      const std::optional<GpuDots>& dots) {
  const ComputationStage& stage = c.stages[number];
  std::vector<std::string> names;
  for (int a = stage.spatial_count; a < static_cast<int>(stage.axes.size());
       ++a) {
    if (a != without && !(dots && a == dots->axis))
      names.push_back(stage.axes[a].name);
  }
  if (dots && dots->axis != without) names.push_back(dots->steps);
  return names;
}

void Append(std::vector<std::string>& names,
            const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
}

// Fuses the loops of invocations, which begin at position `first`, and marks
// the loops of the tile.
void MarkTile(const std::string& stage, const TileLoops& loops, size_t first,
              ScheduleWriter& writer) {
  const std::string invocations =
      writer.FuseLoops(stage, first, loops.threads.size(), "invocations");
  writer.Do("bind %" + stage + " " + invocations);
  for (const std::string& loop : loops.registers)
    writer.Do("unroll %" + stage + " " + loop);
  if (!loops.lanes.empty())
    writer.Do("vectorize %" + stage + " " + loops.lanes);
}

// Schedules the product's loops inside a tile, and the slices of its operands.
void ScheduleTile(const std::string& product, const WorkgroupTile& tile,
                  const std::vector<Slice>& slices, const TileLoops& loops,
                  const std::optional<GpuDots>& dots, ScheduleWriter& writer) {
  std::vector<std::string> order = loops.tiles;
  const int number = writer.StageOf(product);
  Append(order, ReductionsOf(writer.computation(), number,
                             slices.empty() ? -1 : tile.k, dots));
  size_t first = loops.tiles.size();
  std::string slice;
  if (!slices.empty()) {
    const std::string k =
        dots ? dots->steps
             : writer.computation().stages[number].axes[tile.k].name;
    slice = k + "_slice";
    writer.Do("split %" + product + " " + k + " " + std::to_string(tile.slice) +
              " -> " + slice + " " + k + "_step");
    order.push_back(slice);
    first = order.size();
    order.push_back(k + "_step");
  }
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(first),
               loops.threads.begin(), loops.threads.end());
  std::string steps;  // name of the loop over the unrolled steps of the sum
  if (tile.steps > 1) {
    const std::string k = order.back();
    steps = k + "_written";
    writer.Do("split %" + product + " " + k + " " + std::to_string(tile.steps) +
              " -> " + k + "_round " + steps);
    order.back() = k + "_round";
    order.push_back(steps);
  }
  Append(order, loops.Points());
  if (dots) order.push_back(dots->dot);
  writer.Reorder(product, order);
  if (dots) writer.Do("tensorize %" + product + " " + dots->dot);
  MarkTile(product, loops, first, writer);
  if (tile.turns_together) {
    slice = writer.FuseLoops(product, loops.tiles.size(),
                             first - loops.tiles.size(), "turns");
  }
  if (!steps.empty()) writer.Do("unroll %" + product + " " + steps);
  std::vector<SliceCopy> copies;
  for (const Slice& operand : slices) {
    const std::string copy =
        NameOfSlice(writer.computation(), product, operand.buffer);
    // The primitive is refused if an index comes from data, or if loads of the
    // buffer differ: invocations then read the operand itself.
    const std::string line = " %" + product + " %" + operand.buffer;
    const bool made =
        (!operand.layout.empty() &&
         writer.Try("pack" + line + operand.layout + " -> " + copy)) ||
        writer.Try("cache_read" + line + " -> " + copy);
    if (!made) continue;
    writer.Do("compute_at %" + copy + " %" + product + " " + slice);
    copies.push_back(
        {.stage = copy,
         .rounds = BindTogether(copy, tile.Threads(), operand.lanes, writer),
         .by_registers = tile.by_registers,
         .slots = tile.slots,
         .is_constant = operand.is_constant,
         .bytes_at_once = operand.lanes * operand.bytes});
  }
  if (tile.is_double) LoadSlicesAhead(copies, writer);
}

// Returns the product's dot loops, if it can have some, and packs its factors
// for them.
std::optional<GpuDots> PackForDots(const jit::GpuModel& gpu,
                                   const std::string& product,
                                   std::set<std::string>& done,
                                   ScheduleWriter& writer) {
  const int v =
      VectorAxis(StageShape(writer.computation(), writer.StageOf(product)));
  if (v < 0) return std::nullopt;
  return PackForDotsOnGpu(gpu, product, v, done, writer);
}

}  // namespace

std::optional<ProductCost> CostOfProductOnGpu(const jit::GpuModel& gpu,
                                              const std::string& product,
                                              const std::set<std::string>& done,
                                              const Schedule& schedule) {
  Schedule trial = schedule;
  ScheduleWriter writer(trial);
  std::set<std::string> trial_done = done;
  if (!StoresAreDistinct(writer.computation(), writer.StageOf(product)))
    return std::nullopt;
  const auto dots = PackForDots(gpu, product, trial_done, writer);
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.StageOf(product));
  const auto tile = ChooseWorkgroupTile(gpu, {c, shape, dots});
  if (!tile) return std::nullopt;
  return ProductCost{.all = tile->cost};
}

std::optional<std::string> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                                const std::string& root,
                                                const std::string& product,
                                                std::set<std::string>& done,
                                                ScheduleWriter& writer) {
  if (!StoresAreDistinct(writer.computation(), writer.StageOf(product)))
    return std::nullopt;
  const auto dots = PackForDots(gpu, product, done, writer);
  std::optional<WorkgroupTile> tile;
  std::vector<Slice> slices;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    const ProductOnGpu on_gpu = {c, shape, dots};
    tile = ChooseWorkgroupTile(gpu, on_gpu);
    if (!tile) return std::nullopt;
    slices = SlicesOf(on_gpu, *tile);
  }
  if (root != product && !IsReadInPlace(writer.computation(), product))
    return std::nullopt;
  const TileLoops loops = SplitTile(root, *tile, writer);
  if (loops.registers.empty()) return std::nullopt;
  if (root == product) {
    ScheduleTile(product, *tile, slices, loops, dots, writer);
  } else {
    std::vector<std::string> order = loops.tiles;
    Append(order, loops.threads);
    Append(order, loops.Points());
    writer.Reorder(root, order);
    MarkTile(root, loops, loops.tiles.size(), writer);
  }
  const std::string tasks =
      writer.FuseLoops(root, 0, loops.tiles.size(), "tasks");
  writer.Do("parallel %" + root + " " + tasks);
  const std::string point = loops.Points().back();
  if (root != product) {
    JoinPoints(gpu, root, point, writer.StageOf(product) + 1, done, writer);
    if (!writer.Try("compute_at %" + product + " %" + root + " " + tasks))
      return std::nullopt;
    const TileLoops own = SplitTile(product, *tile, writer);
    ScheduleTile(product, *tile, slices, own, dots, writer);
  }
  done.insert(product);
  return point;
}

}  // namespace ember::schedule

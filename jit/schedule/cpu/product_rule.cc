// Schedules sums of products on register tiles (register_tile.h): matrix
// products of any form and convolutions.
#include "jit/schedule/cpu/product_rule.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/cpu/dot_rule.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/pack_rows_rule.h"
#include "jit/schedule/cpu/register_tile.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/cpu/widen_rule.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// Says which operands of a product are copied so that its tiles read contiguous
// vectors.
enum class Packing : uint8_t {
  // Copies operands that move along the vectors with a stride of more than one
  // element, and constants.
  kWhereItTakes,
  // Copies all operands that move along the vectors. Used for products in
  // groups of stages, which read these operands again for each block of rows:
  // in place, vectors that are far apart would each need a cache line of their
  // own.
  kAll
};

// True if PackOperands tries to copy the operand of the load.
bool IsPacked(const Computation& c, const StageShape& shape,
              const RegisterTile& tile, NodeId load, Packing packing) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return false;
  const Stride stride = shape.StrideOf(load, tile.v);
  // An unrolled sum (writes_out_sum) is short and reads few vectors, so copying
  // a constant brings them no closer together. It is copied only if lanes do
  // not divide the axis, because the copy is padded to whole vectors.
  const bool copies_constants =
      !tile.writes_out_sum ||
      shape.Extent(tile.v).value_or(1) % tile.lanes != 0;
  return stride == Stride::kOther ||
         (stride == Stride::kUnit &&
          ((c.buffers[node.buffer].is_constant && copies_constants) ||
           packing == Packing::kAll));
}

// Returns the dims of a copy of the load's operand in which each tile's vectors
// along dim `dim` are contiguous. Dims that axes of the results index come
// first, so that each point of a batch is contiguous, too.
std::vector<LayoutDim> LayoutOf(const Computation& c, const StageShape& shape,
                                const RegisterTile& tile, NodeId load,
                                size_t dim) {
  using enum LayoutDim::Part;
  const tensor::Node& node = c.pool[load];
  const auto& axes = shape.stage().axes;
  std::vector<LayoutDim> layout;  // dims that spatial axes index; they come
                                  // first in the copy
  std::vector<LayoutDim> others;
  for (size_t d = 0; d < c.buffers[node.buffer].extents.size(); ++d) {
    if (d == dim) continue;
    const bool is_batch = std::any_of(
        axes.begin(), axes.begin() + shape.spatial_count(),
        [&](const auto& a) { return a.variable == node.operands[d]; });
    (is_batch ? layout : others).push_back({.dim = d});
  }
  layout.push_back({dim, kQuotient, tile.width()});
  layout.insert(layout.end(), others.begin(), others.end());
  layout.push_back({dim, kRemainder, tile.width()});
  return layout;
}

// Copies operands so that the vectors of a tile are contiguous.
void PackOperands(const jit::CpuModel& cpu, const StageRef& product,
                  const RegisterTile& tile, Packing packing,
                  ScheduleWriter& writer) {
  struct Candidate {
    Pack pack;
    bool is_constant = false;
  };
  std::vector<Candidate> candidates;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.NumberOf(product));
    const NodeId axis = shape.stage().axes[tile.v].variable;
    for (NodeId load : shape.loads()) {
      if (!IsPacked(c, shape, tile, load, packing)) continue;
      const tensor::Node& node = c.pool[load];
      const auto found =
          std::find(node.operands.begin(), node.operands.end(), axis);
      if (found == node.operands.end()) continue;
      const size_t dim = static_cast<size_t>(found - node.operands.begin());
      const ComputationBuffer& buffer = c.buffers[node.buffer];
      Candidate candidate{{.reader = product,
                           .buffer = {buffer.name},
                           .layout = LayoutOf(c, shape, tile, load, dim),
                           .copy = buffer.name + ".packed"},
                          buffer.is_constant};
      if (ReadsWideCopy(c, shape, tile, load))
        candidate.pack.type = DType::kF32;
      candidates.push_back(std::move(candidate));
    }
  }
  for (const auto& [pack, is_constant] : candidates) {
    // Pack is refused if the product has different loads of the buffer. The
    // tile then reads the operand without a copy.
    if (!writer.Try(pack)) continue;
    const StageRef copy{pack.copy};
    ScheduleLanes(cpu, copy, {}, writer);
    if (!is_constant) ScheduleTasks(cpu, copy, writer);
  }
}

// Copies padded operands, so that inner loops need no tests for padding, if
// these tests cost more than the copy. Also copies narrow operands that are
// read often, as f32. Returns the stages that copy.
std::vector<StageRef> CopyOperands(const jit::CpuModel& cpu,
                                   const StageRef& product,
                                   const RegisterTile& tile,
                                   ScheduleWriter& writer) {
  struct Operand {
    BufferRef buffer;
    bool is_padded = false;
    // element type of the copy; nullopt: that of the buffer
    std::optional<DType> type;
    // order of the dims in the copy, set only for a constant, which is copied
    // once
    std::vector<LayoutDim> layout;
  };
  std::vector<Operand> operands;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.NumberOf(product));
    for (NodeId load : shape.loads()) {
      const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
      Operand operand{.buffer = {buffer.name},
                      .is_padded = shape.IsPadded(load) &&
                                   !AsksForPadding(cpu, shape, tile, load)};
      if (!IsPacked(c, shape, tile, load, Packing::kWhereItTakes) &&
          ReadsWideCopy(c, shape, tile, load)) {
        operand.type = DType::kF32;
      }
      for (size_t d = 0; buffer.is_constant && d < buffer.extents.size(); ++d)
        operand.layout.push_back({.dim = d});
      if (operand.is_padded || operand.type) operands.push_back(operand);
    }
  }
  std::vector<StageRef> copies;
  for (const auto& [buffer, is_padded, type, layout] : operands) {
    const StageRef copy{buffer.name + (is_padded ? ".padded" : ".wide")};
    const bool is_once = !is_padded && !layout.empty();
    const bool is_copied = is_once ? writer.Try(Pack{.reader = product,
                                                     .buffer = buffer,
                                                     .type = type,
                                                     .layout = layout,
                                                     .copy = copy.name})
                                   : writer.Try(CacheRead{.reader = product,
                                                          .buffer = buffer,
                                                          .type = type,
                                                          .copy = copy.name});
    if (!is_copied) continue;
    ScheduleLanes(cpu, copy, {}, writer);
    if (!is_once) copies.push_back(copy);
  }
  return copies;
}

// A block of rows of results. The part of a padded copy that a block needs is
// made just before the block is computed, so that it is still in the cache.
struct RowBlock {
  int axis = -1;  // the product's axis that is divided into blocks; -1: none,
                  // because the whole copy fits the cache
  int64_t rows = 0;
};

// Returns the largest number of rows per block, a divisor of `extent`, whose
// part of the copy fits `room` bytes; 0 if there is none. bytes: size of the
// whole copy. If possible there are at least `least_blocks` blocks.
int64_t RowsThatFit(int64_t extent, int64_t bytes, int64_t room,
                    int64_t least_blocks) {
  int64_t best = 0;
  for (int64_t rows = 1; rows <= extent; ++rows) {
    // A block reads about two rows of the copy more than it computes, because
    // windows overlap.
    const bool fits = bytes / extent * (rows + 2) <= room;
    const bool exact = extent % rows == 0;
    if (fits && exact && (extent / rows >= least_blocks || best == 0))
      best = rows;
  }
  return best;
}

RowBlock RowBlockOf(const jit::CpuModel& cpu, const StageRef& product,
                    const RegisterTile& tile,
                    const std::vector<StageRef>& copies,
                    const ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.NumberOf(product));
  const int64_t room = cpu.l2_bytes / 4;
  for (NodeId load : shape.loads()) {
    const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
    if (std::ranges::find(copies, StageRef{buffer.name}) == copies.end())
      continue;
    int64_t bytes = DTypeByteSize(buffer.type);
    for (NodeId extent : buffer.extents) {
      const std::optional<int64_t> size = c.pool.IntegerConstant(extent);
      if (!size) return {};
      bytes *= std::max<int64_t>(*size, 1);
    }
    if (bytes <= room) continue;
    int64_t images = 1;
    for (int a = 0; a < shape.spatial_count(); ++a) {
      const std::optional<int64_t> extent = shape.Extent(a);
      if (!extent || a == tile.u || a == tile.v) break;
      if (*extent < 2 || shape.StrideOf(load, a) == Stride::kNone) continue;
      const int64_t rows =
          RowsThatFit(*extent, bytes / images, room, 2 * cpu.cores / images);
      if (rows > 1) return {a, rows};
      images *= *extent;
    }
  }
  return {};
}

// True if the loop over tiles along the vectors' axis should be inside the loop
// over tiles of rows. A thread then reads its rows and writes its results once,
// in the order of memory, and they are in its cache if it also made the rows or
// reads the results next. But each tile of rows reads the whole operand of the
// vectors again, so that operand must stay in the cache.
bool VectorsInside(const jit::CpuModel& cpu, const StageShape& shape,
                   const RegisterTile& tile) {
  if (tile.u < 0) return false;
  int64_t operand = 0;  // number of bytes of the operand that moves along the
                        // vectors, but not along the rows
  for (NodeId load : shape.loads()) {
    if (shape.StrideOf(load, tile.v) == Stride::kNone ||
        shape.StrideOf(load, tile.u) != Stride::kNone) {
      continue;
    }
    operand += shape.LikelyBytes(load, 0);
  }
  return operand <= cpu.l2_bytes / 4;
}

// Finds the spatial axes along which all operands move, as along batches and
// groups. Their loops become the outermost ones: no operand would be read again
// if they were inside.
std::vector<bool> BatchAxes(const StageShape& shape, const RegisterTile& tile) {
  std::vector<bool> is_batch;
  is_batch.reserve(static_cast<size_t>(shape.spatial_count()));
  for (int a = 0; a < shape.spatial_count(); ++a) {
    is_batch.push_back(a != tile.u && a != tile.v &&
                       std::none_of(shape.loads().begin(), shape.loads().end(),
                                    [&](NodeId load) {
                                      return shape.StrideOf(load, a) ==
                                             Stride::kNone;
                                    }));
  }
  return is_batch;
}

// Numbers of steps of a sum that may be unrolled in a tile, so that indices are
// computed once for several steps. The first number that divides the sum's
// steps is used.
constexpr int64_t kStepsAtOnce[] = {4, 6, 5, 3, 2};

// Splits the innermost reduction loop of a sum so that the inner loop can be
// unrolled, and returns the inner loop. A loop that is short enough is returned
// as it is. Returns nullopt if the loop's extent is not constant, or if no
// number of kStepsAtOnce divides it.
std::optional<LoopRef> SplitSteps(const LoopRef& loop, ScheduleWriter& writer) {
  const int stage = writer.NumberOf(loop.stage);
  const StagePlan& plan = writer.schedule().plan(stage);
  const StageShape shape(writer.computation(), stage);
  const std::optional<int64_t> extent = plan.IterationsOf(
      plan.FindLoop(loop.name), [&](int axis) { return shape.Extent(axis); });
  if (!extent) return std::nullopt;
  for (int64_t steps : kStepsAtOnce) {
    if (*extent == steps) return loop;
    if (*extent % steps == 0)
      return writer.Split(loop, steps, "_steps", "_step").inner;
  }
  return std::nullopt;
}

// The loops of a stage that is computed in tiles of results.
struct TileLoops {
  std::vector<LoopRef> outer;   // the loops outside of a tile
  std::optional<LoopRef> rows;  // the loop over the rows of a tile; nullopt if
                                // the tile has no rows
  LoopRef vectors, lanes;
  std::optional<LoopRef> dot;  // the reduction loop that becomes a dot
                               // instruction
};

// Orders the loops of a stage in a tile: first `outer`, then, in the product,
// the reductions, then rows and vectors.
void OrderTile(const RegisterTile& tile, const TileLoops& loops,
               ScheduleWriter& writer) {
  const StageRef& stage = loops.lanes.stage;
  const auto sums = [&] {
    std::vector<LoopRef> found;
    const StagePlan& plan = writer.schedule().plan(writer.NumberOf(stage));
    for (int number : plan.order) {
      const LoopRef loop{stage, plan.loops[number].name};
      if (plan.loops[number].is_reduction && loop != loops.dot)
        found.push_back(loop);
    }
    return found;
  };
  std::vector<LoopRef> written_out = sums();
  if (!tile.writes_out_sum && !written_out.empty()) {
    const std::optional<LoopRef> step = SplitSteps(written_out.back(), writer);
    written_out.clear();
    if (step) written_out.push_back(*step);
  }
  std::vector<LoopRef> order = loops.outer;
  const std::vector<LoopRef> steps = sums();
  order.insert(order.end(), steps.begin(), steps.end());
  if (loops.rows) order.push_back(*loops.rows);
  order.push_back(loops.vectors);
  order.push_back(loops.lanes);
  if (loops.dot) order.push_back(*loops.dot);
  writer.Reorder(std::move(order));
  if (loops.rows) writer.Do(Unroll{*loops.rows});
  writer.Do(Unroll{loops.vectors});
  for (const LoopRef& loop : written_out) writer.Do(Unroll{loop});
  if (loops.dot) writer.Do(Tensorize{*loops.dot});
  writer.Do(Vectorize{loops.lanes});
}

// The three loops into which the loop along the tile's vectors is split: over
// tiles, over the vectors of a tile, and over the lanes of a vector.
struct VectorLoops {
  LoopRef tile, vector, lane;
};

VectorLoops SplitVectors(const LoopRef& v, const RegisterTile& tile,
                         ScheduleWriter& writer) {
  const auto [tiles, rest] = writer.Split(v, tile.width(), "_tile", "_rest");
  if (tile.peels_vectors) writer.Do(Peel{tiles});
  VectorLoops made{.tile = tiles,
                   .vector = {v.stage, v.name + "_vector"},
                   .lane = {v.stage, v.name + "_lane"}};
  writer.Do(Split{.loop = rest,
                  .factor = tile.lanes,
                  .outer = made.vector.name,
                  .inner = made.lane.name});
  return made;
}

// Describes how the group's root is divided into tiles, to which the other
// stages are fitted.
struct RootTile {
  RegisterTile tile;
  // loops of the root over the axes along which a tile has rows (u) and vectors
  // (v)
  std::optional<LoopRef> u;
  LoopRef v;
  // `is_open_rows`, `is_open_vectors`: true if the extent of u or of v is not
  // constant
  bool is_open_rows = false, is_open_vectors = false;
};

// Schedules the loops of a group's member that is computed for each tile of the
// root. `dot`: the member's loop that becomes a dot instruction, if there is
// one.
void ScheduleMember(const StageGroup& group, const StageRef& member,
                    const RootTile& root, const std::optional<LoopRef>& dot,
                    ScheduleWriter& writer) {
  // The member has loops over its own axes, of which those equal to u and v get
  // the tile's rows and vectors. If the tile has no rows, u is an axis that the
  // root does not have, and its loop stays where it is.
  std::optional<LoopRef> u = AxisOfMember(writer, group, member, root.u);
  LoopRef v = *AxisOfMember(writer, group, member, root.v);
  TileLoops loops{.dot = dot};
  const ComputationStage& stage = writer.StageAt(member);
  for (int a = 0; a < stage.spatial_count; ++a) {
    const LoopRef own{member, stage.axes[a].name};
    if (own != u && own != v) loops.outer.push_back(own);
  }
  // Inside the loop over tiles the member's extent is at most that of a tile,
  // but this is known only after lowering. So an open extent is split again.
  if (root.is_open_vectors) {
    const auto [tiles, rest] =
        writer.Split(v, root.tile.width(), "_tile", "_rest");
    loops.outer.push_back(tiles);
    v = rest;
  }
  if (root.is_open_rows) {
    const auto [tiles, row] = writer.Split(*u, root.tile.rows, "_tile", "_row");
    loops.outer.push_back(tiles);
    u = row;
  }
  const auto [vector, lane] =
      writer.Split(v, root.tile.lanes, "_vector", "_lane");
  if (root.u) loops.rows = u;
  loops.vectors = vector;
  loops.lanes = lane;
  OrderTile(root.tile, loops, writer);
}

}  // namespace

bool ScheduleProduct(const jit::CpuModel& cpu, const StageGroup& group,
                     const StageRef& product, ScheduleWriter& writer) {
  const int number = writer.NumberOf(product);
  if (!StoresAreDistinct(writer.computation(), number)) return false;
  std::optional<RootAxes> root = RootAxesOf(writer, group, product);
  if (!root) return false;
  // For each axis of the product: the axis of the root that is equal to it.
  std::vector<std::optional<LoopRef>>& axes = root->axes;
  std::optional<RegisterTile> tile;
  RootTile root_tile;
  bool large = false;
  bool vectors_inside = false;
  std::vector<bool> is_batch;
  {
    const StageShape shape(writer.computation(), number);
    tile = ChooseRegisterTile(cpu, shape);
    if (!tile || !axes[tile->v] || (tile->u >= 0 && !axes[tile->u]))
      return false;
    const auto lacks = [&](int axis) {
      return axis >= 0 &&
             std::ranges::any_of(group.members, [&](const StageRef& member) {
               return !AxisOfMember(writer, group, member, axes[axis]);
             });
    };
    if (lacks(tile->u) || lacks(tile->v)) return false;
    root_tile = {.tile = *tile,
                 .u = tile->u >= 0 ? axes[tile->u] : std::nullopt,
                 .v = *axes[tile->v],
                 .is_open_rows = tile->u >= 0 && !shape.Extent(tile->u),
                 .is_open_vectors = !shape.Extent(tile->v)};
    large = IsWorthThreads(shape.LikelyPoints());
    vectors_inside = VectorsInside(cpu, shape, *tile);
    is_batch = BatchAxes(shape, *tile);
  }
  const Dots dots = PackForDots(cpu, product, *tile, writer);
  const std::vector<StageRef> copies =
      dots.loop ? dots.copies : CopyOperands(cpu, product, *tile, writer);
  RowBlock block = RowBlockOf(cpu, product, *tile, copies, writer);
  if (block.axis >= 0 && !axes[block.axis]) block = {};
  if (!dots.loop) {
    PackOperands(cpu, product, *tile, Packing::kWhereItTakes, writer);
    if (copies.empty()) PackRows(cpu, product, *tile, writer);
  }
  TileLoops loops{.outer = root->others};
  std::vector<LoopRef>& outer = loops.outer;
  std::optional<LoopRef> row_tiles;
  if (root_tile.u) {
    const auto [tiles, row] =
        writer.Split(*root_tile.u, tile->rows, "_tile", "_row");
    writer.Do(Peel{tiles});
    row_tiles = tiles;
    loops.rows = row;
  }
  const VectorLoops vectors = SplitVectors(root_tile.v, *tile, writer);
  loops.vectors = vectors.vector;
  loops.lanes = vectors.lane;
  // Number of loops in `outer` that are outside of a block of the padded copy.
  size_t blocks = 0;
  if (block.axis >= 0) {
    for (int a = 0; a < block.axis; ++a) {
      if (axes[a]) outer.push_back(*axes[a]);
    }
    const auto [row_blocks, in_block] =
        writer.Split(*axes[block.axis], block.rows, "_block", "_in_block");
    outer.push_back(row_blocks);
    blocks = outer.size();
    axes[block.axis] = in_block;
  }
  vectors_inside &= blocks == 0;
  const int first = std::max(block.axis, 0);
  for (int a = first; a < static_cast<int>(axes.size()); ++a) {
    if (is_batch[a] && axes[a]) outer.push_back(*axes[a]);
  }
  if (!vectors_inside) outer.push_back(vectors.tile);
  for (int a = first; a < static_cast<int>(axes.size()); ++a) {
    if (a == tile->v || is_batch[a] || !axes[a]) continue;
    outer.push_back(a == tile->u ? *row_tiles : *axes[a]);
  }
  if (vectors_inside) outer.push_back(vectors.tile);
  if (group.root == product) loops.dot = dots.loop;
  OrderTile(*tile, loops, writer);
  // Indices of a fused loop are computed by divisions, which take as long as a
  // short tile. So if tiles are short, only as many loops are fused as give
  // each thread enough tasks.
  size_t fused = blocks > 0 ? blocks : outer.size();
  if (tile->writes_out_sum && blocks == 0)
    fused = LoopsOfTasks(cpu, writer, writer.NumberOf(group.root), fused);
  const LoopRef tasks = writer.FuseLoops(group.root, 0, fused, "tasks");
  LoopRef tiles = tasks;
  if (blocks > 0) {
    tiles = writer.FuseLoops(group.root, 1, outer.size() - blocks, "tiles");
  } else if (fused < outer.size()) {
    tiles = outer.back();
  }
  if (large) writer.Do(Parallel{tasks});
  for (size_t i = group.members.size(); i-- > 0;) {
    const StageRef& member = group.members[i];
    writer.Do(ComputeAt{.producer = member, .loop = tiles});
    ScheduleMember(group, member, root_tile,
                   member == product ? dots.loop : std::nullopt, writer);
  }
  for (const StageRef& copy : copies) {
    // The copy is attached to the loop over blocks, unless other stages read
    // it, too, so that this is refused.
    if (blocks > 0 && writer.Try(ComputeAt{.producer = copy, .loop = tasks}))
      continue;
    ScheduleTasks(cpu, copy, writer);
  }
  return writer.status().ok();
}

int64_t RowsOfProductInside(const jit::CpuModel& cpu, const StageShape& product,
                            const CommonAxes& common) {
  const std::optional<RegisterTile> tile =
      ChooseRegisterTile(cpu, product, common);
  return tile && tile->u >= 0 && tile->u == common.rows ? tile->rows : 1;
}

bool ScheduleProductInside(const jit::CpuModel& cpu, const StageRef& product,
                           const CommonAxes& common,
                           const std::vector<LoopRef>& fixed,
                           const std::optional<LoopRef>& rows,
                           ScheduleWriter& writer) {
  std::optional<RegisterTile> tile;
  {
    const StageShape shape(writer.computation(), writer.NumberOf(product));
    tile = ChooseRegisterTile(cpu, shape, common);
  }
  if (!tile || (tile->u >= 0 && tile->u != common.rows)) return false;
  PackOperands(cpu, product, *tile,
               tile->u >= 0 ? Packing::kAll : Packing::kWhereItTakes, writer);
  TileLoops loops{.outer = fixed};
  std::optional<LoopRef> parts;
  if (tile->u >= 0) {
    const auto [part, each] = writer.Split(*rows, tile->rows, "_part", "_each");
    parts = part;
    loops.rows = each;
  } else if (rows) {
    loops.outer.push_back(*rows);
  }
  const auto axis = [&](int a) {
    return LoopRef{product, writer.StageAt(product).axes[a].name};
  };
  const VectorLoops vectors = SplitVectors(axis(tile->v), *tile, writer);
  loops.vectors = vectors.vector;
  loops.lanes = vectors.lane;
  for (int a = 0; a < writer.StageAt(product).spatial_count; ++a) {
    if (!common.IsCommon(a))
      loops.outer.push_back(a == tile->v ? vectors.tile : axis(a));
  }
  // The loop over tiles along the vectors is outside the loop over tiles of
  // rows, so that all of these read the vectors' operand from the cache.
  if (parts) loops.outer.push_back(*parts);
  OrderTile(*tile, loops, writer);
  return writer.status().ok();
}

}  // namespace ember::schedule

// Schedules sums of products on register tiles (register_tile.h): matrix
// products of any form and convolutions.
#include "jit/schedule/cpu/product_rule.h"

#include <algorithm>
#include <optional>

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

// Says of which operands a product reads copies that are made for its tiles.
enum class Packing : uint8_t {
  // Operands that move along the vectors in steps of more than one element, and
  // constants.
  kWhereItTakes,
  // All operands that move along the vectors. A group of stages reads them
  // again for each block of rows, and each vector would be in another cache
  // line if vectors are far apart.
  kAll
};

// True if PackOperands copies the load's operand, unless that is refused.
bool IsPacked(const Computation& c, const StageShape& shape,
              const RegisterTile& tile, NodeId load, Packing packing) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return false;
  const Stride stride = shape.StrideOf(load, tile.v);
  // The sum is short, so it reads few vectors, which are near without a copy.
  // But copies are padded to whole vectors.
  const bool copies_constants =
      !tile.writes_out_sum ||
      shape.Extent(tile.v).value_or(1) % tile.lanes != 0;
  return stride == Stride::kOther ||
         (stride == Stride::kUnit &&
          ((c.buffers[node.buffer].is_constant && copies_constants) ||
           packing == Packing::kAll));
}

// Copies operands so that a tile's vectors are contiguous. The vectors of each
// point of a batch are together.
void PackOperands(const jit::CpuModel& cpu, const std::string& product,
                  const RegisterTile& tile, Packing packing,
                  ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  struct Candidate {
    uint32_t buffer;
    int dim;
    std::string type;  // type of the copy; empty: the buffer's type
    // numbers of the dims that axes of the results index
    std::vector<size_t> batch;
    std::vector<size_t> others;
  };
  std::vector<Candidate> candidates;
  {
    const StageShape shape(c, writer.StageOf(product));
    const NodeId axis = shape.stage().axes[tile.v].variable;
    for (NodeId load : shape.loads()) {
      if (!IsPacked(c, shape, tile, load, packing)) continue;
      const tensor::Node& node = c.pool[load];
      const auto dim =
          std::find(node.operands.begin(), node.operands.end(), axis);
      if (dim == node.operands.end()) continue;
      Candidate candidate{node.buffer,
                          static_cast<int>(dim - node.operands.begin()),
                          ReadsWideCopy(c, shape, tile, load) ? " f32" : "",
                          {},
                          {}};
      const size_t rank = c.buffers[node.buffer].extents.size();
      const auto& axes = shape.stage().axes;
      for (size_t d = 0; d < rank; ++d) {
        if (static_cast<int>(d) == candidate.dim) continue;
        const bool is_batch = std::any_of(
            axes.begin(), axes.begin() + shape.spatial_count(),
            [&](const auto& a) { return a.variable == node.operands[d]; });
        (is_batch ? candidate.batch : candidate.others).push_back(d);
      }
      candidates.push_back(std::move(candidate));
    }
  }
  for (const Candidate& candidate : candidates) {
    const ComputationBuffer& buffer = c.buffers[candidate.buffer];
    const std::string dim = std::to_string(candidate.dim);
    const std::string width = std::to_string(tile.width());
    std::string line = "pack %" + product + " %" + buffer.name + candidate.type;
    for (size_t d : candidate.batch) line += " " + std::to_string(d);
    line += " " + dim + "/" + width;
    for (size_t d : candidate.others) line += " " + std::to_string(d);
    const std::string copy = buffer.name + ".packed";
    const bool is_constant = buffer.is_constant;
    // The primitive is refused if two loads of the buffer differ. The tile then
    // reads the operand without a copy.
    if (!writer.Try(line + " " + dim + "%" + width + " -> " + copy)) continue;
    ScheduleLanes(cpu, copy, {}, writer);
    if (!is_constant) ScheduleTasks(cpu, copy, writer);
  }
}

// Copies padded operands, so that inner loops need no conditions, if the
// conditions cost more than the copy. Copies narrow operands that are read
// often in a wide type. Returns the names of the copies.
std::vector<std::string> CopyOperands(const jit::CpuModel& cpu,
                                      const std::string& product,
                                      const RegisterTile& tile,
                                      ScheduleWriter& writer) {
  struct Operand {
    std::string buffer;
    bool is_padded = false;
    bool is_wide = false;
    // order of the copy's dims; only for a constant, which is copied once
    std::string layout;
  };
  std::vector<Operand> operands;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    for (NodeId load : shape.loads()) {
      const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
      Operand operand{
          buffer.name,
          shape.IsPadded(load) && !AsksForPadding(cpu, shape, tile, load),
          !IsPacked(c, shape, tile, load, Packing::kWhereItTakes) &&
              ReadsWideCopy(c, shape, tile, load),
          ""};
      for (size_t d = 0; buffer.is_constant && d < buffer.extents.size(); ++d)
        operand.layout += " " + std::to_string(d);
      if (operand.is_padded || operand.is_wide) operands.push_back(operand);
    }
  }
  std::vector<std::string> copies;
  for (const Operand& operand : operands) {
    const std::string copy =
        operand.buffer + (operand.is_padded ? ".padded" : ".wide");
    const bool is_once = !operand.is_padded && !operand.layout.empty();
    if (!writer.Try((is_once ? "pack %" : "cache_read %") + product + " %" +
                    operand.buffer + (operand.is_wide ? " f32" : "") +
                    (is_once ? operand.layout : "") + " -> " + copy)) {
      continue;
    }
    ScheduleLanes(cpu, copy, {}, writer);
    if (!is_once) copies.push_back(copy);
  }
  return copies;
}

// Rows of results whose part of a padded copy is made together, so that it is
// still in the cache when it is read.
struct RowBlock {
  int axis = -1;  // the axis that is divided; -1: the whole copy fits the cache
  int64_t rows = 0;
};

// Returns how many of `extent` rows fit the room of `room` bytes, if the whole
// copy has `bytes` bytes.
int64_t RowsThatFit(int64_t extent, int64_t bytes, int64_t room,
                    int64_t least_blocks) {
  int64_t best = 0;
  for (int64_t rows = 1; rows <= extent; ++rows) {
    // Neighbouring blocks share about two rows of the copy.
    const bool fits = bytes / extent * (rows + 2) <= room;
    const bool exact = extent % rows == 0;
    if (fits && exact && (extent / rows >= least_blocks || best == 0))
      best = rows;
  }
  return best;
}

RowBlock RowBlockOf(const jit::CpuModel& cpu, const std::string& product,
                    const RegisterTile& tile,
                    const std::vector<std::string>& copies,
                    const ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.StageOf(product));
  const int64_t room = cpu.l2_bytes / 4;
  for (NodeId load : shape.loads()) {
    const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
    if (std::find(copies.begin(), copies.end(), buffer.name) == copies.end())
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

// True if the loop over tiles along the vectors' axis should be the inner one.
// Then one worker reads rows and writes results once, in the order of memory,
// and the worker that made the rows or will read the results is the same. But
// each tile of rows reads the whole operand of the vectors again, so that
// operand must stay in the cache.
bool VectorsInside(const jit::CpuModel& cpu, const StageShape& shape,
                   const RegisterTile& tile) {
  if (tile.u < 0) return false;
  int64_t operand = 0;  // bytes of the vectors' operand
  for (NodeId load : shape.loads()) {
    if (shape.StrideOf(load, tile.v) == Stride::kNone ||
        shape.StrideOf(load, tile.u) != Stride::kNone) {
      continue;
    }
    operand += shape.LikelyBytes(load, 0);
  }
  return operand <= cpu.l2_bytes / 4;
}

// Finds the spatial axes that move all operands, as batches and groups do. The
// loops over these axes go outside, because no operand is read again when they
// move on.
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

// Candidates for the number of steps of a sum that are unrolled in a tile, so
// that indices are computed once for all of them. The first number that divides
// the steps is used.
constexpr int64_t kStepsAtOnce[] = {4, 6, 5, 3, 2};

// Splits the innermost reduction of a sum, so that the inner loop can be
// unrolled. Returns the name of the inner loop. If the whole loop is short,
// returns its name without a split. Returns "" if no candidate divides the
// loop.
std::string SplitSteps(const std::string& product, const std::string& loop,
                       ScheduleWriter& writer) {
  const int stage = writer.StageOf(product);
  const StagePlan& plan = writer.schedule().plan(stage);
  const StageShape shape(writer.computation(), stage);
  const std::optional<int64_t> extent = plan.IterationsOf(
      plan.FindLoop(loop), [&](int axis) { return shape.Extent(axis); });
  if (!extent) return "";
  for (int64_t steps : kStepsAtOnce) {
    if (*extent == steps) return loop;
    if (*extent % steps != 0) continue;
    const std::string step = loop + "_step";
    writer.Do("split %" + product + " " + loop + " " + std::to_string(steps) +
              " -> " + loop + "_steps " + step);
    return step;
  }
  return "";
}

// Orders the loops of a member of the group in a tile; for the product, from
// its reductions on. dot: the reduction that is tensorized, or empty.
void OrderTile(const std::string& product, const RegisterTile& tile,
               const std::vector<std::string>& outer, const std::string& rows,
               const std::string& vectors, const std::string& lanes,
               const std::string& dot, ScheduleWriter& writer) {
  const int stage = writer.StageOf(product);
  const auto sums = [&] {
    std::vector<std::string> loops;
    const StagePlan& plan = writer.schedule().plan(stage);
    for (int loop : plan.order) {
      if (plan.loops[loop].is_reduction && plan.loops[loop].name != dot)
        loops.push_back(plan.loops[loop].name);
    }
    return loops;
  };
  std::vector<std::string> written_out = sums();
  if (!tile.writes_out_sum && !written_out.empty()) {
    const std::string step = SplitSteps(product, written_out.back(), writer);
    written_out.clear();
    if (!step.empty()) written_out.push_back(step);
  }
  std::vector<std::string> order = outer;
  const std::vector<std::string> steps = sums();
  order.insert(order.end(), steps.begin(), steps.end());
  if (tile.u >= 0) order.push_back(rows);
  order.push_back(vectors);
  order.push_back(lanes);
  if (!dot.empty()) order.push_back(dot);
  writer.Reorder(product, order);
  if (tile.u >= 0) writer.Do("unroll %" + product + " " + rows);
  writer.Do("unroll %" + product + " " + vectors);
  for (const std::string& loop : written_out)
    writer.Do("unroll %" + product + " " + loop);
  if (!dot.empty()) writer.Do("tensorize %" + product + " " + dot);
  writer.Do("vectorize %" + product + " " + lanes);
}

// Splits u into u_tile and u_row, and v into v_tile, v_vector and v_lane.
void SplitTile(const std::string& stage, const std::string& u,
               const std::string& v, const RegisterTile& tile,
               ScheduleWriter& writer) {
  const std::string at = " %" + stage + " ";
  if (tile.u >= 0) {
    writer.Do("split" + at + u + " " + std::to_string(tile.rows) + " -> " + u +
              "_tile " + u + "_row");
    writer.Do("peel" + at + u + "_tile");
  }
  writer.Do("split" + at + v + " " + std::to_string(tile.width()) + " -> " + v +
            "_tile " + v + "_rest");
  writer.Do("split" + at + v + "_rest " + std::to_string(tile.lanes) + " -> " +
            v + "_vector " + v + "_lane");
}

}  // namespace

bool ScheduleProduct(const jit::CpuModel& cpu, const StageGroup& group,
                     const std::string& product, ScheduleWriter& writer) {
  const int number = writer.StageOf(product);
  if (!StoresAreDistinct(writer.computation(), number)) return false;
  std::optional<RegisterTile> tile;
  bool large = false;
  // True if the extent of the axis along which the tile has rows is not
  // constant.
  bool is_open = false;
  bool is_open_vectors = false;
  bool vectors_inside = false;
  std::vector<bool> is_batch;
  std::optional<RootAxes> root = RootAxesOf(writer, group, product);
  if (!root) return false;
  // For each axis of the product, the name of the same axis in the root.
  std::vector<std::string>& axes = root->names;
  {
    const StageShape shape(writer.computation(), number);
    tile = ChooseRegisterTile(cpu, shape);
    if (!tile || axes[tile->v].empty() ||
        (tile->u >= 0 && axes[tile->u].empty())) {
      return false;
    }
    const auto lacks = [&](int axis) {
      return axis >= 0 &&
             std::ranges::any_of(group.members, [&](const std::string& member) {
               return AxisOfMember(writer, group, member, axes[axis]).empty();
             });
    };
    if (lacks(tile->u) || lacks(tile->v)) return false;
    large = IsWorthThreads(shape.LikelyPoints());
    is_open = tile->u >= 0 && !shape.Extent(tile->u);
    is_open_vectors = !shape.Extent(tile->v);
    vectors_inside = VectorsInside(cpu, shape, *tile);
    is_batch = BatchAxes(shape, *tile);
  }
  const Dots dots = PackForDots(cpu, product, *tile, writer);
  const std::string& dot = dots.loop;
  const std::vector<std::string> copies =
      dot.empty() ? CopyOperands(cpu, product, *tile, writer) : dots.copies;
  RowBlock block = RowBlockOf(cpu, product, *tile, copies, writer);
  if (block.axis >= 0 && axes[block.axis].empty()) block = {};
  if (dot.empty()) {
    PackOperands(cpu, product, *tile, Packing::kWhereItTakes, writer);
    if (copies.empty()) PackRows(cpu, product, *tile, writer);
  }
  const std::string u = tile->u >= 0 ? axes[tile->u] : "";
  const std::string v = axes[tile->v];
  SplitTile(group.root, u, v, *tile, writer);
  std::vector<std::string> outer = root->others;
  // Number of loops of `outer` that are outside of the loops over one block of
  // the copy.
  size_t blocks = 0;
  if (block.axis >= 0) {
    const std::string rows = axes[block.axis];
    for (int a = 0; a < block.axis; ++a) {
      if (!axes[a].empty()) outer.push_back(axes[a]);
    }
    outer.push_back(rows + "_block");
    blocks = outer.size();
    writer.Do("split %" + group.root + " " + rows + " " +
              std::to_string(block.rows) + " -> " + rows + "_block " + rows +
              "_in_block");
    axes[block.axis] = rows + "_in_block";
  }
  vectors_inside &= blocks == 0;
  const int first = std::max(block.axis, 0);
  for (int a = first; a < static_cast<int>(axes.size()); ++a) {
    if (is_batch[a] && !axes[a].empty()) outer.push_back(axes[a]);
  }
  if (!vectors_inside) outer.push_back(v + "_tile");
  for (int a = first; a < static_cast<int>(axes.size()); ++a) {
    if (a == tile->v || is_batch[a] || axes[a].empty()) continue;
    outer.push_back(a == tile->u ? u + "_tile" : axes[a]);
  }
  if (vectors_inside) outer.push_back(v + "_tile");
  if (group.root == product) {
    OrderTile(product, *tile, outer, u + "_row", v + "_vector", v + "_lane",
              dot, writer);
  } else {
    std::vector<std::string> order = outer;
    if (tile->u >= 0) order.push_back(u + "_row");
    order.push_back(v + "_vector");
    order.push_back(v + "_lane");
    writer.Reorder(group.root, order);
    if (tile->u >= 0) writer.Do("unroll %" + group.root + " " + u + "_row");
    writer.Do("unroll %" + group.root + " " + v + "_vector");
    writer.Do("vectorize %" + group.root + " " + v + "_lane");
  }
  // The indices of fused loops are divisions, which take as long as a short
  // tile. So for short tiles only as many loops are fused as make enough tasks.
  size_t fused = blocks > 0 ? blocks : outer.size();
  if (tile->writes_out_sum && blocks == 0)
    fused = LoopsOfTasks(cpu, writer, writer.StageOf(group.root), fused);
  const std::string tasks = writer.FuseLoops(group.root, 0, fused, "tasks");
  std::string tiles = tasks;
  if (blocks > 0) {
    tiles = writer.FuseLoops(group.root, 1, outer.size() - blocks, "tiles");
  } else if (fused < outer.size()) {
    tiles = outer.back();
  }
  if (large) writer.Do("parallel %" + group.root + " " + tasks);
  for (size_t i = group.members.size(); i-- > 0;) {
    const std::string& member = group.members[i];
    writer.Do("compute_at %" + member + " %" + group.root + " " + tiles);
    // In a tile the loops of the member are over the member's own axes, not
    // over the root's.
    std::string member_u = AxisOfMember(writer, group, member, u);
    std::string member_v = AxisOfMember(writer, group, member, v);
    std::vector<std::string> others;
    const ComputationStage& stage =
        writer.computation().stages[writer.StageOf(member)];
    for (int a = 0; a < stage.spatial_count; ++a) {
      const std::string& own = stage.axes[a].name;
      if (own != member_u && own != member_v) others.push_back(own);
    }
    // Inside the loop over tiles the member's extent is that of a tile, but
    // that is known only after lowering.
    if (is_open_vectors) {
      writer.Do("split %" + member + " " + member_v + " " +
                std::to_string(tile->width()) + " -> " + member_v + "_tile " +
                member_v + "_rest");
      others.push_back(member_v + "_tile");
      member_v += "_rest";
    }
    if (is_open) {
      writer.Do("split %" + member + " " + member_u + " " +
                std::to_string(tile->rows) + " -> " + member_u + "_tile " +
                member_u + "_row");
      others.push_back(member_u + "_tile");
      member_u += "_row";
    }
    writer.Do("split %" + member + " " + member_v + " " +
              std::to_string(tile->lanes) + " -> " + member_v + "_vector " +
              member_v + "_lane");
    OrderTile(member, *tile, others, member_u, member_v + "_vector",
              member_v + "_lane", member == product ? dot : "", writer);
  }
  for (const std::string& copy : copies) {
    // The primitive is refused if other stages also read the copy.
    if (blocks > 0 &&
        writer.Try("compute_at %" + copy + " %" + group.root + " " + tasks)) {
      continue;
    }
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

bool ScheduleProductInside(const jit::CpuModel& cpu, const std::string& product,
                           const CommonAxes& common,
                           const std::vector<std::string>& fixed,
                           const std::string& rows, ScheduleWriter& writer) {
  std::optional<RegisterTile> tile;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    tile = ChooseRegisterTile(cpu, shape, common);
  }
  if (!tile || (tile->u >= 0 && tile->u != common.rows)) return false;
  PackOperands(cpu, product, *tile,
               tile->u >= 0 ? Packing::kAll : Packing::kWhereItTakes, writer);
  const auto& stage = writer.computation().stages[writer.StageOf(product)];
  const std::string v = stage.axes[tile->v].name;
  std::vector<std::string> outer = fixed;
  if (tile->u < 0 && !rows.empty()) outer.push_back(rows);
  for (int a = 0; a < stage.spatial_count; ++a) {
    if (!common.IsCommon(a))
      outer.push_back(a == tile->v ? v + "_tile" : stage.axes[a].name);
  }
  const std::string at = " %" + product + " ";
  if (tile->u >= 0) {
    // All tiles of rows read the vectors' operand from the cache.
    writer.Do("split" + at + rows + " " + std::to_string(tile->rows) + " -> " +
              rows + "_part " + rows + "_each");
    outer.push_back(rows + "_part");
  }
  writer.Do("split" + at + v + " " + std::to_string(tile->width()) + " -> " +
            v + "_tile " + v + "_rest");
  writer.Do("split" + at + v + "_rest " + std::to_string(tile->lanes) + " -> " +
            v + "_vector " + v + "_lane");
  OrderTile(product, *tile, outer, rows + "_each", v + "_vector", v + "_lane",
            "", writer);
  return writer.status().ok();
}

}  // namespace ember::schedule

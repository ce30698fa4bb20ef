
#include "jit/schedule/cpu/pack_rows_rule.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// Addresses that are a multiple of this number of bytes apart share a set of
// the first-level cache.
constexpr int64_t kAliasBytes = 4096;
constexpr int64_t kLineBytes = 64;
// Smallest number of results along the vectors for which a copy saves time: its
// cost per result is then a few percent of what it saves. kResultsOfAliased:
// for rows that share a cache set. kResultsOfTransposed: for rows that are
// columns of memory.
constexpr int64_t kResultsOfAliased = 512;
constexpr int64_t kResultsOfTransposed = 128;

struct Layout {
  size_t row_dim = 0;
  // numbers of the dims that are indexed by axes of the results other than the
  // rows
  std::vector<size_t> batch;
  std::vector<size_t> steps;  // numbers of the dims that are indexed by
                              // reduction axes
};

// Returns which dims of the load's buffer are rows, batch and steps; nullopt if
// some index is neither a single axis nor 0, or if there are no rows, several
// dims of rows or no steps.
std::optional<Layout> LayoutOf(const Computation& c, const StageShape& shape,
                               const RegisterTile& tile, NodeId load) {
  const tensor::Node& node = c.pool[load];
  Layout layout;
  bool has_rows = false;
  for (size_t d = 0; d < c.buffers[node.buffer].extents.size(); ++d) {
    int axis = -1;
    for (int a = 0; a < shape.axis_count(); ++a) {
      if (shape.stage().axes[a].variable == node.operands[d]) axis = a;
    }
    if (axis < 0 && c.pool.IntegerConstant(node.operands[d]) != 0)
      return std::nullopt;
    if (axis == tile.u) {
      if (std::exchange(has_rows, true)) return std::nullopt;
      layout.row_dim = d;
    } else {
      const bool is_batch = axis < shape.spatial_count();
      (is_batch ? layout.batch : layout.steps).push_back(d);
    }
  }
  if (!has_rows || layout.steps.empty()) return std::nullopt;
  return layout;
}

// Returns the dims of the copy, in which each tile of `rows` rows is
// contiguous.
std::vector<LayoutDim> DimsOfCopy(const Layout& layout, int64_t rows) {
  using enum LayoutDim::Part;
  std::vector<LayoutDim> dims;
  for (size_t d : layout.batch) dims.push_back({.dim = d});
  dims.push_back({layout.row_dim, kQuotient, rows});
  for (size_t d : layout.steps) dims.push_back({.dim = d});
  dims.push_back({layout.row_dim, kRemainder, rows});
  return dims;
}

// True if copying the operand saves more time than it takes.
bool Pays(const jit::CpuModel& cpu, const StageShape& shape,
          const RegisterTile& tile, NodeId load, const Layout& layout) {
  const LoadWalk walk = shape.WalkOf(load);
  int64_t results = shape.LikelyExtent(tile.v);
  std::vector<int64_t> bytes(
      walk.dims.size());  // distance in bytes of neighbours along each dim
  int64_t size = shape.BytesOf(load);
  for (size_t d = walk.dims.size(); d-- > 0;) {
    bytes[d] = size;
    size *= std::max<int64_t>(walk.dims[d], 1);
  }
  int64_t steps = 1;
  for (size_t d : layout.steps) steps *= walk.dims[d];
  const int64_t step = bytes[layout.steps.back()];
  const int64_t row = bytes[layout.row_dim];
  if (row < step) {
    return step >= kLineBytes && steps * kLineBytes > cpu.l1_bytes &&
           results >= kResultsOfTransposed;
  }
  return row % kAliasBytes == 0 && steps * step >= kAliasBytes &&
         results >= kResultsOfAliased;
}

}  // namespace

void PackRows(const jit::CpuModel& cpu, const StageRef& product,
              const RegisterTile& tile, ScheduleWriter& writer) {
  std::vector<Pack> packs;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.NumberOf(product));
    if (tile.u < 0 || tile.rows < 2 || tile.writes_out_sum ||
        shape.Extent(tile.u).value_or(0) < 2 * tile.rows) {
      return;
    }
    for (NodeId load : shape.loads()) {
      const tensor::Node& node = c.pool[load];
      const ComputationBuffer& buffer = c.buffers[node.buffer];
      if (node.opcode != Opcode::kLoad || buffer.role != BufferRole::kInput ||
          shape.StrideOf(load, tile.v) != Stride::kNone) {
        continue;
      }
      const std::optional<Layout> layout = LayoutOf(c, shape, tile, load);
      if (!layout || !Pays(cpu, shape, tile, load, *layout)) continue;
      packs.push_back({.reader = product,
                       .buffer = {buffer.name},
                       .layout = DimsOfCopy(*layout, tile.rows),
                       .copy = buffer.name + ".rows"});
    }
  }
  for (const Pack& pack : packs) {
    // Pack is refused if the product has different loads of the buffer. The
    // tile then reads the operand without a copy.
    if (!writer.Try(pack)) continue;
    const StageRef copy{pack.copy};
    writer.Do(Unroll{writer.LoopsOf(copy).back()});
    ScheduleTasks(cpu, copy, writer);
  }
}

}  // namespace ember::schedule

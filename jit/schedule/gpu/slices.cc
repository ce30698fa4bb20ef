
#include "jit/schedule/gpu/slices.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"

namespace ember::schedule {

namespace {

constexpr int64_t kBytesOfWord = 4;
// Largest value of a term of an index that is not an axis.
// jit/schedule/core/regions.cc uses the same limit.
constexpr int64_t kLargestDigit = int64_t{1} << 20;

}  // namespace

std::string NameOfSlice(const Computation& c, const StageRef& product,
                        const BufferRef& buffer) {
  const std::string name = buffer.name + ".slice";
  return c.FindBuffer(name) < 0 ? name : product.name + "." + name;
}

void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer) {
  const bool are_words = std::ranges::all_of(copies, [](const SliceCopy& copy) {
    return copy.bytes_at_once >= kBytesOfWord;
  });
  Schedule trial = writer.schedule();
  for (const SliceCopy& copy : copies) {
    const bool is_async = copy.slots != 0 && are_words;
    const bool by_registers = copy.by_registers && !is_async;
    LoadAhead how;
    if (is_async) {
      how = {.buffering = Buffering::kAsync,
             .slots = copy.slots,
             .is_late = copy.is_late,
             .has_spare = copy.has_spare};
    }
    if (copy.is_constant && (is_async || by_registers)) {
      const Status unrolled = Apply(Unroll{copy.rounds}, trial);
      // A copy through registers requires that the loop is unrolled. An
      // asynchronous copy only becomes faster by it.
      if (by_registers && !unrolled.ok()) return;
      if (by_registers) how.buffering = Buffering::kDoubleByRegisters;
    }
    const DoubleBuffer buffered{.stage = copy.stage, .how = how};
    if (!Apply(buffered, trial).ok()) return;
  }
  writer.Replace(std::move(trial));
}

int64_t IterationsAroundSlices(const StageShape& shape, int axis_of_slices) {
  int64_t iterations = 1;
  for (int a = shape.spatial_count(); a < shape.axis_count(); ++a) {
    if (a != axis_of_slices) iterations *= shape.Extent(a).value_or(0);
  }
  return std::max<int64_t>(iterations, 1);
}

std::optional<RowOfLoad> RowOf(const Computation& c,
                               const ComputationStage& stage, NodeId load) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  if (extents.empty()) return std::nullopt;
  const auto sum = tensor::Linearize(c.pool, node.operands[extents.size() - 1]);
  if (!sum) return std::nullopt;
  RowOfLoad row;
  row.start = sum->constant;
  bool has_axis = false, is_known = true;
  int64_t least = sum->constant, most = sum->constant;
  for (const tensor::LinearTerm& term : sum->terms) {
    const auto axis =
        std::ranges::find(stage.axes, term.node, &ComputationAxis::variable);
    const bool is_axis = axis != stage.axes.end();
    // A term need not be an axis: it may be, for instance, the begin of a piece
    // of a stream-K range.
    const tensor::Interval range = c.pool[term.node].range;
    if (!is_axis && (term.coefficient == 1 || range.low < 0 ||
                     range.high > kLargestDigit)) {
      return std::nullopt;
    }
    const auto extent = is_axis ? c.pool.IntegerConstant(axis->extent)
                                : std::optional(range.high + 1);
    is_known &= extent.has_value();
    if (extent) {
      (term.coefficient < 0 ? least : most) += term.coefficient * (*extent - 1);
    }
    if (term.coefficient != 1) {
      row.start = std::gcd(row.start, term.coefficient);
      continue;
    }
    if (has_axis) return std::nullopt;
    has_axis = true;
    row.axis = static_cast<size_t>(axis - stage.axes.begin());
  }
  if (!has_axis) return std::nullopt;
  for (const tensor::LinearTerm& term : sum->terms) {
    const NodeId variable = stage.axes[row.axis].variable;
    if (term.node != variable &&
        tensor::DependsOn(c.pool, term.node, variable)) {
      return std::nullopt;
    }
  }
  const auto size = c.pool.IntegerConstant(extents.back());
  row.is_inside = is_known && size && least >= 0 && most < *size;
  return row;
}

std::vector<size_t> DimsByLines(const Computation& c,
                                const ComputationStage& stage, NodeId load,
                                int lines, int rows) {
  const tensor::Node& node = c.pool[load];
  const size_t rank = c.buffers[node.buffer].extents.size();
  const auto dim_of = [&](int axis) {
    const NodeId variable = stage.axes[static_cast<size_t>(axis)].variable;
    std::optional<size_t> dim;
    for (size_t d = 0; d < rank; ++d) {
      if (!tensor::DependsOn(c.pool, node.operands[d], variable)) continue;
      if (dim) return std::optional<size_t>();
      dim = d;
    }
    return dim;
  };
  const auto line = dim_of(lines), row = dim_of(rows);
  if (!line || !row) return {};
  std::vector<size_t> order;
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (d != *line && d != *row) order.push_back(d);
  }
  order.insert(order.end(), {*line, *row, rank - 1});
  // No dims are returned if two of the axes index the same dim, or if the order
  // would not change.
  if (order.size() != rank || std::ranges::is_sorted(order)) return {};
  return order;
}

bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto sum = tensor::Linearize(c.pool, node.operands[d]);
    if (!sum || !c.pool.IsConstant(extents[d])) return false;
    for (const tensor::LinearTerm& term : sum->terms) {
      const bool is_axis = std::ranges::any_of(
          stage.axes, [&](const auto& a) { return a.variable == term.node; });
      const tensor::Interval range = c.pool[term.node].range;
      if (!is_axis && (range.low < 0 || range.high > kLargestDigit))
        return false;
    }
  }
  return true;
}

bool IsReadInPlace(const Computation& c, const StageRef& product) {
  const int number = c.FindStage(product.name);
  bool in_place = true;
  for (int reader : ConsumersOf(c, number)) {
    const ComputationStage& stage = c.stages[reader];
    ForEachLoad(c.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = c.pool[load];
      if (node.buffer != c.stages[number].stores[0].buffer) return;
      const size_t dims = c.stages[number].stores[0].indices.size();
      in_place &= dims <= stage.axes.size();
      for (size_t d = 0; in_place && d < dims; ++d) {
        const NodeId axis = stage.axes[d].variable;
        // The index of an axis with one point may be written as 0.
        in_place &= node.operands[d] == axis ||
                    c.pool.IntegerConstant(c.pool[axis].operands[0]) == 1;
      }
    });
  }
  return in_place;
}

}  // namespace ember::schedule

#include "jit/schedule/gpu/matrix_packing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "jit/schedule/gpu/points.h"
#include "jit/target/matrix_instructions.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Number of bytes that an invocation of the packing stage stores at once.
constexpr int64_t kStoredBytes = 4;

// Returns the dim of the factor whose index depends on the variable. Returns
// nullopt if none or several do, or if it is the last dim, which needs no
// packing.
std::optional<size_t> DimToMove(const Computation& c, NodeId load,
                                NodeId variable) {
  const tensor::Node& node = c.pool[load];
  std::optional<size_t> dim;
  const size_t rank = c.buffers[node.buffer].extents.size();
  for (size_t d = 0; d < rank; ++d) {
    if (!tensor::DependsOn(c.pool, node.operands[d], variable)) continue;
    if (dim) return std::nullopt;
    dim = d;
  }
  if (!dim || *dim + 1 == rank) return std::nullopt;
  return dim;
}

struct Packing {
  BufferRef buffer;
  std::vector<LayoutDim> layout;  // the buffer's dims, in the order that they
                                  // have in the copy
  int64_t lanes = 1;  // number of neighbouring elements that an invocation
                      // stores at once
};

std::optional<Packing> PackingOf(const Computation& c, NodeId load,
                                 NodeId variable) {
  const tensor::Node& node = c.pool[load];
  const ComputationBuffer& buffer = c.buffers[node.buffer];
  const bool is_constant =
      buffer.is_constant &&
      std::ranges::all_of(buffer.extents, [&](NodeId extent) {
        return c.pool.IntegerConstant(extent).has_value();
      });
  if (node.opcode != tensor::Opcode::kLoad || !is_constant ||
      jit::TransposesMatricesOf(node.type)) {
    return std::nullopt;
  }
  const std::optional<size_t> dim = DimToMove(c, load, variable);
  if (!dim) return std::nullopt;
  Packing packing = {.buffer = {buffer.name}, .layout = {}, .lanes = 1};
  for (size_t d = 0; d < buffer.extents.size(); ++d) {
    if (d != *dim) packing.layout.push_back({.dim = d});
  }
  packing.layout.push_back({.dim = *dim});
  const int64_t lanes = kStoredBytes / DTypeByteSize(node.type);
  if (*c.pool.IntegerConstant(buffer.extents[*dim]) % lanes == 0)
    packing.lanes = lanes;
  return packing;
}

}  // namespace

void PackConstantsForMatrices(const jit::GpuModel& gpu, const StageRef& product,
                              int steps, std::set<StageRef>& done,
                              ScheduleWriter& writer) {
  std::vector<Packing> packings;
  {
    const Computation& c = writer.computation();
    const ComputationStage& stage = writer.StageAt(product);
    const NodeId variable = stage.axes[static_cast<size_t>(steps)].variable;
    ForEachLoad(c.pool, stage.values, [&](NodeId load) {
      const auto packing = PackingOf(c, load, variable);
      if (packing) packings.push_back(*packing);
    });
  }
  for (const Packing& packing : packings) {
    const StageRef copy{packing.buffer.name + ".packed"};
    if (!writer.Try(Pack{.reader = product,
                         .buffer = packing.buffer,
                         .layout = packing.layout,
                         .copy = copy.name})) {
      continue;
    }
    SchedulePoints(gpu, copy, packing.lanes, writer);
    done.insert(copy);
  }
}

}  // namespace ember::schedule

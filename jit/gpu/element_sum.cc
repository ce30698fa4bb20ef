#include "jit/gpu/element_sum.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ember::jit::gpu {

using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::NodeId;

LinearSum ElementSum(tensor::ExpressionPool& pool,
                     std::span<const NodeId> extents,
                     std::span<const NodeId> indices) {
  LinearSum sum;
  // The distance, in elements, between neighbours along the dim is `constant`
  // times `open`, the product of the extents that are not constant.
  int64_t constant = 1;
  std::optional<NodeId> open;
  const auto times = [&](NodeId a, NodeId b) {
    const NodeId factors[] = {a, b};
    return pool.Intern(tensor::Opcode::kMultiply, DType::kI64, factors);
  };
  for (size_t dim = indices.size(); dim-- > 0;) {
    LinearSum index = tensor::Linearize(pool, indices[dim], /*by_ranges=*/false)
                          .value_or(LinearSum{{{indices[dim], 1}}, 0});
    if (open) {
      for (LinearTerm& term : index.terms) term.node = times(term.node, *open);
      if (index.constant != 0) index.terms.push_back({*open, index.constant});
      index.constant = 0;
    }
    tensor::AddLinear(sum, index, constant);
    if (const auto known = pool.IntegerConstant(extents[dim])) {
      constant = static_cast<int64_t>(static_cast<uint64_t>(constant) *
                                      static_cast<uint64_t>(*known));
    } else {
      open = open ? times(*open, extents[dim]) : extents[dim];
    }
  }
  return sum;
}

}  // namespace ember::jit::gpu

#include "jit/gpu/vector_access.h"

#include <algorithm>

#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using tensor::LinearSum;
using tensor::LinearTerm;

std::optional<VectorAccess> FindVector(
    const tensor::ExpressionPool& pool, const LinearSum& element,
    VectorLimits limits, const std::function<bool(loops::NodeId)>& is_known) {
  VectorAccess access;
  for (const LinearTerm& term : element.terms) {
    if (term.coefficient != 1 || !is_known(term.node)) continue;
    const auto values =
        pool.IntegerConstant(loops::ExtentOf(pool, term.node)).value_or(1);
    const int64_t width =
        std::min<int64_t>(loops::PowerOfTwoIn(values), limits.most);
    if (width <= access.width) continue;
    access.width = static_cast<uint32_t>(width);
    access.variable = term.node;
  }
  if (access.width < std::max(limits.least, 2u)) return std::nullopt;
  access.is_whole = element.constant % access.width == 0;
  for (const LinearTerm& term : element.terms) {
    const int64_t factor = loops::PowerOfTwoIn(term.coefficient);
    if (is_known(term.node)) {
      access.is_whole &= term.node == access.variable || factor >= access.width;
      continue;
    }
    // The product of the two divisors cannot overflow, because each is at most
    // 2^30.
    if (factor * loops::DivisorOf(pool, term.node) < access.width)
      return std::nullopt;
    // The vector is shared only if its position does not change with the
    // variable. Otherwise each of the variable's values is in another vector.
    if (tensor::DependsOn(pool, term.node, access.variable))
      return std::nullopt;
  }
  return access;
}

}  // namespace ember::jit::gpu

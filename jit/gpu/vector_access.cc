#include "jit/gpu/vector_access.h"

#include <algorithm>
#include <bit>

#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using tensor::LinearSum;
using tensor::LinearTerm;

std::optional<VectorAccess> FindVector(
    const tensor::ExpressionPool& pool, const LinearSum& element,
    VectorLimits limits,
    const std::function<std::optional<int64_t>(loops::NodeId)>& value_of) {
  if (limits.most < 2) return std::nullopt;
  VectorAccess access;
  LinearSum rest;
  int64_t constant = element.constant;
  int64_t own = 0;  // value of access.variable for this element
  for (const LinearTerm& term : element.terms) {
    const std::optional<int64_t> value = value_of(term.node);
    if (!value) {
      rest.terms.push_back(term);
      continue;
    }
    constant =
        static_cast<int64_t>(static_cast<uint64_t>(constant) +
                             static_cast<uint64_t>(*value) *
                                 static_cast<uint64_t>(term.coefficient));
    if (term.coefficient != 1) continue;
    const auto values =
        pool.IntegerConstant(loops::ExtentOf(pool, term.node)).value_or(1);
    const int64_t width =
        std::min<int64_t>(loops::PowerOfTwoIn(values), limits.most);
    if (width <= access.width) continue;
    access.width = static_cast<uint32_t>(width);
    access.variable = term.node;
    own = *value;
  }
  if (access.width < std::max(limits.least, 2u)) return std::nullopt;
  bool divides = true;
  for (const LinearTerm& term : rest.terms) {
    const int64_t factor = loops::PowerOfTwoIn(term.coefficient);
    divides &= factor >= access.width;
    // The product cannot overflow, because each factor is at most 2^30.
    if (factor * loops::DivisorOf(pool, term.node) < access.width)
      return std::nullopt;
  }
  access.lane = static_cast<uint32_t>(constant) & (access.width - 1);
  access.is_whole = static_cast<uint32_t>(own) % access.width == access.lane;
  rest.constant = constant - access.lane;
  const auto width = static_cast<int64_t>(access.width);
  if (divides) {
    for (LinearTerm& term : rest.terms) term.coefficient /= width;
    rest.constant /= width;
  } else {
    access.shift = static_cast<uint32_t>(std::countr_zero(access.width));
  }
  access.number = std::move(rest);
  return access;
}

}  // namespace ember::jit::gpu

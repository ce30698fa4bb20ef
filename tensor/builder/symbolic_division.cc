#include "tensor/builder/symbolic_division.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "tensor/builder/linear.h"
#include "tensor/range_rules.h"

namespace ember::tensor {
namespace {

constexpr size_t kMaxFactors = 16;
constexpr Interval kIndexRange{-kMaxExtent, kMaxExtent};

// A monomial: a coefficient times a product of nodes. The nodes (`factors`) are
// sorted and are no constants.
struct Monomial {
  int64_t coefficient = 1;
  std::vector<NodeId> factors;

  bool IsOne() const { return coefficient == 1 && factors.empty(); }
  bool operator==(const Monomial&) const = default;
};

// A polynomial: a sum of monomials. A constant term is a monomial without
// factors.
using Polynomial = std::vector<Monomial>;

bool Multiply(Monomial& product, int64_t coefficient) {
  const std::optional<int64_t> result =
      CheckedMultiply(product.coefficient, coefficient);
  if (result) product.coefficient = *result;
  return result.has_value();
}

bool AddFactors(const ExpressionPool& pool, NodeId node, Monomial& product) {
  if (product.factors.size() > kMaxFactors) return false;
  if (const std::optional<int64_t> constant = pool.IntegerConstant(node)) {
    return Multiply(product, *constant);
  }
  if (pool[node].opcode == Opcode::kMultiply) {
    return AddFactors(pool, pool[node].operands[0], product) &&
           AddFactors(pool, pool[node].operands[1], product);
  }
  product.factors.push_back(node);
  return true;
}

std::optional<Monomial> MonomialOf(const ExpressionPool& pool, NodeId node,
                                   int64_t coefficient) {
  Monomial product{coefficient, {}};
  if (!AddFactors(pool, node, product)) return std::nullopt;
  std::sort(product.factors.begin(), product.factors.end());
  return product;
}

std::optional<Monomial> Product(const Monomial& a, const Monomial& b) {
  Monomial product = a;
  if (!Multiply(product, b.coefficient)) return std::nullopt;
  product.factors.insert(product.factors.end(), b.factors.begin(),
                         b.factors.end());
  std::sort(product.factors.begin(), product.factors.end());
  return product;
}

std::optional<Monomial> Quotient(const Monomial& a, const Monomial& b) {
  if (b.coefficient <= 0 || a.coefficient % b.coefficient != 0)
    return std::nullopt;
  if (!std::includes(a.factors.begin(), a.factors.end(), b.factors.begin(),
                     b.factors.end())) {
    return std::nullopt;
  }
  Monomial quotient{a.coefficient / b.coefficient, {}};
  std::set_difference(a.factors.begin(), a.factors.end(), b.factors.begin(),
                      b.factors.end(), std::back_inserter(quotient.factors));
  return quotient;
}

// Returns an upper limit of the factor (its largest value plus 1) if its
// smallest value is 0. Returns nullopt otherwise, or if no limit is known.
std::optional<Monomial> LimitOf(const ExpressionPool& pool, NodeId factor) {
  const Node& node = pool[factor];
  if (node.opcode == Opcode::kAxis)
    return MonomialOf(pool, node.operands[0], 1);
  if (node.range.low != 0 || node.range.high >= kMaxExtent) return std::nullopt;
  return Monomial{node.range.high + 1, {}};
}

// True if 0 <= sum < limit is proved, by reading the sum as a number in mixed
// radix: one term is digit * place with digit < digit_limit, digit_limit *
// place is the limit, and the remaining terms are below `place`. Extents count
// as positive, because an axis with extent 0 has no values.
bool IsBelow(const ExpressionPool& pool, const Polynomial& sum,
             const Monomial& limit) {
  if (sum.empty()) return limit.IsOne();
  for (size_t i = 0; i < sum.size(); ++i) {
    if (sum[i].coefficient <= 0) return false;
    for (const NodeId digit : sum[i].factors) {
      const std::optional<Monomial> place =
          Quotient(sum[i], Monomial{1, {digit}});
      const std::optional<Monomial> digit_limit = LimitOf(pool, digit);
      if (!place || !digit_limit || Product(*place, *digit_limit) != limit)
        continue;
      Polynomial rest = sum;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      // If no terms remain, their sum is 0, which is below `place` if that is a
      // positive constant.
      if (rest.empty() && place->factors.empty()) return true;
      if (IsBelow(pool, rest, *place)) return true;
    }
  }
  return false;
}

LinearSum ToLinear(ExpressionPool& pool, const Polynomial& sum) {
  LinearSum linear;
  for (const Monomial& term : sum) {
    if (term.factors.empty()) {
      linear.constant += term.coefficient;
      continue;
    }
    NodeId node = term.factors[0];
    for (size_t i = 1; i < term.factors.size(); ++i) {
      const NodeId operands[] = {node, term.factors[i]};
      node = pool.Intern(Opcode::kMultiply, DType::kI64, operands);
    }
    // The node may be a sum, if that is the only factor left of a product;
    // Linearize splits it into its terms. A product of several factors stays
    // one term.
    if (const std::optional<LinearSum> inner = Linearize(pool, node)) {
      AddLinear(linear, *inner, term.coefficient);
    } else {
      AddLinear(linear, {{{node, 1}}, 0}, term.coefficient);
    }
  }
  return linear;
}

std::optional<Polynomial> PolynomialOf(const ExpressionPool& pool,
                                       NodeId node) {
  const std::optional<LinearSum> linear = Linearize(pool, node);
  if (!linear) return std::nullopt;
  Polynomial sum;
  for (const LinearTerm& term : linear->terms) {
    const std::optional<Monomial> monomial =
        MonomialOf(pool, term.node, term.coefficient);
    if (!monomial) return std::nullopt;
    sum.push_back(*monomial);
  }
  if (linear->constant != 0) sum.push_back({linear->constant, {}});
  return sum;
}

bool IsIndexLike(const ExpressionPool& pool, const Monomial& product) {
  return std::all_of(
      product.factors.begin(), product.factors.end(),
      [&](NodeId factor) { return pool[factor].range.Within(kIndexRange); });
}

}  // namespace

bool IsIndexLike(const ExpressionPool& pool, NodeId node) {
  const std::optional<Monomial> product = MonomialOf(pool, node, 1);
  return product && IsIndexLike(pool, *product);
}

std::optional<QuotientAndRemainder> DivideSymbolically(ExpressionPool& pool,
                                                       NodeId x,
                                                       NodeId divisor) {
  const std::optional<Monomial> limit = MonomialOf(pool, divisor, 1);
  const std::optional<Polynomial> sum = PolynomialOf(pool, x);
  if (!limit || !sum || limit->factors.empty()) return std::nullopt;
  Polynomial quotient, remainder;
  for (const Monomial& term : *sum) {
    if (!term.factors.empty() && !IsIndexLike(pool, term)) return std::nullopt;
    const std::optional<Monomial> multiple = Quotient(term, *limit);
    if (multiple) {
      quotient.push_back(*multiple);
    } else {
      remainder.push_back(term);
    }
  }
  // A remainder of 0 is not proved to be below the divisor, because the divisor
  // might be 0.
  if (remainder.empty() || !IsBelow(pool, remainder, *limit))
    return std::nullopt;
  return QuotientAndRemainder{BuildLinear(pool, ToLinear(pool, quotient)),
                              BuildLinear(pool, ToLinear(pool, remainder))};
}

}  // namespace ember::tensor

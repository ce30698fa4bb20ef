#include "tensor/builder/linear.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "tensor/builder/symbolic_division.h"
#include "tensor/semantics.h"

namespace ember::tensor {
namespace {

using semantics::Add;
using semantics::Multiply;
using semantics::Negate;

// Largest number of terms of a sum that is simplified. Longer sums are left
// unchanged, so that the work per instruction is bounded.
constexpr size_t kMaxTerms = 24;

void AddTerm(LinearSum& sum, NodeId node, int64_t coefficient) {
  auto it =
      std::find_if(sum.terms.begin(), sum.terms.end(),
                   [&](const LinearTerm& term) { return term.node == node; });
  if (it == sum.terms.end()) {
    if (coefficient != 0) sum.terms.push_back({node, coefficient});
    return;
  }
  it->coefficient = Add(it->coefficient, coefficient);
  if (it->coefficient == 0) sum.terms.erase(it);
}

// Collects the terms of a sum. The depth of recursion is bounded for sums in
// canonical form, which are left-deep chains of few terms. For other
// expressions, which may share nodes, the number of steps is bounded.
class Collector {
 public:
  Collector(const ExpressionPool& pool, bool by_ranges, LinearSum& sum)
      : pool_(pool), by_ranges_(by_ranges), sum_(sum) {}

  // Adds scale * node to the sum. Returns false if the sum gets too long, the
  // expression is too deep or there are too many steps.
  bool Collect(NodeId id, int64_t scale, int depth) {
    const Node& node = pool_[id];
    if (depth > 2 * static_cast<int>(kMaxTerms) ||
        sum_.terms.size() > kMaxTerms || ++steps_ > kMaxSteps) {
      return false;
    }
    if (const std::optional<int64_t> constant = pool_.IntegerConstant(id)) {
      sum_.constant = Add(sum_.constant, Multiply(scale, *constant));
      return true;
    }
    const auto collect = [&](size_t operand, int64_t factor) {
      return Collect(node.operands[operand], factor, depth + 1);
    };
    switch (node.opcode) {
      case Opcode::kAdd:
        return collect(0, scale) && collect(1, scale);
      case Opcode::kSubtract:
        return collect(0, scale) && collect(1, Negate(scale));
      case Opcode::kNegate:
        return collect(0, Negate(scale));
      case Opcode::kMultiply:
        if (const std::optional<int64_t> factor =
                pool_.IntegerConstant(node.operands[1])) {
          return collect(0, Multiply(scale, *factor));
        }
        break;
      default:
        break;
    }
    // A node that can only have one value, such as an axis of extent 1, becomes
    // a constant.
    if (by_ranges_ && node.range.IsConstant()) {
      sum_.constant = Add(sum_.constant, Multiply(scale, node.range.low));
    } else {
      AddTerm(sum_, id, scale);
    }
    return true;
  }

 private:
  static constexpr int kMaxSteps = 1000;

  const ExpressionPool& pool_;
  const bool by_ranges_;
  LinearSum& sum_;
  int steps_ = 0;
};

NodeId Raw(ExpressionPool& pool, Opcode opcode, NodeId a, NodeId b) {
  const NodeId operands[] = {a, b};
  return pool.Intern(opcode, DType::kI64, operands);
}

// Replaces k*c * (x floordiv c) + k * (x mod c) by k * x. Returns true if it
// replaced a pair of such terms.
bool MergeQuotientAndRemainder(const ExpressionPool& pool, LinearSum& sum) {
  for (const LinearTerm& remainder : sum.terms) {
    const Node& mod = pool[remainder.node];
    if (mod.opcode != Opcode::kModulo) continue;
    const std::optional<int64_t> divisor =
        pool.IntegerConstant(mod.operands[1]);
    if (!divisor || *divisor <= 0) continue;
    for (const LinearTerm& quotient : sum.terms) {
      const Node& div = pool[quotient.node];
      if (div.opcode != Opcode::kFloorDivide || div.operands != mod.operands)
        continue;
      if (quotient.coefficient != Multiply(remainder.coefficient, *divisor))
        continue;
      const LinearTerm found_remainder = remainder, found_quotient = quotient;
      LinearSum whole;
      if (!Collector(pool, true, whole).Collect(mod.operands[0], 1, 0))
        return false;
      AddTerm(sum, found_quotient.node, Negate(found_quotient.coefficient));
      AddTerm(sum, found_remainder.node, Negate(found_remainder.coefficient));
      AddLinear(sum, whole, found_remainder.coefficient);
      return true;
    }
  }
  return false;
}

NodeId Scaled(ExpressionPool& pool, NodeId node, int64_t coefficient) {
  return coefficient == 1
             ? node
             : Raw(pool, Opcode::kMultiply, node, pool.Integer(coefficient));
}

// Returns sum + coefficient * node. It is written as a subtraction if the
// coefficient is negative, unless its negation does not fit 64 bits.
NodeId Accumulate(ExpressionPool& pool, NodeId sum, NodeId node,
                  int64_t coefficient) {
  if (coefficient < 0 && coefficient != INT64_MIN) {
    return Raw(pool, Opcode::kSubtract, sum, Scaled(pool, node, -coefficient));
  }
  return Raw(pool, Opcode::kAdd, sum, Scaled(pool, node, coefficient));
}

// A sum x = divisor * multiples + rest. `multiples` holds the terms whose
// coefficient is a multiple of the divisor, with the coefficient divided by it;
// `rest` holds all other terms and the whole constant.
struct Split {
  LinearSum multiples;
  LinearSum rest;
};
Split SplitByMultiple(const LinearSum& sum, int64_t divisor) {
  Split split;
  for (const LinearTerm& term : sum.terms) {
    if (term.coefficient % divisor == 0) {
      split.multiples.terms.push_back({term.node, term.coefficient / divisor});
    } else {
      split.rest.terms.push_back(term);
    }
  }
  split.rest.constant = sum.constant;
  return split;
}

// Moves the largest multiple of the divisor in the constant of `rest` to the
// constant of `multiples`, divided by the divisor. A remainder in [0, divisor)
// stays in `rest`.
void MoveConstant(Split& split, int64_t divisor) {
  split.multiples.constant = FloorQuotient(split.rest.constant, divisor);
  split.rest.constant = FloorRemainder(split.rest.constant, divisor);
}

bool IsBelow(const ExpressionPool& pool, const LinearSum& sum, int64_t limit) {
  const Interval range = RangeOfLinear(pool, sum);
  return range.low >= 0 && range.high < limit;
}

// A split x = step * major + minor of a sum, with minor in [0, step) proved.
// `step` divides the divisor, so x floordiv divisor is major floordiv (divisor
// / step).
struct Coarser {
  int64_t step;
  LinearSum major;
  LinearSum minor;
};
std::optional<Coarser> FindCoarser(const ExpressionPool& pool,
                                   const LinearSum& sum, int64_t divisor) {
  std::optional<Coarser> best;
  for (const LinearTerm& term : sum.terms) {
    // The smallest integer is skipped, because its absolute value does not fit.
    if (term.coefficient == INT64_MIN) continue;
    const int64_t step = std::gcd(term.coefficient, divisor);
    if (step <= 1 || step == divisor || (best && best->step >= step)) continue;
    Split split = SplitByMultiple(sum, step);
    MoveConstant(split, step);
    if (IsBelow(pool, split.rest, step))
      best = Coarser{step, split.multiples, split.rest};
  }
  return best;
}

// True if the sum may not fit 64 bits: its range is not known, and not all of
// its terms are like indices. Its terms must then not be divided one by one.
bool MayWrap(const ExpressionPool& pool, const LinearSum& sum) {
  if (!RangeOfLinear(pool, sum).IsFull()) return false;
  return !std::all_of(
      sum.terms.begin(), sum.terms.end(),
      [&](const LinearTerm& term) { return IsIndexLike(pool, term.node); });
}

NodeId RawByConstant(ExpressionPool& pool, Opcode opcode, NodeId x,
                     int64_t divisor) {
  return Raw(pool, opcode, x, pool.Integer(divisor));
}

}  // namespace

void AddLinear(LinearSum& sum, const LinearSum& other, int64_t scale) {
  for (const LinearTerm& term : other.terms) {
    AddTerm(sum, term.node, Multiply(term.coefficient, scale));
  }
  sum.constant = Add(sum.constant, Multiply(other.constant, scale));
}

std::optional<LinearSum> Linearize(const ExpressionPool& pool, NodeId node,
                                   bool by_ranges) {
  LinearSum sum;
  if (!Collector(pool, by_ranges, sum).Collect(node, 1, 0) ||
      sum.terms.size() > kMaxTerms) {
    return std::nullopt;
  }
  return sum;
}

NodeId BuildLinear(ExpressionPool& pool, LinearSum sum) {
  while (MergeQuotientAndRemainder(pool, sum)) {
  }
  if (sum.terms.empty()) return pool.Integer(sum.constant);
  std::sort(sum.terms.begin(), sum.terms.end(),
            [&](const LinearTerm& a, const LinearTerm& b) {
              return pool.Precedes(a.node, b.node);
            });
  // The expression begins with a positive term or, if there is none, with a
  // positive constant, as in 5 - x.
  auto first =
      std::find_if(sum.terms.begin(), sum.terms.end(),
                   [](const LinearTerm& term) { return term.coefficient > 0; });
  NodeId result;
  if (first != sum.terms.end()) {
    result = Scaled(pool, first->node, first->coefficient);
    sum.terms.erase(first);
  } else if (sum.constant > 0) {
    result = pool.Integer(sum.constant);
    sum.constant = 0;
  } else {
    result = Scaled(pool, sum.terms[0].node, sum.terms[0].coefficient);
    sum.terms.erase(sum.terms.begin());
  }
  for (const LinearTerm& term : sum.terms) {
    result = Accumulate(pool, result, term.node, term.coefficient);
  }
  if (sum.constant == 0) return result;
  const bool subtract = sum.constant < 0 && sum.constant != INT64_MIN;
  return subtract
             ? Raw(pool, Opcode::kSubtract, result, pool.Integer(-sum.constant))
             : Raw(pool, Opcode::kAdd, result, pool.Integer(sum.constant));
}

Interval RangeOfLinear(const ExpressionPool& pool, const LinearSum& sum) {
  Interval range = Interval::Of(sum.constant);
  for (const LinearTerm& term : sum.terms) {
    const Interval factor = pool[term.node].range;
    if (factor.IsFull()) return Interval::Full();
    const Interval product = factor * Interval::Of(term.coefficient);
    if (product.IsFull()) return product;
    range = range + product;
    if (range.IsFull()) return range;
  }
  return range;
}

NodeId BuildFloorDivide(ExpressionPool& pool, NodeId x, int64_t divisor) {
  if (divisor == 1) return x;
  const Node& node = pool[x];
  if (node.opcode ==
      // This case rewrites (y floordiv a) floordiv b as y floordiv (a * b).
      Opcode::kFloorDivide) {
    const std::optional<int64_t> inner = pool.IntegerConstant(node.operands[1]);
    const std::optional<int64_t> product =
        inner && *inner > 0 ? CheckedMultiply(*inner, divisor) : std::nullopt;
    if (product) return BuildFloorDivide(pool, node.operands[0], *product);
  }
  const std::optional<LinearSum> sum = Linearize(pool, x);
  if (!sum || MayWrap(pool, *sum)) {
    return RawByConstant(pool, Opcode::kFloorDivide, x, divisor);
  }
  Split split = SplitByMultiple(*sum, divisor);
  Split moved = split;
  MoveConstant(moved, divisor);
  if (IsBelow(pool, moved.rest, divisor))
    return BuildLinear(pool, moved.multiples);
  const Interval rest = RangeOfLinear(pool, split.rest);
  const int64_t bucket = FloorQuotient(rest.low, divisor);
  if (!rest.IsFull() && bucket == FloorQuotient(rest.high, divisor)) {
    split.multiples.constant = bucket;
    return BuildLinear(pool, split.multiples);
  }
  if (!split.multiples.terms.empty() && !rest.IsFull()) {
    const NodeId quotient =
        BuildFloorDivide(pool, BuildLinear(pool, split.rest), divisor);
    const std::optional<LinearSum> more = Linearize(pool, quotient);
    if (more) {
      AddLinear(split.multiples, *more, 1);
      return BuildLinear(pool, split.multiples);
    }
  }
  if (const std::optional<Coarser> coarser = FindCoarser(pool, *sum, divisor)) {
    return BuildFloorDivide(pool, BuildLinear(pool, coarser->major),
                            divisor / coarser->step);
  }
  return RawByConstant(pool, Opcode::kFloorDivide, x, divisor);
}

NodeId BuildModulo(ExpressionPool& pool, NodeId x, int64_t divisor) {
  if (divisor == 1) return pool.Integer(0);
  const Node& node = pool[x];
  // This case rewrites (y mod (k * c)) mod c as y mod c.
  if (node.opcode == Opcode::kModulo) {
    const std::optional<int64_t> inner = pool.IntegerConstant(node.operands[1]);
    if (inner && *inner > 0 && *inner % divisor == 0) {
      return BuildModulo(pool, node.operands[0], divisor);
    }
  }
  const std::optional<LinearSum> sum = Linearize(pool, x);
  if (!sum || MayWrap(pool, *sum)) {
    return RawByConstant(pool, Opcode::kModulo, x, divisor);
  }
  Split split = SplitByMultiple(*sum, divisor);
  const Interval range = RangeOfLinear(pool, split.rest);
  const int64_t bucket = FloorQuotient(range.low, divisor);
  if (!range.IsFull() && bucket == FloorQuotient(range.high, divisor)) {
    split.rest.constant =
        semantics::Subtract(split.rest.constant, Multiply(bucket, divisor));
    return BuildLinear(pool, split.rest);
  }
  MoveConstant(split, divisor);
  if (RangeOfLinear(pool, split.rest).IsFull()) {
    return RawByConstant(pool, Opcode::kModulo, x, divisor);
  }
  if (IsBelow(pool, split.rest, divisor)) return BuildLinear(pool, split.rest);
  if (const std::optional<Coarser> coarser =
          FindCoarser(pool, split.rest, divisor)) {
    const NodeId major = BuildModulo(pool, BuildLinear(pool, coarser->major),
                                     divisor / coarser->step);
    LinearSum result = coarser->minor;
    if (const std::optional<LinearSum> scaled = Linearize(pool, major)) {
      AddLinear(result, *scaled, coarser->step);
      return BuildLinear(pool, result);
    }
  }
  return RawByConstant(pool, Opcode::kModulo, BuildLinear(pool, split.rest),
                       divisor);
}

}  // namespace ember::tensor

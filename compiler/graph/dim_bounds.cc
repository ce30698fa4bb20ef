// Computes bounds of dims by interval arithmetic.
#include <algorithm>

#include "base/checked_math.h"
#include "compiler/graph/dim.h"
#include "compiler/graph/dim_terms.h"

namespace ember::graph {
namespace {

using Bound = std::optional<int64_t>;

Bound Add(Bound a, Bound b) {
  return a && b ? CheckedAdd(*a, *b) : std::nullopt;
}
Bound Multiply(Bound a, Bound b) {
  return a && b ? CheckedMultiply(*a, *b) : std::nullopt;
}

DimBounds Scale(const DimBounds& bounds, int64_t factor) {
  const Bound low = Multiply(bounds.low, factor),
              high = Multiply(bounds.high, factor);
  return factor >= 0 ? DimBounds{low, high} : DimBounds{high, low};
}

DimBounds FloorDivideBounds(const DimBounds& a, const DimBounds& b) {
  if (b.low && b.high && *b.low == *b.high && *b.low > 0) {
    auto divide = [&](Bound value) {
      return value ? Bound(FloorQuotient(*value, *b.low)) : std::nullopt;
    };
    return {divide(a.low), divide(a.high)};
  }
  if (a.low && *a.low >= 0 && b.low && *b.low >= 0) return {0, a.high};
  return {};
}

DimBounds ModuloBounds(const DimBounds& b) {
  if (!b.low || *b.low < 0) return {};
  return {0, b.high ? Bound(std::max<int64_t>(*b.high - 1, 0)) : std::nullopt};
}

// Both and Either combine a bound of a and a bound of b into the smaller one of
// them, or the larger one. Both returns no bound if a or b has none; Either
// returns no bound only if a and b both have none. For min(a, b), the lower
// bound needs the bounds of both operands, and the upper bound that of either
// operand.
Bound Both(Bound a, Bound b, bool smaller) {
  if (!a || !b) return std::nullopt;
  return smaller ? std::min(*a, *b) : std::max(*a, *b);
}
Bound Either(Bound a, Bound b, bool smaller) {
  if (!a) return b;
  if (!b) return a;
  return smaller ? std::min(*a, *b) : std::max(*a, *b);
}

DimBounds BoundsOfAtom(const Atom& atom) {
  if (atom.kind == AtomKind::kSymbol) return {0, std::nullopt};
  const DimBounds a = BoundsOf(atom.a), b = BoundsOf(atom.b);
  switch (atom.kind) {
    case AtomKind::kSymbol:
      break;
    case AtomKind::kFloorDivide:
      return FloorDivideBounds(a, b);
    case AtomKind::kModulo:
      return ModuloBounds(b);
    case AtomKind::kMinimum:
      return {Both(a.low, b.low, true), Either(a.high, b.high, true)};
    case AtomKind::kMaximum:
      return {Either(a.low, b.low, false), Both(a.high, b.high, false)};
  }
  return {};
}

DimBounds BoundsOfTerm(const Term& term) {
  DimBounds product{1, 1};
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const DimBounds factor = BoundsOfAtom(*term.factors[i]);
    if (i == 0) {
      product = factor;
    } else if (product.low && *product.low >= 0 && factor.low &&
               *factor.low >= 0) {
      product = {Multiply(product.low, factor.low),
                 Multiply(product.high, factor.high)};
      // Factors are not negative, so a missing lower bound means that the
      // product overflowed upward; 0 is a lower bound then.
      if (!product.low) product.low = 0;
    } else {
      return {};
    }
  }
  return Scale(product, term.coefficient);
}

DimBounds BoundsOfTerms(const Terms& terms) {
  DimBounds sum{0, 0};
  for (const Term& term : terms) {
    const DimBounds bounds = BoundsOfTerm(term);
    sum = {Add(sum.low, bounds.low), Add(sum.high, bounds.high)};
  }
  return sum;
}

// If the term has the form c * d * floordiv(a, d), which equals c * (a - mod(a,
// d)), returns its quotient floordiv(a, d). Returns null otherwise.
const Atom* RoundedDown(const Term& term) {
  if (term.factors.size() != 1) return nullptr;
  const Atom& atom = *term.factors[0];
  if (atom.kind != AtomKind::kFloorDivide) return nullptr;
  const std::optional<int64_t> divisor = atom.b.AsConstant();
  const bool divides =
      divisor && *divisor > 0 && term.coefficient % *divisor == 0;
  return divides ? &atom : nullptr;
}

// Returns the dim with each term c * d * floordiv(a, d) replaced by c * a, so
// that terms of a cancel equal terms elsewhere in the dim. Adds to `rests` the
// bounds of the difference that this makes, -c * mod(a, d).
Dim WithDividends(const Dim& dim, DimBounds& rests) {
  Dim sum = 0;
  for (const Term& term : DimAlgebra::TermsOf(dim)) {
    const Atom* atom = RoundedDown(term);
    if (atom == nullptr) {
      sum = sum + DimAlgebra::FromTerms({term});
      continue;
    }
    const int64_t factor = term.coefficient / atom->b.constant();
    sum = sum + Dim(factor) * WithDividends(atom->a, rests);
    const DimBounds rest = Scale({0, atom->b.constant() - 1}, -factor);
    rests = {Add(rests.low, rest.low), Add(rests.high, rest.high)};
  }
  return sum;
}

}  // namespace

DimBounds BoundsOf(const Dim& dim) {
  if (!dim.is_valid()) return {};
  const Terms terms = DimAlgebra::TermsOf(dim);
  const DimBounds bounds = BoundsOfTerms(terms);
  if ((bounds.low && bounds.high) ||
      std::none_of(terms.begin(), terms.end(), [](const Term& term) {
        return RoundedDown(term) != nullptr;
      }))
    return bounds;
  DimBounds rests{0, 0};
  const Dim other = WithDividends(dim, rests);
  if (!other.is_valid()) return bounds;
  const DimBounds sum = BoundsOfTerms(DimAlgebra::TermsOf(other));
  return {Either(bounds.low, Add(sum.low, rests.low), false),
          Either(bounds.high, Add(sum.high, rests.high), true)};
}

std::optional<int64_t> Dim::LowerBound() const { return BoundsOf(*this).low; }
std::optional<int64_t> Dim::UpperBound() const { return BoundsOf(*this).high; }

}  // namespace ember::graph

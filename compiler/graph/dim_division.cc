// Implements floordiv, mod, min and max of dims, with the simplifications that
// make equal shapes equal.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "compiler/graph/dim.h"
#include "compiler/graph/dim_terms.h"

namespace ember::graph {
namespace {

// The terms of a dim, split as quotient * divisor + rest. The quotient has all
// terms that the divisor divides exactly.
struct Split {
  Terms quotient, rest;
};

Split SplitByConstant(const Terms& terms, int64_t divisor) {
  Split split;
  for (const Term& term : terms) {
    if (term.factors.empty()) {
      const int64_t quotient = FloorQuotient(term.coefficient, divisor);
      const int64_t rest = FloorRemainder(term.coefficient, divisor);
      if (quotient != 0) split.quotient.push_back({quotient, {}});
      if (rest != 0) split.rest.push_back({rest, {}});
    } else if (term.coefficient % divisor == 0) {
      split.quotient.push_back({term.coefficient / divisor, term.factors});
    } else {
      split.rest.push_back(term);
    }
  }
  return split;
}

Split SplitByTerm(const Terms& terms, const Term& divisor) {
  Split split;
  for (const Term& term : terms) {
    auto factors = DivideFactors(term.factors, divisor.factors);
    if (factors && divisor.coefficient != -1 &&
        term.coefficient % divisor.coefficient == 0) {
      split.quotient.push_back(
          {term.coefficient / divisor.coefficient, *std::move(factors)});
    } else {
      split.rest.push_back(term);
    }
  }
  return split;
}

// Returns the greatest common divisor of the terms' coefficients; the constant
// is included if with_constant.
int64_t CommonCoefficient(const Terms& terms, bool with_constant) {
  int64_t common = 0;
  for (const Term& term : terms) {
    if (term.coefficient == INT64_MIN) return 1;
    if (with_constant || !term.factors.empty())
      common = std::gcd(common, term.coefficient);
  }
  return common == 0 ? 1 : common;
}

// Returns the factors (with repetitions) that occur in every term of a and in
// every term of b.
std::vector<AtomPointer> CommonFactors(const Terms& a, const Terms& b) {
  std::vector<AtomPointer> common = a[0].factors;
  for (const Terms* terms : {&a, &b}) {
    for (const Term& term : *terms) {
      std::vector<AtomPointer> kept;
      std::vector<AtomPointer> left = term.factors;
      for (const AtomPointer& factor : common) {
        const auto found = std::find_if(left.begin(), left.end(),
                                        [&](const AtomPointer& other) {
                                          return other->text == factor->text;
                                        });
        if (found == left.end()) continue;
        left.erase(found);
        kept.push_back(factor);
      }
      common = std::move(kept);
    }
  }
  return common;
}

// Divides each term of the sum: its coefficient by `coefficient` and its
// factors by `factors`. The constant is rounded down; all other terms are
// divisible.
Dim Reduce(const Terms& terms, int64_t coefficient,
           const std::vector<AtomPointer>& factors) {
  Terms reduced;
  for (const Term& term : terms) {
    auto rest = DivideFactors(term.factors, factors);
    reduced.push_back({FloorQuotient(term.coefficient, coefficient),
                       rest ? *std::move(rest) : term.factors});
  }
  return DimAlgebra::FromTerms(std::move(reduced));
}

bool Within(const DimBounds& bounds, int64_t low, int64_t high) {
  return bounds.low && bounds.high && *bounds.low >= low &&
         *bounds.high <= high;
}

// Returns floordiv(rest, divisor) for a constant divisor, where no term of
// `rest` is divisible by it.
Dim FloorDivideRest(const Terms& rest_terms, int64_t divisor) {
  const Dim rest = DimAlgebra::FromTerms(rest_terms);
  if (Within(BoundsOf(rest), 0, divisor - 1)) return Dim(0);
  // Applies floordiv(g*x + k, g*d) = floordiv(x + floordiv(k, g), d).
  const int64_t common =
      std::gcd(CommonCoefficient(rest_terms, false), divisor);
  if (common > 1)
    return FloorDivide(Reduce(rest_terms, common, {}), Dim(divisor / common));
  // Applies floordiv(floordiv(x, c) + k, d) = floordiv(x + k*c, c*d).
  const Term& first = rest_terms[0];
  if (rest_terms.size() <= 2 && first.coefficient == 1 &&
      first.factors.size() == 1 &&
      first.factors[0]->kind == AtomKind::kFloorDivide &&
      (rest_terms.size() == 1 || rest_terms[1].factors.empty())) {
    const Dim& inner = first.factors[0]->b;
    if (inner.is_constant() && inner.constant() > 0) {
      const Dim offset =
          rest_terms.size() == 2 ? Dim(rest_terms[1].coefficient) : Dim(0);
      return FloorDivide(first.factors[0]->a + offset * inner,
                         inner * Dim(divisor));
    }
  }
  return DimAlgebra::FromAtom(AtomKind::kFloorDivide, rest, Dim(divisor));
}

Dim FloorDivideByConstant(const Dim& a, int64_t divisor) {
  if (divisor == 0 || divisor == INT64_MIN) return Dim::Invalid();
  if (divisor < 0) return FloorDivideByConstant(a * Dim(-1), -divisor);
  if (divisor == 1) return a;
  if (!a.is_valid()) return a;
  const Split split = SplitByConstant(DimAlgebra::TermsOf(a), divisor);
  const Dim quotient = DimAlgebra::FromTerms(split.quotient);
  return split.rest.empty() ? quotient
                            : quotient + FloorDivideRest(split.rest, divisor);
}

// Simplifies a sum of which mod(sum, c) will be taken: a term mod(x, c*k) in it
// is replaced by x.
Terms DropInnerModulo(const Terms& terms, int64_t divisor) {
  Dim sum = 0;
  bool dropped = false;
  for (const Term& term : terms) {
    const Atom* atom =
        term.factors.size() == 1 ? term.factors[0].get() : nullptr;
    if (atom != nullptr && atom->kind == AtomKind::kModulo &&
        atom->b.is_constant() && atom->b.constant() % divisor == 0) {
      sum = sum + Dim(term.coefficient) * atom->a;
      dropped = true;
    } else {
      sum = sum + DimAlgebra::FromTerms({term});
    }
  }
  if (!sum.is_valid()) return terms;
  return dropped ? DropInnerModulo(DimAlgebra::TermsOf(sum), divisor) : terms;
}

Dim ModuloByConstant(const Dim& a, int64_t divisor) {
  if (divisor == 0 || divisor == INT64_MIN) return Dim::Invalid();
  if (divisor < 0) return ModuloByConstant(a * Dim(-1), -divisor) * Dim(-1);
  Terms terms;
  for (Term term : DropInnerModulo(DimAlgebra::TermsOf(a), divisor)) {
    term.coefficient = FloorRemainder(term.coefficient, divisor);
    if (term.coefficient != 0) terms.push_back(std::move(term));
  }
  const Dim rest = DimAlgebra::FromTerms(terms);
  if (Within(BoundsOf(rest), 0, divisor - 1)) return rest;
  const int64_t common = std::gcd(CommonCoefficient(terms, true), divisor);
  if (common > 1) {
    return Dim(common) *
           ModuloByConstant(Reduce(terms, common, {}), divisor / common);
  }
  return DimAlgebra::FromAtom(AtomKind::kModulo, rest, Dim(divisor));
}

bool IsPositive(const Dim& dim) {
  const auto low = dim.LowerBound();
  // A lower bound of 0 is enough to show that the dim is positive: divisors are
  // assumed not to be 0.
  return low && *low >= 0;
}

// Returns floordiv(rest, divisor) for a symbolic divisor. `rest` contains no
// exact multiple of the divisor.
Dim FloorDivideSymbolicRest(const Terms& rest, const Dim& divisor) {
  const Terms divisor_terms = DimAlgebra::TermsOf(divisor);
  const int64_t coefficient = std::gcd(CommonCoefficient(rest, true),
                                       CommonCoefficient(divisor_terms, true));
  const std::vector<AtomPointer> factors = CommonFactors(rest, divisor_terms);
  if (coefficient > 1 || !factors.empty()) {
    return FloorDivide(Reduce(rest, coefficient, factors),
                       Reduce(divisor_terms, coefficient, factors));
  }
  return DimAlgebra::FromAtom(AtomKind::kFloorDivide,
                              DimAlgebra::FromTerms(rest), divisor);
}

// Returns the minimum or the maximum of two dims, as `kind` says.
Dim Extremum(AtomKind kind, const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (a == b) return a;
  const bool minimum = kind == AtomKind::kMinimum;
  const DimBounds difference = BoundsOf(a - b);
  if (difference.low && *difference.low >= 0) return minimum ? b : a;
  if (difference.high && *difference.high <= 0) return minimum ? a : b;
  // Simplifies nested calls of the same function: min(min(x, 3), 5) and
  // min(min(x, y), x).
  for (const auto& [outer, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Atom* atom = DimAlgebra::AsAtom(*outer);
    if (atom == nullptr || atom->kind != kind) continue;
    if (atom->a == *other || atom->b == *other) return *outer;
    if (!other->is_constant()) continue;
    if (atom->b.is_constant())
      return Extremum(kind, atom->a, Extremum(kind, atom->b, *other));
    if (atom->a.is_constant())
      return Extremum(kind, atom->b, Extremum(kind, atom->a, *other));
  }
  const bool swap = b.ToString() < a.ToString();
  return DimAlgebra::FromAtom(kind, swap ? b : a, swap ? a : b);
}

}  // namespace

std::optional<Dim> DimAlgebra::ExactQuotient(const Dim& a, const Dim& b) {
  const Terms divisor = TermsOf(b);
  if (divisor.empty() || !a.is_valid() || !b.is_valid()) return std::nullopt;
  const Term& lead = divisor[0];
  Dim rest = a, quotient = 0;
  for (int step = 0; step < 64; ++step) {
    const Terms terms = TermsOf(rest);
    if (terms.empty()) return quotient;
    auto factors = DivideFactors(terms[0].factors, lead.factors);
    if (!factors || terms[0].coefficient == INT64_MIN ||
        terms[0].coefficient % lead.coefficient != 0) {
      return std::nullopt;
    }
    const Dim part = FromTerms(
        {{terms[0].coefficient / lead.coefficient, *std::move(factors)}});
    quotient = quotient + part;
    rest = rest - part * b;
    if (!rest.is_valid() || !quotient.is_valid()) return std::nullopt;
  }
  return std::nullopt;
}

Dim FloorDivide(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (b.is_constant()) return FloorDivideByConstant(a, b.constant());
  if (a == Dim(0)) return a;
  if (auto quotient = DimAlgebra::ExactQuotient(a, b)) return *quotient;
  const Terms divisor = DimAlgebra::TermsOf(b);
  Split split{{}, DimAlgebra::TermsOf(a)};
  if (divisor.size() == 1)
    split = SplitByTerm(DimAlgebra::TermsOf(a), divisor[0]);
  const Dim quotient = DimAlgebra::FromTerms(split.quotient);
  if (split.rest.empty()) return quotient;
  if (!IsPositive(b)) {
    return quotient + DimAlgebra::FromAtom(AtomKind::kFloorDivide,
                                           DimAlgebra::FromTerms(split.rest),
                                           b);
  }
  return quotient + FloorDivideSymbolicRest(split.rest, b);
}

Dim CeilDivide(const Dim& a, const Dim& b) {
  if (b.is_constant() && b.constant() < 0)
    return FloorDivide(a, b * Dim(-1)) * Dim(-1);
  return FloorDivide(a + b - Dim(1), b);
}

Dim Modulo(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (b.is_constant()) return ModuloByConstant(a, b.constant());
  if (a == Dim(0) || DimAlgebra::ExactQuotient(a, b)) return Dim(0);
  const Terms divisor = DimAlgebra::TermsOf(b);
  if (divisor.size() != 1) return DimAlgebra::FromAtom(AtomKind::kModulo, a, b);
  const Split split = SplitByTerm(DimAlgebra::TermsOf(a), divisor[0]);
  if (split.rest.empty()) return Dim(0);
  return DimAlgebra::FromAtom(AtomKind::kModulo,
                              DimAlgebra::FromTerms(split.rest), b);
}

Dim Minimum(const Dim& a, const Dim& b) {
  return Extremum(AtomKind::kMinimum, a, b);
}
Dim Maximum(const Dim& a, const Dim& b) {
  return Extremum(AtomKind::kMaximum, a, b);
}

}  // namespace ember::graph

// The canonical form behind Dim: sums of products over atoms. Internal to
// dim*.cc.
#ifndef EMBER_COMPILER_GRAPH_DIM_TERMS_H_
#define EMBER_COMPILER_GRAPH_DIM_TERMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/dim.h"

namespace ember::graph {

enum class AtomKind : uint8_t {
  kSymbol,
  kFloorDivide,
  kModulo,
  kMinimum,
  kMaximum
};

// A symbol, or an operation on canonical forms that is neither a sum nor a
// product. Atoms are equal exactly if their texts are.
struct Atom {
  AtomKind kind;
  std::string text;
  Dim a, b;
};
using AtomPointer = std::shared_ptr<const Atom>;

// A product: coefficient * factors[0] * factors[1] …; factors are sorted by
// text and repeated for powers.
struct Term {
  int64_t coefficient = 0;
  std::vector<AtomPointer> factors;
};
// A sum of terms, sorted by CompareFactors (higher degree first, the constant
// last); no zero coefficients.
using Terms = std::vector<Term>;

struct Dim::Node {
  Terms terms;
  bool invalid = false;
};

// Functions on the terms of dims. They are in a class that is a friend of Dim,
// because they need its private representation.
struct DimAlgebra {
  static Terms TermsOf(const Dim& dim);
  // Makes a dim of the sum: sorts and merges the terms. Invalid on overflow or
  // if there are too many terms.
  static Dim FromTerms(Terms terms);
  static Dim FromAtom(AtomKind kind, const Dim& a, const Dim& b);
  static Dim FromSymbol(std::string name);
  // Returns the atom if the dim is a single atom with coefficient 1, else null.
  static const Atom* AsAtom(const Dim& dim);
  static bool Equal(const Dim& a, const Dim& b);

  // Returns a / b if a is exactly a multiple of b as polynomials; else nullopt.
  // Also returns nullopt if the division takes more than 64 steps.
  static std::optional<Dim> ExactQuotient(const Dim& a, const Dim& b);
};

// Compares products by a monomial order (graded lexicographic): < 0, 0 or > 0.
int CompareFactors(const std::vector<AtomPointer>& a,
                   const std::vector<AtomPointer>& b);
// Returns the factors of a without those of b; nullopt if a lacks a factor of
// b.
std::optional<std::vector<AtomPointer>> DivideFactors(
    const std::vector<AtomPointer>& a, const std::vector<AtomPointer>& b);

// Bounds of a dim's value, both inclusive; nullopt means that there is no bound
// at that end.
struct DimBounds {
  std::optional<int64_t> low, high;
};
DimBounds BoundsOf(const Dim& dim);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_DIM_TERMS_H_

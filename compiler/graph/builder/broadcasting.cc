#include "compiler/graph/builder/broadcasting.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ember::graph {
namespace {

// Returns the expression with each symbol s replaced by s + 1. The new symbols
// may be 0, so bounds that hold for all symbols of at least 0 hold for the old
// symbols of at least 1.
Dim AboveOne(const Dim& dim) {
  std::map<std::string, Dim> replacements;
  for (const std::string& symbol : dim.Symbols()) {
    if (!symbol.starts_with('_'))
      replacements.emplace(symbol, Dim::Symbol(symbol) + Dim(1));
  }
  return dim.Substitute(replacements);
}

bool MayBeZero(const Dim& dim) {
  return AboveOne(dim).LowerBound().value_or(0) <= 0;
}

Dim LargerOf(const Dim& a, const Dim& b) {
  const Dim difference = AboveOne(a - b);
  if (difference.LowerBound().value_or(-1) >= 0) return a;
  if (difference.UpperBound().value_or(1) <= 0) return b;
  return Maximum(a, b);
}

}  // namespace

bool MayBeUnit(const Dim& dim) {
  const Dim shifted = AboveOne(dim);
  return shifted.LowerBound().value_or(0) <= 1 &&
         shifted.UpperBound().value_or(1) >= 1;
}

bool MayBroadcast(const Dim& a, const Dim& b) {
  if (a == b || (!MayBeUnit(a) && !MayBeUnit(b))) return false;
  const std::set<std::string> symbols = a.Symbols();
  const std::set<std::string> others = b.Symbols();
  return std::none_of(
      symbols.begin(), symbols.end(),
      [&](const std::string& symbol) { return others.contains(symbol); });
}

Dim BroadcastExtent(const std::vector<Dim>& extents) {
  Dim result = 1;
  for (const Dim& extent : extents) {
    if (extent.is_constant() && extent != Dim(1)) return extent;
  }
  for (const Dim& extent : extents) {
    if (!MayBeUnit(extent) && !MayBeZero(extent)) return extent;
    if (extent == result || extent == Dim(1)) continue;
    result = result == Dim(1) ? extent : LargerOf(result, extent);
  }
  // An extent that may be 0 makes the result 0 when the program runs: each such
  // extent multiplies the result by min(extent, 1).
  for (const Dim& extent : extents) {
    if (extent != result && MayBeZero(extent))
      result = result * Minimum(extent, Dim(1));
  }
  return result;
}

Dim IndexFactor(const Dim& dim) {
  Dim distance = dim - Dim(1);
  if (MayBeZero(dim)) distance = Maximum(distance, Dim(1) - dim);
  return Minimum(distance, Dim(1));
}

Dim UnitOr(const Dim& dim, const Dim& extent) {
  return Dim(1) + (extent - Dim(1)) * IndexFactor(dim);
}

}  // namespace ember::graph

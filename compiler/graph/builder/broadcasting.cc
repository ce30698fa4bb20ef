#include "compiler/graph/builder/broadcasting.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ember::graph {
namespace {

// True if the predicate may hold for some values of the symbols, each at least
// 0. `may_hold` gets the expression for a part of these values, and decides by
// its bounds. Bounds are closer if a symbol is known to be 0 or known to be
// more: 2*N is never 1. So each symbol is split into these two cases, if there
// are few of them.
template <typename MayHold>
bool MayHoldForSome(const Dim& dim, const MayHold& may_hold) {
  constexpr size_t kMaxSplit = 4;
  const std::set<std::string> names = dim.Symbols();
  const std::vector<std::string> symbols(names.begin(), names.end());
  if (symbols.size() > kMaxSplit) return may_hold(dim);
  for (size_t zeros = 0; zeros < size_t{1} << symbols.size(); ++zeros) {
    std::map<std::string, Dim> values;
    for (size_t i = 0; i < symbols.size(); ++i) {
      const bool is_zero = (zeros >> i & 1) != 0;
      values.emplace(symbols[i],
                     is_zero ? Dim(0) : Dim::Symbol(symbols[i]) + Dim(1));
    }
    if (may_hold(dim.Substitute(values))) return true;
  }
  return false;
}

bool MayBeZero(const Dim& dim) {
  return MayHoldForSome(
      dim, [](const Dim& part) { return part.LowerBound().value_or(0) <= 0; });
}

// True if `extent` is a symbol that needs no further broadcast into `result`,
// because `result` was made from it: `result` is 0 where the symbol is 0, and
// more than 1 where the symbol is more than 1 (and no other symbol is 0).
bool Absorbs(const Dim& result, const Dim& extent) {
  const std::set<std::string> names = extent.Symbols();
  if (names.size() != 1 || extent != Dim::Symbol(*names.begin())) return false;
  const std::string& name = *names.begin();
  if (result == extent || !result.Symbols().contains(name)) return false;
  if (result.Substitute({{name, Dim(0)}}) != Dim(0)) return false;
  std::map<std::string, Dim> values;
  for (const std::string& symbol : result.Symbols())
    values.emplace(symbol, Dim::Symbol(symbol) + Dim(symbol == name ? 2 : 1));
  return result.Substitute(values).LowerBound().value_or(0) > 1;
}

Dim LargerOf(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.LowerBound().value_or(-1) >= 0) return a;
  if (difference.UpperBound().value_or(1) <= 0) return b;
  return Maximum(a, b);
}

}  // namespace

bool MayBeUnit(const Dim& dim) {
  return MayHoldForSome(dim, [](const Dim& part) {
    return part.LowerBound().value_or(0) <= 1 &&
           part.UpperBound().value_or(1) >= 1;
  });
}

bool MayBroadcast(const Dim& a, const Dim& b) {
  if (a == b || (!MayBeUnit(a) && !MayBeUnit(b))) return false;
  const std::set<std::string> symbols = a.Symbols();
  const std::set<std::string> others = b.Symbols();
  return std::none_of(
      symbols.begin(), symbols.end(),
      [&](const std::string& symbol) { return others.contains(symbol); });
}

Dim BroadcastExtent(const std::vector<Dim>& all) {
  Dim result = 1;
  std::vector<Dim> extents;
  for (const Dim& extent : all) {
    if (std::ranges::none_of(
            all, [&](const Dim& other) { return Absorbs(other, extent); }))
      extents.push_back(extent);
  }
  for (const Dim& extent : extents) {
    if (extent.is_constant() && extent != Dim(1)) return extent;
  }
  for (const Dim& extent : extents) {
    if (!MayBeUnit(extent) && !MayBeZero(extent)) return extent;
    if (extent == result || extent == Dim(1)) continue;
    result = result == Dim(1) ? extent : LargerOf(result, extent);
  }
  // An extent may turn out to be 0 when the program runs, and then the result
  // has extent 0. So the result is multiplied by min(extent, 1) for each such
  // extent.
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

#include "frontends/torchscript/known_extents.h"

#include <map>
#include <string>

namespace ember::torchscript {
namespace {

// True if a symbol is the extent of an input's dim: symbols of sizes that
// depend on data begin with '_'.
bool IsOfInputs(const std::string& symbol) { return !symbol.starts_with('_'); }

}  // namespace

ops::DimRange RangeIfNotEmpty(const Dim& dim) {
  std::map<std::string, Dim> above_zero;
  for (const std::string& symbol : dim.Symbols())
    if (IsOfInputs(symbol))
      above_zero.emplace(symbol, Dim::Symbol(symbol) + Dim(1));
  return ops::RangeOf(dim.Substitute(above_zero));
}

void RequireNotEmpty(Call& c, const Dim& dim) {
  Shape rests, symbols;
  std::string names;
  for (const std::string& symbol : dim.Symbols()) {
    if (!IsOfInputs(symbol)) continue;
    // The operator "extents" fails at run time if a value is negative, so
    // symbol - 1 is passed to check that each symbol is at least 1.
    rests.push_back(Dim::Symbol(symbol) - Dim(1));
    symbols.push_back(c.builder().FreshSymbol());
    names += (names.empty() ? "" : ", ") + symbol;
  }
  if (rests.empty()) return;
  c.builder().ApplyAll(
      "extents", {c.builder().ShapeValue(rests)},
      {{"defines", symbols},
       {"message", "the code compares the open extent " + names +
                       ", which is taken to be at least 1, found 0; fix it "
                       "when compiling (--shape)"}});
}

bool IsNeverZero(Call& c, const Dim& dim) {
  const auto excludes_zero = [](const ops::DimRange& range) {
    return range.low > 0 || range.high < 0;
  };
  if (excludes_zero(ops::RangeOf(dim))) return true;
  if (!excludes_zero(RangeIfNotEmpty(dim))) return false;
  RequireNotEmpty(c, dim);
  return true;
}

}  // namespace ember::torchscript

#include "compiler/graph/builder/dim_symbols.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/graph/builder/broadcasting.h"

namespace ember::graph {
namespace {

// Returns the symbol that an earlier call of SymbolOf made for this expression
// in the graph; nullopt if there is none.
std::optional<Dim> SymbolFor(const Dim& dim, const Graph& graph) {
  for (const auto& operation : graph.operations()) {
    if (operation->name() != "extents" ||
        operation->attributes().Find("message") != nullptr)
      continue;
    const Operation* producer = operation->operand(0)->producer();
    if (producer == nullptr || producer->name() != "shape_value") continue;
    if (producer->attributes().Get<Shape>("values") == Shape{dim})
      return operation->attributes().Get<Shape>("defines")[0];
  }
  return std::nullopt;
}

bool IsOfData(const Dim& dim) {
  return std::ranges::any_of(dim.Symbols(), [](const std::string& symbol) {
    return symbol.starts_with('_');
  });
}

}  // namespace

Dim SymbolOf(GraphBuilder& builder, const Graph& graph, const Dim& dim) {
  if (const auto known = SymbolFor(dim, graph)) return *known;
  const Dim symbol = builder.FreshSymbol();
  builder.ApplyAll("extents", {builder.ShapeValue({dim})},
                   {{"defines", Shape{symbol}}});
  return symbol;
}

bool DataMayBroadcast(const std::vector<Dim>& extents) {
  for (const Dim& a : extents) {
    if (!IsOfData(a)) continue;
    for (const Dim& b : extents)
      if (MayBroadcast(a, b)) return true;
  }
  return false;
}

Dim StretchedExtent(GraphBuilder& builder, const Graph& graph,
                    const std::vector<Dim>& extents) {
  Dim result = BroadcastExtent(extents);
  if (result.is_constant() || std::ranges::count(extents, result) > 0)
    return result;
  return SymbolOf(builder, graph, result);
}

}  // namespace ember::graph

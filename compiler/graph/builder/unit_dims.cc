#include "compiler/graph/builder/unit_dims.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "compiler/graph/builder/broadcasting.h"

namespace ember::graph {

void TakeNotUnit(GraphBuilder& builder, const Dim& dim) {
  if (dim.is_constant() || !dim.is_valid() || !MayBeUnit(dim)) return;
  // The program must reject a dim of 1. `distance` is negative only for a dim
  // of 1, and the operator "extents" refuses negative values.
  const Dim distance = Maximum(dim - Dim(2), Dim(0) - dim);
  const std::set<std::string> symbols = dim.Symbols();
  const bool is_of_data = std::ranges::any_of(
      symbols,
      [](const std::string& symbol) { return symbol.starts_with('_'); });
  const std::string fault =
      is_of_data
          ? "a dim that the data gives is 1, but this module was compiled for "
            "other extents, as the rank of a value depends on it; name the "
            "axes in the model"
          : "dim " + dim.ToString() +
                " is 1, but this module was compiled for other extents, as "
                "the rank of a value depends on it; fix the dim when compiling "
                "(--shape)";
  builder.ApplyAll("extents", {builder.ShapeValue({distance})},
                   {{"defines", Shape{builder.FreshSymbol()}},
                    {"message", fault},
                    {"not_one", Shape{dim}}});
}

std::vector<int64_t> UnitAxes(GraphBuilder& builder, const Shape& shape) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    TakeNotUnit(builder, shape[i]);
    if (shape[i] == Dim(1)) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

std::vector<Dim> DimsTakenNotUnit(const Graph& graph) {
  std::vector<Dim> dims;
  for (const auto& operation : graph.operations()) {
    if (const Attribute* taken = operation->attributes().Find("not_one")) {
      const Shape& shape = std::get<Shape>(*taken);
      dims.insert(dims.end(), shape.begin(), shape.end());
    }
    for (const auto& region : operation->regions()) {
      const std::vector<Dim> inner = DimsTakenNotUnit(*region);
      dims.insert(dims.end(), inner.begin(), inner.end());
    }
  }
  return dims;
}

}  // namespace ember::graph

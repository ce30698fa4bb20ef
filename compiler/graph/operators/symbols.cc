#include "compiler/graph/operators/symbols.h"

#include <variant>
#include <vector>

#include "compiler/graph/operators.h"

namespace ember::graph {

std::vector<std::string> DefinedSymbols(const Operation& operation) {
  std::vector<std::string> symbols;
  const Attribute* defines = operation.attributes().Find("defines");
  if (defines == nullptr) return symbols;
  for (const Dim& dim : std::get<Shape>(*defines))
    symbols.push_back(dim.ToString());
  return symbols;
}

void CollectSymbols(const Shape& shape, std::set<std::string>& symbols) {
  for (const Dim& dim : shape) {
    if (!dim.is_constant()) symbols.merge(dim.Symbols());
  }
}

void CollectSymbols(const Operation& operation,
                    std::set<std::string>& symbols) {
  for (const Value* operand : operation.operands())
    CollectSymbols(operand->shape(), symbols);
  for (const auto& result : operation.results())
    CollectSymbols(result->shape(), symbols);
  for (const auto& [name, attribute] : operation.attributes().entries()) {
    const auto* shape = std::get_if<Shape>(&attribute);
    if (shape != nullptr && name != "varying") CollectSymbols(*shape, symbols);
  }
  for (const auto& region : operation.regions()) {
    std::set<std::string> free = FreeSymbols(*region);
    if (const Attribute* varying = operation.attributes().Find("varying")) {
      for (const Dim& dim : std::get<Shape>(*varying))
        free.erase(dim.ToString());
    }
    symbols.merge(free);
  }
}

std::set<std::string> FreeSymbols(const Graph& region) {
  std::set<std::string> symbols;
  for (const Value* input : region.inputs())
    CollectSymbols(input->shape(), symbols);
  for (const auto& operation : region.operations())
    CollectSymbols(*operation, symbols);
  for (const auto& operation : region.operations()) {
    for (const std::string& symbol : DefinedSymbols(*operation))
      symbols.erase(symbol);
  }
  return symbols;
}

std::set<std::string> SymbolsDefinedIn(const Graph& graph) {
  std::set<std::string> symbols;
  for (const auto& operation : graph.operations()) {
    for (std::string& symbol : DefinedSymbols(*operation))
      symbols.insert(std::move(symbol));
    if (const Attribute* varying = operation->attributes().Find("varying"))
      CollectSymbols(std::get<Shape>(*varying), symbols);
    for (const auto& region : operation->regions())
      symbols.merge(SymbolsDefinedIn(*region));
  }
  return symbols;
}

}  // namespace ember::graph

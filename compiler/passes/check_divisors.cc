#include "compiler/passes/check_divisors.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/symbols.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/queries.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Value;

// True if the number of elements is surely not 0: no extent is 0 and no symbol
// is given its value by data. Symbols of inputs are assumed to be positive.
bool HasElements(const graph::Shape& shape) {
  if (std::ranges::find(shape, Dim(0)) != shape.end()) return false;
  std::set<std::string> symbols;
  graph::CollectSymbols(shape, symbols);
  return std::ranges::none_of(symbols, [](const std::string& symbol) {
    return symbol.starts_with('_');
  });
}

// True if only `select` operations read the value, so that the model may never
// use the quotient by 0.
bool IsChosen(const Value& value) {
  return !value.is_graph_output() && !value.users().empty() &&
         std::ranges::all_of(value.users(), [](const Operation* user) {
           return user->name() == "select";
         });
}

// Returns the error for the first division by a constant 0 that is not
// accepted; ok if there is none.
Status FirstMistake(const Graph& graph) {
  for (const Operation* operation : graph.Operations()) {
    if (DividesByZero(*operation)) {
      const Value& result = *operation->result();
      if (!HasElements(result.shape()) || IsChosen(result)) continue;
      return InvalidArgumentError(Concat(
          {graph::DescribeOperation(*operation),
           ": expected an integer divisor other than 0, found a constant with "
           "a 0 in it; correct the model, or compile it with "
           "vm-compile --disable-pass=check-divisors, which makes the quotient "
           "0"}));
    }
    if (operation->name() != "if") continue;
    Status status = OkStatus();
    for (const auto& branch : operation->regions()) {
      status = FirstMistake(*branch);
      if (status.ok()) break;
    }
    if (!status.ok()) return status;
  }
  return OkStatus();
}

}  // namespace

bool DividesByZero(const Operation& operation) {
  const std::string_view name = operation.name();
  const bool divides = name == "divide" || name == "floor_divide" ||
                       name == "modulo" || name == "remainder";
  if (!divides || !IsInteger(operation.result()->dtype())) return false;
  const Value* divisor = operation.operand(1);
  while (IsResultOf(divisor, "reshape") || IsResultOf(divisor, "broadcast"))
    divisor = divisor->producer()->operand(0);
  const Operation* constant = ConstantOf(divisor);
  if (constant == nullptr) return false;
  const auto& bytes = constant->attributes().Get<ConstantData>("value").bytes;
  const auto width = static_cast<size_t>(DTypeByteSize(divisor->dtype()));
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    if (std::ranges::all_of(bytes.subspan(i, width),
                            [](uint8_t byte) { return byte == 0; }))
      return true;
  }
  return false;
}

Status CheckDivisors(Graph& graph) { return FirstMistake(graph); }

}  // namespace ember::compiler

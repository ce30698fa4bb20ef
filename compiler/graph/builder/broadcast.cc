// Implements GraphBuilder's broadcasting of open dims (broadcasting.h).
#include <algorithm>
#include <set>
#include <string>

#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/dim_symbols.h"

namespace ember::graph {
namespace {

// True if the dim has only symbols of the model's inputs. Symbols whose values
// are computed during the run begin with '_'.
bool IsOfInputs(const Dim& dim) {
  const std::set<std::string> symbols = dim.Symbols();
  return std::none_of(
      symbols.begin(), symbols.end(),
      [](const std::string& symbol) { return symbol.starts_with('_'); });
}

}  // namespace

void GraphBuilder::Remember(const Dim& a, const Dim& b) {
  if (!MayBroadcast(a, b) || !IsOfInputs(a) || !IsOfInputs(b)) return;
  for (const AssumedDims& known : shared_->assumed_dims) {
    if ((known.a == a && known.b == b) || (known.a == b && known.b == a))
      return;
  }
  shared_->assumed_dims.push_back({a, b});
}

bool GraphBuilder::LeavesBroadcastOpen(const Dim& a, const Dim& b) {
  if (a == b || a.is_constant() || !MayBeUnit(a)) return false;
  if (broadcasting_ == Broadcasting::kDecidedByData || DataMayBroadcast({a, b}))
    return true;
  Remember(a, b);
  return false;
}

Value* GraphBuilder::Stretch(Value* a, size_t axis, const Dim& extent) {
  if (!Ready({&a, 1})) return nullptr;
  const Dim own = a->shape()[axis];
  if (own == extent) return a;
  Shape checked = a->shape();
  checked[axis] = UnitOr(own, extent);
  a = Apply("assume", {a}, {{"shape", checked}});
  Value* index =
      Multiply(Iota({extent}, 0, DType::kI64), DimValue(IndexFactor(own)));
  return Gather(a, index, static_cast<int>(axis));
}

bool GraphBuilder::AlignDims(std::vector<Value*>& operands,
                             const Shape* fixed) {
  size_t rank = fixed != nullptr ? fixed->size() : 0;
  for (const Value* operand : operands)
    rank = std::max(rank, operand->shape().size());
  for (size_t back = 1; back <= rank; ++back) {
    const bool is_fixed = fixed != nullptr && fixed->size() >= back;
    // Collects the extents that the operands have along this dim of the result.
    // A constant 1 broadcasts, so it is left out.
    std::vector<Dim> extents;
    if (is_fixed) extents.push_back((*fixed)[fixed->size() - back]);
    for (const Value* operand : operands) {
      if (operand->shape().size() < back) continue;
      const Dim& own = operand->shape()[operand->shape().size() - back];
      if (own != Dim(1)) extents.push_back(own);
    }
    if (extents.size() < 2) continue;
    const bool by_data = DataMayBroadcast(extents);
    if (broadcasting_ == Broadcasting::kAssumeEqual && !by_data) {
      for (const Dim& extent : extents) Remember(extents.front(), extent);
      continue;
    }
    const Dim result = is_fixed  ? extents.front()
                       : by_data ? StretchedExtent(*this, graph_, extents)
                                 : BroadcastExtent(extents);
    for (Value*& operand : operands) {
      if (operand->shape().size() < back) continue;
      const size_t axis = operand->shape().size() - back;
      const Dim own = operand->shape()[axis];
      if (!own.is_constant() && MayBeUnit(own))
        operand = Stretch(operand, axis, result);
      if (operand == nullptr) return false;
    }
  }
  return status_.ok();
}

}  // namespace ember::graph

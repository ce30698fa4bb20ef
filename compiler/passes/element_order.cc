#include "compiler/passes/element_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "compiler/graph/operators.h"

namespace ember::compiler {

using graph::Dim;
using graph::Operation;
using graph::Shape;
using graph::Value;

ElementOrder::ElementOrder(const Shape& shape) : shape_(shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    dims_.emplace_back();
    if (shape[d] != Dim(1))
      dims_.back().push_back({static_cast<int>(d), Dim(1), shape[d]});
  }
}

void ElementOrder::Transpose(const Permutation& permutation) {
  shape_ = Permute(shape_, permutation);
  dims_ = Permute(dims_, permutation);
}

bool ElementOrder::Reshape(const Shape& shape) {
  // The digits (parts of an index, see element_order.h) that are not yet
  // assigned to a dim of the new shape, the slowest-varying one first. Dims are
  // filled from the last one.
  Digits left = Join(dims_);
  std::vector<Digits> dims(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    Dim wanted = shape[d];
    while (wanted != Dim(1)) {
      if (left.empty()) return false;
      Digit& digit = left.back();
      const Dim whole =
          wanted == digit.extent ? Dim(1) : FloorDivide(wanted, digit.extent);
      if (whole.is_valid() && whole * digit.extent == wanted) {
        dims[d].insert(dims[d].begin(), digit);
        left.pop_back();
        wanted = whole;
        continue;
      }
      // The digit does not fit into the rest of the dim, so it is split in two.
      // `rest` is the extent of its slower part, which is left for the dims
      // before.
      const Dim rest = FloorDivide(digit.extent, wanted);
      if (!rest.is_valid() || rest * wanted != digit.extent) return false;
      dims[d].insert(dims[d].begin(), {digit.dim, digit.stride, wanted});
      digit.stride = digit.stride * wanted;
      digit.extent = rest;
      wanted = Dim(1);
    }
  }
  if (!left.empty()) return false;
  shape_ = shape;
  dims_ = std::move(dims);
  return true;
}

void ElementOrder::Broadcast(const Shape& shape) {
  EMBER_CHECK(shape.size() >= shape_.size());
  const size_t added = shape.size() - shape_.size();
  dims_.insert(dims_.begin(), added, Digits());
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool is_repeated = d < added || shape_[d - added] == Dim(1);
    if (is_repeated && shape[d] != Dim(1)) dims_[d] = {{-1, Dim(1), shape[d]}};
  }
  shape_ = shape;
}

bool ElementOrder::Move(const Operation& movement) {
  if (movement.name() == "transpose") {
    Transpose(movement.attributes().Get<Permutation>("permutation"));
    return true;
  }
  return movement.name() == "reshape" && Reshape(movement.result()->shape());
}

// Returns the digits of all dims as one list. Neighbouring digits that are
// adjacent parts of one dim of the first value are joined, so that equal orders
// give equal lists.
ElementOrder::Digits ElementOrder::Join(const std::vector<Digits>& dims) {
  Digits joined;
  for (const Digits& digits : dims) {
    for (const Digit& digit : digits) {
      if (!joined.empty() && joined.back().dim == digit.dim) {
        Digit& slow = joined.back();
        if (digit.dim < 0 || slow.stride == digit.stride * digit.extent) {
          slow = {digit.dim, digit.stride, slow.extent * digit.extent};
          continue;
        }
      }
      joined.push_back(digit);
    }
  }
  return joined;
}

bool operator==(const ElementOrder& a, const ElementOrder& b) {
  return a.shape_ == b.shape_ &&
         ElementOrder::Join(a.dims_) == ElementOrder::Join(b.dims_);
}

namespace {

bool IsMovement(const Operation* operation) {
  return operation != nullptr &&
         (operation->name() == "transpose" || operation->name() == "reshape");
}

// Returns the values whose elements this value holds in some order: the value
// itself, and, as long as its producer is a movement, the producer's operand.
// The nearest comes first.
std::vector<const Value*> SourcesOf(const Value* value) {
  std::vector<const Value*> sources = {value};
  while (IsMovement(sources.back()->producer()))
    sources.push_back(sources.back()->producer()->operand(0));
  return sources;
}

// Returns the nearest value from which movements make both a and b; null if
// there is none.
const Value* CommonSource(const Value* a, const Value* b) {
  const std::vector<const Value*> others = SourcesOf(b);
  for (const Value* source : SourcesOf(a)) {
    if (std::ranges::find(others, source) != others.end()) return source;
  }
  return nullptr;
}

// Applies to `order` the movements by which `value` is made from `base`.
// Returns false if one cannot be expressed.
bool MoveTo(const Value* value, const Value* base, ElementOrder& order) {
  return value == base || (MoveTo(value->producer()->operand(0), base, order) &&
                           order.Move(*value->producer()));
}

// `moved` is made by movements from the result of `elementwise`, and its
// operand `operand` by movements from `base`. Returns the order in which
// `moved` refers to the elements of `base`; nullopt if it cannot be expressed.
std::optional<ElementOrder> OrderOfOperand(const Value* base,
                                           const Value* operand,
                                           const Operation& elementwise,
                                           const Value* moved) {
  ElementOrder order(base->shape());
  if (!MoveTo(operand, base, order)) return std::nullopt;
  order.Broadcast(elementwise.result()->shape());
  if (!MoveTo(moved, elementwise.result(), order)) return std::nullopt;
  return order;
}

}  // namespace

bool HoldSameElements(const Value* a, const Value* b) {
  if (const Value* base = CommonSource(a, b)) {
    ElementOrder order_a(base->shape()), order_b(base->shape());
    return MoveTo(a, base, order_a) && MoveTo(b, base, order_b) &&
           order_a == order_b;
  }
  const Operation* const f = SourcesOf(a).back()->producer();
  const Operation* const g = SourcesOf(b).back()->producer();
  if (f == nullptr || g == nullptr || f->name() != g->name() ||
      f->record().trait != graph::OperatorTrait::kElementwise ||
      f->operand_count() != g->operand_count()) {
    return false;
  }
  for (int i = 0; i < f->operand_count(); ++i) {
    const Value* const base = CommonSource(f->operand(i), g->operand(i));
    if (base == nullptr) return false;
    const auto order = OrderOfOperand(base, f->operand(i), *f, a);
    if (!order || order != OrderOfOperand(base, g->operand(i), *g, b))
      return false;
  }
  return true;
}

}  // namespace ember::compiler

// Implements GraphBuilder's contractions: MatMul written as a contract.
#include <algorithm>

#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/dim_symbols.h"
#include "compiler/graph/operators/contract_spec.h"

namespace ember::graph {
namespace {

// One operand of a contraction: the labels of its dims in the spec, and the
// shape to which it must be reshaped so that each dim has a label.
struct LabelledOperand {
  std::string labels;
  Shape shape;
};

}  // namespace

Value* GraphBuilder::Contract(Value* a, Value* b, std::string_view spec) {
  return Apply("contract", {a, b}, {{"spec", std::string(spec)}});
}

Value* GraphBuilder::MatMul(Value* a, Value* b) {
  Value* const operands[] = {a, b};
  if (!Ready(operands)) return nullptr;
  if (a->rank() == 0 || b->rank() == 0) {
    Fail(InvalidArgumentError((origin_.empty() ? "" : "'" + origin_ + "': ") +
                              "matmul: expected ranks of at least 1, found " +
                              ToString(a->type()) + " and " +
                              ToString(b->type())));
    return nullptr;
  }
  const int batch_a = std::max(a->rank() - 2, 0),
            batch_b = std::max(b->rank() - 2, 0);
  const int batch = std::max(batch_a, batch_b);
  for (int i = 1; i <= std::min(batch_a, batch_b); ++i) {
    const auto at_a = static_cast<size_t>(batch_a - i),
               at_b = static_cast<size_t>(batch_b - i);
    const std::vector<Dim> extents = {a->shape()[at_a], b->shape()[at_b]};
    const bool by_data = DataMayBroadcast(extents);
    if (broadcasting_ == Broadcasting::kAssumeEqual && !by_data) {
      Remember(extents[0], extents[1]);
      continue;
    }
    if (extents[0] == Dim(1) || extents[1] == Dim(1)) continue;
    const Dim extent = by_data ? StretchedExtent(*this, graph_, extents)
                               : BroadcastExtent(extents);
    if (!extents[0].is_constant() && MayBeUnit(extents[0]))
      a = Stretch(a, at_a, extent);
    if (!extents[1].is_constant() && MayBeUnit(extents[1]))
      b = Stretch(b, at_b, extent);
    if (a == nullptr || b == nullptr) return nullptr;
  }
  LabelledOperand left, right;
  std::string result;
  for (int i = 0; i < batch; ++i) {
    const int at_a = i - (batch - batch_a), at_b = i - (batch - batch_b);
    const Dim one = 1;
    const Dim& dim_a = at_a < 0 ? one : a->shape()[static_cast<size_t>(at_a)];
    const Dim& dim_b = at_b < 0 ? one : b->shape()[static_cast<size_t>(at_b)];
    const auto label = static_cast<char>('A' + i);
    // A dim of extent 1 that broadcasts against the other operand's dim gets no
    // label: the reshape drops it.
    const bool in_a = at_a >= 0 && !(dim_a == one && at_b >= 0 && dim_b != one);
    const bool in_b = at_b >= 0 && !(dim_b == one && in_a);
    if (in_a) {
      left.labels += label;
      left.shape.push_back(dim_a);
    }
    if (in_b) {
      right.labels += label;
      right.shape.push_back(dim_b);
    }
    result += label;
  }
  left.shape.insert(left.shape.end(), a->shape().begin() + batch_a,
                    a->shape().end());
  right.shape.insert(right.shape.end(), b->shape().begin() + batch_b,
                     b->shape().end());
  left.labels += a->rank() == 1 ? "k" : "ik";
  right.labels += b->rank() == 1 ? "k" : "kj";
  if (a->rank() > 1) result += 'i';
  if (b->rank() > 1) result += 'j';
  const ContractSpec spec{left.labels, right.labels, result};
  Value* reshaped_a = Reshape(a, left.shape);
  Value* reshaped_b = Reshape(b, right.shape);
  return Contract(reshaped_a, reshaped_b, spec.ToString());
}

}  // namespace ember::graph

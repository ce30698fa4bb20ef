#include "frontends/ops/one_type.h"

#include <string>

namespace ember::ops {

bool HaveOneType(std::initializer_list<Tensor> tensors) {
  const Tensor* first = nullptr;
  for (const Tensor& tensor : tensors) {
    if (!tensor || tensor.value() == nullptr) continue;
    if (first == nullptr) first = &tensor;
    if (tensor.dtype() == first->dtype()) continue;
    graph::GraphBuilder& builder = tensor.builder();
    builder.Fail(InvalidArgumentError(
        "node '" + builder.origin() +
        "': expected operands of one type, found " +
        graph::ToString(first->value()->type()) + " and " +
        graph::ToString(tensor.value()->type()) + "; cast one of them"));
    return false;
  }
  return true;
}

}  // namespace ember::ops

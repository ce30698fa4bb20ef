#include "frontends/ops/repeated_extent.h"

#include "frontends/ops/compositions.h"

namespace ember::ops {

using graph::Dim;

Dim RepeatedExtent(graph::GraphBuilder& builder, const Dim& a, const Dim& b) {
  const Tensor first = DimScalar(builder, a);
  const Tensor second = DimScalar(builder, b);
  const Tensor extent = Select(Equal(first, 1), second, first);
  const graph::Shape extents =
      builder.Extents(Reshape(extent, {Dim(1)}).value());
  return extents.empty() ? a : extents.front();
}

}  // namespace ember::ops

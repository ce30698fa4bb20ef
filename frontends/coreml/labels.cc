#include "frontends/coreml/labels.h"

#include <string>

namespace ember::coreml {

using ops::Dim;
using ops::Tensor;

StatusOr<Tensor> BestLabel(graph::GraphBuilder& builder, const Tensor& scores,
                           const std::vector<int64_t>& labels) {
  EMBER_RETURN_IF_ERROR(builder.status());
  const Dim count = scores.dim(-1);
  if (Dim(static_cast<int64_t>(labels.size())) != count) {
    return DataLossError("expected a label for each of " + count.ToString() +
                         " classes, found " + std::to_string(labels.size()));
  }
  const Tensor best = ops::Apply("arg_reduce", {scores},
                                 {{"mode", std::string("maximum")},
                                  {"axis", int64_t{scores.rank() - 1}},
                                  {"last", int64_t{0}}});
  return Gather(Tensor(&builder, builder.Integers(labels)), best, 0);
}

}  // namespace ember::coreml

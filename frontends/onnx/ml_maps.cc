// Operators of ai.onnx.ml between tensors and maps.
#include <string>

#include "frontends/onnx/ml_attributes.h"
#include "frontends/onnx/operator_table.h"

namespace ember::onnx {
namespace {

// A map per row of the scores: as long as there are no sequences of maps, the
// scores themselves, [N, E], whose columns are in the order of the labels.
void ImportZipMap(NodeContext& c) {
  // Labels are not values of the graph, strings or not.
  const auto strings = c.Strings("classlabels_strings");
  const auto integers = c.Integers("classlabels_int64s");
  const size_t count = strings && !strings->empty() ? strings->size()
                       : integers                   ? integers->size()
                                                    : 0;
  Tensor x = ReadRows(c);
  if (!x) return;
  const Dim columns(static_cast<int64_t>(count));
  if (x.dim(1).is_constant() && x.dim(1) != columns) {
    return c.FailInvalid("expected " + x.dim(1).ToString() +
                         " class labels, found " + columns.ToString());
  }
  if (x.dim(1) != columns) {
    x = Apply("assume", {x}, {{"shape", Shape{x.dim(0), columns}}});
  }
  c.SetOutput(0, x);
}

constexpr OperatorRow kRows[] = {
    {"ZipMap", 0, 1, 1, ImportZipMap, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlMapOperators() { return kRows; }

}  // namespace ember::onnx

// Helpers with which the importers of the domain ai.onnx.ml read their nodes:
// lists of strings, numbers in either of their attribute forms, class labels,
// operands as rows of features.
//
//   const Numbers base = ReadNumbers(c, "base_values");  // or …_as_tensor
//   const Labels labels =
//       ReadLabels(c, "classlabels_strings", "classlabels_ints");
//   c.SetOutput(0, Gather(labels.Vector(c), best_class, 0));
//
// Strings are represented by i64 handles of a table in which equal strings have
// equal handles; Tensor::carried_type is then TensorProto::STRING. Errors stay
// in the context, as those of all importers.
#ifndef EMBER_FRONTENDS_ONNX_ML_ATTRIBUTES_H_
#define EMBER_FRONTENDS_ONNX_ML_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

inline constexpr std::string_view kMlDomain = "ai.onnx.ml";

// StringHandle and StringHandles enter strings in the module's table of
// strings, and return their handles (i64 numbers).
int64_t StringHandle(NodeContext& c, std::string_view bytes);
std::vector<int64_t> StringHandles(NodeContext& c,
                                   const std::vector<std::string>& strings);
// Makes a constant i64[n] of integers, or of handles (marked as strings).
Tensor HandleVector(NodeContext& c, const std::vector<int64_t>& values,
                    bool strings);

struct Numbers {
  std::vector<double> values;
  bool wide = false;  // given as f64

  bool empty() const { return values.empty(); }
  size_t size() const { return values.size(); }
};

// Reads numbers from the attribute `name` (type FLOATS) or `name`_as_tensor
// (type TENSOR); empty if neither is present.
Numbers ReadNumbers(NodeContext& c, const std::string& name);
// Reads the TENSOR attribute `name`; the result is empty if it is absent.
Numbers ReadTensorNumbers(NodeContext& c, const std::string& name);
// Returns numbers as a constant vector of a numeric type.
Tensor NumberVector(NodeContext& c, const std::vector<double>& values,
                    DType dtype);

// Class labels: integers, or handles of strings.
struct Labels {
  std::vector<int64_t> values;
  bool strings = false;

  int64_t size() const { return static_cast<int64_t>(values.size()); }
  Tensor Vector(NodeContext& c) const {
    return HandleVector(c, values, strings);
  }
};

// Reads class labels from the attribute named `strings` or the one named
// `integers`; fails if none or both are present.
Labels ReadLabels(NodeContext& c, std::string_view strings,
                  std::string_view integers);

// Returns operand 0 as [N, F], where [F] means [1, F]; absent after an error.
Tensor ReadRows(NodeContext& c);

// Returns the type in which scores of an operand are computed: f64 for f64,
// else f32.
DType ScoreType(Tensor x);

// Returns false, with an error, unless the numbers `found` and `expected` are
// equal. `what` names the counted objects in the error.
bool CheckCount(NodeContext& c, std::string_view what, size_t found,
                size_t expected);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_ATTRIBUTES_H_

// Imports operators whose result sizes depend on data: NonZero, Compress,
// Unique, NonMaxSuppression, ImageDecoder; and TopK, which is a library call
// like them.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dim_checks.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Returns the row-major positions of the elements that are not zero,
// i64[count]. The count is a new symbol.
Tensor NonZeroPositions(NodeContext& c, Tensor x) {
  const std::vector<Tensor> results = ApplyAll(
      "non_zero", {x}, {{"defines", Shape{c.builder().FreshSymbol()}}});
  return results.empty() ? c.Wrap(nullptr) : results[0];
}

void ImportTopK(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  std::optional<Shape> k;
  if (c.opset() < 10) {
    if (!c.HasAttribute("k"))
      return c.FailInvalid("attribute 'k': expected an integer, found none");
    k = Shape{Dim(c.Integer("k", 0))};
  } else {
    k = c.Sizes(1, "k");
  }
  if (!k || !c.ok()) return;
  if (k->size() != 1)
    return c.FailInvalid("k (input 1): expected one number, found " +
                         std::to_string(k->size()));
  RequireAtMost(c, k->front(), x.dim(axis),
                "k: expected at most the extent of axis " +
                    std::to_string(axis) + ", " + x.dim(axis).ToString() +
                    ", found " + k->front().ToString());
  if (!c.ok()) return;
  const std::vector<Tensor> results =
      ApplyAll("top_k", {x},
               {{"axis", int64_t{axis}},
                {"k", *k},
                {"largest", c.Integer("largest", 1) != 0 ? int64_t{1} : 0}});
  for (size_t i = 0; i < results.size(); ++i)
    c.SetOutput(static_cast<int>(i), results[i]);
}

void ImportNonZero(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!c.ok()) return;
  if (x.carried_type() == TensorProto::STRING)
    x = NotEqual(x, c.StringScalar(""));
  if (x.rank() == 0) x = Reshape(x, {Dim(1)});
  const Tensor positions = NonZeroPositions(c, x);
  std::vector<Tensor> rows;
  Dim stride(1);
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const Tensor size = DimScalar(c.builder(), x.dim(axis));
    Tensor index = stride == Dim(1) ? positions
                                    : Binary(Opcode::kFloorDivide, positions,
                                             DimScalar(c.builder(), stride));
    if (axis > 0) index = Modulo(index, size);
    rows.insert(rows.begin(), Unsqueeze(index, {0}));
    stride = stride * x.dim(axis);
  }
  c.SetOutput(0, Concat(rows, 0));
}

void ImportCompress(NodeContext& c) {
  if (!c.CheckRank(1, 1, 1)) return;
  Tensor x = c.Input(0);
  int axis = 0;
  if (c.HasAttribute("axis")) {
    axis = c.Axis(c.Integer("axis", 0), x.rank());
  } else {
    x = Reshape(x, {ElementCount(x.shape())});
  }
  if (!c.ok()) return;
  c.SetOutput(0, Gather(x, NonZeroPositions(c, c.Input(1)), axis));
}

void ImportUnique(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!c.ok()) return;
  // Shape of each value that Unique compares: a slice along `axis`, or an
  // element if there is no axis.
  Shape row;
  std::vector<int64_t> to_front;
  if (c.HasAttribute("axis")) {
    const int axis = c.Axis(c.Integer("axis", 0), x.rank());
    if (!c.ok()) return;
    to_front.push_back(axis);
    for (int i = 0; i < x.rank(); ++i) {
      if (i == axis) continue;
      to_front.push_back(i);
      row.push_back(x.dim(i));
    }
    x = Transpose(x, to_front);
    x = Reshape(x, {x.dim(0), ElementCount(row)});
  } else {
    x = Reshape(x, {ElementCount(x.shape()), Dim(1)});
  }
  const Dim count = c.builder().FreshSymbol();
  const bool strings = c.Input(0).carried_type() == TensorProto::STRING;
  // Unique sorts its results, but the handles of strings are not in the order
  // of the strings. So handles are replaced by the strings' ranks in sorted
  // order.
  Tensor keys = strings ? Apply("string_rank", {x}, {}) : x;
  std::vector<Tensor> results =
      ApplyAll("unique", {keys},
               {{"defines", Shape{count}},
                {"sorted", c.Integer("sorted", 1) != 0 ? int64_t{1} : 0}});
  if (results.empty()) return;
  if (strings) results[0] = Gather(x, results[1], 0);
  Shape shape = {count};
  shape.insert(shape.end(), row.begin(), row.end());
  results[0] = Reshape(results[0], shape);
  if (!to_front.empty()) {
    std::vector<int64_t> back(to_front.size());
    for (size_t i = 0; i < to_front.size(); ++i)
      back[static_cast<size_t>(to_front[i])] = static_cast<int64_t>(i);
    results[0] = Transpose(results[0], std::move(back));
  }
  if (strings) results[0] = results[0].Marked(TensorProto::STRING);
  for (size_t i = 0; i < results.size(); ++i)
    c.SetOutput(static_cast<int>(i), results[i]);
}

// Returns the single f32 of an optional operand; `otherwise` if it is absent.
Tensor Threshold(NodeContext& c, int input, double otherwise) {
  if (!c.Input(input))
    return Reshape(c.Scalar(otherwise, DType::kF32), {Dim(1)});
  return Cast(Reshape(c.Input(input), {Dim(1)}), DType::kF32);
}

void ImportImageDecoder(NodeContext& c) {
  const Tensor file = c.Input(0);
  if (!c.ok() || !c.CheckRank(0, 1, 1)) return;
  if (file.dtype() != DType::kU8) {
    return c.FailInvalid("expected the bytes of a file as UINT8, found " +
                         std::string(DTypeName(file.dtype())));
  }
  // The index of a format in kFormats is its number in vm::PixelOrder.
  constexpr std::string_view kFormats[] = {"RGB", "BGR", "Grayscale"};
  const std::string format = c.String("pixel_format", "RGB");
  const auto found = std::ranges::find(kFormats, format);
  if (found == std::end(kFormats)) {
    return c.FailInvalid(
        "attribute 'pixel_format': expected RGB, BGR or Grayscale, found " +
        format);
  }
  const Dim height = c.builder().FreshSymbol();
  const Dim width = c.builder().FreshSymbol();
  c.SetOutput(0, Apply("decode_image", {file},
                       {{"defines", Shape{height, width}},
                        {"order", int64_t{found - std::begin(kFormats)}}}));
}

void ImportNonMaxSuppression(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 3, 3)) return;
  std::optional<Shape> most = Shape{Dim(0)};
  if (c.Input(2)) most = c.Sizes(2, "max_output_boxes_per_class");
  if (!most) return;
  if (most->size() != 1)
    return c.FailInvalid("max_output_boxes_per_class: expected one number");
  Tensor boxes = WithDim(Cast(c.Input(0), DType::kF32), 2, Dim(4));
  Tensor scores = Cast(c.Input(1), DType::kF32);
  // Open dims of boxes and scores are assumed to be equal; the program checks
  // it.
  Shape expected = {boxes.dim(0), scores.dim(1), boxes.dim(1)};
  if (scores.shape() != expected)
    scores = Apply("assume", {scores}, {{"shape", expected}});
  const Tensor thresholds =
      Concat({Threshold(c, 3, 0),
              Threshold(c, 4, -std::numeric_limits<double>::infinity())},
             0);
  if (!c.ok()) return;
  const std::vector<Tensor> results = ApplyAll(
      "non_max_suppression", {boxes, scores, thresholds},
      {{"defines", Shape{c.builder().FreshSymbol()}},
       {"most", *most},
       {"centered", c.Integer("center_point_box", 0) != 0 ? int64_t{1} : 0}});
  if (!results.empty()) c.SetOutput(0, results[0]);
}

constexpr OperatorRow kRows[] = {
    {"Compress", 9, 2, 2, ImportCompress, "", Moves({0})},
    {"NonMaxSuppression", 10, 2, 5, ImportNonMaxSuppression},
    {"ImageDecoder", 20, 1, 1, ImportImageDecoder},
    {"NonZero", 9, 1, 1, ImportNonZero, "", CarriedTypes::kStrings},
    {"TopK", 1, 1, 2, ImportTopK},
    {"Unique", 11, 1, 1, ImportUnique, "", CarriedTypes::kStrings},
};

}  // namespace

std::span<const OperatorRow> SelectionOperators() { return kRows; }

}  // namespace ember::onnx

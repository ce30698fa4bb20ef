// Operators that make and move elements: this file reads the attributes of
// TensorFlow for the operators in tf_common, and imports the operators that
// only TensorFlow has.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tensorflow/constants.h"
#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

void SetConcat(OperatorContext& c, int first, int count, int axis_input) {
  const auto given = c.ConstantIntegers(axis_input, "axis");
  if (!given || given->size() != 1) return;
  std::vector<Tensor> parts;
  for (int i = first; i < first + count; ++i) {
    if (!c.CheckRank(i, 1)) return;
    parts.push_back(c.Input(i));
  }
  if (parts.empty()) return c.FailInvalid("expected operands, found none");
  const int axis = c.Axis(given->front(), parts.front().rank());
  if (c.ok()) c.SetOutput(0, Concat(parts, axis));
}

}  // namespace

void ImportConst(OperatorContext& c) {
  const AttrValue* value = c.Attribute("value");
  if (value == nullptr || !value->has_tensor())
    return c.FailInvalid("attribute 'value': expected a tensor");
  StatusOr<Value> constant =
      ConstantValue(value->tensor(), c.owner(), c.builder());
  if (!constant.ok())
    return c.builder().Fail(
        constant.status().WithContext("node '" + c.builder().origin() + "'"));
  c.SetValue(0, *std::move(constant));
}

void ImportReshape(OperatorContext& c) { tf_common::ImportReshape(c); }
void ImportSqueeze(OperatorContext& c) {
  tf_common::ImportSqueeze(c,
                           c.Integers("squeeze_dims", c.Integers("axis", {})));
}
void ImportConcat(OperatorContext& c) {
  SetConcat(c, 1, c.input_count() - 1, 0);
}
void ImportConcatV2(OperatorContext& c) {
  SetConcat(c, 0, c.input_count() - 1, c.input_count() - 1);
}
void ImportConcatOffset(OperatorContext& c) {
  const auto axis = c.ConstantIntegers(0, "axis");
  if (!axis || axis->size() != 1) return;
  c.SetOutputCount(c.input_count() - 1);
  Dim sum(0);
  for (int i = 1; i < c.input_count() && c.ok(); ++i) {
    const auto shape = c.Contents(i, "shape");
    if (!shape) return;
    const int at = c.Axis(axis->front(), static_cast<int>(shape->size()));
    if (!c.ok()) return;
    Shape offset(shape->size(), Dim(0));
    offset[static_cast<size_t>(at)] = sum;
    sum = sum + (*shape)[static_cast<size_t>(at)];
    c.SetOutput(i - 1, Cast(c.Wrap(c.builder().ShapeValue(offset)),
                            c.Input(i).dtype()));
  }
}
void ImportParallelConcat(OperatorContext& c) {
  std::vector<Tensor> parts;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.CheckRank(i, 1)) return;
    parts.push_back(c.Input(i));
  }
  c.SetOutput(0, Concat(parts, 0));
}
void ImportPack(OperatorContext& c) {
  tf_common::ImportPack(c, c.Integer("axis", 0));
}
void ImportUnpack(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num", 0));
  if (c.ok()) tf_common::ImportUnpack(c, c.Integer("axis", 0));
}
void ImportSplit(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num_split", 0));
  if (c.ok()) tf_common::ImportSplit(c);
}
void ImportSplitV(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num_split", 0));
  if (c.ok()) tf_common::ImportSplitV(c);
}
void ImportPad(OperatorContext& c) { tf_common::ImportPad(c, 0); }
void ImportMirrorPad(OperatorContext& c) {
  tf_common::ImportMirrorPad(c, c.Text("mode", "REFLECT") == "SYMMETRIC");
}
void ImportReverseV1(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto flags = c.ConstantNumbers(1, "dims");
  if (!flags) return;
  Tensor x = c.Input(0);
  if (static_cast<int>(flags->size()) != x.rank())
    return c.FailInvalid("dims: expected one flag per dim");
  for (int i = 0; i < x.rank(); ++i)
    if ((*flags)[static_cast<size_t>(i)] != 0) x = ops::Reverse(x, i);
  c.SetOutput(0, x);
}
// Imports Roll. Operands: (x, shift, axis).
void ImportRoll(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto shifts = c.ConstantIntegers(1, "shift");
  const auto axes = c.ConstantIntegers(2, "axis");
  if (!shifts || !axes) return;
  if (shifts->size() != axes->size())
    return c.FailInvalid("expected as many shifts as axes");
  Tensor x = c.Input(0);
  for (size_t i = 0; i < axes->size() && c.ok(); ++i) {
    const int axis = c.Axis((*axes)[i], x.rank());
    const Dim extent = x.dim(axis);
    if (extent == Dim(0)) continue;
    // Moves the last `by` elements of the axis to the front.
    const Dim by = Modulo(Dim((*shifts)[i]), extent);
    x = Concat({SliceAxis(x, axis, extent - by, by),
                SliceAxis(x, axis, Dim(0), extent - by)},
               axis);
  }
  c.SetOutput(0, x);
}
void ImportSpaceToDepth(OperatorContext& c) {
  if (c.Text("data_format", "NHWC") != "NHWC")
    return c.FailUnsupported("attribute 'data_format': expected NHWC");
  tf_common::ImportSpaceToDepth(c, c.Integer("block_size", 0));
}
void ImportDepthToSpace(OperatorContext& c) {
  if (c.Text("data_format", "NHWC") != "NHWC")
    return c.FailUnsupported("attribute 'data_format': expected NHWC");
  tf_common::ImportDepthToSpace(c, c.Integer("block_size", 0));
}
void ImportSpaceToBatchNd(OperatorContext& c) {
  tf_common::ImportSpaceToBatchNd(c, 0);
}
void ImportStridedSlice(OperatorContext& c) {
  tf_common::ImportStridedSlice(
      c, {.begin = c.Integer("begin_mask", 0),
          .end = c.Integer("end_mask", 0),
          .ellipsis = c.Integer("ellipsis_mask", 0),
          .new_axis = c.Integer("new_axis_mask", 0),
          .shrink_axis = c.Integer("shrink_axis_mask", 0)});
}

void ImportShape(OperatorContext& c) {
  c.SetOutputType(0, c.Type("out_type", DType::kI32));
  tf_common::ImportShape(c);
}
void ImportShapeN(OperatorContext& c) {
  const DType type = c.Type("out_type", DType::kI32);
  c.SetOutputCount(c.input_count());
  for (int i = 0; i < c.input_count() && c.ok(); ++i)
    c.SetOutput(i,
                Cast(c.Wrap(c.builder().ShapeValue(c.Input(i).shape())), type));
}
void ImportSize(OperatorContext& c) {
  if (!c.CheckRank(0, 0)) return;
  c.SetOutput(0, Cast(DimScalar(c.builder(), ElementCount(c.Input(0).shape())),
                      c.Type("out_type", DType::kI32)));
}
void ImportRank(OperatorContext& c) {
  c.SetOutputType(0, DType::kI32);
  tf_common::ImportRank(c);
}
void ImportBroadcastArgs(OperatorContext& c) {
  c.SetOutputType(0, c.Input(0).dtype());
  tf_common::ImportBroadcastArgs(c);
}
// Imports Empty. TensorFlow leaves the contents unspecified. The import fills
// them with zeros.
void ImportEmpty(OperatorContext& c) {
  const auto shape = c.Sizes(0, "shape");
  const DType type = c.Type("dtype", DType::kF32);
  if (shape) c.SetOutput(0, Broadcast(c.Scalar(0, type), *shape));
}
// Imports LinSpace. Operands: (start, stop, num).
void ImportLinSpace(OperatorContext& c) {
  const auto count = c.Sizes(2, "num");
  if (!count || !c.CheckRank(0, 0, 1) || !c.CheckRank(1, 0, 1)) return;
  const Tensor start = Reshape(c.Input(0), {}), stop = Reshape(c.Input(1), {});
  const Tensor steps =
      Cast(DimScalar(c.builder(), LargerOf(count->front() - Dim(1), Dim(1))),
           start.dtype());
  const Tensor i = IotaVector(c.builder(), count->front(), start.dtype());
  c.SetOutput(0, start + i * ((stop - start) / steps));
}
void ImportInvertPermutation(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor place =
      Cast(IotaVector(c.builder(), x.dim(0), DType::kI64), x.dtype());
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(x.Like(0), x.shape()),
                        Unsqueeze(Cast(x, DType::kI64), {1}), place},
                       {{"update", std::string("assign")}}));
}

}  // namespace ember::tensorflow

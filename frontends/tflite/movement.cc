// Operators that move elements. This file reads the options of TensorFlow Lite
// for the operators in tf_common, and imports the operators that only
// TensorFlow Lite has.
#include "frontends/tf_common/movement.h"

#include <string>
#include <utility>
#include <vector>

#include "frontends/tflite/activation.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {

void ImportReshape(OperatorContext& c) {
  // If the shape operand is not a vector, for example of shape [1, 3],
  // TensorFlow Lite's interpreter takes the shape from the options.
  const auto stated = SpanOf(c.Options<schema::ReshapeOptions>().new_shape());
  const bool is_vector = c.Input(1) && c.Input(1).rank() == 1;
  if (is_vector || (c.Input(1) && stated.empty()))
    return tf_common::ImportReshape(c);
  if (!c.CheckRank(0, 0)) return;
  Shape shape;
  for (const int32_t extent : stated) shape.push_back(Dim(extent));
  // Older files write the shape of a scalar as [0].
  if (shape == Shape{Dim(0)}) shape.clear();
  tf_common::ImportReshape(c, std::move(shape));
}

void ImportSqueeze(OperatorContext& c) {
  const auto given = SpanOf(c.Options<schema::SqueezeOptions>().squeeze_dims());
  tf_common::ImportSqueeze(c, {given.begin(), given.end()});
}

namespace {

// Converts an operand of CONCATENATION to the result's scale. u8 is converted
// in floats, as TensorFlow Lite's kernel does.
Tensor OnScaleOfResult(OperatorContext& c, Tensor part,
                       const Quantization& from, const Quantization& to) {
  const DType type = c.OutputType(0);
  const bool in_floats = type == DType::kU8 && part.dtype() == DType::kU8 &&
                         from.per_tensor() && to.per_tensor() && from != to;
  if (!in_floats) return Requantized(part, from, to, type);
  const float scale = from.scale() * (1.0f / to.scale());
  const float offset = -static_cast<float>(from.zero_point()) * scale;
  const Tensor scaled = Cast(part, DType::kF32) * static_cast<double>(scale) +
                        static_cast<double>(offset);
  return Cast(ops::RoundHalfAway(scaled) + static_cast<double>(to.zero_point()),
              type);
}

}  // namespace

void ImportConcatenation(OperatorContext& c) {
  const auto& o = c.Options<schema::ConcatenationOptions>();
  std::vector<Tensor> parts;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.CheckRank(i, 1)) return;
    Tensor part = c.Input(i);
    const Quantization* from = c.InputQuantization(i);
    const Quantization* to = c.OutputQuantization(0);
    if (from != nullptr && to != nullptr)
      part = OnScaleOfResult(c, part, *from, *to);
    parts.push_back(part);
  }
  const int axis = c.Axis(o.axis(), parts.front().rank());
  if (!c.ok()) return;
  const Tensor y = Concat(parts, axis);
  if (c.OutputQuantization(0) == nullptr)
    return c.SetOutput(0, Activated(c, y, o.fused_activation_function()));
  if (o.fused_activation_function() == schema::ActivationFunctionType::NONE)
    return c.SetOutput(0, y);
  SetStored(c, CenteredStored(y, *c.OutputQuantization(0)),
            o.fused_activation_function());
}

void ImportPack(OperatorContext& c) {
  tf_common::ImportPack(c, c.Options<schema::PackOptions>().axis());
}

void ImportUnpack(OperatorContext& c) {
  tf_common::ImportUnpack(c, c.Options<schema::UnpackOptions>().axis());
}

void ImportPad(OperatorContext& c) { tf_common::ImportPad(c, c.StoredZero(0)); }

void ImportMirrorPad(OperatorContext& c) {
  tf_common::ImportMirrorPad(c, c.Options<schema::MirrorPadOptions>().mode() !=
                                    schema::MirrorPadMode::REFLECT);
}

void ImportSpaceToDepth(OperatorContext& c) {
  tf_common::ImportSpaceToDepth(
      c, c.Options<schema::SpaceToDepthOptions>().block_size());
}

void ImportDepthToSpace(OperatorContext& c) {
  tf_common::ImportDepthToSpace(
      c, c.Options<schema::DepthToSpaceOptions>().block_size());
}

void ImportSpaceToBatchNd(OperatorContext& c) {
  tf_common::ImportSpaceToBatchNd(c, c.StoredZero(0));
}

void ImportExpandDims(OperatorContext& c) { tf_common::ImportExpandDims(c); }
void ImportTranspose(OperatorContext& c) { tf_common::ImportTranspose(c); }
void ImportSplit(OperatorContext& c) { tf_common::ImportSplit(c); }
void ImportSplitV(OperatorContext& c) { tf_common::ImportSplitV(c); }
void ImportTile(OperatorContext& c) { tf_common::ImportTile(c); }
void ImportBroadcastTo(OperatorContext& c) { tf_common::ImportBroadcastTo(c); }
void ImportBroadcastArgs(OperatorContext& c) {
  tf_common::ImportBroadcastArgs(c);
}
void ImportReverse(OperatorContext& c) { tf_common::ImportReverse(c); }
void ImportBatchToSpaceNd(OperatorContext& c) {
  tf_common::ImportBatchToSpaceNd(c);
}
void ImportShape(OperatorContext& c) { tf_common::ImportShape(c); }
void ImportRank(OperatorContext& c) { tf_common::ImportRank(c); }
void ImportFill(OperatorContext& c) { tf_common::ImportFill(c); }
void ImportRange(OperatorContext& c) { tf_common::ImportRange(c); }

// Imports DILATE, which inserts zeros (or another value) between the elements:
// each element is put into a block of its own.
void ImportDilate(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaxRank / 2)) return;
  const Tensor x = c.Input(0);
  const auto dilations = c.ConstantIntegers(1, "dilations");
  if (!dilations) return;
  if (static_cast<int>(dilations->size()) != x.rank())
    return c.FailInvalid("dilations: expected one value per dim");
  Shape high, merged;
  std::vector<int64_t> added;
  for (int i = 0; i < x.rank(); ++i) {
    if (!c.CheckPositive("dilations", (*dilations)[i])) return;
    added.push_back(2 * i + 1);
    high.push_back(Dim(0));
    high.push_back(Dim((*dilations)[i] - 1));
    merged.push_back(x.dim(i) * Dim((*dilations)[i]));
  }
  const Tensor padded = Pad(Unsqueeze(x, added), Shape(high.size(), Dim(0)),
                            high, "constant", Reshape(c.Input(2), {}));
  Tensor y = Reshape(padded, merged);
  // Each dim is cut behind its last element, so that no inserted values follow
  // it.
  for (int i = 0; i < x.rank(); ++i) {
    const Dim extent =
        LargerOf((x.dim(i) - Dim(1)) * Dim((*dilations)[i]) + Dim(1), Dim(0));
    y = SliceAxis(y, i, Dim(0), extent);
  }
  c.SetOutput(0, y);
}

}  // namespace ember::tflite

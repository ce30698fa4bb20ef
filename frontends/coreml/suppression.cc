// Non-maximum suppression, the last part of detectors' pipelines. A box is a
// center and a size.
#include <limits>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/tables.h"
#include "frontends/ops/regions.h"

namespace ember::coreml {

using ops::Dim;
using ops::Shape;
using ops::Tensor;

// Fields of NonMaximumSuppression.
constexpr uint64_t kPickTop = 1, kOverlap = 110, kConfidence = 111,
                   kConfidenceInput = 200, kCoordinatesInput = 201,
                   kOverlapInput = 202, kConfidenceThresholdInput = 203,
                   kConfidenceOutput = 210, kCoordinatesOutput = 211;

namespace {

// Returns the threshold: the model's input whose name is in the field with the
// number `input`, if there is such an input, else the number in the field with
// the number `field`.
StatusOr<Tensor> Threshold(ModelContext& context, const ProtobufView& model,
                           const Features& features, uint64_t input,
                           uint64_t field) {
  const ProtobufView suppression = model.Message(kSuppression);
  const std::string name = suppression.Text(input);
  for (const Feature& feature : FeaturesOf(model.Message(kDescription), 1)) {
    if (name.empty() || feature.name != name) continue;
    EMBER_ASSIGN_OR_RETURN(const Tensor value, FindFeature(features, name));
    return Cast(Reshape(value, Shape{}), DType::kF32);
  }
  return Tensor(&context.builder,
                context.builder.Scalar(suppression.Double(field), DType::kF32));
}

}  // namespace

Status ImportSuppression(ModelContext& context, const ProtobufView& model,
                         Features& features) {
  const ProtobufView suppression = model.Message(kSuppression);
  const std::string names[] = {suppression.Text(kConfidenceInput),
                               suppression.Text(kCoordinatesInput)};
  Tensor rows[2];
  for (int i = 0; i < 2; ++i) {
    EMBER_ASSIGN_OR_RETURN(rows[i], FindFeature(features, names[i]));
    rows[i] = Cast(rows[i], DType::kF32);
    EMBER_RETURN_IF_ERROR(context.builder.status());
    if (rows[i].rank() != 2 || (i == 1 && rows[i].dim(1) != Dim(4))) {
      return DataLossError("feature '" + OnOneLine(names[i]) + "': expected " +
                           (i == 0 ? "[boxes, classes]" : "[boxes, 4]") +
                           ", found " + graph::ShapeToString(rows[i].shape()));
    }
  }
  EMBER_ASSIGN_OR_RETURN(
      const Tensor overlap,
      Threshold(context, model, features, kOverlapInput, kOverlap));
  EMBER_ASSIGN_OR_RETURN(const Tensor least,
                         Threshold(context, model, features,
                                   kConfidenceThresholdInput, kConfidence));
  const Tensor &scores = rows[0], &boxes = rows[1];
  const Tensor center = SliceAxis(boxes, 1, Dim(0), Dim(2));
  const Tensor half = SliceAxis(boxes, 1, Dim(2), Dim(2)) * 0.5;
  const Tensor corners = ops::Concat({center - half, center + half}, 1);
  const Tensor best = Reduce(scores, "maximum", {1}, /*keep=*/false);
  // A box whose score equals the threshold is kept.
  const double none = std::numeric_limits<float>::lowest();
  const Tensor ranked = Select(Less(best, least), best.Like(none), best);
  Tensor of_classes = Unsqueeze(ranked, {0});
  if (suppression.Message(kPickTop).Flag(1)) {
    // In per-class suppression a box suppresses only boxes of its own class.
    const Tensor label = ops::Apply("arg_reduce", {scores},
                                    {{"mode", std::string("maximum")},
                                     {"axis", int64_t{1}},
                                     {"last", int64_t{0}}});
    const Tensor number = Unsqueeze(
        ops::IotaVector(context.builder, scores.dim(1), DType::kI64), {1});
    of_classes = Select(Equal(number, Unsqueeze(label, {0})), of_classes,
                        of_classes.Like(none));
  }
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const Tensor kept = ops::NonMaxSuppression(
      Unsqueeze(corners, {0}), Unsqueeze(of_classes, {0}), overlap,
      Tensor(&context.builder, context.builder.Scalar(none, DType::kF32)),
      boxes.dim(0));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  // Sorts the boxes that remain after suppression by score, the best first,
  // whatever their classes are.
  const Tensor places = ops::Column(kept, 2);
  const Tensor order = Gather(best, places, 0);
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const std::vector<Tensor> sorted = ops::ApplyAll("top_k", {order},
                                                   {{"axis", int64_t{0}},
                                                    {"k", Shape{order.dim(0)}},
                                                    {"largest", int64_t{1}}});
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const Tensor chosen = Gather(places, sorted[1], 0);
  const uint64_t outputs[] = {kConfidenceOutput, kCoordinatesOutput};
  for (int i = 0; i < 2; ++i) {
    const std::string name = suppression.Text(outputs[i]);
    Tensor value = Gather(rows[i], chosen, 0);
    for (const Feature& feature : FeaturesOf(model.Message(kDescription), 10)) {
      if (feature.name == name && feature.kind == Feature::kArray)
        value = Cast(value, feature.dtype);
    }
    features[name] = {value, ""};
  }
  return context.builder.status();
}

}  // namespace ember::coreml

// Selection of boxes: NON_MAX_SUPPRESSION_V4 and V5, and the custom operator
// TFLite_Detection_PostProcess of TensorFlow's object detection models.

// Without this definition flexbuffers would parse numbers in text with a
// function of flatbuffers' library, which Ember does not link. The options here
// have no numbers in the form of text.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include <flatbuffers/flexbuffers.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tf_common/images.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

using tf_common::FilledUp;
using tf_common::KeptBoxes;

// Largest size of custom options; real ones are far smaller.
constexpr size_t kMaxOptionBytes = 1 << 14;

struct PostProcessOptions {
  int64_t most = 0, most_classes = 1, classes = 0, most_per_class = 100;
  bool regular = false;
  float score = 0, overlap = 0;
  float y_scale = 1, x_scale = 1, h_scale = 1, w_scale = 1;
};

std::optional<PostProcessOptions> ReadOptions(OperatorContext& c) {
  const auto bytes = c.model().CustomOptions(c.op());
  // FlexBuffers' verifier visits each element of each vector. Vectors may
  // overlap, so only a limit on the size bounds its time.
  if (bytes.size() > kMaxOptionBytes) {
    c.FailInvalid("custom options: expected at most " +
                  std::to_string(kMaxOptionBytes) + " bytes, found " +
                  std::to_string(bytes.size()));
    return std::nullopt;
  }
  std::vector<uint8_t> reuse;
  if (bytes.size() < 3 ||
      !flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), &reuse)) {
    c.FailInvalid("custom options: expected a FlexBuffer");
    return std::nullopt;
  }
  const auto root = flexbuffers::GetRoot(bytes.data(), bytes.size());
  if (!root.IsMap()) {
    c.FailInvalid("custom options: expected a map");
    return std::nullopt;
  }
  const auto map = root.AsMap();
  PostProcessOptions o;
  o.most = map["max_detections"].AsInt64();
  o.most_classes = map["max_classes_per_detection"].AsInt64();
  o.classes = map["num_classes"].AsInt64();
  o.score = map["nms_score_threshold"].AsFloat();
  o.overlap = map["nms_iou_threshold"].AsFloat();
  o.y_scale = map["y_scale"].AsFloat();
  o.x_scale = map["x_scale"].AsFloat();
  o.h_scale = map["h_scale"].AsFloat();
  o.w_scale = map["w_scale"].AsFloat();
  if (!map["use_regular_nms"].IsNull())
    o.regular = map["use_regular_nms"].AsBool();
  if (!c.CheckPositive("max_detections", o.most) ||
      !c.CheckPositive("num_classes", o.classes) ||
      !c.CheckPositive("max_classes_per_detection", o.most_classes))
    return std::nullopt;
  return o;
}

// Decodes boxes that are relative to anchors (y, x, height, width); returns
// corners (y, x, y, x), [n, 4].
Tensor Decoded(Tensor encoded, Tensor anchors, const PostProcessOptions& o) {
  const auto column = [](Tensor x, int i) {
    return SliceAxis(x, 1, Dim(i), Dim(1));
  };
  const auto center = [&](int i, float scale) {
    return column(encoded, i) / static_cast<double>(scale) *
               column(anchors, i + 2) +
           column(anchors, i);
  };
  const auto half = [&](int i, float scale) {
    return Exp(column(encoded, i) / static_cast<double>(scale)) *
           column(anchors, i) * 0.5;
  };
  const Tensor y = center(0, o.y_scale), x = center(1, o.x_scale);
  const Tensor h = half(2, o.h_scale), w = half(3, o.w_scale);
  return Concat({y - h, x - w, y + h, x + w}, 1);
}

}  // namespace

void ImportNonMaxSuppressionV4(OperatorContext& c) {
  tf_common::ImportPaddedSuppression(c, /*soft=*/false);
}
void ImportNonMaxSuppressionV5(OperatorContext& c) {
  tf_common::ImportPaddedSuppression(c, /*soft=*/true);
}

// Imports TFLite_Detection_PostProcess. Operands: encoded boxes [1, n, 4],
// scores [1, n, classes, or one more for the background], anchors [n, 4].
// Results: boxes, classes, scores, count. This is the operator's fast mode:
// boxes are suppressed by the score of their best class, across classes.
void ImportDetectionPostProcess(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 3, 3) || !c.CheckRank(2, 2, 2))
    return;
  const std::optional<PostProcessOptions> o = ReadOptions(c);
  if (!o) return;
  if (o->regular)
    return c.FailUnsupported("use_regular_nms: expected false, found true");
  if (o->most_classes != 1) {
    return c.FailUnsupported("max_classes_per_detection: expected 1, found " +
                             std::to_string(o->most_classes));
  }
  if (c.Input(0).dim(0) != Dim(1) || c.Input(1).dim(0) != Dim(1))
    return c.FailUnsupported("expected a batch of one");
  const Tensor boxes = Decoded(
      SliceAxis(Squeeze(c.Input(0), {0}), 1, Dim(0), Dim(4)), c.Input(2), *o);
  const Tensor all = Squeeze(c.Input(1), {0});
  const Dim background = all.dim(1) - Dim(o->classes);
  const Tensor scores = SliceAxis(all, 1, background, Dim(o->classes));
  const Tensor best = Reduce(scores, "maximum", {1}, /*keep=*/false);
  const Tensor classes = Apply("arg_reduce", {scores},
                               {{"mode", std::string("maximum")},
                                {"axis", int64_t{1}},
                                {"last", int64_t{0}}});
  const Dim most(o->most);
  const Tensor kept = KeptBoxes(boxes, best, c.Scalar(o->overlap, DType::kF32),
                                c.Scalar(o->score, DType::kF32), most, 0);
  if (!c.ok()) return;
  c.SetOutput(0, Unsqueeze(FilledUp(Gather(boxes, kept, 0), most), {0}));
  c.SetOutput(
      1, Unsqueeze(FilledUp(Cast(Gather(classes, kept, 0), DType::kF32), most),
                   {0}));
  c.SetOutput(2, Unsqueeze(FilledUp(Gather(best, kept, 0), most), {0}));
  c.SetOutput(3, Reshape(Cast(DimScalar(c.builder(), kept.dim(0)), DType::kF32),
                         {Dim(1)}));
}

}  // namespace ember::tflite

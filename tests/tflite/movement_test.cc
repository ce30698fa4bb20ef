// Tests operators that move and choose elements, in models that files of cases/
// cannot describe: with scales of tensors, and with options of custom
// operators.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
TEST(Movement, StoredIntegersArePaddedWithTheirZeroPoint) {
  OneOperator pad(Code::PAD);
  pad.Input({DType::kI8, {2}, {1, 2}}, {0.5f, -7});
  pad.Constant(I32({1, 2}, {1, 1})).Output(DType::kI8, {4}, {0.5f, -7});
  ExpectNumbers(pad.Run(), {I8({4}, {-7, 1, 2, -7})});
}

TEST(Movement, StoredRowsHaveScales) {
  OneOperator rows(Code::EMBEDDING_LOOKUP);
  rows.Input(I32({2}, {1, 1}))
      .ConstantWithScales({DType::kI8, {2, 2}, {1, 2, 3, 4}}, {0.5f, 2}, 0);
  rows.Output(DType::kF32, {2, 2});
  ExpectNumbers(rows.Run(), {F32({2, 2}, {6, 8, 6, 8})});
}

// The example has three anchors of size 1. An encoded box of zeros is the
// anchor itself, so the boxes are easy to see.
TEST(Movement, DetectionPostProcess) {
  OneOperator op("TFLite_Detection_PostProcess");
  op.Input(F32({1, 3, 4}, std::vector<double>(12, 0)));
  op.Input(F32({1, 3, 3}, {0, 0.6, 0.1, 0, 0.2, 0.9, 0, 0.3, 0.7}));
  op.Constant(F32({3, 4}, {0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1, 5.5, 5.5, 1, 1}));
  op.Output(DType::kF32, {1, 4, 4}).Output(DType::kF32, {1, 4});
  op.Output(DType::kF32, {1, 4}).Output(DType::kF32, {1});
  flexbuffers::Builder options;
  options.Map([&] {
    options.Int("max_detections", 4);
    options.Int("max_classes_per_detection", 1);
    options.Int("num_classes", 2);
    options.Float("nms_score_threshold", 0.1f);
    options.Float("nms_iou_threshold", 0.5f);
    options.Float("y_scale", 10);
    options.Float("x_scale", 10);
    options.Float("h_scale", 5);
    options.Float("w_scale", 5);
  });
  options.Finish();
  op.CustomOptions(options.GetBuffer());
  ExpectNumbers(
      op.Run(),
      {F32({1, 4, 4}, {0, 0.1, 1, 1.1, 5, 5, 6, 6, 0, 0, 0, 0, 0, 0, 0, 0}),
       F32({1, 4}, {1, 1, 0, 0}), F32({1, 4}, {0.9, 0.7, 0, 0}),
       F32({1}, {2})});
}

}  // namespace
}  // namespace ember::tests

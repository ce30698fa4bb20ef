// Tests operators that move, choose and place elements.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using schema::BuiltinOptions;

const std::vector<double> kSix = {1, 2, 3, 4, 5, 6};

TEST(Movement, Shapes) {
  OneOperator reshape(Code::RESHAPE);
  reshape.Input(F32({2, 3}, kSix)).Constant(I32({2}, {3, -1}));
  reshape.Output(DType::kF32, {3, 2});
  ExpectNumbers(reshape.Run(), {F32({3, 2}, kSix)});
  OneOperator squeeze(Code::SQUEEZE);
  squeeze.Input(F32({1, 6, 1}, kSix)).Output(DType::kF32, {6});
  ExpectNumbers(squeeze.Run(), {F32({6}, kSix)});
  OneOperator expand(Code::EXPAND_DIMS);
  expand.Input(F32({2, 3}, kSix)).Constant(I32({1}, {-2}));
  expand.Output(DType::kF32, {2, 1, 3});
  ExpectNumbers(expand.Run(), {F32({2, 1, 3}, kSix)});
  OneOperator transpose(Code::TRANSPOSE);
  transpose.Input(F32({2, 3}, kSix)).Constant(I32({2}, {1, 0}));
  transpose.Output(DType::kF32, {3, 2});
  ExpectNumbers(transpose.Run(), {F32({3, 2}, {1, 4, 2, 5, 3, 6})});
  OneOperator shape(Code::SHAPE), rank(Code::RANK);
  shape.Input(F32({2, 3}, kSix)).Output(DType::kI32, {2});
  rank.Input(F32({2, 3}, kSix)).Output(DType::kI32, {});
  ExpectNumbers(shape.Run(), {I32({2}, {2, 3})});
  ExpectNumbers(rank.Run(), {I32({}, {2})});
}

// If the operand with the shape is missing or has not one dim, the shape in the
// operator's options is used.
TEST(Movement, ReshapeByOptions) {
  for (const bool has_operand : {false, true}) {
    OneOperator reshape(Code::RESHAPE);
    reshape.Input(F32({2, 3}, kSix));
    if (has_operand) reshape.Constant(I32({1, 2}, {3, 2}));
    reshape.Output(DType::kF32, {3, 2});
    const std::vector<int32_t> shape = {3, -1};
    reshape.Options(BuiltinOptions::ReshapeOptions,
                    schema::CreateReshapeOptionsDirect(reshape.fbb(), &shape));
    ExpectNumbers(reshape.Run(), {F32({3, 2}, kSix)});
  }
}

TEST(Movement, JoinsAndParts) {
  OneOperator concat(Code::CONCATENATION);
  concat.Input(F32({1, 2}, {1, 2})).Input(F32({1, 1}, {3}));
  concat.Output(DType::kF32, {1, 3});
  concat.Options(BuiltinOptions::ConcatenationOptions,
                 schema::CreateConcatenationOptions(concat.fbb(), -1));
  ExpectNumbers(concat.Run(), {F32({1, 3}, {1, 2, 3})});
  OneOperator pack(Code::PACK);
  pack.Input(F32({2}, {1, 2}))
      .Input(F32({2}, {3, 4}))
      .Output(DType::kF32, {2, 2});
  pack.Options(BuiltinOptions::PackOptions,
               schema::CreatePackOptions(pack.fbb(), 2, 1));
  ExpectNumbers(pack.Run(), {F32({2, 2}, {1, 3, 2, 4})});
  OneOperator unpack(Code::UNPACK);
  unpack.Input(F32({2, 3}, kSix))
      .Output(DType::kF32, {3})
      .Output(DType::kF32, {3});
  ExpectNumbers(unpack.Run(), {F32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})});
  OneOperator split(Code::SPLIT);
  split.Constant(I32({}, {1})).Input(F32({1, 6}, kSix));
  split.Output(DType::kF32, {1, 3}).Output(DType::kF32, {1, 3});
  ExpectNumbers(split.Run(), {F32({1, 3}, {1, 2, 3}), F32({1, 3}, {4, 5, 6})});
  OneOperator sizes(Code::SPLIT_V);
  sizes.Input(F32({6}, kSix))
      .Constant(I32({2}, {2, -1}))
      .Constant(I32({}, {0}));
  sizes.Output(DType::kF32, {2}).Output(DType::kF32, {4});
  ExpectNumbers(sizes.Run(), {F32({2}, {1, 2}), F32({4}, {3, 4, 5, 6})});
}

TEST(Movement, Slices) {
  OneOperator slice(Code::SLICE);
  slice.Input(F32({2, 3}, kSix))
      .Constant(I32({2}, {0, 1}))
      .Constant(I32({2}, {2, -1}));
  slice.Output(DType::kF32, {2, 2});
  ExpectNumbers(slice.Run(), {F32({2, 2}, {2, 3, 5, 6})});
  // The slice is x[1, ::-2, newaxis].
  OneOperator strided(Code::STRIDED_SLICE);
  strided.Input(F32({2, 3}, kSix)).Constant(I32({3}, {1, 0, 0}));
  strided.Constant(I32({3}, {2, 0, 0})).Constant(I32({3}, {1, -2, 1}));
  strided.Output(DType::kF32, {2, 1});
  strided.Options(
      BuiltinOptions::StridedSliceOptions,
      schema::CreateStridedSliceOptions(strided.fbb(), 2, 2, 0, 4, 1));
  ExpectNumbers(strided.Run(), {F32({2, 1}, {6, 4})});
  // The slice is x[..., 0:-1].
  OneOperator ellipsis(Code::STRIDED_SLICE);
  ellipsis.Input(F32({2, 3}, kSix)).Constant(I32({2}, {0, 0}));
  ellipsis.Constant(I32({2}, {0, -1})).Constant(I32({2}, {1, 1}));
  ellipsis.Output(DType::kF32, {2, 2});
  ellipsis.Options(BuiltinOptions::StridedSliceOptions,
                   schema::CreateStridedSliceOptions(ellipsis.fbb(), 0, 0, 1));
  ExpectNumbers(ellipsis.Run(), {F32({2, 2}, {1, 2, 4, 5})});
}

TEST(Movement, Padding) {
  OneOperator pad(Code::PADV2);
  pad.Input(F32({1, 2}, {1, 2})).Constant(I32({2, 2}, {1, 0, 0, 1}));
  pad.Constant(F32({1}, {9})).Output(DType::kF32, {2, 3});
  ExpectNumbers(pad.Run(), {F32({2, 3}, {9, 9, 9, 1, 2, 9})});
  // Stored integers are padded with their zero point.
  OneOperator stored(Code::PAD);
  stored.Input({DType::kI8, {2}, {1, 2}}, {0.5f, -7});
  stored.Constant(I32({1, 2}, {1, 1})).Output(DType::kI8, {4}, {0.5f, -7});
  ExpectNumbers(stored.Run(), {I8({4}, {-7, 1, 2, -7})});
  for (const bool with_edge : {false, true}) {
    OneOperator mirror(Code::MIRROR_PAD);
    mirror.Input(F32({3}, {1, 2, 3})).Constant(I32({1, 2}, {2, 1}));
    mirror.Output(DType::kF32, {6});
    mirror.Options(
        BuiltinOptions::MirrorPadOptions,
        schema::CreateMirrorPadOptions(
            mirror.fbb(), with_edge ? schema::MirrorPadMode::SYMMETRIC
                                    : schema::MirrorPadMode::REFLECT));
    ExpectNumbers(mirror.Run(), {with_edge ? F32({6}, {2, 1, 1, 2, 3, 3})
                                           : F32({6}, {3, 2, 1, 2, 3, 2})});
  }
}

TEST(Movement, Repetition) {
  OneOperator tile(Code::TILE);
  tile.Input(F32({1, 2}, {1, 2})).Constant(I32({2}, {2, 2}));
  tile.Output(DType::kF32, {2, 4});
  ExpectNumbers(tile.Run(), {F32({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})});
  OneOperator broadcast(Code::BROADCAST_TO);
  broadcast.Input(F32({2, 1}, {1, 2})).Constant(I32({2}, {2, 2}));
  broadcast.Output(DType::kF32, {2, 2});
  ExpectNumbers(broadcast.Run(), {F32({2, 2}, {1, 1, 2, 2})});
  OneOperator args(Code::BROADCAST_ARGS);
  args.Constant(I32({2}, {2, 1})).Constant(I32({3}, {4, 1, 3}));
  args.Output(DType::kI32, {3});
  ExpectNumbers(args.Run(), {I32({3}, {4, 2, 3})});
  OneOperator fill(Code::FILL), range(Code::RANGE);
  fill.Constant(I32({1}, {3})).Input(F32({}, {7})).Output(DType::kF32, {3});
  ExpectNumbers(fill.Run(), {F32({3}, {7, 7, 7})});
  range.Constant(F32({}, {1})).Constant(F32({}, {2})).Constant(F32({}, {0.25}));
  range.Output(DType::kF32, {4});
  ExpectNumbers(range.Run(), {F32({4}, {1, 1.25, 1.5, 1.75})});
  OneOperator reverse(Code::REVERSE_V2);
  reverse.Input(F32({2, 3}, kSix)).Constant(I32({1}, {1}));
  reverse.Output(DType::kF32, {2, 3});
  ExpectNumbers(reverse.Run(), {F32({2, 3}, {3, 2, 1, 6, 5, 4})});
  OneOperator dilate(Code::DILATE);
  dilate.Input(F32({3}, {1, 2, 3}))
      .Constant(I32({1}, {2}))
      .Constant(F32({}, {0}));
  dilate.Output(DType::kF32, {5});
  ExpectNumbers(dilate.Run(), {F32({5}, {1, 0, 2, 0, 3})});
}

TEST(Movement, Blocks) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};
  OneOperator deeper(Code::SPACE_TO_DEPTH);
  deeper.Input(F32({1, 2, 4, 1}, x)).Output(DType::kF32, {1, 1, 2, 4});
  deeper.Options(BuiltinOptions::SpaceToDepthOptions,
                 schema::CreateSpaceToDepthOptions(deeper.fbb(), 2));
  const std::vector<double> deep = {1, 2, 5, 6, 3, 4, 7, 8};
  ExpectNumbers(deeper.Run(), {F32({1, 1, 2, 4}, deep)});
  OneOperator wider(Code::DEPTH_TO_SPACE);
  wider.Input(F32({1, 1, 2, 4}, deep)).Output(DType::kF32, {1, 2, 4, 1});
  wider.Options(BuiltinOptions::DepthToSpaceOptions,
                schema::CreateDepthToSpaceOptions(wider.fbb(), 2));
  ExpectNumbers(wider.Run(), {F32({1, 2, 4, 1}, x)});
  // The operand [1, 3, 1] is padded to 4, in blocks of 2.
  OneOperator batch(Code::SPACE_TO_BATCH_ND);
  batch.Input(F32({1, 3, 1}, {1, 2, 3})).Constant(I32({1}, {2}));
  batch.Constant(I32({1, 2}, {1, 0})).Output(DType::kF32, {2, 2, 1});
  ExpectNumbers(batch.Run(), {F32({2, 2, 1}, {0, 2, 1, 3})});
  OneOperator back(Code::BATCH_TO_SPACE_ND);
  back.Input(F32({2, 2, 1}, {0, 2, 1, 3})).Constant(I32({1}, {2}));
  back.Constant(I32({1, 2}, {1, 0})).Output(DType::kF32, {1, 3, 1});
  ExpectNumbers(back.Run(), {F32({1, 3, 1}, {1, 2, 3})});
}

TEST(Movement, Gathering) {
  OneOperator gather(Code::GATHER);
  gather.Input(F32({2, 3}, kSix))
      .Input(I32({2}, {2, 0}))
      .Output(DType::kF32, {2, 2});
  gather.Options(BuiltinOptions::GatherOptions,
                 schema::CreateGatherOptions(gather.fbb(), 1));
  ExpectNumbers(gather.Run(), {F32({2, 2}, {3, 1, 6, 4})});
  OneOperator batched(Code::GATHER);
  batched.Input(F32({2, 3}, kSix))
      .Input(I32({2, 1}, {2, 0}))
      .Output(DType::kF32, {2, 1});
  batched.Options(BuiltinOptions::GatherOptions,
                  schema::CreateGatherOptions(batched.fbb(), 1, 1));
  ExpectNumbers(batched.Run(), {F32({2, 1}, {3, 4})});
  OneOperator tuples(Code::GATHER_ND);
  tuples.Input(F32({2, 3}, kSix))
      .Input(I32({2, 2}, {1, 0, 0, 2}))
      .Output(DType::kF32, {2});
  ExpectNumbers(tuples.Run(), {F32({2}, {4, 3})});
  OneOperator rows(Code::EMBEDDING_LOOKUP);
  rows.Input(I32({2}, {1, 1}))
      .ConstantWithScales({DType::kI8, {2, 2}, {1, 2, 3, 4}}, {0.5f, 2}, 0);
  rows.Output(DType::kF32, {2, 2});
  ExpectNumbers(rows.Run(), {F32({2, 2}, {6, 8, 6, 8})});
}

TEST(Movement, Scattering) {
  OneOperator scatter(Code::SCATTER_ND);
  scatter.Input(I32({3, 1}, {1, 3, 1})).Input(F32({3}, {5, 6, 7}));
  scatter.Constant(I32({1}, {4})).Output(DType::kF32, {4});
  ExpectNumbers(scatter.Run(), {F32({4}, {0, 12, 0, 6})});
  OneOperator dense(Code::SPARSE_TO_DENSE);
  dense.Input(I32({2}, {0, 2})).Constant(I32({1}, {3})).Input(F32({2}, {5, 6}));
  dense.Constant(F32({}, {-1})).Output(DType::kF32, {3});
  ExpectNumbers(dense.Run(), {F32({3}, {5, -1, 6})});
  OneOperator update(Code::DYNAMIC_UPDATE_SLICE);
  update.Input(F32({2, 3}, kSix))
      .Input(F32({1, 2}, {8, 9}))
      .Input(I32({2}, {1, 5}));
  update.Output(DType::kF32, {2, 3});
  ExpectNumbers(update.Run(), {F32({2, 3}, {1, 2, 3, 4, 8, 9})});
  OneOperator sums(Code::SEGMENT_SUM);
  sums.Input(F32({3, 2}, kSix))
      .Input(I32({3}, {0, 0, 1}))
      .Output(DType::kF32, {2, 2});
  ExpectNumbers(sums.Run(), {F32({2, 2}, {4, 6, 5, 6})});
  const std::pair<Code, std::vector<double>> cases[] = {
      {Code::UNSORTED_SEGMENT_SUM, {3, 9}},
      {Code::UNSORTED_SEGMENT_PROD, {3, 14}},
      {Code::UNSORTED_SEGMENT_MAX, {3, 7}},
      {Code::UNSORTED_SEGMENT_MIN, {3, 2}}};
  for (const auto& [code, expected] : cases) {
    SCOPED_TRACE(schema::EnumNameBuiltinOperator(code));
    OneOperator op(code);
    op.Input(F32({4}, {2, 3, 100, 7})).Input(I32({4}, {1, 0, -1, 1}));
    op.Constant(I32({}, {2})).Output(DType::kF32, {2});
    ExpectNumbers(op.Run(), {F32({2}, expected)});
  }
}

TEST(Movement, Choosing) {
  const std::vector<double> x = {3, 1, 3, 2};
  OneOperator most(Code::ARG_MAX), least(Code::ARG_MIN);
  most.Input(F32({1, 4}, x)).Constant(I32({}, {1})).Output(DType::kI32, {1});
  least.Input(F32({1, 4}, x)).Constant(I32({}, {-1})).Output(DType::kI64, {1});
  ExpectNumbers(most.Run(), {I32({1}, {0})});
  ExpectNumbers(least.Run(), {I64({1}, {1})});
  OneOperator best(Code::TOPK_V2);
  best.Input(F32({4}, x)).Constant(I32({}, {2}));
  best.Output(DType::kF32, {2}).Output(DType::kI32, {2});
  ExpectNumbers(best.Run(), {F32({2}, {3, 3}), I32({2}, {0, 2})});
  OneOperator where(Code::WHERE);
  where.Input({DType::kBool, {2, 2}, {0, 1, 1, 0}}).Output(DType::kI64, {2, 2});
  ExpectNumbers(where.Run(), {I64({2, 2}, {0, 1, 1, 0})});
  OneOperator unique(Code::UNIQUE);
  unique.Input(F32({4}, x)).Output(DType::kF32, {3}).Output(DType::kI32, {4});
  ExpectNumbers(unique.Run(), {F32({3}, {3, 1, 2}), I32({4}, {0, 1, 0, 2})});
  OneOperator hot(Code::ONE_HOT);
  hot.Input(I32({2}, {1, 5}))
      .Constant(I32({}, {3}))
      .Constant(F32({}, {8}))
      .Constant(F32({}, {-1}));
  hot.Output(DType::kF32, {2, 3});
  hot.Options(BuiltinOptions::OneHotOptions,
              schema::CreateOneHotOptions(hot.fbb(), -1));
  ExpectNumbers(hot.Run(), {F32({2, 3}, {-1, 8, -1, -1, -1, -1})});
  OneOperator buckets(Code::BUCKETIZE);
  buckets.Input(F32({4}, {-1, 0, 5, 20})).Output(DType::kI32, {4});
  const std::vector<float> boundaries = {0, 10};
  buckets.Options(
      BuiltinOptions::BucketizeOptions,
      schema::CreateBucketizeOptionsDirect(buckets.fbb(), &boundaries));
  ExpectNumbers(buckets.Run(), {I32({4}, {0, 1, 1, 2})});
}

TEST(Movement, AlongADim) {
  const struct {
    bool exclusive, reverse;
    std::vector<double> expected;
  } cases[] = {{false, false, {1, 3, 6}},
               {true, false, {0, 1, 3}},
               {false, true, {6, 5, 3}},
               {true, true, {5, 3, 0}}};
  for (const auto& test : cases) {
    OneOperator op(Code::CUMSUM);
    op.Input(F32({3}, {1, 2, 3}))
        .Constant(I32({}, {0}))
        .Output(DType::kF32, {3});
    op.Options(
        BuiltinOptions::CumsumOptions,
        schema::CreateCumsumOptions(op.fbb(), test.exclusive, test.reverse));
    ExpectNumbers(op.Run(), {F32({3}, test.expected)});
  }
  OneOperator reverse(Code::REVERSE_SEQUENCE);
  reverse.Input(F32({2, 3}, kSix))
      .Input(I32({2}, {2, 3}))
      .Output(DType::kF32, {2, 3});
  reverse.Options(BuiltinOptions::ReverseSequenceOptions,
                  schema::CreateReverseSequenceOptions(reverse.fbb(), 1, 0));
  ExpectNumbers(reverse.Run(), {F32({2, 3}, {2, 1, 3, 6, 5, 4})});
  OneOperator diagonal(Code::MATRIX_DIAG);
  diagonal.Input(F32({2}, {1, 2})).Output(DType::kF32, {2, 2});
  ExpectNumbers(diagonal.Run(), {F32({2, 2}, {1, 0, 0, 2})});
  OneOperator set(Code::MATRIX_SET_DIAG);
  set.Input(F32({2, 3}, kSix))
      .Input(F32({2}, {8, 9}))
      .Output(DType::kF32, {2, 3});
  ExpectNumbers(set.Run(), {F32({2, 3}, {8, 2, 3, 4, 9, 6})});
}

// Two boxes overlap, and a third one is apart.
TEST(Movement, Suppression) {
  const std::vector<double> boxes = {0, 0, 1, 1, 0, 0.1, 1, 1.1, 5, 5, 6, 6};
  OneOperator op(Code::NON_MAX_SUPPRESSION_V4);
  op.Input(F32({3, 4}, boxes)).Input(F32({3}, {0.6, 0.9, 0.7}));
  op.Constant(I32({}, {3})).Constant(F32({}, {0.5})).Constant(F32({}, {0.1}));
  op.Output(DType::kI32, {3}).Output(DType::kI32, {});
  ExpectNumbers(op.Run(), {I32({3}, {1, 2, 0}), I32({}, {2})});
  OneOperator scored(Code::NON_MAX_SUPPRESSION_V5);
  scored.Input(F32({3, 4}, boxes)).Input(F32({3}, {0.6, 0.9, 0.7}));
  scored.Constant(I32({}, {3}))
      .Constant(F32({}, {0.5}))
      .Constant(F32({}, {0.1}))
      .Constant(F32({}, {0}));
  scored.Output(DType::kI32, {3})
      .Output(DType::kF32, {3})
      .Output(DType::kI32, {});
  ExpectNumbers(scored.Run(),
                {I32({3}, {1, 2, 0}), F32({3}, {0.9, 0.7, 0}), I32({}, {2})});
}

// The example has three anchors of size 1; an encoding of 0 is the anchor
// itself.
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

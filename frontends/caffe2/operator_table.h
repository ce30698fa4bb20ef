// The operators of Caffe2 that a net for prediction may hold: how each is
// imported, or why it is not. Names outside the list are refused, too, without
// a reason. Operators of gradients (…Gradient) share one row, by their suffix,
// and so do operators on integers (Int8…), by their prefix.
//
//   row(name, minimum inputs, maximum inputs, function)
//   scalar(name, function)   a function of each element (ops/functions.h)
//   no(name, reason)
//
// A row without its function does not build. Names are unique, which a test
// checks. Source: Caffe2's operators' catalogue and its operators' schemas.
#ifndef EMBER_FRONTENDS_CAFFE2_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_CAFFE2_OPERATOR_TABLE_H_

#include <span>
#include <string_view>

#include "frontends/caffe2/operator_context.h"

namespace ember::caffe2 {

inline constexpr int kManyInputs = 1 << 20;

// clang-format off
#define EMBER_CAFFE2_OPERATORS(row, scalar, no) \
  scalar(Abs, Absolute) \
  no(Accuracy, kTraining) \
  no(Adagrad, kTraining) \
  no(Adam, kTraining) \
  row(Add, 2, 2, ImportAdd) \
  row(AffineChannel, 3, 3, ImportAffineChannel) \
  row(Alias, 1, 1, ImportCopy) \
  row(And, 2, 2, ImportAnd) \
  row(ArgMax, 1, 1, ImportArgMax) \
  row(ArgMin, 1, 1, ImportArgMin) \
  no(AsyncNetBarrier, kControl) \
  no(ATen, kCode) \
  row(AveragedLoss, 1, 1, ImportAveragedLoss) \
  row(AveragePool, 1, 1, ImportAveragePool) \
  row(AveragePool1D, 1, 1, ImportAveragePool) \
  row(AveragePool2D, 1, 1, ImportAveragePool) \
  row(AveragePool3D, 1, 1, ImportAveragePool) \
  no(BatchBoxCox, kNotYet) \
  row(BatchGather, 2, 2, ImportBatchGather) \
  row(BatchMatMul, 2, 2, ImportBatchMatMul) \
  no(BatchOneHot, kNotYet) \
  row(BatchPermutation, 2, 2, ImportBatchPermutation) \
  row(BatchToSpace, 1, 1, ImportBatchToSpace) \
  row(BBoxTransform, 3, 3, ImportBBoxTransform) \
  no(BooleanMask, kNotYet) \
  row(BoxWithNMSLimit, 2, 3, ImportBoxWithNmsLimit) \
  row(Cast, 1, 1, ImportCast) \
  scalar(Ceil, Ceil) \
  row(ChannelShuffle, 1, 1, ImportChannelShuffle) \
  no(ChannelStats, kTraining) \
  row(Clip, 1, 1, ImportClip) \
  no(Col2Im, kNotYet) \
  row(CollectAndDistributeFpnRpnProposals, 2, kManyInputs, ImportCollectAndDistribute) \
  row(CollectRpnProposals, 2, kManyInputs, ImportCollectProposals) \
  row(Concat, 1, kManyInputs, ImportConcat) \
  no(Conditional, kControl) \
  row(ConstantFill, 0, 1, ImportConstantFill) \
  row(Conv, 2, 3, ImportConv) \
  row(Conv1D, 2, 3, ImportConv) \
  row(Conv2D, 2, 3, ImportConv) \
  row(Conv3D, 2, 3, ImportConv) \
  row(ConvRelu, 2, 3, ImportConvRelu) \
  row(ConvTranspose, 2, 3, ImportConvTranspose) \
  row(Copy, 1, 1, ImportCopy) \
  row(CopyCPUToGPU, 1, 1, ImportCopy) \
  row(CopyFromCPUInput, 1, 1, ImportCopy) \
  row(CopyGPUToCPU, 1, 1, ImportCopy) \
  scalar(Cos, Cos) \
  scalar(Cosh, Cosh) \
  no(CosineSimilarity, kNotYet) \
  no(CreateMutex, kControl) \
  no(CrossEntropy, kTraining) \
  scalar(Cube, Cube) \
  row(DeformConv, 3, 4, ImportDeformConv) \
  row(DepthConcat, 1, kManyInputs, ImportConcat) \
  row(DepthSplit, 1, 2, ImportSplit) \
  row(DistributeFpnProposals, 1, 1, ImportDistributeProposals) \
  row(Div, 2, 2, ImportDiv) \
  no(Do, kControl) \
  row(DotProduct, 2, 2, ImportDotProduct) \
  row(Dropout, 1, 1, ImportDropout) \
  row(Elu, 1, 1, ImportElu) \
  row(EnsureCPUOutput, 1, 1, ImportCopy) \
  row(EQ, 2, 2, ImportEqual) \
  scalar(Erf, Erf) \
  scalar(Exp, Exp) \
  no(Expand, kNotYet) \
  row(ExpandDims, 1, 1, ImportExpandDims) \
  row(FC, 3, 3, ImportFC) \
  row(FCTransposed, 3, 3, ImportFCTransposed) \
  no(Find, kNotYet) \
  row(Flatten, 1, 1, ImportFlatten) \
  row(FlattenToVec, 1, 1, ImportFlattenToVec) \
  scalar(Floor, Floor) \
  row(Gather, 2, 2, ImportGather) \
  no(GatherRanges, kNotYet) \
  no(GaussianFill, kRandom) \
  row(GE, 2, 2, ImportGreaterEqual) \
  row(Gelu, 1, 1, ImportGelu) \
  row(GenerateProposals, 4, 4, ImportGenerateProposals) \
  row(GenerateProposalsCPP, 4, 4, ImportGenerateProposals) \
  row(GivenTensorBoolFill, 0, 1, ImportGivenBools) \
  no(GivenTensorByteStringToUInt8Fill, kNotYet) \
  row(GivenTensorDoubleFill, 0, 1, ImportGivenDoubles) \
  row(GivenTensorFill, 0, 1, ImportGivenFloats) \
  row(GivenTensorInt16Fill, 0, 1, ImportGivenInt16s) \
  row(GivenTensorInt64Fill, 0, 1, ImportGivenInt64s) \
  row(GivenTensorIntFill, 0, 1, ImportGivenInts) \
  no(GivenTensorStringFill, kNotYet) \
  row(GroupNorm, 3, 3, ImportGroupNorm) \
  row(GT, 2, 2, ImportGreater) \
  no(GRUUnit, kRecurrent) \
  row(HardSigmoid, 1, 1, ImportHardSigmoid) \
  no(HeatmapMaxKeypoint, kDetection) \
  no(If, kControl) \
  no(Im2Col, kNotYet) \
  no(ImageInput, kFiles) \
  row(InstanceNorm, 3, 3, ImportInstanceNorm) \
  no(Iter, kTraining) \
  no(LabelCrossEntropy, kTraining) \
  row(LayerNorm, 1, 3, ImportLayerNorm) \
  row(LE, 2, 2, ImportLessEqual) \
  row(LeakyRelu, 1, 1, ImportLeakyRelu) \
  no(LearningRate, kTraining) \
  no(LengthsMean, kNotYet) \
  no(LengthsSum, kNotYet) \
  no(Load, kFiles) \
  scalar(Log, Log) \
  scalar(Log1p, Log1p) \
  row(Logit, 1, 1, ImportLogit) \
  row(LogSoftmax, 1, 1, ImportLogSoftmax) \
  no(LpPool, kNotYet) \
  row(LRN, 1, 1, ImportLRN) \
  no(LSTMUnit, kRecurrent) \
  row(LT, 2, 2, ImportLess) \
  row(MatMul, 2, 2, ImportMatMul) \
  row(Max, 1, kManyInputs, ImportMax) \
  row(MaxPool, 1, 1, ImportMaxPool) \
  row(MaxPool1D, 1, 1, ImportMaxPool) \
  row(MaxPool2D, 1, 1, ImportMaxPool) \
  row(MaxPool3D, 1, 1, ImportMaxPool) \
  no(MaxPoolWithIndex, kNotYet) \
  row(Mean, 1, kManyInputs, ImportMean) \
  row(Min, 1, kManyInputs, ImportMin) \
  no(Mod, kNotYet) \
  no(MomentumSGDUpdate, kTraining) \
  no(MSRAFill, kRandom) \
  row(Mul, 2, 2, ImportMul) \
  row(NCHW2NHWC, 1, 1, ImportNCHW2NHWC) \
  row(NE, 2, 2, ImportNotEqual) \
  scalar(Negative, Negate) \
  row(NHWC2NCHW, 1, 1, ImportNHWC2NCHW) \
  row(Normalize, 1, 1, ImportNormalize) \
  row(NormalizeL1, 1, 1, ImportNormalizeL1) \
  scalar(Not, Not) \
  row(OneHot, 2, 2, ImportOneHot) \
  row(Or, 2, 2, ImportOr) \
  row(PadImage, 1, 1, ImportPadImage) \
  row(Pow, 1, 2, ImportPow) \
  row(PRelu, 2, 2, ImportPRelu) \
  no(Print, kFiles) \
  row(PSRoIPool, 2, 2, ImportPsRoiPool) \
  no(Python, kCode) \
  no(Range, kNotYet) \
  scalar(Reciprocal, Reciprocal) \
  no(RecurrentNetwork, kRecurrent) \
  row(ReduceBackMax, 1, 2, ImportReduceBackMax) \
  row(ReduceBackMean, 1, 2, ImportReduceBackMean) \
  row(ReduceBackSum, 1, 2, ImportReduceBackSum) \
  row(ReduceFrontMax, 1, 2, ImportReduceFrontMax) \
  row(ReduceFrontMean, 1, 2, ImportReduceFrontMean) \
  row(ReduceFrontSum, 1, 2, ImportReduceFrontSum) \
  row(ReduceL1, 1, 1, ImportReduceL1) \
  row(ReduceL2, 1, 1, ImportReduceL2) \
  row(ReduceMax, 1, 1, ImportReduceMax) \
  row(ReduceMean, 1, 1, ImportReduceMean) \
  row(ReduceMin, 1, 1, ImportReduceMin) \
  row(ReduceSum, 1, 1, ImportReduceSum) \
  scalar(Relu, Relu) \
  row(Reshape, 1, 2, ImportReshape) \
  row(ResizeLike, 2, 2, ImportResizeLike) \
  row(ResizeNearest, 1, 2, ImportResizeNearest) \
  row(RoIAlign, 2, 2, ImportRoiAlign) \
  no(RoIAlignRotated, kDetection) \
  row(RoIPool, 2, 2, ImportRoIPool) \
  scalar(Rsqrt, Rsqrt) \
  no(Save, kFiles) \
  row(Scale, 1, 1, ImportScale) \
  no(ScatterAssign, kNotYet) \
  row(Selu, 1, 1, ImportSelu) \
  row(Shape, 1, 1, ImportShape) \
  scalar(Sigmoid, Sigmoid) \
  no(SigmoidCrossEntropyWithLogits, kTraining) \
  scalar(Sign, SignNanZero) \
  scalar(Sin, Sin) \
  scalar(Sinh, Sinh) \
  row(Slice, 1, 3, ImportSlice) \
  row(Softmax, 1, 1, ImportSoftmax) \
  no(SoftmaxWithLoss, kTraining) \
  scalar(Softplus, Softplus) \
  scalar(Softsign, Softsign) \
  row(SpaceToBatch, 1, 1, ImportSpaceToBatch) \
  no(SparseLengthsMean, kNotYet) \
  no(SparseLengthsSum, kNotYet) \
  no(SparseToDense, kNotYet) \
  row(SpatialBN, 5, 5, ImportSpatialBN) \
  row(Split, 1, 2, ImportSplit) \
  scalar(Sqr, Square) \
  scalar(Sqrt, Sqrt) \
  row(SquaredL2Distance, 2, 2, ImportSquaredL2Distance) \
  row(Squeeze, 1, 1, ImportSqueeze) \
  row(StopGradient, 1, 1, ImportCopy) \
  row(Sub, 2, 2, ImportSub) \
  row(Sum, 1, kManyInputs, ImportSum) \
  row(SumElements, 1, 1, ImportSumElements) \
  scalar(Swish, Silu) \
  scalar(Tan, Tan) \
  scalar(Tanh, Tanh) \
  no(TensorProtosDBInput, kFiles) \
  row(ThresholdedRelu, 1, 1, ImportThresholdedRelu) \
  row(Tile, 1, 3, ImportTile) \
  row(TopK, 1, 1, ImportTopK) \
  row(Transpose, 1, 1, ImportTranspose) \
  no(UniformFill, kRandom) \
  no(Unique, kNotYet) \
  row(UpsampleBilinear, 1, 2, ImportUpsampleBilinear) \
  no(WeightedSum, kTraining) \
  row(Where, 3, 3, ImportWhere) \
  no(While, kControl) \
  no(XavierFill, kRandom) \
  row(Xor, 2, 2, ImportXor)
// clang-format on

using ImportFunction = void (*)(OperatorContext& c);

struct OperatorRow {
  std::string_view name;
  int minimum_inputs = 0;
  int maximum_inputs = 0;
  ImportFunction import = nullptr;
  // If not empty, the operator is unsupported, and this text is the reason.
  std::string_view reason = "";
};

// Declares the import functions of all rows. They are defined in one file per
// family of operators, such as reduction.cc.
#define EMBER_ROW(name, minimum, maximum, function) \
  void function(OperatorContext& c);
#define EMBER_NOTHING(...)
EMBER_CAFFE2_OPERATORS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING)
#undef EMBER_ROW
#undef EMBER_NOTHING

std::span<const OperatorRow> Operators();

// Returns the row of an operator; null for unknown names.
const OperatorRow* FindRow(std::string_view type);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_OPERATOR_TABLE_H_

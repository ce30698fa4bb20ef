// Every kind of layer of a Core ML neural network, by the number of its field
// in NeuralNetworkLayer: how it is imported, or why it is not.
//
//   row(number, name, inputs at least, at most, function)
//   scalar(number, name, function)   a function of each element
//                                    (ops/functions.h)
//   control(number, name, inputs at least, at most)   // network_layers.h
//   no(number, name, reason)
//
// A number without a row, and a row without its function, do not build.
#ifndef EMBER_FRONTENDS_COREML_LAYER_TABLE_H_
#define EMBER_FRONTENDS_COREML_LAYER_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/coreml/layer_context.h"

namespace ember::coreml {

inline constexpr int kMany = 1 << 20;

// clang-format off
#define EMBER_COREML_LAYERS(row, scalar, control, no) \
  row(100, convolution, 1, 1, ImportConvolution) \
  row(120, pooling, 1, 1, ImportPooling) \
  row(130, activation, 1, 1, ImportActivation) \
  row(140, innerProduct, 1, 1, ImportInnerProduct) \
  row(150, embedding, 1, 1, ImportEmbedding) \
  row(160, batchnorm, 1, 1, ImportBatchnorm) \
  row(165, mvn, 1, 1, ImportMvn) \
  row(170, l2normalize, 1, 1, ImportL2Normalize) \
  row(175, softmax, 1, 1, ImportSoftmax) \
  row(180, lrn, 1, 1, ImportLrn) \
  row(190, crop, 1, 2, ImportCrop) \
  row(200, padding, 1, 1, ImportPadding) \
  row(210, upsample, 1, 1, ImportUpsample) \
  row(211, resizeBilinear, 1, 1, ImportResizeBilinear) \
  no(212, cropResize, kNotYet) \
  row(220, unary, 1, 1, ImportUnary) \
  row(230, add, 1, kMany, ImportAdd) \
  row(231, multiply, 1, kMany, ImportMultiply) \
  row(240, average, 1, kMany, ImportAverage) \
  row(245, scale, 1, 1, ImportScale) \
  row(250, bias, 1, 1, ImportBias) \
  row(260, max, 1, kMany, ImportMax) \
  row(261, min, 1, kMany, ImportMin) \
  row(270, dot, 2, 2, ImportDot) \
  row(280, reduce, 1, 1, ImportReduce) \
  row(290, loadConstant, 0, 0, ImportLoadConstant) \
  row(300, reshape, 1, 1, ImportReshape) \
  row(301, flatten, 1, 1, ImportFlatten) \
  row(310, permute, 1, 1, ImportPermute) \
  row(320, concat, 1, kMany, ImportConcat) \
  row(330, split, 1, 1, ImportSplit) \
  row(340, sequenceRepeat, 1, 1, ImportSequenceRepeat) \
  row(345, reorganizeData, 1, 1, ImportReorganize) \
  row(350, slice, 1, 1, ImportSlice) \
  row(400, simpleRecurrent, 1, 2, ImportSimpleRecurrent) \
  row(410, gru, 1, 2, ImportGru) \
  row(420, uniDirectionalLSTM, 1, 3, ImportUniDirectionalLstm) \
  row(430, biDirectionalLSTM, 1, 5, ImportBiDirectionalLstm) \
  no(500, custom, kCustom) \
  row(600, copy, 1, 1, ImportCopy) \
  control(605, branch, 1, 1) \
  control(615, loop, 0, 1) \
  control(620, loopBreak, 0, 0) \
  control(625, loopContinue, 0, 0) \
  row(635, rangeStatic, 0, 0, ImportRangeStatic) \
  row(640, rangeDynamic, 1, 3, ImportRangeDynamic) \
  row(660, clip, 1, 1, ImportClip) \
  scalar(665, ceil, Ceil) \
  scalar(670, floor, Floor) \
  scalar(680, sign, SignNanZero) \
  scalar(685, round, Round) \
  scalar(700, exp2, Exp2) \
  scalar(710, sin, Sin) \
  scalar(715, cos, Cos) \
  scalar(720, tan, Tan) \
  scalar(730, asin, Asin) \
  scalar(735, acos, Acos) \
  scalar(740, atan, Atan) \
  scalar(750, sinh, Sinh) \
  scalar(755, cosh, Cosh) \
  scalar(760, tanh, Tanh) \
  scalar(770, asinh, Asinh) \
  scalar(775, acosh, Acosh) \
  scalar(780, atanh, Atanh) \
  scalar(790, erf, Erf) \
  row(795, gelu, 1, 1, ImportGelu) \
  row(815, equal, 1, 2, ImportEqual) \
  row(820, notEqual, 1, 2, ImportNotEqual) \
  row(825, lessThan, 1, 2, ImportLess) \
  row(827, lessEqual, 1, 2, ImportLessEqual) \
  row(830, greaterThan, 1, 2, ImportGreater) \
  row(832, greaterEqual, 1, 2, ImportGreaterEqual) \
  row(840, logicalOr, 2, 2, ImportOr) \
  row(845, logicalXor, 2, 2, ImportXor) \
  row(850, logicalNot, 1, 1, ImportNot) \
  row(855, logicalAnd, 2, 2, ImportAnd) \
  row(865, modBroadcastable, 2, 2, ImportMod) \
  row(870, minBroadcastable, 1, kMany, ImportMin) \
  row(875, maxBroadcastable, 1, kMany, ImportMax) \
  row(880, addBroadcastable, 1, kMany, ImportAddBroadcastable) \
  row(885, powBroadcastable, 2, 2, ImportPow) \
  row(890, divideBroadcastable, 2, 2, ImportDivide) \
  row(895, floorDivBroadcastable, 2, 2, ImportFloorDivide) \
  row(900, multiplyBroadcastable, 1, kMany, ImportMultiplyBroadcastable) \
  row(905, subtractBroadcastable, 2, 2, ImportSubtract) \
  row(920, tile, 1, 1, ImportTile) \
  row(925, stack, 1, kMany, ImportStack) \
  row(930, gather, 2, 2, ImportGather) \
  row(935, scatter, 3, 3, ImportScatter) \
  row(940, gatherND, 2, 2, ImportGatherNd) \
  row(945, scatterND, 3, 3, ImportScatterNd) \
  row(950, softmaxND, 1, 1, ImportSoftmaxNd) \
  row(952, gatherAlongAxis, 2, 2, ImportGatherAlongAxis) \
  row(954, scatterAlongAxis, 3, 3, ImportScatterAlongAxis) \
  row(960, reverse, 1, 1, ImportReverse) \
  row(965, reverseSeq, 2, 2, ImportReverseSequences) \
  row(975, splitND, 1, 1, ImportSplitNd) \
  row(980, concatND, 1, kMany, ImportConcatNd) \
  row(985, transpose, 1, 1, ImportTranspose) \
  row(995, sliceStatic, 1, 1, ImportSliceStatic) \
  row(1000, sliceDynamic, 2, 7, ImportSliceDynamic) \
  row(1005, slidingWindows, 1, 1, ImportSlidingWindows) \
  row(1015, topK, 1, 1, ImportTopK) \
  row(1020, argMin, 1, 1, ImportArgMin) \
  row(1025, argMax, 1, 1, ImportArgMax) \
  row(1040, embeddingND, 1, 1, ImportEmbeddingNd) \
  row(1045, batchedMatmul, 1, 2, ImportBatchedMatmul) \
  row(1065, getShape, 1, 1, ImportGetShape) \
  row(1070, loadConstantND, 0, 0, ImportLoadConstantNd) \
  row(1080, fillLike, 1, 1, ImportFillLike) \
  row(1085, fillStatic, 0, 0, ImportFillStatic) \
  row(1090, fillDynamic, 1, 1, ImportFillDynamic) \
  row(1100, broadcastToLike, 2, 2, ImportBroadcastToLike) \
  row(1105, broadcastToStatic, 1, 1, ImportBroadcastToStatic) \
  row(1110, broadcastToDynamic, 2, 2, ImportBroadcastToDynamic) \
  row(1120, squeeze, 1, 1, ImportSqueeze) \
  row(1125, expandDims, 1, 1, ImportExpandDims) \
  row(1130, flattenTo2D, 1, 1, ImportFlattenTo2d) \
  row(1135, reshapeLike, 2, 2, ImportReshapeLike) \
  row(1140, reshapeStatic, 1, 1, ImportReshapeStatic) \
  row(1145, reshapeDynamic, 2, 2, ImportReshapeDynamic) \
  row(1150, rankPreservingReshape, 1, 1, ImportReshapeStatic) \
  row(1155, constantPad, 1, 2, ImportConstantPad) \
  no(1170, randomNormalLike, kRandom) \
  no(1175, randomNormalStatic, kRandom) \
  no(1180, randomNormalDynamic, kRandom) \
  no(1190, randomUniformLike, kRandom) \
  no(1195, randomUniformStatic, kRandom) \
  no(1200, randomUniformDynamic, kRandom) \
  no(1210, randomBernoulliLike, kRandom) \
  no(1215, randomBernoulliStatic, kRandom) \
  no(1220, randomBernoulliDynamic, kRandom) \
  no(1230, categoricalDistribution, kRandom) \
  row(1250, reduceL1, 1, 1, ImportReduceL1) \
  row(1255, reduceL2, 1, 1, ImportReduceL2) \
  row(1260, reduceMax, 1, 1, ImportReduceMax) \
  row(1265, reduceMin, 1, 1, ImportReduceMin) \
  row(1270, reduceSum, 1, 1, ImportReduceSum) \
  row(1275, reduceProd, 1, 1, ImportReduceProd) \
  row(1280, reduceMean, 1, 1, ImportReduceMean) \
  row(1285, reduceLogSum, 1, 1, ImportReduceLogSum) \
  row(1290, reduceSumSquare, 1, 1, ImportReduceSumSquare) \
  row(1295, reduceLogSumExp, 1, 1, ImportReduceLogSumExp) \
  row(1313, whereNonZero, 1, 1, ImportWhereNonZero) \
  row(1315, matrixBandPart, 1, 1, ImportMatrixBandPart) \
  row(1320, lowerTriangular, 1, 1, ImportLowerTriangular) \
  row(1325, upperTriangular, 1, 1, ImportUpperTriangular) \
  row(1330, whereBroadcastable, 3, 3, ImportWhere) \
  row(1350, layerNormalization, 1, 1, ImportLayerNormalization) \
  row(1400, NonMaximumSuppression, 2, 5, ImportNonMaximumSuppression) \
  row(1450, oneHot, 1, 2, ImportOneHot) \
  row(1455, cumSum, 1, 1, ImportCumSum) \
  row(1460, clampedReLU, 1, 1, ImportClampedRelu) \
  row(1461, argSort, 1, 1, ImportArgSort) \
  row(1465, pooling3d, 1, 1, ImportPooling3d) \
  row(1466, globalPooling3d, 1, 1, ImportGlobalPooling3d) \
  row(1470, sliceBySize, 2, 2, ImportSliceBySize) \
  row(1471, convolution3d, 1, 1, ImportConvolution3d)
// clang-format on

using ImportFunction = void (*)(LayerContext& c);

struct LayerRow {
  uint64_t number = 0;
  std::string_view name;
  int minimum_inputs = 0;
  int maximum_inputs = 0;
  // The function that imports a layer of this kind. Null for control flow and
  // for unsupported layers.
  ImportFunction import = nullptr;
  // If not empty, the layer is unsupported, and this text is the reason.
  std::string_view reason = "";

  bool is_read() const { return reason.empty(); }
};

// Declares the import functions of all rows. They are defined in one file per
// family of layers, such as layers_movement.cc.
#define EMBER_ROW(number, name, minimum, maximum, function) \
  void function(LayerContext& c);
#define EMBER_NOTHING(...)
EMBER_COREML_LAYERS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING, EMBER_NOTHING)
#undef EMBER_ROW
#undef EMBER_NOTHING

std::span<const LayerRow> Layers();
// Returns the row of a kind of layer by its field number; null for unknown
// numbers.
const LayerRow* FindLayer(uint64_t number);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_LAYER_TABLE_H_

// The functions that import operators, grouped by the file that defines them.
// Each reads its operands and attributes from the context and sets the results.
// operator_table.h assigns them to operators.
#ifndef EMBER_FRONTENDS_TENSORFLOW_OPERATORS_H_
#define EMBER_FRONTENDS_TENSORFLOW_OPERATORS_H_

#include "frontends/ops/windows.h"
#include "frontends/tensorflow/operator_context.h"
#include "frontends/tf_common/indexing.h"
#include "frontends/tf_common/movement.h"
#include "frontends/tf_common/slicing.h"

namespace ember::tensorflow {

// Imports any function of each element, such as those of ops/functions.h.
template <Tensor (*kFunction)(Tensor)>
void ImportScalar(OperatorContext& c) {
  c.SetOutput(0, kFunction(c.Input(0)));
}
template <Opcode kOpcode>
void ImportBinary(OperatorContext& c) {
  c.SetOutput(0, Binary(kOpcode, c.Input(0), c.Input(1)));
}

using tf_common::IndexAlong;

// elementwise.cc
void ImportAdd(OperatorContext& c);
void ImportSub(OperatorContext& c);
void ImportMul(OperatorContext& c);
void ImportComplex(OperatorContext& c);
void ImportReal(OperatorContext& c);
void ImportImag(OperatorContext& c);
void ImportConj(OperatorContext& c);
void ImportComplexAbs(OperatorContext& c);
void ImportAngle(OperatorContext& c);
void ImportOnesLike(OperatorContext& c);
void ImportZerosLike(OperatorContext& c);
void ImportGreater(OperatorContext& c);
void ImportGreaterEqual(OperatorContext& c);
void ImportApproximateEqual(OperatorContext& c);
void ImportDivide(OperatorContext& c);
void ImportDivNoNan(OperatorContext& c);
void ImportMulNoNan(OperatorContext& c);
void ImportXdivy(OperatorContext& c);
void ImportXlogy(OperatorContext& c);
void ImportXlog1py(OperatorContext& c);
void ImportFloorDiv(OperatorContext& c);
void ImportSquaredDifference(OperatorContext& c);
void ImportAddN(OperatorContext& c);
void ImportLeftShift(OperatorContext& c);
void ImportRightShift(OperatorContext& c);
void ImportPopulationCount(OperatorContext& c);
void ImportSelect(OperatorContext& c);
void ImportSelectV2(OperatorContext& c);
void ImportClipByValue(OperatorContext& c);
void ImportCast(OperatorContext& c);
void ImportBitcast(OperatorContext& c);
void ImportElu(OperatorContext& c);
void ImportLeakyRelu(OperatorContext& c);
void ImportSoftmax(OperatorContext& c);
void ImportLogSoftmax(OperatorContext& c);
void ImportEnsureShape(OperatorContext& c);
void ImportPass(OperatorContext& c);

// layers.cc
void ImportConv2D(OperatorContext& c);
void ImportConv3D(OperatorContext& c);
void ImportConv2DBackpropInput(OperatorContext& c);
void ImportConv3DBackpropInput(OperatorContext& c);
void ImportDepthwiseConv2D(OperatorContext& c);
void ImportFusedConv2D(OperatorContext& c);
void ImportFusedPadConv2D(OperatorContext& c);
void ImportDilation2D(OperatorContext& c);
void ImportMaxPool(OperatorContext& c);
void ImportAvgPool(OperatorContext& c);
void ImportMaxPool3D(OperatorContext& c);
void ImportAvgPool3D(OperatorContext& c);
void ImportBiasAdd(OperatorContext& c);
void ImportFusedBatchNorm(OperatorContext& c);
void ImportBatchNormWithGlobalNormalization(OperatorContext& c);
void ImportLrn(OperatorContext& c);
void ImportMatMul(OperatorContext& c);
void ImportBatchMatMul(OperatorContext& c);
void ImportEinsum(OperatorContext& c);
void ImportL2Loss(OperatorContext& c);
void ImportCross(OperatorContext& c);

// arrays.cc
void ImportConst(OperatorContext& c);
void ImportReshape(OperatorContext& c);
void ImportSqueeze(OperatorContext& c);
void ImportConcat(OperatorContext& c);
void ImportConcatV2(OperatorContext& c);
void ImportConcatOffset(OperatorContext& c);
void ImportParallelConcat(OperatorContext& c);
void ImportPack(OperatorContext& c);
void ImportUnpack(OperatorContext& c);
void ImportSplit(OperatorContext& c);
void ImportSplitV(OperatorContext& c);
void ImportPad(OperatorContext& c);
void ImportMirrorPad(OperatorContext& c);
void ImportReverseV1(OperatorContext& c);
void ImportRoll(OperatorContext& c);
void ImportSpaceToDepth(OperatorContext& c);
void ImportDepthToSpace(OperatorContext& c);
void ImportSpaceToBatchNd(OperatorContext& c);
void ImportStridedSlice(OperatorContext& c);
void ImportShape(OperatorContext& c);
void ImportShapeN(OperatorContext& c);
void ImportSize(OperatorContext& c);
void ImportRank(OperatorContext& c);
void ImportBroadcastArgs(OperatorContext& c);
void ImportEmpty(OperatorContext& c);
void ImportLinSpace(OperatorContext& c);
void ImportInvertPermutation(OperatorContext& c);

// reduction.cc
void ImportSum(OperatorContext& c);
void ImportProd(OperatorContext& c);
void ImportMax(OperatorContext& c);
void ImportMin(OperatorContext& c);
void ImportAll(OperatorContext& c);
void ImportAny(OperatorContext& c);
void ImportMean(OperatorContext& c);
void ImportEuclideanNorm(OperatorContext& c);
void ImportArgMax(OperatorContext& c);
void ImportArgMin(OperatorContext& c);
void ImportSegmentSum(OperatorContext& c);
void ImportSegmentProd(OperatorContext& c);
void ImportSegmentMax(OperatorContext& c);
void ImportSegmentMin(OperatorContext& c);
void ImportSegmentMean(OperatorContext& c);
void ImportSparseSegmentSum(OperatorContext& c);
void ImportSparseSegmentMean(OperatorContext& c);
void ImportSparseSegmentSqrtN(OperatorContext& c);
void ImportBincount(OperatorContext& c);

// selection.cc
void ImportGatherV1(OperatorContext& c);
void ImportGatherV2(OperatorContext& c);
void ImportOneHot(OperatorContext& c);
void ImportTopKV2(OperatorContext& c);
void ImportTopK(OperatorContext& c);
void ImportInTopK(OperatorContext& c);
void ImportWhere(OperatorContext& c);
void ImportUnique(OperatorContext& c);
void ImportUniqueWithCounts(OperatorContext& c);
void ImportReverseSequence(OperatorContext& c);
void ImportCumsum(OperatorContext& c);
void ImportCumprod(OperatorContext& c);
void ImportBucketize(OperatorContext& c);
void ImportLowerBound(OperatorContext& c);
void ImportUpperBound(OperatorContext& c);
void ImportTensorScatterUpdate(OperatorContext& c);
void ImportTensorScatterAdd(OperatorContext& c);
void ImportTensorScatterSub(OperatorContext& c);
void ImportTensorScatterMax(OperatorContext& c);
void ImportTensorScatterMin(OperatorContext& c);
void ImportDynamicStitch(OperatorContext& c);
void ImportDynamicPartition(OperatorContext& c);

// diagonals.cc
void ImportMatrixBandPart(OperatorContext& c);
void ImportMatrixDiagPart(OperatorContext& c);
void ImportMatrixDiagV2(OperatorContext& c);
void ImportMatrixSetDiagV2(OperatorContext& c);
void ImportDiag(OperatorContext& c);
void ImportDiagPart(OperatorContext& c);

// lists.cc
void ImportTensorListReserve(OperatorContext& c);
void ImportEmptyTensorList(OperatorContext& c);
void ImportTensorListFromTensor(OperatorContext& c);
void ImportTensorListStack(OperatorContext& c);
void ImportTensorListGetItem(OperatorContext& c);
void ImportTensorListSetItem(OperatorContext& c);
void ImportTensorListGather(OperatorContext& c);
void ImportTensorListLength(OperatorContext& c);
void ImportTensorListElementShape(OperatorContext& c);
void ImportTensorListPushBack(OperatorContext& c);
void ImportTensorListPopBack(OperatorContext& c);
void ImportTensorListResize(OperatorContext& c);
void ImportTensorListScatter(OperatorContext& c);
void ImportTensorListScatterInto(OperatorContext& c);
void ImportTensorListConcat(OperatorContext& c);
void ImportTensorListSplit(OperatorContext& c);
void ImportTensorListConcatLists(OperatorContext& c);
void ImportTensorArray(OperatorContext& c);
void ImportTensorArrayWrite(OperatorContext& c);
void ImportTensorArrayRead(OperatorContext& c);
void ImportTensorArrayGather(OperatorContext& c);
void ImportTensorArrayScatter(OperatorContext& c);
void ImportTensorArrayConcat(OperatorContext& c);
void ImportTensorArraySplit(OperatorContext& c);
void ImportTensorArraySize(OperatorContext& c);

// images.cc
void ImportExtractImagePatches(OperatorContext& c);
void ImportResizeBilinear(OperatorContext& c);
void ImportResizeNearest(OperatorContext& c);
void ImportResizeBicubic(OperatorContext& c);
void ImportNonMaxSuppression(OperatorContext& c);
void ImportNonMaxSuppressionV2(OperatorContext& c);
void ImportNonMaxSuppressionV3(OperatorContext& c);
void ImportNonMaxSuppressionV4(OperatorContext& c);
void ImportNonMaxSuppressionV5(OperatorContext& c);
void ImportAdjustContrast(OperatorContext& c);
void ImportRgbToHsv(OperatorContext& c);
void ImportHsvToRgb(OperatorContext& c);
void ImportFakeQuantArgs(OperatorContext& c);
void ImportFakeQuantVars(OperatorContext& c);
void ImportQuantizeAndDequantize(OperatorContext& c);
void ImportDequantize(OperatorContext& c);
void ImportFft(OperatorContext& c);
void ImportIfft(OperatorContext& c);
void ImportRfft(OperatorContext& c);
void ImportIrfft(OperatorContext& c);

void ImportDecodeWav(OperatorContext& c);
void ImportAudioSpectrogram(OperatorContext& c);
void ImportMfcc(OperatorContext& c);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_OPERATORS_H_

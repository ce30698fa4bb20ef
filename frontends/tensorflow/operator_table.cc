#include "frontends/tensorflow/operator_table.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "frontends/tensorflow/operator_names.h"
#include "frontends/tensorflow/unsupported_operators.h"

namespace ember::tensorflow {
namespace {

// clang-format off
#define EMBER_TENSORFLOW_OPERATORS(row, control, none) \
  row(Abs, 1, 1, "", ImportScalar<ops::Absolute>) \
  row(AccumulateNV2, 1, kManyInputs, "", ImportAddN) \
  row(Acos, 1, 1, "", ImportScalar<ops::Acos>) \
  row(Acosh, 1, 1, "", ImportScalar<ops::Acosh>) \
  row(Add, 2, 2, "", ImportAdd) \
  row(AddN, 1, kManyInputs, "", ImportAddN) \
  row(AddV2, 2, 2, "", ImportAdd) \
  row(AdjustContrastv2, 2, 2, "", ImportAdjustContrast) \
  row(All, 2, 2, "", ImportAll) \
  row(Angle, 1, 1, "", ImportAngle) \
  row(Any, 2, 2, "", ImportAny) \
  row(ApproximateEqual, 2, 2, "", ImportApproximateEqual) \
  row(ArgMax, 2, 2, "", ImportArgMax) \
  row(ArgMin, 2, 2, "", ImportArgMin) \
  row(Asin, 1, 1, "", ImportScalar<ops::Asin>) \
  row(Asinh, 1, 1, "", ImportScalar<ops::Asinh>) \
  none(Assert) \
  control(Assign, "") \
  control(AssignAdd, "") \
  control(AssignAddVariableOp, "") \
  control(AssignSub, "") \
  control(AssignSubVariableOp, "") \
  control(AssignVariableOp, "") \
  row(Atan, 1, 1, "", ImportScalar<ops::Atan>) \
  row(Atan2, 2, 2, "", ImportBinary<Opcode::kAtan2>) \
  row(Atanh, 1, 1, "", ImportScalar<ops::Atanh>) \
  row(AudioSpectrogram, 1, 1, "", ImportAudioSpectrogram) \
  row(AvgPool, 1, 1, "", ImportAvgPool) \
  row(AvgPool3D, 1, 1, "", ImportAvgPool3D) \
  row(BatchMatMul, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatMulV2, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatMulV3, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatrixBandPart, 3, 3, "", ImportMatrixBandPart) \
  row(BatchMatrixDiag, 1, 1, "", tf_common::ImportMatrixDiag) \
  row(BatchMatrixDiagPart, 1, 1, "", ImportMatrixDiagPart) \
  row(BatchMatrixSetDiag, 2, 2, "", tf_common::ImportMatrixSetDiag) \
  row(BatchNormWithGlobalNormalization, 5, 5, "", ImportBatchNormWithGlobalNormalization) \
  row(BatchToSpaceND, 3, 3, "", tf_common::ImportBatchToSpaceNd) \
  row(BiasAdd, 2, 2, "", ImportBiasAdd) \
  row(BiasAddV1, 2, 2, "", ImportBiasAdd) \
  row(Bincount, 3, 3, "", ImportBincount) \
  row(Bitcast, 1, 1, "", ImportBitcast) \
  row(BitwiseAnd, 2, 2, "", ImportBinary<Opcode::kAnd>) \
  row(BitwiseOr, 2, 2, "", ImportBinary<Opcode::kOr>) \
  row(BitwiseXor, 2, 2, "", ImportBinary<Opcode::kXor>) \
  row(BroadcastArgs, 2, 2, "", ImportBroadcastArgs) \
  row(BroadcastTo, 2, 2, "", tf_common::ImportBroadcastTo) \
  row(Bucketize, 1, 1, "", ImportBucketize) \
  control(Case, "") \
  row(Cast, 1, 1, "", ImportCast) \
  row(Ceil, 1, 1, "", ImportScalar<ops::Ceil>) \
  row(CheckNumerics, 1, 1, "", ImportPass) \
  row(CheckNumericsV2, 1, 1, "", ImportPass) \
  row(ClipByValue, 3, 3, "", ImportClipByValue) \
  row(Complex, 2, 2, "", ImportComplex) \
  row(ComplexAbs, 1, 1, "", ImportComplexAbs) \
  row(Concat, 2, kManyInputs, "", ImportConcat) \
  row(ConcatOffset, 2, kManyInputs, "", ImportConcatOffset) \
  row(ConcatV2, 2, kManyInputs, "", ImportConcatV2) \
  row(Conj, 1, 1, "", ImportConj) \
  row(Const, 0, 0, "", ImportConst) \
  none(ControlTrigger) \
  row(Conv2D, 2, 2, "", ImportConv2D) \
  row(Conv2DBackpropInput, 3, 3, "", ImportConv2DBackpropInput) \
  row(Conv3D, 2, 2, "", ImportConv3D) \
  row(Conv3DBackpropInputV2, 3, 3, "", ImportConv3DBackpropInput) \
  row(Cos, 1, 1, "", ImportScalar<ops::Cos>) \
  row(Cosh, 1, 1, "", ImportScalar<ops::Cosh>) \
  row(Cross, 2, 2, "", ImportCross) \
  row(Cumprod, 2, 2, "", ImportCumprod) \
  row(Cumsum, 2, 2, "", ImportCumsum) \
  row(DebugGradientIdentity, 1, 1, "", ImportPass) \
  row(DebugGradientRefIdentity, 1, 1, "", ImportPass) \
  row(DebugIdentity, 1, 1, "", ImportPass) \
  row(DebugIdentityV2, 1, 1, "", ImportPass) \
  row(DecodeWav, 1, 1, "audio,sample_rate", ImportDecodeWav) \
  row(DeepCopy, 1, 1, "", ImportPass) \
  row(DenseBincount, 3, 3, "", ImportBincount) \
  row(DepthToSpace, 1, 1, "", ImportDepthToSpace) \
  row(DepthwiseConv2dNative, 2, 2, "", ImportDepthwiseConv2D) \
  row(Dequantize, 3, 3, "", ImportDequantize) \
  row(Diag, 1, 1, "", ImportDiag) \
  row(DiagPart, 1, 1, "", ImportDiagPart) \
  row(Dilation2D, 2, 2, "", ImportDilation2D) \
  row(Div, 2, 2, "", ImportDivide) \
  row(DivNoNan, 2, 2, "", ImportDivNoNan) \
  row(DynamicPartition, 2, 2, "", ImportDynamicPartition) \
  row(DynamicStitch, 2, kManyInputs, "", ImportDynamicStitch) \
  row(Einsum, 1, kManyInputs, "", ImportEinsum) \
  row(Elu, 1, 1, "", ImportElu) \
  row(Empty, 1, 1, "", ImportEmpty) \
  row(EmptyTensorList, 2, 2, "", ImportEmptyTensorList) \
  row(EnsureShape, 1, 1, "", ImportEnsureShape) \
  control(Enter, "") \
  row(Equal, 2, 2, "", ImportBinary<Opcode::kEqual>) \
  row(Erf, 1, 1, "", ImportScalar<ops::Erf>) \
  row(Erfc, 1, 1, "", ImportScalar<ops::Erfc>) \
  row(EuclideanNorm, 2, 2, "", ImportEuclideanNorm) \
  control(Exit, "") \
  row(Exp, 1, 1, "", ImportScalar<ops::Exp>) \
  row(ExpandDims, 2, 2, "", tf_common::ImportExpandDims) \
  row(Expm1, 1, 1, "", ImportScalar<ops::Expm1>) \
  row(ExtractImagePatches, 1, 1, "", ImportExtractImagePatches) \
  row(FFT, 1, 1, "", ImportFft) \
  row(FakeQuantWithMinMaxArgs, 1, 1, "", ImportFakeQuantArgs) \
  row(FakeQuantWithMinMaxVars, 3, 3, "", ImportFakeQuantVars) \
  row(FakeQuantWithMinMaxVarsPerChannel, 3, 3, "", ImportFakeQuantVars) \
  row(Fill, 2, 2, "", tf_common::ImportFill) \
  row(Floor, 1, 1, "", ImportScalar<ops::Floor>) \
  row(FloorDiv, 2, 2, "", ImportFloorDiv) \
  row(FloorMod, 2, 2, "", ImportBinary<Opcode::kModulo>) \
  row(FusedBatchNorm, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2", ImportFusedBatchNorm) \
  row(FusedBatchNormV2, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2", ImportFusedBatchNorm) \
  row(FusedBatchNormV3, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2,reserve_space_3", ImportFusedBatchNorm) \
  row(FusedPadConv2D, 3, 3, "", ImportFusedPadConv2D) \
  row(Gather, 2, 2, "", ImportGatherV1) \
  row(GatherNd, 2, 2, "", tf_common::ImportGatherNd) \
  row(GatherV2, 3, 3, "", ImportGatherV2) \
  row(Greater, 2, 2, "", ImportGreater) \
  row(GreaterEqual, 2, 2, "", ImportGreaterEqual) \
  row(HSVToRGB, 1, 1, "", ImportHsvToRgb) \
  row(HostConst, 0, 0, "", ImportConst) \
  row(IFFT, 1, 1, "", ImportIfft) \
  row(IRFFT, 2, 2, "", ImportIrfft) \
  control(Identity, "") \
  control(IdentityN, "") \
  control(If, "") \
  row(Imag, 1, 1, "", ImportImag) \
  row(InTopK, 2, 2, "", ImportInTopK) \
  row(InTopKV2, 3, 3, "", ImportInTopK) \
  row(Inv, 1, 1, "", ImportScalar<ops::Reciprocal>) \
  row(Invert, 1, 1, "", ImportScalar<ops::Not>) \
  row(InvertPermutation, 1, 1, "", ImportInvertPermutation) \
  row(IsFinite, 1, 1, "", ImportScalar<ops::IsFinite>) \
  row(IsInf, 1, 1, "", ImportScalar<ops::IsInfinite>) \
  row(IsNan, 1, 1, "", ImportScalar<ops::IsNan>) \
  control(IsVariableInitialized, "") \
  row(L2Loss, 1, 1, "", ImportL2Loss) \
  row(LRN, 1, 1, "", ImportLrn) \
  row(LeakyRelu, 1, 1, "", ImportLeakyRelu) \
  row(LeftShift, 2, 2, "", ImportLeftShift) \
  row(Less, 2, 2, "", ImportBinary<Opcode::kLess>) \
  row(LessEqual, 2, 2, "", ImportBinary<Opcode::kLessEqual>) \
  row(LinSpace, 3, 3, "", ImportLinSpace) \
  row(Log, 1, 1, "", ImportScalar<ops::Log>) \
  row(Log1p, 1, 1, "", ImportScalar<ops::Log1p>) \
  row(LogSoftmax, 1, 1, "", ImportLogSoftmax) \
  row(LogicalAnd, 2, 2, "", ImportBinary<Opcode::kAnd>) \
  row(LogicalNot, 1, 1, "", ImportScalar<ops::Not>) \
  row(LogicalOr, 2, 2, "", ImportBinary<Opcode::kOr>) \
  control(LoopCond, "") \
  row(LowerBound, 2, 2, "", ImportLowerBound) \
  row(MatMul, 2, 2, "", ImportMatMul) \
  row(MatrixBandPart, 3, 3, "", ImportMatrixBandPart) \
  row(MatrixDiag, 1, 1, "", tf_common::ImportMatrixDiag) \
  row(MatrixDiagPart, 1, 1, "", ImportMatrixDiagPart) \
  row(MatrixDiagPartV2, 3, 3, "", ImportMatrixDiagPart) \
  row(MatrixDiagPartV3, 3, 3, "", ImportMatrixDiagPart) \
  row(MatrixDiagV2, 5, 5, "", ImportMatrixDiagV2) \
  row(MatrixDiagV3, 5, 5, "", ImportMatrixDiagV2) \
  row(MatrixSetDiag, 2, 2, "", tf_common::ImportMatrixSetDiag) \
  row(MatrixSetDiagV2, 3, 3, "", ImportMatrixSetDiagV2) \
  row(MatrixSetDiagV3, 3, 3, "", ImportMatrixSetDiagV2) \
  row(Max, 2, 2, "", ImportMax) \
  row(MaxPool, 1, 1, "", ImportMaxPool) \
  row(MaxPool3D, 1, 1, "", ImportMaxPool3D) \
  row(MaxPoolV2, 3, 3, "", ImportMaxPool) \
  row(Maximum, 2, 2, "", ImportBinary<Opcode::kMaximum>) \
  row(Mean, 2, 2, "", ImportMean) \
  control(Merge, "output,value_index") \
  row(Mfcc, 2, 2, "", ImportMfcc) \
  row(Min, 2, 2, "", ImportMin) \
  row(Minimum, 2, 2, "", ImportBinary<Opcode::kMinimum>) \
  row(MirrorPad, 2, 2, "", ImportMirrorPad) \
  row(Mod, 2, 2, "", ImportBinary<Opcode::kRemainder>) \
  row(Mul, 2, 2, "", ImportMul) \
  row(MulNoNan, 2, 2, "", ImportMulNoNan) \
  row(Neg, 1, 1, "", ImportScalar<ops::Negate>) \
  control(NextIteration, "") \
  none(NoOp) \
  row(NonMaxSuppression, 3, 3, "", ImportNonMaxSuppression) \
  row(NonMaxSuppressionV2, 4, 4, "", ImportNonMaxSuppressionV2) \
  row(NonMaxSuppressionV3, 5, 5, "", ImportNonMaxSuppressionV3) \
  row(NonMaxSuppressionV4, 5, 5, "selected_indices,valid_outputs", ImportNonMaxSuppressionV4) \
  row(NonMaxSuppressionV5, 6, 6, "selected_indices,selected_scores,valid_outputs", ImportNonMaxSuppressionV5) \
  row(NotEqual, 2, 2, "", ImportBinary<Opcode::kNotEqual>) \
  row(OneHot, 4, 4, "", ImportOneHot) \
  row(OnesLike, 1, 1, "", ImportOnesLike) \
  row(Pack, 1, kManyInputs, "", ImportPack) \
  row(Pad, 2, 2, "", ImportPad) \
  row(PadV2, 3, 3, "", ImportPad) \
  row(ParallelConcat, 1, kManyInputs, "", ImportParallelConcat) \
  row(ParallelDynamicStitch, 2, kManyInputs, "", ImportDynamicStitch) \
  control(PartitionedCall, "") \
  control(Placeholder, "") \
  control(PlaceholderV2, "") \
  control(PlaceholderWithDefault, "") \
  row(PopulationCount, 1, 1, "", ImportPopulationCount) \
  row(Pow, 2, 2, "", ImportBinary<Opcode::kPower>) \
  row(PreventGradient, 1, 1, "", ImportPass) \
  row(Print, 1, kManyInputs, "", ImportPass) \
  none(PrintV2) \
  row(Prod, 2, 2, "", ImportProd) \
  row(QuantizeAndDequantizeV2, 3, 3, "", ImportQuantizeAndDequantize) \
  row(QuantizeAndDequantizeV3, 4, 4, "", ImportQuantizeAndDequantize) \
  row(RFFT, 2, 2, "", ImportRfft) \
  row(RGBToHSV, 1, 1, "", ImportRgbToHsv) \
  row(Range, 3, 3, "", tf_common::ImportRange) \
  row(Rank, 1, 1, "", ImportRank) \
  control(ReadVariableOp, "") \
  row(Real, 1, 1, "", ImportReal) \
  row(RealDiv, 2, 2, "", ImportDivide) \
  row(Reciprocal, 1, 1, "", ImportScalar<ops::Reciprocal>) \
  control(RefEnter, "") \
  control(RefExit, "") \
  control(RefIdentity, "") \
  control(RefMerge, "output,value_index") \
  control(RefNextIteration, "") \
  control(RefSwitch, "output_false,output_true") \
  row(Relu, 1, 1, "", ImportScalar<ops::Relu>) \
  row(Relu6, 1, 1, "", ImportScalar<ops::Relu6>) \
  row(Reshape, 2, 2, "", ImportReshape) \
  row(ResizeBicubic, 2, 2, "", ImportResizeBicubic) \
  row(ResizeBilinear, 2, 2, "", ImportResizeBilinear) \
  row(ResizeNearestNeighbor, 2, 2, "", ImportResizeNearest) \
  control(ResourceGather, "") \
  control(ResourceGatherNd, "") \
  row(Reverse, 2, 2, "", ImportReverseV1) \
  row(ReverseSequence, 2, 2, "", ImportReverseSequence) \
  row(ReverseV2, 2, 2, "", tf_common::ImportReverse) \
  row(RightShift, 2, 2, "", ImportRightShift) \
  row(Rint, 1, 1, "", ImportScalar<ops::Round>) \
  row(Roll, 3, 3, "", ImportRoll) \
  row(Round, 1, 1, "", ImportScalar<ops::Round>) \
  row(Rsqrt, 1, 1, "", ImportScalar<ops::Rsqrt>) \
  row(ScatterNd, 3, 3, "", tf_common::ImportScatterNd) \
  row(ScatterNdNonAliasingAdd, 3, 3, "", ImportTensorScatterAdd) \
  row(SegmentMax, 2, 2, "", ImportSegmentMax) \
  row(SegmentMean, 2, 2, "", ImportSegmentMean) \
  row(SegmentMin, 2, 2, "", ImportSegmentMin) \
  row(SegmentProd, 2, 2, "", ImportSegmentProd) \
  row(SegmentSum, 2, 2, "", ImportSegmentSum) \
  row(Select, 3, 3, "", ImportSelect) \
  row(SelectV2, 3, 3, "", ImportSelectV2) \
  row(Selu, 1, 1, "", ImportScalar<ops::Selu>) \
  row(Shape, 1, 1, "", ImportShape) \
  row(ShapeN, 1, kManyInputs, "", ImportShapeN) \
  row(Sigmoid, 1, 1, "", ImportScalar<ops::Sigmoid>) \
  row(Sign, 1, 1, "", ImportScalar<ops::Sign>) \
  row(Sin, 1, 1, "", ImportScalar<ops::Sin>) \
  row(Sinh, 1, 1, "", ImportScalar<ops::Sinh>) \
  row(Size, 1, 1, "", ImportSize) \
  row(Slice, 3, 3, "", tf_common::ImportSlice) \
  row(Snapshot, 1, 1, "", ImportPass) \
  row(Softmax, 1, 1, "", ImportSoftmax) \
  row(Softplus, 1, 1, "", ImportScalar<ops::Softplus>) \
  row(Softsign, 1, 1, "", ImportScalar<ops::Softsign>) \
  row(SpaceToBatchND, 3, 3, "", ImportSpaceToBatchNd) \
  row(SpaceToDepth, 1, 1, "", ImportSpaceToDepth) \
  row(SparseSegmentMean, 3, 3, "", ImportSparseSegmentMean) \
  row(SparseSegmentMeanWithNumSegments, 4, 4, "", ImportSparseSegmentMean) \
  row(SparseSegmentSqrtN, 3, 3, "", ImportSparseSegmentSqrtN) \
  row(SparseSegmentSqrtNWithNumSegments, 4, 4, "", ImportSparseSegmentSqrtN) \
  row(SparseSegmentSum, 3, 3, "", ImportSparseSegmentSum) \
  row(SparseSegmentSumWithNumSegments, 4, 4, "", ImportSparseSegmentSum) \
  row(SparseToDense, 4, 4, "", tf_common::ImportSparseToDense) \
  row(Split, 2, 2, "", ImportSplit) \
  row(SplitV, 3, 3, "", ImportSplitV) \
  row(Sqrt, 1, 1, "", ImportScalar<ops::Sqrt>) \
  row(Square, 1, 1, "", ImportScalar<ops::Square>) \
  row(SquaredDifference, 2, 2, "", ImportSquaredDifference) \
  row(Squeeze, 1, 1, "", ImportSqueeze) \
  control(StatefulPartitionedCall, "") \
  control(StatelessCase, "") \
  control(StatelessIf, "") \
  control(StatelessWhile, "") \
  row(StopGradient, 1, 1, "", ImportPass) \
  row(StridedSlice, 4, 4, "", ImportStridedSlice) \
  row(Sub, 2, 2, "", ImportSub) \
  row(Sum, 2, 2, "", ImportSum) \
  control(Switch, "output_false,output_true") \
  row(Tan, 1, 1, "", ImportScalar<ops::Tan>) \
  row(Tanh, 1, 1, "", ImportScalar<ops::Tanh>) \
  none(TensorArrayClose) \
  none(TensorArrayCloseV2) \
  none(TensorArrayCloseV3) \
  row(TensorArrayConcatV3, 2, 2, "value,lengths", ImportTensorArrayConcat) \
  row(TensorArrayGatherV3, 3, 3, "", ImportTensorArrayGather) \
  row(TensorArrayReadV3, 3, 3, "", ImportTensorArrayRead) \
  row(TensorArrayScatterV3, 4, 4, "", ImportTensorArrayScatter) \
  row(TensorArraySizeV3, 2, 2, "", ImportTensorArraySize) \
  row(TensorArraySplitV3, 4, 4, "", ImportTensorArraySplit) \
  row(TensorArrayV3, 1, 1, "handle,flow", ImportTensorArray) \
  row(TensorArrayWriteV3, 4, 4, "", ImportTensorArrayWrite) \
  row(TensorListConcat, 1, 1, "tensor,lengths", ImportTensorListConcat) \
  row(TensorListConcatLists, 2, 2, "", ImportTensorListConcatLists) \
  row(TensorListConcatV2, 3, 3, "tensor,lengths", ImportTensorListConcat) \
  row(TensorListElementShape, 1, 1, "", ImportTensorListElementShape) \
  row(TensorListFromTensor, 2, 2, "", ImportTensorListFromTensor) \
  row(TensorListGather, 3, 3, "", ImportTensorListGather) \
  row(TensorListGetItem, 3, 3, "", ImportTensorListGetItem) \
  row(TensorListLength, 1, 1, "", ImportTensorListLength) \
  row(TensorListPopBack, 2, 2, "output_handle,tensor", ImportTensorListPopBack) \
  row(TensorListPushBack, 2, 2, "", ImportTensorListPushBack) \
  row(TensorListReserve, 2, 2, "", ImportTensorListReserve) \
  row(TensorListResize, 2, 2, "", ImportTensorListResize) \
  row(TensorListScatter, 3, 3, "", ImportTensorListScatter) \
  row(TensorListScatterIntoExistingList, 3, 3, "", ImportTensorListScatterInto) \
  row(TensorListScatterV2, 4, 4, "", ImportTensorListScatter) \
  row(TensorListSetItem, 3, 3, "", ImportTensorListSetItem) \
  row(TensorListSplit, 3, 3, "", ImportTensorListSplit) \
  row(TensorListStack, 2, 2, "", ImportTensorListStack) \
  row(TensorScatterAdd, 3, 3, "", ImportTensorScatterAdd) \
  row(TensorScatterMax, 3, 3, "", ImportTensorScatterMax) \
  row(TensorScatterMin, 3, 3, "", ImportTensorScatterMin) \
  row(TensorScatterSub, 3, 3, "", ImportTensorScatterSub) \
  row(TensorScatterUpdate, 3, 3, "", ImportTensorScatterUpdate) \
  row(Tile, 2, 2, "", tf_common::ImportTile) \
  row(TopK, 1, 1, "values,indices", ImportTopK) \
  row(TopKV2, 2, 2, "values,indices", ImportTopKV2) \
  row(Transpose, 2, 2, "", tf_common::ImportTranspose) \
  row(TruncateDiv, 2, 2, "", ImportDivide) \
  row(TruncateMod, 2, 2, "", ImportBinary<Opcode::kRemainder>) \
  row(Unique, 1, 1, "y,idx", ImportUnique) \
  row(UniqueWithCounts, 1, 1, "y,idx,count", ImportUniqueWithCounts) \
  row(Unpack, 1, 1, "", ImportUnpack) \
  row(UnsortedSegmentMax, 3, 3, "", tf_common::ImportUnsortedSegmentMax) \
  row(UnsortedSegmentMin, 3, 3, "", tf_common::ImportUnsortedSegmentMin) \
  row(UnsortedSegmentProd, 3, 3, "", tf_common::ImportUnsortedSegmentProd) \
  row(UnsortedSegmentSum, 3, 3, "", tf_common::ImportUnsortedSegmentSum) \
  row(UpperBound, 2, 2, "", ImportUpperBound) \
  control(VarHandleOp, "") \
  control(VarIsInitializedOp, "") \
  control(Variable, "") \
  control(VariableShape, "") \
  control(VariableV2, "") \
  row(Where, 1, 1, "", ImportWhere) \
  control(While, "") \
  row(Xdivy, 2, 2, "", ImportXdivy) \
  row(XlaDynamicUpdateSlice, 3, 3, "", tf_common::ImportDynamicUpdateSlice) \
  row(Xlog1py, 2, 2, "", ImportXlog1py) \
  row(Xlogy, 2, 2, "", ImportXlogy) \
  row(ZerosLike, 1, 1, "", ImportZerosLike) \
  control(_Arg, "") \
  row(_FusedConv2D, 2, kManyInputs, "", ImportFusedConv2D) \
  row(_FusedDepthwiseConv2dNative, 2, kManyInputs, "", ImportFusedConv2D) \
  row(_FusedMatMul, 2, kManyInputs, "", ImportMatMul) \
  row(_HostCast, 1, 1, "", ImportCast)
// clang-format on

// Each row's `import` is a lambda that calls the function, because functions
// that take an OperatorBase have another type.
constexpr OperatorRow kOperators[] = {
#define EMBER_ROW(op, minimum, maximum, names, function) \
  {.name = #op,                                          \
   .minimum_inputs = minimum,                            \
   .maximum_inputs = maximum,                            \
   .results = names,                                     \
   .import = [](OperatorContext& c) { function(c); }},
#define EMBER_CONTROL(op, names) \
  {.name = #op, .kind = OperatorKind::kControl, .results = names},
#define EMBER_NONE(op) {.name = #op, .kind = OperatorKind::kNoResult},
    EMBER_TENSORFLOW_OPERATORS(EMBER_ROW, EMBER_CONTROL, EMBER_NONE)
#undef EMBER_ROW
#undef EMBER_CONTROL
#undef EMBER_NONE
};

std::vector<OperatorRow> AllOperators() {
  std::vector<OperatorRow> rows(std::begin(kOperators), std::end(kOperators));
  AddUnsupportedOperators(rows);
  std::sort(rows.begin(), rows.end(),
            [](const OperatorRow& a, const OperatorRow& b) {
              return a.name < b.name;
            });
  for (size_t i = 1; i < rows.size(); ++i)
    EMBER_CHECK(rows[i - 1].name != rows[i].name) << rows[i].name;
  return rows;
}

}  // namespace

std::span<const OperatorRow> Operators() {
  static const auto* const kRows = new std::vector(AllOperators());
  return *kRows;
}

const OperatorRow* FindRow(std::string_view op) {
  const std::span<const OperatorRow> rows = Operators();
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), op,
                       [](const OperatorRow& row, std::string_view name) {
                         return row.name < name;
                       });
  return found != rows.end() && found->name == op ? &*found : nullptr;
}

std::string_view ResultNamesOf(std::string_view op) {
  const OperatorRow* row = FindRow(op);
  return row == nullptr ? std::string_view() : row->results;
}

}  // namespace ember::tensorflow

#include "frontends/tensorflow/operator_table.h"

#include <algorithm>
#include <iterator>

#include "frontends/tensorflow/operator_names.h"

namespace ember::tensorflow {
namespace {

constexpr std::string_view kCell =
    "it is a kernel of a whole recurrent layer: export the model with its "
    "operators";
constexpr std::string_view kDimensions =
    "transforms are there along one dim (FFT, IFFT, RFFT, IRFFT) and not "
    "joined with others";
constexpr std::string_view kDistribution =
    "it sends tensors between devices or processes: give the model as it is "
    "for one";
constexpr std::string_view kFile =
    "files and encodings are not read in a model: decode before it, and cut "
    "the graph (--entry='NODE->NODE')";
constexpr std::string_view kImage =
    "images cannot be changed so: cut the graph behind it "
    "(--entry='NODE->NODE')";
constexpr std::string_view kInternal =
    "it calls back into the program around TensorFlow, or is made by that for "
    "itself";
constexpr std::string_view kLayout =
    "it is made by TensorFlow's own optimizer, or older than version 1.0: give "
    "the model as it was before";
constexpr std::string_view kLinear =
    "there is no decomposition or inverse of matrices";
constexpr std::string_view kOldArray =
    "it is of TensorFlow before version 1.0, or of gradients: freeze the model "
    "again with a newer version";
constexpr std::string_view kPartial =
    "a variable can only be assigned as a whole";
constexpr std::string_view kQuantized =
    "integer kernels of TensorFlow's own are not read: give the model before "
    "it was quantized, or as TensorFlow Lite";
constexpr std::string_view kQueue =
    "data sets and queues are no part of a module: cut the graph behind them "
    "(--entry='NODE->NODE')";
constexpr std::string_view kRandom =
    "random numbers differ from run to run: make them an input "
    "(--entry='NODE->NODE')";
constexpr std::string_view kSave =
    "saving and restoring are no part of running a model";
constexpr std::string_view kSelection =
    "it is not there: cut the graph before it (--entry='->NODE')";
constexpr std::string_view kSparse =
    "there are no sparse or ragged tensors here: make them dense before the "
    "model";
constexpr std::string_view kSpecial = "there is no such function in a module";
constexpr std::string_view kString =
    "there are no functions of strings for TensorFlow's formats here: prepare "
    "text before the model";
constexpr std::string_view kSummary =
    "it is for logs, which a module does not have";
constexpr std::string_view kTable =
    "there are no hash tables here: look keys up before the model, and make "
    "what you find an input";
constexpr std::string_view kTraining =
    "it is for training: give the model as it is for inference";
constexpr std::string_view kTree =
    "decision forests of TensorFlow are not read";

// clang-format off
#define EMBER_TENSORFLOW_OPERATORS(row, control, none, no) \
  no(Abort, kInternal) \
  row(Abs, 1, 1, "", ImportUnary<Opcode::kAbsolute>) \
  row(AccumulateNV2, 1, kManyInputs, "", ImportAddN) \
  row(Acos, 1, 1, "", ImportUnary<Opcode::kAcos>) \
  row(Acosh, 1, 1, "", ImportUnary<Opcode::kAcosh>) \
  row(Add, 2, 2, "", ImportAdd) \
  row(AddN, 1, kManyInputs, "", ImportAddN) \
  no(AddSparseToTensorsMap, kSparse) \
  row(AddV2, 2, 2, "", ImportAdd) \
  no(AdjustContrast, kImage) \
  row(AdjustContrastv2, 2, 2, "", ImportAdjustContrast) \
  no(AdjustHue, kImage) \
  no(AdjustSaturation, kImage) \
  row(All, 2, 2, "", ImportAll) \
  no(AllCandidateSampler, kRandom) \
  row(Angle, 1, 1, "", ImportAngle) \
  no(AnonymousHashTable, kTable) \
  no(AnonymousIteratorV3, kQueue) \
  row(Any, 2, 2, "", ImportAny) \
  no(ApplyAdaMax, kTraining) \
  no(ApplyAdadelta, kTraining) \
  no(ApplyAdagrad, kTraining) \
  no(ApplyAdagradDA, kTraining) \
  no(ApplyAdagradV2, kTraining) \
  no(ApplyAdam, kTraining) \
  no(ApplyAddSign, kTraining) \
  no(ApplyCenteredRMSProp, kTraining) \
  no(ApplyFtrl, kTraining) \
  no(ApplyFtrlV2, kTraining) \
  no(ApplyGradientDescent, kTraining) \
  no(ApplyMomentum, kTraining) \
  no(ApplyPowerSign, kTraining) \
  no(ApplyProximalAdagrad, kTraining) \
  no(ApplyProximalGradientDescent, kTraining) \
  no(ApplyRMSProp, kTraining) \
  row(ApproximateEqual, 2, 2, "", ImportApproximateEqual) \
  row(ArgMax, 2, 2, "", ImportArgMax) \
  row(ArgMin, 2, 2, "", ImportArgMin) \
  no(AsString, kString) \
  row(Asin, 1, 1, "", ImportUnary<Opcode::kAsin>) \
  row(Asinh, 1, 1, "", ImportUnary<Opcode::kAsinh>) \
  none(Assert) \
  control(Assign, "") \
  control(AssignAdd, "") \
  control(AssignAddVariableOp, "") \
  control(AssignSub, "") \
  control(AssignSubVariableOp, "") \
  control(AssignVariableOp, "") \
  row(Atan, 1, 1, "", ImportUnary<Opcode::kAtan>) \
  row(Atan2, 2, 2, "", ImportBinary<Opcode::kAtan2>) \
  row(Atanh, 1, 1, "", ImportUnary<Opcode::kAtanh>) \
  no(AudioSpectrogram, kDimensions) \
  no(AudioSummaryV2, kSummary) \
  row(AvgPool, 1, 1, "", ImportAvgPool) \
  row(AvgPool3D, 1, 1, "", ImportAvgPool3D) \
  no(AvgPool3DGrad, kTraining) \
  no(AvgPoolGrad, kTraining) \
  no(BandedTriangularSolve, kLinear) \
  no(Barrier, kDistribution) \
  no(BarrierTakeMany, kDistribution) \
  no(BatchCholesky, kLinear) \
  no(BatchDatasetV2, kQueue) \
  no(BatchFFT, kDimensions) \
  no(BatchFFT2D, kDimensions) \
  no(BatchFFT3D, kDimensions) \
  no(BatchFunction, kSelection) \
  no(BatchIFFT, kDimensions) \
  no(BatchIFFT2D, kDimensions) \
  no(BatchIFFT3D, kDimensions) \
  row(BatchMatMul, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatMulV2, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatMulV3, 2, 2, "", ImportBatchMatMul) \
  row(BatchMatrixBandPart, 3, 3, "", ImportMatrixBandPart) \
  row(BatchMatrixDiag, 1, 1, "", tf_common::ImportMatrixDiag) \
  row(BatchMatrixDiagPart, 1, 1, "", ImportMatrixDiagPart) \
  no(BatchMatrixInverse, kLinear) \
  row(BatchMatrixSetDiag, 2, 2, "", tf_common::ImportMatrixSetDiag) \
  row(BatchNormWithGlobalNormalization, 5, 5, "", ImportBatchNormWithGlobalNormalization) \
  no(BatchNormWithGlobalNormalizationGrad, kTraining) \
  no(BatchSelfAdjointEig, kLinear) \
  no(BatchSelfAdjointEigV2, kLinear) \
  no(BatchToSpace, kLayout) \
  row(BatchToSpaceND, 3, 3, "", tf_common::ImportBatchToSpaceNd) \
  no(BesselI0, kSpecial) \
  no(BesselI0e, kSpecial) \
  no(BesselI1, kSpecial) \
  no(BesselI1e, kSpecial) \
  no(BesselJ0, kSpecial) \
  no(BesselJ1, kSpecial) \
  no(BesselK0, kSpecial) \
  no(BesselK0e, kSpecial) \
  no(BesselK1, kSpecial) \
  no(BesselK1e, kSpecial) \
  no(BesselY0, kSpecial) \
  no(BesselY1, kSpecial) \
  no(Betainc, kSpecial) \
  row(BiasAdd, 2, 2, "", ImportBiasAdd) \
  no(BiasAddGrad, kTraining) \
  row(BiasAddV1, 2, 2, "", ImportBiasAdd) \
  row(Bincount, 3, 3, "", ImportBincount) \
  row(Bitcast, 1, 1, "", ImportBitcast) \
  row(BitwiseAnd, 2, 2, "", ImportBinary<Opcode::kAnd>) \
  row(BitwiseOr, 2, 2, "", ImportBinary<Opcode::kOr>) \
  row(BitwiseXor, 2, 2, "", ImportBinary<Opcode::kXor>) \
  no(BlockLSTM, kCell) \
  no(BlockLSTMV2, kCell) \
  no(BoostedTreesBucketize, kTree) \
  no(BoostedTreesCreateEnsemble, kTree) \
  no(BoostedTreesCreateQuantileStreamResource, kTree) \
  no(BoostedTreesEnsembleResourceHandleOp, kTree) \
  no(BoostedTreesFlushQuantileSummaries, kTree) \
  no(BoostedTreesMakeQuantileSummaries, kTree) \
  no(BoostedTreesPredict, kTree) \
  no(BoostedTreesQuantileStreamResourceAddSummaries, kTree) \
  no(BoostedTreesQuantileStreamResourceDeserialize, kTree) \
  no(BoostedTreesQuantileStreamResourceFlush, kTree) \
  no(BoostedTreesQuantileStreamResourceGetBucketBoundaries, kTree) \
  no(BoostedTreesQuantileStreamResourceHandleOp, kTree) \
  row(BroadcastArgs, 2, 2, "", ImportBroadcastArgs) \
  no(BroadcastGradientArgs, kTraining) \
  row(BroadcastTo, 2, 2, "", tf_common::ImportBroadcastTo) \
  row(Bucketize, 1, 1, "", ImportBucketize) \
  no(CTCBeamSearchDecoder, kSelection) \
  no(CTCGreedyDecoder, kSelection) \
  no(CTCLoss, kTraining) \
  no(CTCLossV2, kTraining) \
  control(Case, "") \
  no(CaseFoldUTF8, kString) \
  row(Cast, 1, 1, "", ImportCast) \
  row(Ceil, 1, 1, "", ImportUnary<Opcode::kCeil>) \
  row(CheckNumerics, 1, 1, "", ImportPass) \
  row(CheckNumericsV2, 1, 1, "", ImportPass) \
  no(Cholesky, kLinear) \
  row(ClipByValue, 3, 3, "", ImportClipByValue) \
  no(CollectiveBcastRecvV2, kDistribution) \
  no(CollectiveBcastSendV2, kDistribution) \
  no(CollectiveGatherV2, kDistribution) \
  no(CollectiveReduceV2, kDistribution) \
  no(CombinedNonMaxSuppression, kSelection) \
  row(Complex, 2, 2, "", ImportComplex) \
  row(ComplexAbs, 1, 1, "", ImportComplexAbs) \
  no(ComputeAccidentalHits, kRandom) \
  row(Concat, 2, kManyInputs, "", ImportConcat) \
  row(ConcatOffset, 2, kManyInputs, "", ImportConcatOffset) \
  row(ConcatV2, 2, kManyInputs, "", ImportConcatV2) \
  no(ConfigureDistributedTPU, kDistribution) \
  row(Conj, 1, 1, "", ImportConj) \
  no(ConjugateTranspose, kDimensions) \
  row(Const, 0, 0, "", ImportConst) \
  no(ConstrainedSequence, kString) \
  none(ControlTrigger) \
  row(Conv2D, 2, 2, "", ImportConv2D) \
  no(Conv2DBackpropFilter, kTraining) \
  row(Conv2DBackpropInput, 3, 3, "", ImportConv2DBackpropInput) \
  row(Conv3D, 2, 2, "", ImportConv3D) \
  no(Conv3DBackpropFilter, kTraining) \
  no(Conv3DBackpropFilterV2, kTraining) \
  no(Conv3DBackpropInput, kLayout) \
  row(Conv3DBackpropInputV2, 3, 3, "", ImportConv3DBackpropInput) \
  row(Cos, 1, 1, "", ImportUnary<Opcode::kCos>) \
  row(Cosh, 1, 1, "", ImportUnary<Opcode::kCosh>) \
  no(CountUpTo, kPartial) \
  no(CropAndResize, kImage) \
  no(CropAndResizeGradBoxes, kTraining) \
  no(CropAndResizeGradImage, kTraining) \
  row(Cross, 2, 2, "", ImportCross) \
  no(CudnnRNN, kCell) \
  no(CudnnRNNParamsToCanonical, kCell) \
  no(CudnnRNNV2, kCell) \
  no(CudnnRNNV3, kCell) \
  row(Cumprod, 2, 2, "", ImportCumprod) \
  row(Cumsum, 2, 2, "", ImportCumsum) \
  no(CumulativeLogsumexp, kSelection) \
  no(DataFormatDimMap, kLayout) \
  no(DataFormatVecPermute, kLayout) \
  no(Dawsn, kSpecial) \
  row(DebugGradientIdentity, 1, 1, "", ImportPass) \
  row(DebugGradientRefIdentity, 1, 1, "", ImportPass) \
  row(DebugIdentity, 1, 1, "", ImportPass) \
  row(DebugIdentityV2, 1, 1, "", ImportPass) \
  no(DecodeAndCropJpeg, kFile) \
  no(DecodeBase64, kString) \
  no(DecodeBmp, kFile) \
  no(DecodeCSV, kFile) \
  no(DecodeCompressed, kFile) \
  no(DecodeGif, kFile) \
  no(DecodeImage, kFile) \
  no(DecodeJSONExample, kFile) \
  no(DecodeJpeg, kFile) \
  no(DecodePaddedRaw, kFile) \
  no(DecodePng, kFile) \
  no(DecodeProtoV2, kFile) \
  no(DecodeRaw, kFile) \
  no(DecodeWav, kFile) \
  row(DeepCopy, 1, 1, "", ImportPass) \
  no(DeleteSessionTensor, kDistribution) \
  row(DenseBincount, 3, 3, "", ImportBincount) \
  no(DenseCountSparseOutput, kSparse) \
  no(DenseToDenseSetOperation, kSparse) \
  no(DenseToSparseSetOperation, kSparse) \
  row(DepthToSpace, 1, 1, "", ImportDepthToSpace) \
  row(DepthwiseConv2dNative, 2, 2, "", ImportDepthwiseConv2D) \
  no(DepthwiseConv2dNativeBackpropFilter, kTraining) \
  no(DepthwiseConv2dNativeBackpropInput, kTraining) \
  row(Dequantize, 3, 3, "", ImportDequantize) \
  no(DeserializeManySparse, kSparse) \
  no(DeserializeSparse, kSparse) \
  no(DestroyResourceOp, kPartial) \
  no(DestroyTemporaryVariable, kPartial) \
  row(Diag, 1, 1, "", ImportDiag) \
  row(DiagPart, 1, 1, "", ImportDiagPart) \
  no(Digamma, kSpecial) \
  row(Dilation2D, 2, 2, "", ImportDilation2D) \
  no(Dilation2DBackpropFilter, kTraining) \
  no(Dilation2DBackpropInput, kTraining) \
  row(Div, 2, 2, "", ImportDivide) \
  row(DivNoNan, 2, 2, "", ImportDivNoNan) \
  no(DrawBoundingBoxes, kImage) \
  no(DrawBoundingBoxesV2, kImage) \
  row(DynamicPartition, 2, 2, "", ImportDynamicPartition) \
  row(DynamicStitch, 2, kManyInputs, "", ImportDynamicStitch) \
  no(EagerPyFunc, kInternal) \
  no(Eig, kLinear) \
  row(Einsum, 1, kManyInputs, "", ImportEinsum) \
  row(Elu, 1, 1, "", ImportElu) \
  no(EluGrad, kTraining) \
  row(Empty, 1, 1, "", ImportEmpty) \
  row(EmptyTensorList, 2, 2, "", ImportEmptyTensorList) \
  no(EncodeBase64, kString) \
  no(EncodeJpeg, kFile) \
  no(EncodeJpegVariableQuality, kFile) \
  no(EncodePng, kFile) \
  no(EncodeProto, kFile) \
  no(EncodeWav, kFile) \
  row(EnsureShape, 1, 1, "", ImportEnsureShape) \
  control(Enter, "") \
  row(Equal, 2, 2, "", ImportBinary<Opcode::kEqual>) \
  row(Erf, 1, 1, "", ImportUnary<Opcode::kErf>) \
  row(Erfc, 1, 1, "", ImportErfc) \
  no(Erfinv, kSpecial) \
  row(EuclideanNorm, 2, 2, "", ImportEuclideanNorm) \
  control(Exit, "") \
  row(Exp, 1, 1, "", ImportUnary<Opcode::kExp>) \
  row(ExpandDims, 2, 2, "", tf_common::ImportExpandDims) \
  no(Expint, kSpecial) \
  row(Expm1, 1, 1, "", ImportUnary<Opcode::kExpm1>) \
  no(ExtractGlimpse, kImage) \
  no(ExtractGlimpseV2, kImage) \
  row(ExtractImagePatches, 1, 1, "", ImportExtractImagePatches) \
  no(ExtractJpegShape, kFile) \
  no(ExtractVolumePatches, kImage) \
  row(FFT, 1, 1, "", ImportFft) \
  no(FFT2D, kDimensions) \
  no(FFT3D, kDimensions) \
  no(FFTND, kDimensions) \
  no(FIFOQueue, kQueue) \
  no(FIFOQueueV2, kQueue) \
  row(FakeQuantWithMinMaxArgs, 1, 1, "", ImportFakeQuantArgs) \
  no(FakeQuantWithMinMaxArgsGradient, kTraining) \
  row(FakeQuantWithMinMaxVars, 3, 3, "", ImportFakeQuantVars) \
  no(FakeQuantWithMinMaxVarsGradient, kTraining) \
  row(FakeQuantWithMinMaxVarsPerChannel, 3, 3, "", ImportFakeQuantVars) \
  no(FakeQuantWithMinMaxVarsPerChannelGradient, kTraining) \
  no(FakeQueue, kQueue) \
  row(Fill, 2, 2, "", tf_common::ImportFill) \
  no(Fingerprint, kString) \
  no(FixedLengthRecordReaderV2, kFile) \
  no(FixedUnigramCandidateSampler, kRandom) \
  row(Floor, 1, 1, "", ImportUnary<Opcode::kFloor>) \
  row(FloorDiv, 2, 2, "", ImportFloorDiv) \
  row(FloorMod, 2, 2, "", ImportBinary<Opcode::kModulo>) \
  no(FractionalAvgPool, kImage) \
  no(FractionalMaxPool, kImage) \
  no(FresnelCos, kSpecial) \
  no(FresnelSin, kSpecial) \
  row(FusedBatchNorm, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2", ImportFusedBatchNorm) \
  no(FusedBatchNormGrad, kTraining) \
  no(FusedBatchNormGradV2, kTraining) \
  no(FusedBatchNormGradV3, kTraining) \
  row(FusedBatchNormV2, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2", ImportFusedBatchNorm) \
  row(FusedBatchNormV3, 5, 5, "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2,reserve_space_3", ImportFusedBatchNorm) \
  row(FusedPadConv2D, 3, 3, "", ImportFusedPadConv2D) \
  no(FusedResizeAndPadConv2D, kImage) \
  no(GRUBlockCell, kCell) \
  row(Gather, 2, 2, "", ImportGatherV1) \
  row(GatherNd, 2, 2, "", tf_common::ImportGatherNd) \
  row(GatherV2, 3, 3, "", ImportGatherV2) \
  no(GenerateBoundingBoxProposals, kSelection) \
  no(GetSessionHandle, kDistribution) \
  no(GetSessionHandleV2, kDistribution) \
  no(GetSessionTensor, kDistribution) \
  row(Greater, 2, 2, "", ImportGreater) \
  row(GreaterEqual, 2, 2, "", ImportGreaterEqual) \
  row(HSVToRGB, 1, 1, "", ImportHsvToRgb) \
  no(HashTable, kTable) \
  no(HashTableV2, kTable) \
  no(HistogramFixedWidth, kSelection) \
  no(HistogramSummary, kSummary) \
  row(HostConst, 0, 0, "", ImportConst) \
  row(IFFT, 1, 1, "", ImportIfft) \
  no(IFFT2D, kDimensions) \
  no(IFFT3D, kDimensions) \
  no(IFFTND, kDimensions) \
  row(IRFFT, 2, 2, "", ImportIrfft) \
  no(IRFFT2D, kDimensions) \
  no(IRFFT3D, kDimensions) \
  no(IRFFTND, kDimensions) \
  control(Identity, "") \
  control(IdentityN, "") \
  no(IdentityReaderV2, kFile) \
  control(If, "") \
  no(Igamma, kSpecial) \
  no(IgammaGradA, kSpecial) \
  no(Igammac, kSpecial) \
  row(Imag, 1, 1, "", ImportImag) \
  no(ImageProjectiveTransformV2, kImage) \
  no(ImageProjectiveTransformV3, kImage) \
  no(ImageSummary, kSummary) \
  no(ImmutableConst, kFile) \
  row(InTopK, 2, 2, "", ImportInTopK) \
  row(InTopKV2, 3, 3, "", ImportInTopK) \
  no(InitializeTable, kTable) \
  no(InitializeTableFromDatasetV2, kTable) \
  no(InitializeTableFromTextFile, kTable) \
  no(InitializeTableFromTextFileV2, kTable) \
  no(InitializeTableV2, kTable) \
  no(InplaceAdd, kPartial) \
  no(InplaceSub, kPartial) \
  no(InplaceUpdate, kPartial) \
  row(Inv, 1, 1, "", ImportReciprocal) \
  no(InvGrad, kTraining) \
  row(Invert, 1, 1, "", ImportUnary<Opcode::kNot>) \
  row(InvertPermutation, 1, 1, "", ImportInvertPermutation) \
  no(IsBoostedTreesQuantileStreamResourceInitialized, kTree) \
  row(IsFinite, 1, 1, "", ImportIsFinite) \
  row(IsInf, 1, 1, "", ImportUnary<Opcode::kIsInfinite>) \
  row(IsNan, 1, 1, "", ImportUnary<Opcode::kIsNan>) \
  control(IsVariableInitialized, "") \
  no(IteratorGetNext, kQueue) \
  no(IteratorV2, kQueue) \
  no(KMC2ChainInitialization, kSelection) \
  row(L2Loss, 1, 1, "", ImportL2Loss) \
  row(LRN, 1, 1, "", ImportLrn) \
  no(LRNGrad, kTraining) \
  no(LSTMBlockCell, kCell) \
  row(LeakyRelu, 1, 1, "", ImportLeakyRelu) \
  no(LeakyReluGrad, kTraining) \
  no(LearnedUnigramCandidateSampler, kRandom) \
  row(LeftShift, 2, 2, "", ImportLeftShift) \
  row(Less, 2, 2, "", ImportBinary<Opcode::kLess>) \
  row(LessEqual, 2, 2, "", ImportBinary<Opcode::kLessEqual>) \
  no(Lgamma, kSpecial) \
  row(LinSpace, 3, 3, "", ImportLinSpace) \
  no(ListDiff, kSelection) \
  row(Log, 1, 1, "", ImportUnary<Opcode::kLog>) \
  row(Log1p, 1, 1, "", ImportUnary<Opcode::kLog1p>) \
  no(LogMatrixDeterminant, kLinear) \
  row(LogSoftmax, 1, 1, "", ImportLogSoftmax) \
  no(LogSoftmaxGrad, kTraining) \
  no(LogUniformCandidateSampler, kRandom) \
  row(LogicalAnd, 2, 2, "", ImportBinary<Opcode::kAnd>) \
  row(LogicalNot, 1, 1, "", ImportUnary<Opcode::kNot>) \
  row(LogicalOr, 2, 2, "", ImportBinary<Opcode::kOr>) \
  no(LookupTableExport, kTable) \
  no(LookupTableExportV2, kTable) \
  no(LookupTableFind, kTable) \
  no(LookupTableFindV2, kTable) \
  no(LookupTableImport, kTable) \
  no(LookupTableImportV2, kTable) \
  no(LookupTableInsertV2, kTable) \
  no(LookupTableRemoveV2, kTable) \
  no(LookupTableSize, kTable) \
  no(LookupTableSizeV2, kTable) \
  control(LoopCond, "") \
  row(LowerBound, 2, 2, "", ImportLowerBound) \
  no(Lu, kLinear) \
  no(MakeIterator, kQueue) \
  no(MapDataset, kQueue) \
  row(MatMul, 2, 2, "", ImportMatMul) \
  no(MatchingFiles, kFile) \
  row(MatrixBandPart, 3, 3, "", ImportMatrixBandPart) \
  no(MatrixDeterminant, kLinear) \
  row(MatrixDiag, 1, 1, "", tf_common::ImportMatrixDiag) \
  row(MatrixDiagPart, 1, 1, "", ImportMatrixDiagPart) \
  row(MatrixDiagPartV2, 3, 3, "", ImportMatrixDiagPart) \
  row(MatrixDiagPartV3, 3, 3, "", ImportMatrixDiagPart) \
  row(MatrixDiagV2, 5, 5, "", ImportMatrixDiagV2) \
  row(MatrixDiagV3, 5, 5, "", ImportMatrixDiagV2) \
  no(MatrixExponential, kLinear) \
  no(MatrixInverse, kLinear) \
  no(MatrixLogarithm, kLinear) \
  row(MatrixSetDiag, 2, 2, "", tf_common::ImportMatrixSetDiag) \
  row(MatrixSetDiagV2, 3, 3, "", ImportMatrixSetDiagV2) \
  row(MatrixSetDiagV3, 3, 3, "", ImportMatrixSetDiagV2) \
  no(MatrixSolve, kLinear) \
  no(MatrixSolveLs, kLinear) \
  no(MatrixSquareRoot, kLinear) \
  no(MatrixTriangularSolve, kLinear) \
  row(Max, 2, 2, "", ImportMax) \
  row(MaxPool, 1, 1, "", ImportMaxPool) \
  row(MaxPool3D, 1, 1, "", ImportMaxPool3D) \
  no(MaxPool3DGrad, kTraining) \
  no(MaxPool3DGradGrad, kTraining) \
  no(MaxPoolGrad, kTraining) \
  no(MaxPoolGradGrad, kTraining) \
  no(MaxPoolGradGradV2, kTraining) \
  no(MaxPoolGradV2, kTraining) \
  no(MaxPoolGradWithArgmax, kTraining) \
  row(MaxPoolV2, 3, 3, "", ImportMaxPool) \
  no(MaxPoolWithArgmax, kImage) \
  no(MaxSpanningTree, kString) \
  row(Maximum, 2, 2, "", ImportBinary<Opcode::kMaximum>) \
  row(Mean, 2, 2, "", ImportMean) \
  control(Merge, "output,value_index") \
  no(MergeSummary, kSummary) \
  no(MergeV2Checkpoints, kSave) \
  no(Mfcc, kDimensions) \
  row(Min, 2, 2, "", ImportMin) \
  row(Minimum, 2, 2, "", ImportBinary<Opcode::kMinimum>) \
  row(MirrorPad, 2, 2, "", ImportMirrorPad) \
  no(MirrorPadGrad, kTraining) \
  row(Mod, 2, 2, "", ImportBinary<Opcode::kRemainder>) \
  no(ModelDataset, kQueue) \
  row(Mul, 2, 2, "", ImportMul) \
  row(MulNoNan, 2, 2, "", ImportMulNoNan) \
  no(Multinomial, kRandom) \
  no(MutableDenseHashTableV2, kTable) \
  no(MutableHashTable, kTable) \
  no(MutableHashTableV2, kTable) \
  no(NcclAllReduce, kDistribution) \
  no(Ndtri, kSpecial) \
  row(Neg, 1, 1, "", ImportUnary<Opcode::kNegate>) \
  no(NextAfter, kSpecial) \
  control(NextIteration, "") \
  none(NoOp) \
  row(NonMaxSuppression, 3, 3, "", ImportNonMaxSuppression) \
  row(NonMaxSuppressionV2, 4, 4, "", ImportNonMaxSuppressionV2) \
  row(NonMaxSuppressionV3, 5, 5, "", ImportNonMaxSuppressionV3) \
  row(NonMaxSuppressionV4, 5, 5, "selected_indices,valid_outputs", ImportNonMaxSuppressionV4) \
  row(NonMaxSuppressionV5, 6, 6, "selected_indices,selected_scores,valid_outputs", ImportNonMaxSuppressionV5) \
  no(NonMaxSuppressionWithOverlaps, kSelection) \
  no(NormalizeUTF8, kString) \
  no(NormalizeUTF8WithOffsetsMap, kString) \
  row(NotEqual, 2, 2, "", ImportBinary<Opcode::kNotEqual>) \
  no(NthElement, kSelection) \
  row(OneHot, 4, 4, "", ImportOneHot) \
  no(OneShotIterator, kQueue) \
  row(OnesLike, 1, 1, "", ImportOnesLike) \
  no(OptimizeDatasetV2, kQueue) \
  row(Pack, 1, kManyInputs, "", ImportPack) \
  row(Pad, 2, 2, "", ImportPad) \
  row(PadV2, 3, 3, "", ImportPad) \
  no(PaddingFIFOQueue, kQueue) \
  no(PaddingFIFOQueueV2, kQueue) \
  row(ParallelConcat, 1, kManyInputs, "", ImportParallelConcat) \
  row(ParallelDynamicStitch, 2, kManyInputs, "", ImportDynamicStitch) \
  no(ParallelMapDatasetV2, kQueue) \
  no(ParameterizedTruncatedNormal, kRandom) \
  no(ParseExample, kFile) \
  no(ParseExampleV2, kFile) \
  no(ParseSequenceExample, kFile) \
  no(ParseSequenceExampleV2, kFile) \
  no(ParseSingleExample, kFile) \
  no(ParseSingleSequenceExample, kFile) \
  no(ParseTensor, kFile) \
  control(PartitionedCall, "") \
  control(Placeholder, "") \
  control(PlaceholderV2, "") \
  control(PlaceholderWithDefault, "") \
  no(Polygamma, kSpecial) \
  row(PopulationCount, 1, 1, "", ImportPopulationCount) \
  row(Pow, 2, 2, "", ImportBinary<Opcode::kPower>) \
  no(PrefetchDataset, kQueue) \
  row(PreventGradient, 1, 1, "", ImportPass) \
  row(Print, 1, kManyInputs, "", ImportPass) \
  none(PrintV2) \
  no(PriorityQueueV2, kQueue) \
  row(Prod, 2, 2, "", ImportProd) \
  no(PyFunc, kInternal) \
  no(PyFuncStateless, kInternal) \
  no(Qr, kLinear) \
  no(QuantizeAndDequantize, kQuantized) \
  row(QuantizeAndDequantizeV2, 3, 3, "", ImportQuantizeAndDequantize) \
  row(QuantizeAndDequantizeV3, 4, 4, "", ImportQuantizeAndDequantize) \
  no(QuantizeAndDequantizeV4, kQuantized) \
  no(QuantizeDownAndShrinkRange, kQuantized) \
  no(QuantizeV2, kQuantized) \
  no(QuantizedAdd, kQuantized) \
  no(QuantizedAvgPool, kQuantized) \
  no(QuantizedBatchNormWithGlobalNormalization, kQuantized) \
  no(QuantizedBiasAdd, kQuantized) \
  no(QuantizedConcat, kQuantized) \
  no(QuantizedConcatV2, kQuantized) \
  no(QuantizedConv2D, kQuantized) \
  no(QuantizedConv2DPerChannel, kQuantized) \
  no(QuantizedConv2DWithBias, kQuantized) \
  no(QuantizedConv2DWithBiasAndRelu, kQuantized) \
  no(QuantizedConv2DWithBiasAndReluAndRequantize, kQuantized) \
  no(QuantizedDepthwiseConv2D, kQuantized) \
  no(QuantizedInstanceNorm, kQuantized) \
  no(QuantizedMatMul, kQuantized) \
  no(QuantizedMatMulWithBias, kQuantized) \
  no(QuantizedMaxPool, kQuantized) \
  no(QuantizedMul, kQuantized) \
  no(QuantizedRelu, kQuantized) \
  no(QuantizedRelu6, kQuantized) \
  no(QuantizedReluX, kQuantized) \
  no(QuantizedReshape, kQuantized) \
  no(QuantizedResizeArea, kImage) \
  no(QuantizedResizeBilinear, kQuantized) \
  no(QueueClose, kQueue) \
  no(QueueCloseV2, kQueue) \
  no(QueueDequeue, kQueue) \
  no(QueueDequeueMany, kQueue) \
  no(QueueDequeueManyV2, kQueue) \
  no(QueueDequeueUpTo, kQueue) \
  no(QueueDequeueUpToV2, kQueue) \
  no(QueueDequeueV2, kQueue) \
  no(QueueEnqueue, kQueue) \
  no(QueueEnqueueMany, kQueue) \
  no(QueueEnqueueManyV2, kQueue) \
  no(QueueEnqueueV2, kQueue) \
  no(QueueIsClosed, kQueue) \
  no(QueueIsClosedV2, kQueue) \
  no(QueueSize, kQueue) \
  no(QueueSizeV2, kQueue) \
  row(RFFT, 2, 2, "", ImportRfft) \
  no(RFFT2D, kDimensions) \
  no(RFFT3D, kDimensions) \
  no(RFFTND, kDimensions) \
  row(RGBToHSV, 1, 1, "", ImportRgbToHsv) \
  no(RaggedBincount, kSparse) \
  no(RaggedCountSparseOutput, kSparse) \
  no(RaggedCross, kSparse) \
  no(RaggedGather, kSparse) \
  no(RaggedRange, kSparse) \
  no(RaggedTensorFromVariant, kSparse) \
  no(RaggedTensorToSparse, kSparse) \
  no(RaggedTensorToTensor, kSparse) \
  no(RaggedTensorToVariant, kSparse) \
  no(RandomGamma, kRandom) \
  no(RandomPoisson, kRandom) \
  no(RandomPoissonV2, kRandom) \
  no(RandomShuffle, kRandom) \
  no(RandomShuffleQueueV2, kQueue) \
  no(RandomStandardNormal, kRandom) \
  no(RandomUniform, kRandom) \
  no(RandomUniformInt, kRandom) \
  row(Range, 3, 3, "", tf_common::ImportRange) \
  no(RangeDataset, kQueue) \
  row(Rank, 1, 1, "", ImportRank) \
  no(ReadFile, kFile) \
  control(ReadVariableOp, "") \
  no(ReaderReadV2, kFile) \
  row(Real, 1, 1, "", ImportReal) \
  row(RealDiv, 2, 2, "", ImportDivide) \
  row(Reciprocal, 1, 1, "", ImportReciprocal) \
  no(ReciprocalGrad, kTraining) \
  no(Recv, kDistribution) \
  no(ReduceDataset, kQueue) \
  no(ReduceJoin, kString) \
  control(RefEnter, "") \
  control(RefExit, "") \
  control(RefIdentity, "") \
  control(RefMerge, "output,value_index") \
  control(RefNextIteration, "") \
  control(RefSwitch, "output_false,output_true") \
  no(RegexFullMatch, kString) \
  no(RegexReplace, kString) \
  no(RegexSplitWithOffsets, kString) \
  no(RegisterGlimpse, kImage) \
  row(Relu, 1, 1, "", ImportRelu) \
  row(Relu6, 1, 1, "", ImportRelu6) \
  no(Relu6Grad, kTraining) \
  no(ReluGrad, kTraining) \
  no(RemoteCall, kDistribution) \
  no(RepeatDataset, kQueue) \
  no(RequantizationRange, kQuantized) \
  no(RequantizationRangePerChannel, kQuantized) \
  no(Requantize, kQuantized) \
  no(RequantizePerChannel, kQuantized) \
  row(Reshape, 2, 2, "", ImportReshape) \
  no(ResizeArea, kImage) \
  row(ResizeBicubic, 2, 2, "", ImportResizeBicubic) \
  no(ResizeBicubicGrad, kTraining) \
  row(ResizeBilinear, 2, 2, "", ImportResizeBilinear) \
  no(ResizeBilinearGrad, kTraining) \
  row(ResizeNearestNeighbor, 2, 2, "", ImportResizeNearest) \
  no(ResizeNearestNeighborGrad, kTraining) \
  no(ResourceApplyAdaMax, kTraining) \
  no(ResourceApplyAdadelta, kTraining) \
  no(ResourceApplyAdagrad, kTraining) \
  no(ResourceApplyAdagradDA, kTraining) \
  no(ResourceApplyAdagradV2, kTraining) \
  no(ResourceApplyAdam, kTraining) \
  no(ResourceApplyAdamWithAmsgrad, kTraining) \
  no(ResourceApplyAddSign, kTraining) \
  no(ResourceApplyCenteredRMSProp, kTraining) \
  no(ResourceApplyFtrl, kTraining) \
  no(ResourceApplyFtrlV2, kTraining) \
  no(ResourceApplyGradientDescent, kTraining) \
  no(ResourceApplyKerasMomentum, kTraining) \
  no(ResourceApplyMomentum, kTraining) \
  no(ResourceApplyPowerSign, kTraining) \
  no(ResourceApplyProximalAdagrad, kTraining) \
  no(ResourceApplyProximalGradientDescent, kTraining) \
  no(ResourceApplyRMSProp, kTraining) \
  no(ResourceCountUpTo, kPartial) \
  control(ResourceGather, "") \
  control(ResourceGatherNd, "") \
  no(ResourceScatterAdd, kPartial) \
  no(ResourceScatterDiv, kPartial) \
  no(ResourceScatterMax, kPartial) \
  no(ResourceScatterMin, kPartial) \
  no(ResourceScatterMul, kPartial) \
  no(ResourceScatterNdAdd, kPartial) \
  no(ResourceScatterNdMax, kPartial) \
  no(ResourceScatterNdMin, kPartial) \
  no(ResourceScatterNdSub, kPartial) \
  no(ResourceScatterNdUpdate, kPartial) \
  no(ResourceScatterSub, kPartial) \
  no(ResourceScatterUpdate, kPartial) \
  no(ResourceSparseApplyAdadelta, kTraining) \
  no(ResourceSparseApplyAdagrad, kTraining) \
  no(ResourceSparseApplyAdagradDA, kTraining) \
  no(ResourceSparseApplyAdagradV2, kTraining) \
  no(ResourceSparseApplyCenteredRMSProp, kTraining) \
  no(ResourceSparseApplyFtrl, kTraining) \
  no(ResourceSparseApplyFtrlV2, kTraining) \
  no(ResourceSparseApplyKerasMomentum, kTraining) \
  no(ResourceSparseApplyMomentum, kTraining) \
  no(ResourceSparseApplyProximalAdagrad, kTraining) \
  no(ResourceSparseApplyProximalGradientDescent, kTraining) \
  no(ResourceSparseApplyRMSProp, kTraining) \
  no(ResourceStridedSliceAssign, kPartial) \
  no(Restore, kSave) \
  no(RestoreSlice, kSave) \
  no(RestoreV2, kSave) \
  row(Reverse, 2, 2, "", ImportReverseV1) \
  row(ReverseSequence, 2, 2, "", ImportReverseSequence) \
  row(ReverseV2, 2, 2, "", tf_common::ImportReverse) \
  row(RightShift, 2, 2, "", ImportRightShift) \
  row(Rint, 1, 1, "", ImportUnary<Opcode::kRound>) \
  no(RngReadAndSkip, kRandom) \
  no(RngSkip, kRandom) \
  row(Roll, 3, 3, "", ImportRoll) \
  no(RougeL, kString) \
  row(Round, 1, 1, "", ImportUnary<Opcode::kRound>) \
  row(Rsqrt, 1, 1, "", ImportRsqrt) \
  no(RsqrtGrad, kTraining) \
  no(SampleDistortedBoundingBox, kRandom) \
  no(SampleDistortedBoundingBoxV2, kRandom) \
  no(Save, kSave) \
  no(SaveSlices, kSave) \
  no(SaveV2, kSave) \
  no(ScalarSummary, kSummary) \
  no(ScaleAndTranslate, kImage) \
  no(ScatterAdd, kPartial) \
  no(ScatterDiv, kPartial) \
  no(ScatterMax, kPartial) \
  no(ScatterMin, kPartial) \
  no(ScatterMul, kPartial) \
  row(ScatterNd, 3, 3, "", tf_common::ImportScatterNd) \
  no(ScatterNdAdd, kPartial) \
  no(ScatterNdMax, kPartial) \
  no(ScatterNdMin, kPartial) \
  row(ScatterNdNonAliasingAdd, 3, 3, "", ImportTensorScatterAdd) \
  no(ScatterNdSub, kPartial) \
  no(ScatterNdUpdate, kPartial) \
  no(ScatterSub, kPartial) \
  no(ScatterUpdate, kPartial) \
  no(SdcaFprint, kString) \
  row(SegmentMax, 2, 2, "", ImportSegmentMax) \
  row(SegmentMean, 2, 2, "", ImportSegmentMean) \
  row(SegmentMin, 2, 2, "", ImportSegmentMin) \
  row(SegmentProd, 2, 2, "", ImportSegmentProd) \
  row(SegmentSum, 2, 2, "", ImportSegmentSum) \
  row(Select, 3, 3, "", ImportSelect) \
  row(SelectV2, 3, 3, "", ImportSelectV2) \
  no(SelfAdjointEig, kLinear) \
  no(SelfAdjointEigV2, kLinear) \
  row(Selu, 1, 1, "", ImportSelu) \
  no(SeluGrad, kTraining) \
  no(Send, kDistribution) \
  no(SentenceFragments, kString) \
  no(SentencepieceDecode, kString) \
  no(SentencepieceDetokenizeOp, kString) \
  no(SentencepieceEncodeDense, kString) \
  no(SentencepieceEncodeSparse, kString) \
  no(SentencepieceGetPieceSize, kString) \
  no(SentencepieceIdToPiece, kString) \
  no(SentencepieceOp, kString) \
  no(SentencepiecePieceToId, kString) \
  no(SentencepieceTokenizeOp, kString) \
  no(SentencepieceTokenizeWithOffsetsOp, kString) \
  no(SentencepieceVocabSizeOp, kString) \
  no(SerializeManySparse, kSparse) \
  no(SerializeSparse, kSparse) \
  no(SerializeTensor, kFile) \
  no(SetSize, kSparse) \
  row(Shape, 1, 1, "", ImportShape) \
  row(ShapeN, 1, kManyInputs, "", ImportShapeN) \
  no(ShardedFilename, kSave) \
  no(ShardedFilespec, kSave) \
  no(ShuffleDatasetV3, kQueue) \
  row(Sigmoid, 1, 1, "", ImportSigmoid) \
  no(SigmoidGrad, kTraining) \
  row(Sign, 1, 1, "", ImportUnary<Opcode::kSign>) \
  row(Sin, 1, 1, "", ImportUnary<Opcode::kSin>) \
  row(Sinh, 1, 1, "", ImportUnary<Opcode::kSinh>) \
  row(Size, 1, 1, "", ImportSize) \
  no(Skipgram, kRandom) \
  row(Slice, 3, 3, "", tf_common::ImportSlice) \
  row(Snapshot, 1, 1, "", ImportPass) \
  row(Softmax, 1, 1, "", ImportSoftmax) \
  no(SoftmaxCrossEntropyWithLogits, kTraining) \
  row(Softplus, 1, 1, "", ImportSoftplus) \
  no(SoftplusGrad, kTraining) \
  row(Softsign, 1, 1, "", ImportSoftsign) \
  no(SoftsignGrad, kTraining) \
  no(SpaceToBatch, kLayout) \
  row(SpaceToBatchND, 3, 3, "", ImportSpaceToBatchNd) \
  row(SpaceToDepth, 1, 1, "", ImportSpaceToDepth) \
  no(SparseAdd, kSparse) \
  no(SparseApplyAdadelta, kTraining) \
  no(SparseApplyAdagrad, kTraining) \
  no(SparseApplyAdagradDA, kTraining) \
  no(SparseApplyAdagradV2, kTraining) \
  no(SparseApplyCenteredRMSProp, kTraining) \
  no(SparseApplyFtrl, kTraining) \
  no(SparseApplyFtrlV2, kTraining) \
  no(SparseApplyMomentum, kTraining) \
  no(SparseApplyProximalAdagrad, kTraining) \
  no(SparseApplyProximalGradientDescent, kTraining) \
  no(SparseApplyRMSProp, kTraining) \
  no(SparseBincount, kSparse) \
  no(SparseConcat, kSparse) \
  no(SparseCountSparseOutput, kSparse) \
  no(SparseCross, kSparse) \
  no(SparseCrossHashed, kSparse) \
  no(SparseCrossV2, kSparse) \
  no(SparseDenseCwiseAdd, kSparse) \
  no(SparseDenseCwiseDiv, kSparse) \
  no(SparseDenseCwiseMul, kSparse) \
  no(SparseFillEmptyRows, kSparse) \
  no(SparseFillEmptyRowsGrad, kTraining) \
  no(SparseMatMul, kSparse) \
  no(SparseMatrixMatMul, kSparse) \
  no(SparseReduceMax, kSparse) \
  no(SparseReduceMaxSparse, kSparse) \
  no(SparseReduceSum, kSparse) \
  no(SparseReduceSumSparse, kSparse) \
  no(SparseReorder, kSparse) \
  no(SparseReshape, kSparse) \
  row(SparseSegmentMean, 3, 3, "", ImportSparseSegmentMean) \
  no(SparseSegmentMeanGrad, kTraining) \
  row(SparseSegmentMeanWithNumSegments, 4, 4, "", ImportSparseSegmentMean) \
  row(SparseSegmentSqrtN, 3, 3, "", ImportSparseSegmentSqrtN) \
  no(SparseSegmentSqrtNGrad, kTraining) \
  row(SparseSegmentSqrtNWithNumSegments, 4, 4, "", ImportSparseSegmentSqrtN) \
  row(SparseSegmentSum, 3, 3, "", ImportSparseSegmentSum) \
  row(SparseSegmentSumWithNumSegments, 4, 4, "", ImportSparseSegmentSum) \
  no(SparseSlice, kSparse) \
  no(SparseSoftmax, kSparse) \
  no(SparseSoftmaxCrossEntropyWithLogits, kTraining) \
  no(SparseSparseMaximum, kSparse) \
  no(SparseSparseMinimum, kSparse) \
  no(SparseSplit, kSparse) \
  no(SparseTensorDenseAdd, kSparse) \
  no(SparseTensorDenseMatMul, kSparse) \
  row(SparseToDense, 4, 4, "", tf_common::ImportSparseToDense) \
  no(SparseToSparseSetOperation, kSparse) \
  no(Spence, kSpecial) \
  row(Split, 2, 2, "", ImportSplit) \
  no(SplitMergeTokenizeWithOffsets, kString) \
  row(SplitV, 3, 3, "", ImportSplitV) \
  row(Sqrt, 1, 1, "", ImportUnary<Opcode::kSqrt>) \
  no(SqrtGrad, kTraining) \
  row(Square, 1, 1, "", ImportSquare) \
  row(SquaredDifference, 2, 2, "", ImportSquaredDifference) \
  row(Squeeze, 1, 1, "", ImportSqueeze) \
  no(Stack, kOldArray) \
  no(StackClose, kOldArray) \
  no(StackCloseV2, kOldArray) \
  no(StackPop, kOldArray) \
  no(StackPopV2, kOldArray) \
  no(StackPush, kOldArray) \
  no(StackPushV2, kOldArray) \
  no(StackV2, kOldArray) \
  no(Stage, kQueue) \
  control(StatefulPartitionedCall, "") \
  no(StatefulStandardNormalV2, kRandom) \
  no(StatefulTruncatedNormal, kRandom) \
  no(StatefulUniform, kRandom) \
  no(StatefulUniformInt, kRandom) \
  control(StatelessCase, "") \
  control(StatelessIf, "") \
  no(StatelessMultinomial, kRandom) \
  no(StatelessRandomBinomial, kRandom) \
  no(StatelessRandomGammaV2, kRandom) \
  no(StatelessRandomGetAlg, kRandom) \
  no(StatelessRandomGetKeyCounter, kRandom) \
  no(StatelessRandomGetKeyCounterAlg, kRandom) \
  no(StatelessRandomNormal, kRandom) \
  no(StatelessRandomNormalV2, kRandom) \
  no(StatelessRandomPoisson, kRandom) \
  no(StatelessRandomUniform, kRandom) \
  no(StatelessRandomUniformFullInt, kRandom) \
  no(StatelessRandomUniformFullIntV2, kRandom) \
  no(StatelessRandomUniformInt, kRandom) \
  no(StatelessRandomUniformIntV2, kRandom) \
  no(StatelessRandomUniformV2, kRandom) \
  no(StatelessSampleDistortedBoundingBox, kRandom) \
  no(StatelessTruncatedNormal, kRandom) \
  no(StatelessTruncatedNormalV2, kRandom) \
  control(StatelessWhile, "") \
  no(StaticRegexFullMatch, kString) \
  no(StaticRegexReplace, kString) \
  row(StopGradient, 1, 1, "", ImportPass) \
  row(StridedSlice, 4, 4, "", ImportStridedSlice) \
  no(StridedSliceAssign, kPartial) \
  no(StridedSliceGrad, kTraining) \
  no(StringFormat, kString) \
  no(StringJoin, kString) \
  no(StringLength, kString) \
  no(StringLower, kString) \
  no(StringNGrams, kString) \
  no(StringSplit, kString) \
  no(StringSplitV2, kString) \
  no(StringStrip, kString) \
  no(StringToHashBucket, kString) \
  no(StringToHashBucketFast, kString) \
  no(StringToHashBucketStrong, kString) \
  no(StringToNumber, kString) \
  no(StringUpper, kString) \
  row(Sub, 2, 2, "", ImportSub) \
  no(Substr, kString) \
  row(Sum, 2, 2, "", ImportSum) \
  no(Svd, kLinear) \
  control(Switch, "output_false,output_true") \
  no(SymbolicGradient, kTraining) \
  no(TFRecordReaderV2, kFile) \
  no(TPUCompile, kDistribution) \
  no(TPUExecute, kDistribution) \
  no(TPUPartitionedCall, kDistribution) \
  no(TPUReplicate, kDistribution) \
  no(TPUReplicatedInput, kDistribution) \
  no(TPUReplicatedOutput, kDistribution) \
  no(TakeManySparseFromTensorsMap, kSparse) \
  row(Tan, 1, 1, "", ImportUnary<Opcode::kTan>) \
  row(Tanh, 1, 1, "", ImportUnary<Opcode::kTanh>) \
  no(TanhGrad, kTraining) \
  no(TemporaryVariable, kPartial) \
  no(TensorArray, kOldArray) \
  none(TensorArrayClose) \
  none(TensorArrayCloseV2) \
  none(TensorArrayCloseV3) \
  no(TensorArrayConcat, kOldArray) \
  no(TensorArrayConcatV2, kOldArray) \
  row(TensorArrayConcatV3, 2, 2, "value,lengths", ImportTensorArrayConcat) \
  no(TensorArrayGather, kOldArray) \
  no(TensorArrayGatherV2, kOldArray) \
  row(TensorArrayGatherV3, 3, 3, "", ImportTensorArrayGather) \
  no(TensorArrayGrad, kTraining) \
  no(TensorArrayGradV2, kTraining) \
  no(TensorArrayGradV3, kTraining) \
  no(TensorArrayGradWithShape, kTraining) \
  no(TensorArrayPack, kOldArray) \
  no(TensorArrayRead, kOldArray) \
  no(TensorArrayReadV2, kOldArray) \
  row(TensorArrayReadV3, 3, 3, "", ImportTensorArrayRead) \
  no(TensorArrayScatter, kOldArray) \
  no(TensorArrayScatterV2, kOldArray) \
  row(TensorArrayScatterV3, 4, 4, "", ImportTensorArrayScatter) \
  no(TensorArraySize, kOldArray) \
  no(TensorArraySizeV2, kOldArray) \
  row(TensorArraySizeV3, 2, 2, "", ImportTensorArraySize) \
  no(TensorArraySplit, kOldArray) \
  no(TensorArraySplitV2, kOldArray) \
  row(TensorArraySplitV3, 4, 4, "", ImportTensorArraySplit) \
  no(TensorArrayUnpack, kOldArray) \
  no(TensorArrayV2, kOldArray) \
  row(TensorArrayV3, 1, 1, "handle,flow", ImportTensorArray) \
  no(TensorArrayWrite, kOldArray) \
  no(TensorArrayWriteV2, kOldArray) \
  row(TensorArrayWriteV3, 4, 4, "", ImportTensorArrayWrite) \
  no(TensorDataset, kQueue) \
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
  no(TensorSliceDataset, kQueue) \
  no(TensorStridedSliceUpdate, kLayout) \
  no(TensorSummaryV2, kSummary) \
  no(TextLineReaderV2, kFile) \
  row(Tile, 2, 2, "", tf_common::ImportTile) \
  no(TileGrad, kTraining) \
  no(Timestamp, kSummary) \
  row(TopK, 1, 1, "values,indices", ImportTopK) \
  row(TopKV2, 2, 2, "values,indices", ImportTopKV2) \
  row(Transpose, 2, 2, "", tf_common::ImportTranspose) \
  no(TridiagonalMatMul, kLinear) \
  no(TridiagonalSolve, kLinear) \
  row(TruncateDiv, 2, 2, "", ImportDivide) \
  row(TruncateMod, 2, 2, "", ImportBinary<Opcode::kRemainder>) \
  no(TruncatedNormal, kRandom) \
  no(UnicodeDecode, kString) \
  no(UnicodeDecodeWithOffsets, kString) \
  no(UnicodeEncode, kString) \
  no(UnicodeScript, kString) \
  no(UnicodeScriptTokenizeWithOffsets, kString) \
  no(UnicodeTranscode, kString) \
  no(UniformCandidateSampler, kRandom) \
  no(UniformDequantize, kQuantized) \
  no(UniformQuantize, kQuantized) \
  no(UniformQuantizedConvolution, kQuantized) \
  no(UniformQuantizedDot, kQuantized) \
  no(UniformRequantize, kQuantized) \
  row(Unique, 1, 1, "y,idx", ImportUnique) \
  no(UniqueV2, kSelection) \
  row(UniqueWithCounts, 1, 1, "y,idx,count", ImportUniqueWithCounts) \
  no(UniqueWithCountsV2, kSelection) \
  row(Unpack, 1, 1, "", ImportUnpack) \
  no(UnsortedSegmentJoin, kString) \
  row(UnsortedSegmentMax, 3, 3, "", ImportUnsortedSegmentMax) \
  row(UnsortedSegmentMin, 3, 3, "", ImportUnsortedSegmentMin) \
  row(UnsortedSegmentProd, 3, 3, "", ImportUnsortedSegmentProd) \
  row(UnsortedSegmentSum, 3, 3, "", ImportUnsortedSegmentSum) \
  no(Unstage, kQueue) \
  no(UnwrapDatasetVariant, kQueue) \
  row(UpperBound, 2, 2, "", ImportUpperBound) \
  control(VarHandleOp, "") \
  control(VarIsInitializedOp, "") \
  control(Variable, "") \
  control(VariableShape, "") \
  control(VariableV2, "") \
  row(Where, 1, 1, "", ImportWhere) \
  control(While, "") \
  no(WhitespaceTokenizeWithOffsets, kString) \
  no(WholeFileReaderV2, kFile) \
  no(WordpieceTokenizeWithOffsets, kString) \
  no(WrapDatasetVariant, kQueue) \
  no(WriteFile, kFile) \
  no(WriteScalarSummary, kSummary) \
  no(WriteSummary, kSummary) \
  row(Xdivy, 2, 2, "", ImportXdivy) \
  row(XlaDynamicUpdateSlice, 3, 3, "", tf_common::ImportDynamicUpdateSlice) \
  no(XlaLaunch, kDistribution) \
  row(Xlog1py, 2, 2, "", ImportXlog1py) \
  row(Xlogy, 2, 2, "", ImportXlogy) \
  row(ZerosLike, 1, 1, "", ImportZerosLike) \
  no(Zeta, kSpecial) \
  control(_Arg, "") \
  no(_ArrayToList, kInternal) \
  no(_DeviceArg, kInternal) \
  no(_DeviceRetval, kInternal) \
  row(_FusedConv2D, 2, kManyInputs, "", ImportFusedConv2D) \
  row(_FusedDepthwiseConv2dNative, 2, kManyInputs, "", ImportFusedConv2D) \
  row(_FusedMatMul, 2, kManyInputs, "", ImportMatMul) \
  row(_HostCast, 1, 1, "", ImportCast) \
  no(_HostRecv, kDistribution) \
  no(_HostSend, kDistribution) \
  no(_ListToArray, kInternal) \
  no(_ParallelConcatStart, kInternal) \
  no(_ParallelConcatUpdate, kInternal) \
  no(_Recv, kDistribution) \
  no(_Retval, kInternal) \
  no(_Send, kDistribution) \
  no(_SwitchN, kInternal) \
  no(_XlaCompile, kDistribution) \
  no(_XlaRun, kDistribution)
// clang-format on

// The function is called by a lambda, so that those for OperatorBase fit, too.
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
#define EMBER_NO(op, why) {.name = #op, .reason = why},
    EMBER_TENSORFLOW_OPERATORS(EMBER_ROW, EMBER_CONTROL, EMBER_NONE, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_CONTROL
#undef EMBER_NONE
#undef EMBER_NO
};

constexpr bool IsInOrder() {
  for (size_t i = 1; i < std::size(kOperators); ++i)
    if (!(kOperators[i - 1].name < kOperators[i].name)) return false;
  return true;
}
static_assert(IsInOrder(), "operators are found by bisection");

}  // namespace

std::span<const OperatorRow> Operators() { return kOperators; }

const OperatorRow* FindRow(std::string_view op) {
  const auto* found =
      std::lower_bound(std::begin(kOperators), std::end(kOperators), op,
                       [](const OperatorRow& row, std::string_view name) {
                         return row.name < name;
                       });
  return found != std::end(kOperators) && found->name == op ? found : nullptr;
}

std::string_view ResultNamesOf(std::string_view op) {
  const OperatorRow* row = FindRow(op);
  return row == nullptr ? std::string_view() : row->results;
}

}  // namespace ember::tensorflow

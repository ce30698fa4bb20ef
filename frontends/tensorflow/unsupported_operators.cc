#include "frontends/tensorflow/unsupported_operators.h"

#include <algorithm>
#include <string_view>

namespace ember::tensorflow {
namespace {

struct Reason {
  std::string_view reason;
  std::string_view operators;  // separated by spaces
};

constexpr Reason kReasons[] = {
    {
        "it is a kernel of a whole recurrent layer: export the model with "
        "its operators",
        "BlockLSTM BlockLSTMV2 CudnnRNN CudnnRNNParamsToCanonical CudnnRNNV2 "
        "CudnnRNNV3 GRUBlockCell LSTMBlockCell",
    },
    {
        "transforms are there along one dim (FFT, IFFT, RFFT, IRFFT) and not "
        "joined with others",
        "BatchFFT BatchFFT2D BatchFFT3D BatchIFFT "
        "BatchIFFT2D BatchIFFT3D ConjugateTranspose FFT2D FFT3D FFTND IFFT2D "
        "IFFT3D IFFTND IRFFT2D IRFFT3D IRFFTND RFFT2D RFFT3D RFFTND",
    },
    {
        "it sends tensors between devices or processes: give the model as it "
        "is for one",
        "Barrier BarrierTakeMany CollectiveBcastRecvV2 CollectiveBcastSendV2 "
        "CollectiveGatherV2 CollectiveReduceV2 ConfigureDistributedTPU "
        "DeleteSessionTensor GetSessionHandle GetSessionHandleV2 "
        "GetSessionTensor NcclAllReduce Recv RemoteCall Send TPUCompile "
        "TPUExecute TPUPartitionedCall TPUReplicate TPUReplicatedInput "
        "TPUReplicatedOutput XlaLaunch _HostRecv _HostSend _Recv _Send "
        "_XlaCompile _XlaRun",
    },
    {
        "files and encodings are not read in a model: decode before it, and "
        "cut the graph (--entry='NODE->NODE')",
        "DecodeAndCropJpeg DecodeBmp DecodeCSV DecodeCompressed DecodeGif "
        "DecodeImage DecodeJSONExample DecodeJpeg DecodePaddedRaw DecodePng "
        "DecodeProtoV2 DecodeRaw EncodeJpeg "
        "EncodeJpegVariableQuality EncodePng EncodeProto EncodeWav "
        "ExtractJpegShape FixedLengthRecordReaderV2 IdentityReaderV2 "
        "ImmutableConst MatchingFiles ParseExample ParseExampleV2 "
        "ParseSequenceExample ParseSequenceExampleV2 ParseSingleExample "
        "ParseSingleSequenceExample ParseTensor ReadFile ReaderReadV2 "
        "SerializeTensor TFRecordReaderV2 TextLineReaderV2 WholeFileReaderV2 "
        "WriteFile",
    },
    {
        "images cannot be changed so: cut the graph behind it "
        "(--entry='NODE->NODE')",
        "AdjustContrast AdjustHue AdjustSaturation CropAndResize "
        "DrawBoundingBoxes DrawBoundingBoxesV2 ExtractGlimpse "
        "ExtractGlimpseV2 ExtractVolumePatches FractionalAvgPool "
        "FractionalMaxPool FusedResizeAndPadConv2D "
        "ImageProjectiveTransformV2 ImageProjectiveTransformV3 "
        "MaxPoolWithArgmax QuantizedResizeArea RegisterGlimpse ResizeArea "
        "ScaleAndTranslate",
    },
    {
        "it calls back into the program around TensorFlow, or is made by "
        "that for itself",
        "Abort EagerPyFunc PyFunc PyFuncStateless _ArrayToList _DeviceArg "
        "_DeviceRetval _ListToArray _ParallelConcatStart "
        "_ParallelConcatUpdate _Retval _SwitchN",
    },
    {
        "it is made by TensorFlow's own optimizer, or older than version "
        "1.0: give the model as it was before",
        "BatchToSpace Conv3DBackpropInput DataFormatDimMap "
        "DataFormatVecPermute SpaceToBatch TensorStridedSliceUpdate",
    },
    {
        "there is no decomposition or inverse of matrices",
        "BandedTriangularSolve BatchCholesky BatchMatrixInverse "
        "BatchSelfAdjointEig BatchSelfAdjointEigV2 Cholesky Eig "
        "LogMatrixDeterminant Lu MatrixDeterminant MatrixExponential "
        "MatrixInverse MatrixLogarithm MatrixSolve MatrixSolveLs "
        "MatrixSquareRoot MatrixTriangularSolve Qr SelfAdjointEig "
        "SelfAdjointEigV2 Svd TridiagonalMatMul TridiagonalSolve",
    },
    {
        "it is of TensorFlow before version 1.0, or of gradients: freeze the "
        "model again with a newer version",
        "Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush "
        "StackPushV2 StackV2 TensorArray TensorArrayConcat "
        "TensorArrayConcatV2 TensorArrayGather TensorArrayGatherV2 "
        "TensorArrayPack TensorArrayRead TensorArrayReadV2 "
        "TensorArrayScatter TensorArrayScatterV2 TensorArraySize "
        "TensorArraySizeV2 TensorArraySplit TensorArraySplitV2 "
        "TensorArrayUnpack TensorArrayV2 TensorArrayWrite TensorArrayWriteV2",
    },
    {
        "a variable can only be assigned as a whole",
        "CountUpTo DestroyResourceOp DestroyTemporaryVariable InplaceAdd "
        "InplaceSub InplaceUpdate ResourceCountUpTo ResourceScatterAdd "
        "ResourceScatterDiv ResourceScatterMax ResourceScatterMin "
        "ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax "
        "ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate "
        "ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign "
        "ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd "
        "ScatterNdMax ScatterNdMin ScatterNdSub ScatterNdUpdate ScatterSub "
        "ScatterUpdate StridedSliceAssign TemporaryVariable",
    },
    {
        "integer kernels of TensorFlow's own are not read: give the model "
        "before it was quantized, or as TensorFlow Lite",
        "QuantizeAndDequantize QuantizeAndDequantizeV4 "
        "QuantizeDownAndShrinkRange QuantizeV2 QuantizedAdd QuantizedAvgPool "
        "QuantizedBatchNormWithGlobalNormalization QuantizedBiasAdd "
        "QuantizedConcat QuantizedConcatV2 QuantizedConv2D "
        "QuantizedConv2DPerChannel QuantizedConv2DWithBias "
        "QuantizedConv2DWithBiasAndRelu "
        "QuantizedConv2DWithBiasAndReluAndRequantize "
        "QuantizedDepthwiseConv2D QuantizedInstanceNorm QuantizedMatMul "
        "QuantizedMatMulWithBias QuantizedMaxPool QuantizedMul QuantizedRelu "
        "QuantizedRelu6 QuantizedReluX QuantizedReshape "
        "QuantizedResizeBilinear RequantizationRange "
        "RequantizationRangePerChannel Requantize RequantizePerChannel "
        "UniformDequantize UniformQuantize UniformQuantizedConvolution "
        "UniformQuantizedDot UniformRequantize",
    },
    {
        "data sets and queues are no part of a module: cut the graph behind "
        "them (--entry='NODE->NODE')",
        "AnonymousIteratorV3 BatchDatasetV2 FIFOQueue FIFOQueueV2 FakeQueue "
        "IteratorGetNext IteratorV2 MakeIterator MapDataset ModelDataset "
        "OneShotIterator OptimizeDatasetV2 PaddingFIFOQueue "
        "PaddingFIFOQueueV2 ParallelMapDatasetV2 PrefetchDataset "
        "PriorityQueueV2 QueueClose QueueCloseV2 QueueDequeue "
        "QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo "
        "QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue QueueEnqueueMany "
        "QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 "
        "QueueSize QueueSizeV2 RandomShuffleQueueV2 RangeDataset "
        "ReduceDataset RepeatDataset ShuffleDatasetV3 Stage TensorDataset "
        "TensorSliceDataset Unstage UnwrapDatasetVariant WrapDatasetVariant",
    },
    {
        "random numbers differ from run to run: make them an input "
        "(--entry='NODE->NODE')",
        "AllCandidateSampler ComputeAccidentalHits "
        "FixedUnigramCandidateSampler LearnedUnigramCandidateSampler "
        "LogUniformCandidateSampler Multinomial ParameterizedTruncatedNormal "
        "RandomGamma RandomPoisson RandomPoissonV2 RandomShuffle "
        "RandomStandardNormal RandomUniform RandomUniformInt RngReadAndSkip "
        "RngSkip SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 "
        "Skipgram StatefulStandardNormalV2 StatefulTruncatedNormal "
        "StatefulUniform StatefulUniformInt StatelessMultinomial "
        "StatelessRandomBinomial StatelessRandomGammaV2 "
        "StatelessRandomGetAlg StatelessRandomGetKeyCounter "
        "StatelessRandomGetKeyCounterAlg StatelessRandomNormal "
        "StatelessRandomNormalV2 StatelessRandomPoisson "
        "StatelessRandomUniform StatelessRandomUniformFullInt "
        "StatelessRandomUniformFullIntV2 StatelessRandomUniformInt "
        "StatelessRandomUniformIntV2 StatelessRandomUniformV2 "
        "StatelessSampleDistortedBoundingBox StatelessTruncatedNormal "
        "StatelessTruncatedNormalV2 TruncatedNormal UniformCandidateSampler",
    },
    {
        "saving and restoring are no part of running a model",
        "MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices "
        "SaveV2 ShardedFilename ShardedFilespec",
    },
    {
        "it is not there: cut the graph before it (--entry='->NODE')",
        "BatchFunction CTCBeamSearchDecoder CTCGreedyDecoder "
        "CombinedNonMaxSuppression CumulativeLogsumexp "
        "GenerateBoundingBoxProposals HistogramFixedWidth "
        "KMC2ChainInitialization ListDiff NonMaxSuppressionWithOverlaps "
        "NthElement UniqueV2 UniqueWithCountsV2",
    },
    {
        "there are no sparse or ragged tensors here: make them dense before "
        "the model",
        "AddSparseToTensorsMap DenseCountSparseOutput "
        "DenseToDenseSetOperation DenseToSparseSetOperation "
        "DeserializeManySparse DeserializeSparse RaggedBincount "
        "RaggedCountSparseOutput RaggedCross RaggedGather RaggedRange "
        "RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor "
        "RaggedTensorToVariant SerializeManySparse SerializeSparse SetSize "
        "SparseAdd SparseBincount SparseConcat SparseCountSparseOutput "
        "SparseCross SparseCrossHashed SparseCrossV2 SparseDenseCwiseAdd "
        "SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows "
        "SparseMatMul SparseMatrixMatMul SparseReduceMax "
        "SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse "
        "SparseReorder SparseReshape SparseSlice SparseSoftmax "
        "SparseSparseMaximum SparseSparseMinimum SparseSplit "
        "SparseTensorDenseAdd SparseTensorDenseMatMul "
        "SparseToSparseSetOperation TakeManySparseFromTensorsMap",
    },
    {
        "there is no such function in a module",
        "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 "
        "BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc Dawsn "
        "Digamma Erfinv Expint FresnelCos FresnelSin Igamma IgammaGradA "
        "Igammac Lgamma Ndtri NextAfter Polygamma Spence Zeta",
    },
    {
        "there are no functions of strings for TensorFlow's formats here: "
        "prepare text before the model",
        "AsString CaseFoldUTF8 ConstrainedSequence DecodeBase64 EncodeBase64 "
        "Fingerprint MaxSpanningTree NormalizeUTF8 "
        "NormalizeUTF8WithOffsetsMap ReduceJoin RegexFullMatch RegexReplace "
        "RegexSplitWithOffsets RougeL SdcaFprint SentenceFragments "
        "SentencepieceDecode SentencepieceDetokenizeOp "
        "SentencepieceEncodeDense SentencepieceEncodeSparse "
        "SentencepieceGetPieceSize SentencepieceIdToPiece SentencepieceOp "
        "SentencepiecePieceToId SentencepieceTokenizeOp "
        "SentencepieceTokenizeWithOffsetsOp SentencepieceVocabSizeOp "
        "SplitMergeTokenizeWithOffsets StaticRegexFullMatch "
        "StaticRegexReplace StringFormat StringJoin StringLength StringLower "
        "StringNGrams StringSplit StringSplitV2 StringStrip "
        "StringToHashBucket StringToHashBucketFast StringToHashBucketStrong "
        "StringToNumber StringUpper Substr UnicodeDecode "
        "UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript "
        "UnicodeScriptTokenizeWithOffsets UnicodeTranscode "
        "UnsortedSegmentJoin WhitespaceTokenizeWithOffsets "
        "WordpieceTokenizeWithOffsets",
    },
    {
        "it is for logs, which a module does not have",
        "AudioSummaryV2 HistogramSummary ImageSummary MergeSummary "
        "ScalarSummary TensorSummaryV2 Timestamp WriteScalarSummary "
        "WriteSummary",
    },
    {
        "there are no hash tables here: look keys up before the model, and "
        "make what you find an input",
        "AnonymousHashTable HashTable HashTableV2 InitializeTable "
        "InitializeTableFromDatasetV2 InitializeTableFromTextFile "
        "InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExport "
        "LookupTableExportV2 LookupTableFind LookupTableFindV2 "
        "LookupTableImport LookupTableImportV2 LookupTableInsertV2 "
        "LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 "
        "MutableDenseHashTableV2 MutableHashTable MutableHashTableV2",
    },
    {
        "it is for training: give the model as it is for inference",
        "ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA "
        "ApplyAdagradV2 ApplyAdam ApplyAddSign ApplyCenteredRMSProp "
        "ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum "
        "ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent "
        "ApplyRMSProp AvgPool3DGrad AvgPoolGrad "
        "BatchNormWithGlobalNormalizationGrad BiasAddGrad "
        "BroadcastGradientArgs CTCLoss CTCLossV2 Conv2DBackpropFilter "
        "Conv3DBackpropFilter Conv3DBackpropFilterV2 CropAndResizeGradBoxes "
        "CropAndResizeGradImage DepthwiseConv2dNativeBackpropFilter "
        "DepthwiseConv2dNativeBackpropInput Dilation2DBackpropFilter "
        "Dilation2DBackpropInput EluGrad FakeQuantWithMinMaxArgsGradient "
        "FakeQuantWithMinMaxVarsGradient "
        "FakeQuantWithMinMaxVarsPerChannelGradient FusedBatchNormGrad "
        "FusedBatchNormGradV2 FusedBatchNormGradV3 InvGrad LRNGrad "
        "LeakyReluGrad LogSoftmaxGrad MaxPool3DGrad MaxPool3DGradGrad "
        "MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2 "
        "MaxPoolGradWithArgmax MirrorPadGrad ReciprocalGrad Relu6Grad "
        "ReluGrad ResizeBicubicGrad ResizeBilinearGrad "
        "ResizeNearestNeighborGrad ResourceApplyAdaMax ResourceApplyAdadelta "
        "ResourceApplyAdagrad ResourceApplyAdagradDA ResourceApplyAdagradV2 "
        "ResourceApplyAdam ResourceApplyAdamWithAmsgrad ResourceApplyAddSign "
        "ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2 "
        "ResourceApplyGradientDescent ResourceApplyKerasMomentum "
        "ResourceApplyMomentum ResourceApplyPowerSign "
        "ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent "
        "ResourceApplyRMSProp ResourceSparseApplyAdadelta "
        "ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA "
        "ResourceSparseApplyAdagradV2 ResourceSparseApplyCenteredRMSProp "
        "ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2 "
        "ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum "
        "ResourceSparseApplyProximalAdagrad "
        "ResourceSparseApplyProximalGradientDescent "
        "ResourceSparseApplyRMSProp RsqrtGrad SeluGrad SigmoidGrad "
        "SoftmaxCrossEntropyWithLogits SoftplusGrad SoftsignGrad "
        "SparseApplyAdadelta SparseApplyAdagrad SparseApplyAdagradDA "
        "SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl "
        "SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad "
        "SparseApplyProximalGradientDescent SparseApplyRMSProp "
        "SparseFillEmptyRowsGrad SparseSegmentMeanGrad "
        "SparseSegmentSqrtNGrad SparseSoftmaxCrossEntropyWithLogits SqrtGrad "
        "StridedSliceGrad SymbolicGradient TanhGrad TensorArrayGrad "
        "TensorArrayGradV2 TensorArrayGradV3 TensorArrayGradWithShape "
        "TileGrad",
    },
    {
        "decision forests of TensorFlow are not read",
        "BoostedTreesBucketize BoostedTreesCreateEnsemble "
        "BoostedTreesCreateQuantileStreamResource "
        "BoostedTreesEnsembleResourceHandleOp "
        "BoostedTreesFlushQuantileSummaries "
        "BoostedTreesMakeQuantileSummaries BoostedTreesPredict "
        "BoostedTreesQuantileStreamResourceAddSummaries "
        "BoostedTreesQuantileStreamResourceDeserialize "
        "BoostedTreesQuantileStreamResourceFlush "
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries "
        "BoostedTreesQuantileStreamResourceHandleOp "
        "IsBoostedTreesQuantileStreamResourceInitialized",
    },
};

}  // namespace

void AddUnsupportedOperators(std::vector<OperatorRow>& rows) {
  for (const Reason& reason : kReasons) {
    for (std::string_view rest = reason.operators; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      rows.push_back({.name = rest.substr(0, end), .reason = reason.reason});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

}  // namespace ember::tensorflow

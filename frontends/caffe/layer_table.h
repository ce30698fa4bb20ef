// Every type of layer that a net may name: how it is imported, or why it is
// not. The types of BVLC Caffe come first, in alphabetical order, then those of
// forks.
//
//   row(type, bottoms at least, at most, tops at least, at most, function)
//   scalar(type, function)   a function of each element (ops/functions.h)
//   input(type)       its tops are inputs of the model (import.h)
//   no(type, reason)
//
// A type of V1LayerParameter without a row fails coverage_page_test, and a row
// without its function does not build.
#ifndef EMBER_FRONTENDS_CAFFE_LAYER_TABLE_H_
#define EMBER_FRONTENDS_CAFFE_LAYER_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/caffe/layer_context.h"

namespace ember::caffe {

inline constexpr int kMany = 1 << 20;

// clang-format off
#define EMBER_CAFFE_LAYERS(row, scalar, input, no) \
  scalar(AbsVal, Absolute) \
  no(Accuracy, kEvaluation) \
  row(ArgMax, 1, 1, 1, 1, ImportArgMax) \
  row(BatchNorm, 1, 1, 1, 1, ImportBatchNorm) \
  row(BatchReindex, 2, 2, 1, 1, ImportBatchReindex) \
  row(Bias, 1, 2, 1, 1, ImportBias) \
  scalar(BNLL, Softplus) \
  row(Clip, 1, 1, 1, 1, ImportClip) \
  row(Concat, 1, kMany, 1, 1, ImportConcat) \
  no(ContrastiveLoss, kTraining) \
  row(Convolution, 1, kMany, 1, kMany, ImportConvolution) \
  row(Crop, 2, 2, 1, 1, ImportCrop) \
  no(Data, kData) \
  row(Deconvolution, 1, kMany, 1, kMany, ImportDeconvolution) \
  row(Dropout, 1, 1, 1, 1, ImportDropout) \
  row(DummyData, 0, 0, 1, kMany, ImportDummyData) \
  row(Eltwise, 2, kMany, 1, 1, ImportEltwise) \
  row(ELU, 1, 1, 1, 1, ImportElu) \
  row(Embed, 1, 1, 1, 1, ImportEmbed) \
  no(EuclideanLoss, kTraining) \
  row(Exp, 1, 1, 1, 1, ImportExp) \
  no(Filter, kFilter) \
  row(Flatten, 1, 1, 1, 1, ImportFlatten) \
  no(HDF5Data, kData) \
  no(HDF5Output, kEvaluation) \
  no(HingeLoss, kTraining) \
  row(Im2col, 1, 1, 1, 1, ImportIm2col) \
  no(ImageData, kData) \
  no(InfogainLoss, kTraining) \
  row(InnerProduct, 1, 1, 1, 1, ImportInnerProduct) \
  input(Input) \
  row(Log, 1, 1, 1, 1, ImportLog) \
  row(LRN, 1, 1, 1, 1, ImportLrn) \
  row(LSTM, 2, 5, 1, 3, ImportLstm) \
  row(LSTMUnit, 3, 3, 2, 2, ImportLstmUnit) \
  input(MemoryData) \
  no(MultinomialLogisticLoss, kTraining) \
  row(MVN, 1, 1, 1, 1, ImportMvn) \
  row(Parameter, 0, 0, 1, 1, ImportParameter) \
  row(Pooling, 1, 1, 1, 2, ImportPooling) \
  row(Power, 1, 1, 1, 1, ImportPower) \
  row(PReLU, 1, 1, 1, 1, ImportPRelu) \
  row(Python, 3, 3, 1, 2, ImportPython) \
  row(Reduction, 1, 1, 1, 1, ImportReduction) \
  row(ReLU, 1, 1, 1, 1, ImportRelu) \
  row(Reshape, 1, 1, 1, 1, ImportReshape) \
  row(RNN, 2, 4, 1, 2, ImportRnn) \
  row(Scale, 1, 2, 1, 1, ImportScale) \
  scalar(Sigmoid, Sigmoid) \
  no(SigmoidCrossEntropyLoss, kTraining) \
  row(Silence, 1, kMany, 0, 0, ImportSilence) \
  row(Slice, 1, 1, 1, kMany, ImportSlice) \
  row(Softmax, 1, 1, 1, 1, ImportSoftmax) \
  no(SoftmaxWithLoss, kTraining) \
  row(Split, 1, 1, 1, kMany, ImportSplit) \
  row(SPP, 1, 1, 1, 1, ImportSpp) \
  row(Swish, 1, 1, 1, 1, ImportSwish) \
  scalar(TanH, Tanh) \
  row(Threshold, 1, 1, 1, 1, ImportThreshold) \
  row(Tile, 1, 1, 1, 1, ImportTile) \
  no(WindowData, kData)

#define EMBER_CAFFE_FORK_LAYERS(row, scalar, input, no) \
  no(AnnotatedData, kData) \
  row(Axpy, 3, 3, 1, 1, ImportAxpy) \
  row(BN, 1, 1, 1, 1, ImportBn) \
  row(ConvolutionDepthwise, 1, kMany, 1, kMany, ImportDepthwiseConvolution) \
  row(DepthwiseConvolution, 1, kMany, 1, kMany, ImportDepthwiseConvolution) \
  no(DetectionEvaluate, kEvaluation) \
  row(DetectionOutput, 3, 4, 1, 1, ImportDetectionOutput) \
  row(Interp, 1, 1, 1, 1, ImportInterp) \
  scalar(Mish, Mish) \
  no(MultiBoxLoss, kTraining) \
  row(Normalize, 1, 1, 1, 1, ImportNormalize) \
  row(Permute, 1, 1, 1, 1, ImportPermute) \
  row(PriorBox, 1, 2, 1, 1, ImportPriorBox) \
  row(Proposal, 3, 3, 1, 2, ImportProposal) \
  row(PSROIPooling, 2, 2, 1, 1, ImportPsRoiPooling) \
  row(ReLU6, 1, 1, 1, 1, ImportRelu6) \
  row(Reorg, 1, 1, 1, 1, ImportReorg) \
  row(ROIPooling, 2, 2, 1, 1, ImportRoiPooling) \
  row(ShuffleChannel, 1, 1, 1, 1, ImportShuffleChannel) \
  no(SmoothL1Loss, kTraining) \
  row(Upsample, 1, 2, 1, 1, ImportUpsample) \
  no(VideoData, kData)
// clang-format on

using ImportFunction = void (*)(LayerContext& c);

struct LayerRow {
  std::string_view type;
  int minimum_bottoms = 0, maximum_bottoms = 0;
  int minimum_tops = 0, maximum_tops = 0;
  // The function that imports a layer of this type. Null for inputs and
  // unsupported types.
  ImportFunction import = nullptr;
  // If not empty, the type is unsupported, and this text is the reason.
  std::string_view reason = "";

  bool is_input() const { return import == nullptr && reason.empty(); }
};

// Declares the import functions of all rows. They are defined in one file per
// family of layers, such as pooling.cc.
#define EMBER_ROW(type, b0, b1, t0, t1, function) \
  void function(LayerContext& c);
#define EMBER_NOTHING(...)
EMBER_CAFFE_LAYERS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING, EMBER_NOTHING)
EMBER_CAFFE_FORK_LAYERS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING, EMBER_NOTHING)
#undef EMBER_ROW
#undef EMBER_NOTHING

std::span<const LayerRow> Layers();  // BVLC Caffe's types.
// Rows of the layer types that only forks of Caffe have.
std::span<const LayerRow> ForkLayers();

// Returns the row of a layer type; null for unknown types.
const LayerRow* FindRow(std::string_view type);

// True if a layer of type Python is one that the table knows by the name of its
// class.
bool IsKnownPythonLayer(const PythonParameter& python);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_LAYER_TABLE_H_

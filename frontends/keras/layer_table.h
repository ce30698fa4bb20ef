// Every layer of Keras 2 and 3: how it is imported, or why it is not.
//
//   row(class, masks, weights, inner, function)
//   no(class, reason)
//
// A row without its function does not build. tests/keras/layer_table_test.cc
// compares the table with the layers that Keras publishes. The columns:
//
//   masks    the result's mask: kPass, the steps that the masks of all inputs
//            keep (none if an input has no mask); kDrop, none; kOwn, the
//            function sets it
//   weights  the layer's weights in the file, in its order (weights.h); kNone
//   inner    the layers that it wraps (weights.h); kNone
//
// A second table has functions that functional models call without a layer:
// TFOpLambda's of Keras 2 by their TensorFlow names, keras.ops of Keras 3 by
// their classes.
//
//   function(name of Keras 2, class of Keras 3, function)
//   scalar(name of Keras 2, class of Keras 3, function of ops/functions.h)
#ifndef EMBER_FRONTENDS_KERAS_LAYER_TABLE_H_
#define EMBER_FRONTENDS_KERAS_LAYER_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/keras/layer_context.h"
#include "frontends/keras/weights.h"

namespace ember::keras {

// clang-format off
#define EMBER_KERAS_LAYERS(row, no) \
  row(Activation, kPass, kNone, kNone, ImportActivation) \
  row(ActivityRegularization, kPass, kNone, kNone, ImportIdentity) \
  row(Add, kPass, kNone, kNone, ImportAdd) \
  row(AdditiveAttention, kOwn, AdditiveAttentionWeights, kNone, ImportAdditiveAttention) \
  row(AlphaDropout, kPass, kNone, kNone, ImportIdentity) \
  row(Attention, kOwn, AttentionWeights, kNone, ImportAttention) \
  no(AdaptiveAveragePooling1D, kAdaptive) \
  no(AdaptiveAveragePooling2D, kAdaptive) \
  no(AdaptiveAveragePooling3D, kAdaptive) \
  no(AdaptiveMaxPooling1D, kAdaptive) \
  no(AdaptiveMaxPooling2D, kAdaptive) \
  no(AdaptiveMaxPooling3D, kAdaptive) \
  row(AugMix, kPass, kNone, kNone, ImportIdentity) \
  no(AutoContrast, kRandomImage) \
  row(Average, kPass, kNone, kNone, ImportAverage) \
  row(AveragePooling1D, kDrop, kNone, kNone, ImportAveragePooling) \
  row(AveragePooling2D, kDrop, kNone, kNone, ImportAveragePooling) \
  row(AveragePooling3D, kDrop, kNone, kNone, ImportAveragePooling) \
  row(BatchNormalization, kPass, BatchNormalizationWeights, kNone, ImportBatchNormalization) \
  row(Bidirectional, kOwn, kNone, BidirectionalLayers, ImportBidirectional) \
  row(CategoryEncoding, kDrop, kNone, kNone, ImportCategoryEncoding) \
  row(CenterCrop, kDrop, kNone, kNone, ImportCenterCrop) \
  row(Concatenate, kOwn, kNone, kNone, ImportConcatenate) \
  no(ClassMethod, kTensorFlowCall) \
  no(ContrastLimitedAdaptiveHistogramEqualization, kRandomImage) \
  row(Conv1D, kDrop, KernelAndBias, kNone, ImportConv) \
  row(Conv1DTranspose, kDrop, KernelAndBias, kNone, ImportConvTranspose) \
  row(Conv2D, kDrop, KernelAndBias, kNone, ImportConv) \
  row(Conv2DTranspose, kDrop, KernelAndBias, kNone, ImportConvTranspose) \
  row(Conv3D, kDrop, KernelAndBias, kNone, ImportConv) \
  row(Conv3DTranspose, kDrop, KernelAndBias, kNone, ImportConvTranspose) \
  row(ConvLSTM1D, kOwn, CellWeights, kNone, ImportRecurrent) \
  row(ConvLSTM2D, kOwn, CellWeights, kNone, ImportRecurrent) \
  row(ConvLSTM3D, kOwn, CellWeights, kNone, ImportRecurrent) \
  row(Cropping1D, kDrop, kNone, kNone, ImportCropping) \
  row(Cropping2D, kDrop, kNone, kNone, ImportCropping) \
  row(Cropping3D, kDrop, kNone, kNone, ImportCropping) \
  no(CuDNNGRU, kCuDnn) \
  no(CuDNNLSTM, kCuDnn) \
  row(CustomScaleLayer, kPass, kNone, kNone, ImportCustomScale) \
  row(CutMix, kPass, kNone, kNone, ImportIdentity) \
  row(Dense, kPass, KernelAndBias, kNone, ImportDense) \
  no(DenseFeatures, "feature columns are TensorFlow's code, which is not in the file") \
  row(DepthwiseConv1D, kDrop, DepthwiseWeights, kNone, ImportDepthwiseConv) \
  row(DepthwiseConv2D, kDrop, DepthwiseWeights, kNone, ImportDepthwiseConv) \
  row(Discretization, kDrop, kNone, kNone, ImportDiscretization) \
  row(Dot, kDrop, kNone, kNone, ImportDot) \
  row(Dropout, kPass, kNone, kNone, ImportIdentity) \
  row(EinsumDense, kDrop, KernelAndBiasAxes, kNone, ImportEinsumDense) \
  row(ELU, kPass, kNone, kNone, ImportELU) \
  row(Embedding, kOwn, EmbeddingWeights, kNone, ImportEmbedding) \
  no(Equalization, kRandomImage) \
  row(Flatten, kDrop, kNone, kNone, ImportFlatten) \
  no(FlaxLayer, kOtherFramework) \
  row(GaussianDropout, kPass, kNone, kNone, ImportIdentity) \
  row(GaussianNoise, kPass, kNone, kNone, ImportIdentity) \
  row(GlobalAveragePooling1D, kDrop, kNone, kNone, ImportGlobalAveragePooling) \
  row(GlobalAveragePooling2D, kDrop, kNone, kNone, ImportGlobalAveragePooling) \
  row(GlobalAveragePooling3D, kDrop, kNone, kNone, ImportGlobalAveragePooling) \
  row(GlobalMaxPooling1D, kDrop, kNone, kNone, ImportGlobalMaxPooling) \
  row(GlobalMaxPooling2D, kDrop, kNone, kNone, ImportGlobalMaxPooling) \
  row(GlobalMaxPooling3D, kDrop, kNone, kNone, ImportGlobalMaxPooling) \
  row(GroupedQueryAttention, kOwn, MultiHeadWeights, kNone, ImportGroupQueryAttention) \
  row(GroupNormalization, kPass, GammaAndBeta, kNone, ImportGroupNormalization) \
  row(GroupQueryAttention, kOwn, MultiHeadWeights, kNone, ImportGroupQueryAttention) \
  row(GRU, kOwn, CellWeights, kNone, ImportRecurrent) \
  no(GRUCell, kCell) \
  no(HashedCrossing, kStrings) \
  no(Hashing, kStrings) \
  row(Identity, kPass, kNone, kNone, ImportIdentity) \
  no(IndexLookup, kLookup) \
  row(InputLayer, kPass, kNone, kNone, ImportIdentity) \
  no(InstanceMethod, kTensorFlowCall) \
  no(InstanceProperty, kTensorFlowCall) \
  no(IntegerLookup, kLookup) \
  no(JaxLayer, kOtherFramework) \
  no(Lambda, kCode) \
  row(LayerNormalization, kPass, GammaAndBeta, kNone, ImportLayerNormalization) \
  row(LayerScale, kPass, LayerScaleWeights, kNone, ImportLayerScale) \
  row(LeakyReLU, kPass, kNone, kNone, ImportLeakyReLU) \
  row(LocallyConnected1D, kDrop, KernelAndBias, kNone, ImportLocallyConnected) \
  row(LocallyConnected2D, kDrop, KernelAndBias, kNone, ImportLocallyConnected) \
  row(LSTM, kOwn, CellWeights, kNone, ImportRecurrent) \
  no(LSTMCell, kCell) \
  row(Masking, kOwn, kNone, kNone, ImportMasking) \
  row(Maximum, kPass, kNone, kNone, ImportMaximum) \
  row(MaxNumBoundingBoxes, kPass, kNone, kNone, ImportIdentity) \
  row(MaxPooling1D, kDrop, kNone, kNone, ImportMaxPooling) \
  row(MaxPooling2D, kDrop, kNone, kNone, ImportMaxPooling) \
  row(MaxPooling3D, kDrop, kNone, kNone, ImportMaxPooling) \
  no(MelSpectrogram, kSpectrogram) \
  row(Minimum, kPass, kNone, kNone, ImportMinimum) \
  row(MixUp, kPass, kNone, kNone, ImportIdentity) \
  row(MultiHeadAttention, kOwn, MultiHeadWeights, kNone, ImportMultiHeadAttention) \
  row(Multiply, kPass, kNone, kNone, ImportMultiply) \
  row(Normalization, kDrop, NormalizationWeights, kNone, ImportNormalization) \
  row(Permute, kDrop, kNone, kNone, ImportPermute) \
  no(Pipeline, kRandomImage) \
  row(PReLU, kPass, AlphaWeights, kNone, ImportPReLU) \
  row(RandAugment, kPass, kNone, kNone, ImportIdentity) \
  row(RandomBrightness, kPass, kNone, kNone, ImportIdentity) \
  row(RandomColorDegeneration, kPass, kNone, kNone, ImportIdentity) \
  row(RandomColorJitter, kPass, kNone, kNone, ImportIdentity) \
  row(RandomContrast, kPass, kNone, kNone, ImportIdentity) \
  row(RandomCrop, kDrop, kNone, kNone, ImportRandomCrop) \
  row(RandomElasticTransform, kPass, kNone, kNone, ImportIdentity) \
  row(RandomErasing, kPass, kNone, kNone, ImportIdentity) \
  row(RandomFlip, kPass, kNone, kNone, ImportIdentity) \
  row(RandomGaussianBlur, kPass, kNone, kNone, ImportIdentity) \
  row(RandomGrayscale, kPass, kNone, kNone, ImportIdentity) \
  row(RandomHeight, kPass, kNone, kNone, ImportIdentity) \
  row(RandomHue, kPass, kNone, kNone, ImportIdentity) \
  row(RandomInvert, kPass, kNone, kNone, ImportIdentity) \
  row(RandomPerspective, kPass, kNone, kNone, ImportIdentity) \
  row(RandomPosterization, kPass, kNone, kNone, ImportIdentity) \
  row(RandomRotation, kPass, kNone, kNone, ImportIdentity) \
  row(RandomSaturation, kPass, kNone, kNone, ImportIdentity) \
  row(RandomSharpness, kPass, kNone, kNone, ImportIdentity) \
  row(RandomShear, kPass, kNone, kNone, ImportIdentity) \
  row(RandomTranslation, kPass, kNone, kNone, ImportIdentity) \
  row(RandomWidth, kPass, kNone, kNone, ImportIdentity) \
  row(RandomZoom, kPass, kNone, kNone, ImportIdentity) \
  no(ReconstructPatches2D, "it is not here yet: Reshape and Permute do the same") \
  no(ReconstructPatches3D, "it is not here yet: Reshape and Permute do the same") \
  row(ReLU, kPass, kNone, kNone, ImportReLU) \
  row(RepeatVector, kDrop, kNone, kNone, ImportRepeatVector) \
  row(Rescaling, kPass, kNone, kNone, ImportRescaling) \
  row(Reshape, kDrop, kNone, kNone, ImportReshape) \
  row(Resizing, kDrop, kNone, kNone, ImportResizing) \
  row(ReversibleEmbedding, kOwn, ReversibleEmbeddingWeights, kNone, ImportReversibleEmbedding) \
  row(RMSNormalization, kPass, ScaleWeights, kNone, ImportRMSNormalization) \
  row(RNN, kOwn, CellWeights, kNone, ImportRecurrent) \
  row(SeparableConv1D, kDrop, SeparableWeights, kNone, ImportSeparableConv) \
  row(SeparableConv2D, kDrop, SeparableWeights, kNone, ImportSeparableConv) \
  row(SimpleRNN, kOwn, CellWeights, kNone, ImportRecurrent) \
  no(SimpleRNNCell, kCell) \
  no(SlicingOpLambda, kTensorFlowCall) \
  row(Softmax, kDrop, kNone, kNone, ImportSoftmax) \
  no(Solarization, kRandomImage) \
  row(SpatialDropout1D, kPass, kNone, kNone, ImportIdentity) \
  row(SpatialDropout2D, kPass, kNone, kNone, ImportIdentity) \
  row(SpatialDropout3D, kPass, kNone, kNone, ImportIdentity) \
  row(SpectralNormalization, kPass, SpectralWeights, WrappedLayer, ImportWrapped) \
  no(StackedRNNCells, kCell) \
  no(STFTSpectrogram, kSpectrogram) \
  row(StochasticDepth, kPass, kNone, kNone, ImportIdentity) \
  no(StringLookup, kLookup) \
  row(Subtract, kPass, kNone, kNone, ImportSubtract) \
  no(TensorFlowOpLayer, kTensorFlowNode) \
  no(TextVectorization, kLookup) \
  no(TFSMLayer, kOtherFramework) \
  row(ThresholdedReLU, kPass, kNone, kNone, ImportThresholdedReLU) \
  row(TimeDistributed, kPass, kNone, WrappedLayer, ImportTimeDistributed) \
  no(TorchModuleWrapper, kOtherFramework) \
  row(UnitNormalization, kPass, kNone, kNone, ImportUnitNormalization) \
  row(UpSampling1D, kDrop, kNone, kNone, ImportUpSampling) \
  row(UpSampling2D, kDrop, kNone, kNone, ImportUpSampling) \
  row(UpSampling3D, kDrop, kNone, kNone, ImportUpSampling) \
  no(Wrapper, "its code is not in the file") \
  row(ZeroPadding1D, kDrop, kNone, kNone, ImportZeroPadding) \
  row(ZeroPadding2D, kDrop, kNone, kNone, ImportZeroPadding) \
  row(ZeroPadding3D, kDrop, kNone, kNone, ImportZeroPadding)

#define EMBER_KERAS_FUNCTIONS(function, scalar) \
  scalar("math.abs", "Absolute", Absolute) \
  function("__operators__.add", "", CallAdd) \
  function("math.add", "Add", CallAdd) \
  function("clip_by_value", "Clip", CallClip) \
  function("concat", "Concatenate", CallConcatenate) \
  function("math.divide", "Divide", CallDivide) \
  function("math.truediv", "TrueDivide", CallDivide) \
  scalar("math.exp", "Exp", Exp) \
  function("expand_dims", "ExpandDims", CallExpandDims) \
  function("identity", "Identity", CallIdentity) \
  scalar("math.log", "Log", Log) \
  function("linalg.matmul", "Matmul", CallMatMul) \
  function("math.maximum", "Maximum", CallMaximum) \
  function("math.reduce_max", "Max", CallReduceMax) \
  function("math.reduce_mean", "Mean", CallReduceMean) \
  function("math.minimum", "Minimum", CallMinimum) \
  function("math.reduce_min", "Min", CallReduceMin) \
  function("math.multiply", "Multiply", CallMultiply) \
  scalar("math.negative", "Negative", Negate) \
  function("math.pow", "Power", CallPower) \
  function("math.reduce_prod", "Prod", CallReduceProduct) \
  function("reshape", "Reshape", CallReshape) \
  scalar("math.rsqrt", "Rsqrt", Rsqrt) \
  scalar("math.sqrt", "Sqrt", Sqrt) \
  scalar("math.square", "Square", Square) \
  function("squeeze", "Squeeze", CallSqueeze) \
  function("stack", "Stack", CallStack) \
  function("math.subtract", "Subtract", CallSubtract) \
  function("math.reduce_sum", "Sum", CallReduceSum) \
  function("transpose", "Transpose", CallTranspose) \
  function("cast", "Cast", CallCast) \
  function("nn.elu", "Elu", CallActivation) \
  function("nn.gelu", "Gelu", CallActivation) \
  function("nn.leaky_relu", "LeakyRelu", CallActivation) \
  function("nn.log_softmax", "LogSoftmax", CallActivation) \
  function("nn.relu", "Relu", CallActivation) \
  function("nn.relu6", "Relu6", CallActivation) \
  function("nn.selu", "Selu", CallActivation) \
  function("math.sigmoid", "Sigmoid", CallActivation) \
  function("nn.sigmoid", "", CallActivation) \
  function("nn.silu", "Silu", CallActivation) \
  function("nn.softmax", "Softmax", CallActivation) \
  function("math.softplus", "Softplus", CallActivation) \
  function("nn.softsign", "Softsign", CallActivation) \
  function("math.tanh", "Tanh", CallActivation) \
  function("", "HardSigmoid", CallActivation) \
  function("", "HardSilu", CallActivation) \
  scalar("math.acos", "Arccos", Acos) \
  scalar("math.acosh", "Arccosh", Acosh) \
  scalar("math.asin", "Arcsin", Asin) \
  scalar("math.asinh", "Arcsinh", Asinh) \
  scalar("math.atan", "Arctan", Atan) \
  scalar("math.atanh", "Arctanh", Atanh) \
  scalar("math.ceil", "Ceil", Ceil) \
  scalar("math.cos", "Cos", Cos) \
  scalar("math.cosh", "Cosh", Cosh) \
  scalar("math.erf", "Erf", Erf) \
  scalar("math.expm1", "Expm1", Expm1) \
  scalar("math.floor", "Floor", Floor) \
  scalar("math.log1p", "Log1p", Log1p) \
  scalar("math.reciprocal", "Reciprocal", Reciprocal) \
  scalar("math.round", "", Round) \
  scalar("math.sign", "Sign", Sign) \
  scalar("math.sin", "Sin", Sin) \
  scalar("math.sinh", "Sinh", Sinh) \
  scalar("math.tan", "Tan", Tan)
// clang-format on

enum class Masking : uint8_t { kPass, kDrop, kOwn };

using ImportFunction = void (*)(LayerContext& c);

struct LayerRow {
  std::string_view name;
  Masking masking = Masking::kDrop;
  WeightsFunction weights = nullptr;    // null: none
  InnerLayersFunction inner = nullptr;  // null: none
  ImportFunction import = nullptr;
  // If not empty, the layer is unsupported, and this text is the reason.
  std::string_view reason = "";
};

struct FunctionRow {
  std::string_view keras2;
  std::string_view keras3;
  ImportFunction import = nullptr;
};

// Declares the import functions of all rows. They are defined in one file per
// family of layers, such as pooling.cc.
#define EMBER_ROW(name, masking, weights, inner, function) \
  void function(LayerContext& c);
#define EMBER_FUNCTION(keras2, keras3, function) void function(LayerContext& c);
#define EMBER_NOTHING(...)
EMBER_KERAS_LAYERS(EMBER_ROW, EMBER_NOTHING)
EMBER_KERAS_FUNCTIONS(EMBER_FUNCTION, EMBER_NOTHING)
#undef EMBER_ROW
#undef EMBER_FUNCTION
#undef EMBER_NOTHING

// Calls a function of each element on the argument "x".
void CallScalar(LayerContext& c, Tensor (*function)(Tensor));

std::span<const LayerRow> LayerRows();
std::span<const FunctionRow> FunctionRows();

// Returns the row of a layer's class. For a function that is called as a layer
// it returns a row with the function's name. Null for unknown classes.
const LayerRow* FindRow(const Layer& layer);

// Returns the name of the layer's class for errors: "Lambda", "function
// tf.image.resize".
std::string ClassNameOf(const Layer& layer);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_LAYER_TABLE_H_

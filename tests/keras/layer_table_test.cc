// Tests that the table has a row for every layer that Keras publishes, and no
// row twice.
#include "frontends/keras/layer_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ember::tests {
namespace {

// The layers of keras/src/layers/__init__.py of Keras 3 (06e398e506), and those
// that wrap other frameworks.
constexpr std::string_view kKeras3[] = {
    "Activation",
    "ELU",
    "LeakyReLU",
    "PReLU",
    "ReLU",
    "Softmax",
    "AdditiveAttention",
    "Attention",
    "GroupedQueryAttention",
    "MultiHeadAttention",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "SeparableConv1D",
    "SeparableConv2D",
    "Dense",
    "EinsumDense",
    "Embedding",
    "Identity",
    "InputLayer",
    "Lambda",
    "Masking",
    "ReversibleEmbedding",
    "Wrapper",
    "Add",
    "Average",
    "Concatenate",
    "Dot",
    "Maximum",
    "Minimum",
    "Multiply",
    "Subtract",
    "BatchNormalization",
    "GroupNormalization",
    "LayerNormalization",
    "RMSNormalization",
    "SpectralNormalization",
    "UnitNormalization",
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "CategoryEncoding",
    "Discretization",
    "HashedCrossing",
    "Hashing",
    "AugMix",
    "AutoContrast",
    "CenterCrop",
    "ContrastLimitedAdaptiveHistogramEqualization",
    "CutMix",
    "Equalization",
    "MaxNumBoundingBoxes",
    "MixUp",
    "RandAugment",
    "RandomBrightness",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomElasticTransform",
    "RandomErasing",
    "RandomFlip",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHue",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterization",
    "RandomRotation",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
    "Resizing",
    "Solarization",
    "IndexLookup",
    "IntegerLookup",
    "MelSpectrogram",
    "Normalization",
    "Pipeline",
    "Rescaling",
    "STFTSpectrogram",
    "StringLookup",
    "TextVectorization",
    "ActivityRegularization",
    "AlphaDropout",
    "Dropout",
    "GaussianDropout",
    "GaussianNoise",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Flatten",
    "Permute",
    "ReconstructPatches2D",
    "ReconstructPatches3D",
    "RepeatVector",
    "Reshape",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
    "Bidirectional",
    "ConvLSTM1D",
    "ConvLSTM2D",
    "ConvLSTM3D",
    "GRU",
    "GRUCell",
    "LSTM",
    "LSTMCell",
    "RNN",
    "SimpleRNN",
    "SimpleRNNCell",
    "StackedRNNCells",
    "TimeDistributed",
    "FlaxLayer",
    "JaxLayer",
    "TFSMLayer",
    "TorchModuleWrapper",
};
// Further names of layers that Keras 2.15 has, including aliases.
constexpr std::string_view kKeras2[] = {
    "CuDNNGRU",           "CuDNNLSTM",          "DenseFeatures",
    "LocallyConnected1D", "LocallyConnected2D", "RandomHeight",
    "RandomWidth",        "ThresholdedReLU",    "SyncBatchNormalization",
    "Convolution2D",      "AvgPool2D",          "GlobalMaxPool1D",
    "ClassMethod",        "InstanceMethod",     "InstanceProperty",
    "SlicingOpLambda",    "TensorFlowOpLayer",
};

bool HasRow(std::string_view name) {
  StatusOr<std::shared_ptr<keras::Document>> document = keras::Document::Parse(
      "{\"class_name\": \"" + std::string(name) + "\", \"config\": {}}", "x");
  EXPECT_TRUE(document.ok());
  const StatusOr<keras::Layer> layer = keras::ReadLayer((*document)->root());
  EXPECT_TRUE(layer.ok()) << layer.status().ToString();
  return layer.ok() && keras::FindRow(*layer) != nullptr;
}

TEST(LayerTable, HasAllLayersOfKeras) {
  for (const std::string_view name : kKeras3) EXPECT_TRUE(HasRow(name)) << name;
  for (const std::string_view name : kKeras2) EXPECT_TRUE(HasRow(name)) << name;
  EXPECT_FALSE(HasRow("MyLayer"));
}

TEST(LayerTable, RowsAreWholeAndUnique) {
  std::set<std::string_view> names;
  for (const keras::LayerRow& row : keras::LayerRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.import != nullptr, !row.reason.empty()) << row.name;
  }
}

}  // namespace
}  // namespace ember::tests

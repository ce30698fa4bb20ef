#include "tests/performance/models.h"

#include "tests/performance/blocks.h"

namespace ember::tests {
namespace {

onnx::ModelBuilder GemmChain() {
  return Blocks({96, 512}).MatMul(1024).Relu().MatMul(512).Relu().Finish();
}

onnx::ModelBuilder WinogradConvolution() {
  Blocks net({1, 64, 28, 28});
  net.Conv({.out = 64, .window = 3}).Relu();
  return net.Conv({.out = 64, .window = 3}).Relu().Finish();
}

// Makes a model of convolutions with strides of 2, which exclude Winograd's
// method.
onnx::ModelBuilder DirectConvolution() {
  Blocks net({1, 32, 56, 56});
  net.Conv({.out = 64, .window = 3, .stride = 2}).Relu();
  return net.Conv({.out = 128, .window = 3, .stride = 2}).Relu().Finish();
}

onnx::ModelBuilder PointwiseConvolution() {
  Blocks net({1, 128, 28, 28});
  net.Conv({.out = 256}).Relu();
  return net.Conv({.out = 128}).Relu().Finish();
}

// Makes a block of MobileNetV2: a depthwise convolution between two of 1 x 1.
onnx::ModelBuilder DepthwiseBlock() {
  Blocks net({1, 24, 56, 56});
  const std::string input = net.last();
  net.Conv({.out = 144}).Relu6();
  net.Conv({.out = 144, .window = 3, .groups = 0}).Relu6();
  return net.Conv({.out = 24}).Add(input).Finish();
}

// Makes a block of ShuffleNet with as many channels as ShuffleNet has.
onnx::ModelBuilder ShuffledGroups() {
  Blocks net({1, 136, 28, 28});
  const std::string input = net.last();
  net.Conv({.out = 136, .groups = 4}).Relu().Shuffle(4);
  net.Conv({.out = 136, .window = 3, .groups = 0});
  return net.Conv({.out = 136, .groups = 4}).Add(input).Relu().Finish();
}

// Makes a block of ResNeXt.
onnx::ModelBuilder GroupedConvolution() {
  Blocks net({1, 128, 28, 28});
  net.Conv({.out = 128, .window = 3, .groups = 32}).Relu();
  return net.Conv({.out = 128, .window = 3, .groups = 8}).Relu().Finish();
}

// Makes a layer of a transformer.
onnx::ModelBuilder AttentionBlock() {
  Blocks net({128, 256});
  const std::string input = net.last();
  net.LayerNormalization().SelfAttention(4).Add(input);
  const std::string middle = net.last();
  net.LayerNormalization().MatMul(512).Gelu().MatMul(256).Add(middle);
  return net.Finish();
}

onnx::ModelBuilder ByteConvolution() {
  Blocks net({1, 64, 28, 28});
  net.Quantize().QuantizedConv({.out = 128});
  net.QuantizedConv({.out = 64, .window = 3, .stride = 1});
  net.QuantizedConv({.out = 64, .window = 3, .groups = 0});
  return net.QuantizedConv({.out = 128}).Dequantize().Finish();
}

onnx::ModelBuilder MatrixByVector() {
  return Blocks({1, 1024}).MatMul(1024).Relu().MatMul(1024).Finish();
}

// Makes an LSTM over 100 steps. Its dispatches are short, so the VM's overhead
// shows.
onnx::ModelBuilder RecurrentLayer() {
  return Blocks({100, 1, 128}).Lstm(128).Finish();
}

// Makes a model that pools images whose channels are the last dim, as a
// convolution's result has them.
onnx::ModelBuilder Pooling() {
  Blocks net({1, 3, 112, 112});
  net.Conv({.out = 64}).MaxPool().MaxPool();
  return net.GlobalAveragePool().Finish();
}

// The guarded models. The columns are: name; function that makes the model;
// millions of instructions for AVX2, AVX-512 (with BF16) and NEON; largest
// number of accesses to spilled vectors for the same three; usual relative
// speed.
constexpr GuardedModel kModels[] = {
    {"gemm_chain", GemmChain, {21.23, 10.19, 40.16}, {0, 0, 0}, 0.99},
    {"winograd_convolution",
     WinogradConvolution,
     {4.22, 2.09, 7.92},
     {492, 136, 216},
     2.38},
    {"direct_convolution",
     DirectConvolution,
     {6.80, 3.08, 11.72},
     {0, 0, 56},
     0.95},
    {"pointwise_convolution",
     PointwiseConvolution,
     {11.01, 5.26, 20.59},
     {48, 0, 44},
     0.97},
    {"depthwise_block",
     DepthwiseBlock,
     {6.19, 3.35, 11.95},
     {16, 8, 176},
     1.08},
    {"shuffled_groups", ShuffledGroups, {2.55, 1.49, 3.99}, {20, 0, 32}, 0.71},
    {"grouped_convolution",
     GroupedConvolution,
     {5.46, 3.97, 8.01},
     {20, 0, 60},
     0.51},
    {"attention_block",
     AttentionBlock,
     {17.35, 8.14, 31.86},
     {0, 0, 652},
     0.87},
    {"byte_convolution",
     ByteConvolution,
     {8.66, 2.23, 8.39},
     {68, 152, 464},
     1.39},
    {"matrix_by_vector", MatrixByVector, {0.59, 0.29, 1.15}, {0, 0, 0}, 1.22},
    {"recurrent_layer", RecurrentLayer, {3.60, 1.84, 7.02}, {4, 0, 0}, 1.07},
    {"pooling", Pooling, {1.44, 0.64, 2.58}, {8, 76, 40}, 0.53},
};

}  // namespace

std::span<const GuardedModel> GuardedModels() { return kModels; }

}  // namespace ember::tests

// Makes blocks of networks of ONNX nodes, with the same weights each time.
//
//   Blocks net({1, 64, 28, 28});                  // an input, f32
//   net.Conv({.out = 128, .window = 3}).Relu();   // each takes the last result
//   net.Shuffle(4);
//   onnx::ModelBuilder model = net.Finish();
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_PERFORMANCE_BLOCKS_H_
#define EMBER_TESTS_PERFORMANCE_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"

namespace ember::tests {

class Blocks {
 public:
  struct Convolution {
    int64_t out = 0;
    int64_t window = 1;
    int64_t stride = 1;
    int64_t groups = 1;  // Number of groups; 0 means one group per channel.
  };

  explicit Blocks(std::vector<int64_t> dims);

  // Convolves images of the shape N, C, H, W, padded by half a window, and adds
  // a bias.
  Blocks& Conv(const Convolution& convolution);
  // Convolves images of bytes as Conv does, between Quantize and Dequantize.
  Blocks& QuantizedConv(const Convolution& convolution);
  Blocks& Quantize();
  Blocks& Dequantize();
  // Interleaves the channels of `groups` groups, as ShuffleNet does.
  Blocks& Shuffle(int64_t groups);

  // Multiplies rows of the last dim by a constant matrix, and adds a bias.
  Blocks& MatMul(int64_t out);
  Blocks& LayerNormalization();
  // Adds self-attention with several heads in f32, with its four matrix
  // products. The operand has the dims [tokens, width].
  Blocks& SelfAttention(int64_t heads);

  // Adds an LSTM over the rows, with a batch of 1. The dims of the last result
  // must be steps, 1, width; they become steps, 1, 1, hidden.
  Blocks& Lstm(int64_t hidden);

  // Add pooling layers: MaxPool takes the maximum of windows of 3 x 3 with a
  // stride of 2, GlobalAveragePool the mean of each channel.
  Blocks& MaxPool();
  Blocks& GlobalAveragePool();

  Blocks& Relu();
  Blocks& Relu6();
  Blocks& Gelu();
  // Adds an earlier result to the last one.
  Blocks& Add(const std::string& earlier);

  const std::string& last() const { return last_; }
  onnx::ModelBuilder Finish();

 private:
  // Adds a node on the last result and other operands. Its result becomes the
  // last one.
  Blocks& Apply(const std::string& op_type,
                const std::vector<std::string>& others = {},
                const std::vector<onnx::TestAttribute>& attributes = {});
  std::string NewName();
  // The following functions make constants and return their names. Weights are
  // random, up to sqrt(3 / fan_in) in magnitude, so that results are about as
  // large as operands.
  std::string Weights(const std::vector<int64_t>& dims, int64_t fan_in);
  std::string Scalar(float value);
  std::string Scalars(int64_t count, float value);
  std::string Integers(const std::vector<int64_t>& values);
  std::string Bytes(onnx::TensorProto::DataType type,
                    const std::vector<int64_t>& dims, int low, int high);
  std::vector<onnx::TestAttribute> WindowOf(
      const Convolution& convolution) const;
  int64_t Random();  // random integer from 0 to 2^24 - 1
  // Adds an operator of opset 17 on named values, and returns its result's
  // name.
  std::string Value(const std::string& op_type,
                    const std::vector<std::string>& operands,
                    const std::vector<onnx::TestAttribute>& attributes = {});
  std::string Product(const std::string& x, int64_t in, int64_t out);

  onnx::ModelBuilder model_;
  std::vector<int64_t> dims_;  // dims of the result that the next layer takes
  std::string last_ = "x";
  int values_ = 0;
  uint32_t state_ = 1;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_BLOCKS_H_

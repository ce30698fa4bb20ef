// Blocks of networks as ONNX nodes, with weights that are the same each time.
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

#include "frontends/onnx/model_builder.h"

namespace ember::tests {

class Blocks {
 public:
  struct Convolution {
    int64_t out = 0;
    int64_t window = 1;
    int64_t stride = 1;
    int64_t groups = 1;  // 0: one for each channel
  };

  explicit Blocks(std::vector<int64_t> dims);

  // Images of shape N, C, H, W, padded by half a window. With a bias.
  Blocks& Conv(const Convolution& convolution);
  // The same on bytes: between Quantize and Dequantize.
  Blocks& QuantizedConv(const Convolution& convolution);
  Blocks& Quantize();
  Blocks& Dequantize();
  // Channels of `groups` groups side by side, as ShuffleNet does it.
  Blocks& Shuffle(int64_t groups);

  // Rows of the last dim by a constant matrix, with a bias.
  Blocks& MatMul(int64_t out);
  Blocks& LayerNormalization();
  // Of several heads, in f32, with the four products around: rows are tokens,
  // dims are tokens, width.
  Blocks& SelfAttention(int64_t heads);

  // A layer over the rows, of batch 1: dims are steps, 1, width.
  Blocks& Lstm(int64_t hidden);

  // The maximum of windows of 3 by 3, every second one; channels' means.
  Blocks& MaxPool();
  Blocks& GlobalAveragePool();

  Blocks& Relu();
  Blocks& Relu6();
  Blocks& Gelu();
  // The sum with an earlier result.
  Blocks& Add(const std::string& earlier);

  const std::string& last() const { return last_; }
  onnx::ModelBuilder Finish();

 private:
  // A node of the last result and other operands; its result is the last then.
  Blocks& Apply(const std::string& op_type,
                const std::vector<std::string>& others = {},
                const std::vector<onnx::TestAttribute>& attributes = {});
  std::string NewName();
  // Names of constants. Weights are in -1..1 by the root of 3 / fan_in, so that
  // results stay as large as operands are.
  std::string Weights(const std::vector<int64_t>& dims, int64_t fan_in);
  std::string Scalar(float value);
  std::string Scalars(int64_t count, float value);
  std::string Integers(const std::vector<int64_t>& values);
  std::string Bytes(onnx::TensorProto::DataType type,
                    const std::vector<int64_t>& dims, int low, int high);
  std::vector<onnx::TestAttribute> WindowOf(
      const Convolution& convolution) const;
  int64_t Random();  // 0 to 2^24 - 1
  // Operators of opset 17 on the name of a value, by name.
  std::string Value(const std::string& op_type,
                    const std::vector<std::string>& operands,
                    const std::vector<onnx::TestAttribute>& attributes = {});
  std::string Product(const std::string& x, int64_t in, int64_t out);

  onnx::ModelBuilder model_;
  std::vector<int64_t> dims_;  // of the last result
  std::string last_ = "x";
  int values_ = 0;
  uint32_t state_ = 1;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_BLOCKS_H_

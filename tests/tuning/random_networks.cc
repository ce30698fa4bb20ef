#include "tests/tuning/random_networks.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "tests/performance/blocks.h"
#include "tune/space/random.h"

namespace ember::tests {
namespace {

// Adds layers to a network that fit its sizes.
class NetworkWriter {
 public:
  explicit NetworkWriter(uint64_t seed) : random_(seed) {}

  onnx::ModelBuilder Write() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2:
        return Images();
      case 3:
        return Bytes();
      case 4:
        return Pools();
      case 5:
      case 6:
        return Rows();
      default:
        return Tokens();
    }
  }

 private:
  int64_t OneOf(std::vector<int64_t> numbers) { return random_.Pick(numbers); }
  int64_t Channels() {
    return OneOf({3, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192,
                  256, 320, 384, 512});
  }
  int64_t Side() { return OneOf({7, 10, 13, 14, 19, 20, 26, 28, 40, 56, 80}); }

  // Draws convolutions until one has at most kMaxOperations operations.
  Blocks::Convolution Convolution(int64_t channels, int64_t side) {
    Blocks::Convolution chosen;
    do {
      chosen.out = Channels();
      chosen.window = OneOf({1, 1, 1, 3, 3, 5});
      chosen.stride = chosen.window > 1 ? OneOf({1, 1, 2}) : 1;
      chosen.groups = 1;
      if (chosen.window > 1 && random_.Chance(0.35)) {
        chosen.groups = 0;  // 0 means one group per channel.
        chosen.out = channels;
      } else if (channels % 8 == 0 && random_.Chance(0.1)) {
        chosen.groups = 4;
        chosen.out = chosen.out / 4 * 4 + 4;
      }
    } while (WorkOf(chosen, channels, side) > kMaxOperations);
    return chosen;
  }

  static int64_t WorkOf(const Blocks::Convolution& convolution,
                        int64_t channels, int64_t side) {
    const int64_t groups =
        convolution.groups == 0 ? channels : convolution.groups;
    const int64_t out_side = side / convolution.stride;
    return 2 * out_side * out_side * convolution.out * channels / groups *
           convolution.window * convolution.window;
  }

  void Activate(Blocks& net) {
    switch (random_.Below(4)) {
      case 0:
        break;
      case 1:
        net.Gelu();
        break;
      case 2:
        net.Relu6();
        break;
      default:
        net.Relu();
        break;
    }
  }

  onnx::ModelBuilder Images() {
    int64_t channels = Channels(), side = Side();
    Blocks net({1, channels, side, side});
    const size_t layers = 1 + random_.Below(3);
    for (size_t i = 0; i < layers; ++i) {
      const std::string before = net.last();
      const Blocks::Convolution chosen = Convolution(channels, side);
      net.Conv(chosen);
      const bool is_same = chosen.out == channels && chosen.stride == 1;
      if (is_same && random_.Chance(0.5)) net.Add(before);
      Activate(net);
      channels = chosen.out;
      side = (side + chosen.stride - 1) / chosen.stride;
      if (channels % 4 == 0 && random_.Chance(0.1)) net.Shuffle(4);
    }
    return net.Finish();
  }

  onnx::ModelBuilder Bytes() {
    int64_t channels = Channels(), side = Side();
    Blocks net({1, channels, side, side});
    net.Quantize();
    for (int i = 0; i < 2; ++i) {
      Blocks::Convolution chosen = Convolution(channels, side);
      if (chosen.groups > 1) chosen.groups = 1;
      if (WorkOf(chosen, channels, side) > kMaxOperations) chosen.window = 1;
      net.QuantizedConv(chosen);
      channels = chosen.out;
      side = (side + chosen.stride - 1) / chosen.stride;
    }
    return net.Dequantize().Finish();
  }

  onnx::ModelBuilder Pools() {
    const int64_t channels = Channels(), side = Side();
    Blocks net({1, channels, side, side});
    net.Conv({.out = std::min<int64_t>(channels, 32)});
    if (random_.Chance(0.7)) net.MaxPool();
    if (random_.Chance(0.3)) net.Relu();
    return random_.Chance(0.6) ? net.GlobalAveragePool().Finish()
                               : net.Finish();
  }

  int64_t Width() {
    return OneOf({32, 48, 64, 96, 100, 128, 192, 256, 312, 384, 512, 768, 1000,
                  1024, 1536, 2048});
  }

  onnx::ModelBuilder Rows() {
    int64_t rows = 0, width = 0;
    do {
      rows = OneOf({1, 1, 1, 2, 4, 7, 8, 16, 31, 49, 64, 96, 128, 197, 256});
      width = Width();
    } while (2 * rows * width * width > kMaxOperations);
    Blocks net({rows, width});
    const size_t layers = 1 + random_.Below(3);
    for (size_t i = 0; i < layers; ++i) {
      int64_t out = 0;
      do {
        out = Width();
      } while (2 * rows * width * out > kMaxOperations);
      if (random_.Chance(0.3)) net.LayerNormalization();
      net.MatMul(out);
      Activate(net);
      width = out;
    }
    return net.Finish();
  }

  onnx::ModelBuilder Tokens() {
    const int64_t tokens = OneOf({8, 16, 32, 50, 64, 77, 128, 196});
    const int64_t heads = OneOf({2, 4, 6, 8, 12});
    const int64_t width = heads * OneOf({16, 32, 64});
    Blocks net({tokens, width});
    const std::string input = net.last();
    net.LayerNormalization().SelfAttention(heads).Add(input);
    return net.Finish();
  }

  tune::Random random_;
};

}  // namespace

onnx::ModelBuilder MakeRandomNetwork(uint64_t seed) {
  return NetworkWriter(seed).Write();
}

}  // namespace ember::tests

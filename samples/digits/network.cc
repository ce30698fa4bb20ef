#include "samples/digits/network.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ember::digits {
namespace {

// The channels of images, stored as planes with a border of zeros. With the
// border a 3x3 convolution is, for each tap, one long loop over the plane with
// a constant offset. The loop does not stop at ends of rows; the values that it
// computes for border columns are cleared afterwards.
template <int kChannels, int kSize>
struct Planes {
  static constexpr int kStride = kSize + 2;
  static constexpr int kPlane = kStride * kStride;
  // Position of the first pixel in a plane that is not in the border.
  static constexpr int kFirst = kStride + 1;
  // Number of elements from the first to the last pixel, including border
  // columns between them.
  static constexpr int kCount = (kSize - 1) * kStride + kSize;
  std::array<float, kChannels * kPlane> data{};

  float* plane(int channel) { return data.data() + channel * kPlane; }
  const float* plane(int channel) const {
    return data.data() + channel * kPlane;
  }
  float& at(int channel, int y, int x) {
    return plane(channel)[(y + 1) * kStride + x + 1];
  }
  void ClearBorder() {
    for (int channel = 0; channel < kChannels; ++channel) {
      float* p = plane(channel);
      for (int i = 0; i < kStride; ++i) {
        p[i] = p[(kStride - 1) * kStride + i] = p[i * kStride] =
            p[i * kStride + kStride - 1] = 0;
      }
    }
  }
};

// Adds a 3x3 convolution of one plane to another: out[p] += sum over the taps
// of weight * in[p + offset]. With `sign` = -1 the taps are mirrored, which
// computes the gradient with respect to the input.
void AddTaps(const float* in, const float* weight, int stride, int sign,
             int count, float* out) {
  std::array<const float*, 9> taps;
  std::array<float, 9> w;
  for (int t = 0; t < 9; ++t) {
    taps[t] = in + sign * ((t / 3 - 1) * stride + t % 3 - 1);
    w[t] = weight[t];
  }
  for (int p = 0; p < count; ++p) {
    float sum = out[p];
    for (int t = 0; t < 9; ++t) sum += w[t] * taps[t][p];
    out[p] = sum;
  }
}

float Dot(const float* a, const float* b, int count) {
  // Number of partial sums of a dot product, which the compiler may keep in
  // vectors.
  constexpr int kLanes = 16;
  std::array<float, kLanes> sums{};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (float lane : sums) sum += lane;
  return sum;
}

template <int kIn, int kOut, int kSize>
void ConvolveAndRelu(const Planes<kIn, kSize>& in,
                     const std::vector<float>& weight,
                     const std::vector<float>& bias, Planes<kOut, kSize>& out) {
  using P = Planes<kIn, kSize>;
  for (int o = 0; o < kOut; ++o) {
    float* result = out.plane(o) + P::kFirst;
    std::fill(result, result + P::kCount, bias[o]);
    for (int c = 0; c < kIn; ++c) {
      AddTaps(in.plane(c) + P::kFirst, &weight[(o * kIn + c) * 9], P::kStride,
              1, P::kCount, result);
    }
    for (int p = 0; p < P::kCount; ++p) result[p] = std::max(result[p], 0.0f);
  }
  out.ClearBorder();
}

// Computes the gradients of ConvolveAndRelu and adds them to weight_gradient,
// bias_gradient and in_gradient, which is null if it is not needed. `out` is
// the result of ConvolveAndRelu. `out_gradient` is the gradient with respect to
// that result; the function replaces it by the gradient with respect to the
// operand of the ReLU.
template <int kIn, int kOut, int kSize>
void ConvolveAndReluBackward(const Planes<kIn, kSize>& in,
                             const std::vector<float>& weight,
                             const Planes<kOut, kSize>& out,
                             Planes<kOut, kSize>& out_gradient,
                             std::vector<float>& weight_gradient,
                             std::vector<float>& bias_gradient,
                             Planes<kIn, kSize>* in_gradient) {
  using P = Planes<kIn, kSize>;
  for (size_t i = 0; i < out.data.size(); ++i) {
    if (out.data[i] <= 0) out_gradient.data[i] = 0;
  }
  for (int o = 0; o < kOut; ++o) {
    const float* gradient = out_gradient.plane(o) + P::kFirst;
    for (int p = 0; p < P::kCount; ++p) bias_gradient[o] += gradient[p];
    for (int c = 0; c < kIn; ++c) {
      const float* source = in.plane(c) + P::kFirst;
      for (int t = 0; t < 9; ++t) {
        const int offset = (t / 3 - 1) * P::kStride + t % 3 - 1;
        weight_gradient[(o * kIn + c) * 9 + t] +=
            Dot(gradient, source + offset, P::kCount);
      }
      if (in_gradient == nullptr) continue;
      AddTaps(gradient, &weight[(o * kIn + c) * 9], P::kStride, -1, P::kCount,
              in_gradient->plane(c) + P::kFirst);
    }
  }
  if (in_gradient != nullptr) in_gradient->ClearBorder();
}

// Computes max pooling of 2x2 windows. `chosen` records for each result which
// of the four elements was the largest.
template <int kChannels, int kSize>
void Pool(Planes<kChannels, kSize>& in, Planes<kChannels, kSize / 2>& out,
          std::vector<uint8_t>& chosen) {
  chosen.clear();
  for (int c = 0; c < kChannels; ++c) {
    for (int y = 0; y < kSize / 2; ++y) {
      for (int x = 0; x < kSize / 2; ++x) {
        uint8_t best = 0;
        for (uint8_t i = 1; i < 4; ++i) {
          if (in.at(c, 2 * y + i / 2, 2 * x + i % 2) >
              in.at(c, 2 * y + best / 2, 2 * x + best % 2)) {
            best = i;
          }
        }
        out.at(c, y, x) = in.at(c, 2 * y + best / 2, 2 * x + best % 2);
        chosen.push_back(best);
      }
    }
  }
}

template <int kChannels, int kSize>
void PoolBackward(Planes<kChannels, kSize / 2>& out_gradient,
                  const std::vector<uint8_t>& chosen,
                  Planes<kChannels, kSize>& in_gradient) {
  size_t i = 0;
  for (int c = 0; c < kChannels; ++c) {
    for (int y = 0; y < kSize / 2; ++y) {
      for (int x = 0; x < kSize / 2; ++x, ++i) {
        in_gradient.at(c, 2 * y + chosen[i] / 2, 2 * x + chosen[i] % 2) =
            out_gradient.at(c, y, x);
      }
    }
  }
}

struct Activations {
  Planes<1, 28> image;
  Planes<kChannels1, 28> conv1;
  Planes<kChannels1, 14> pool1;
  Planes<kChannels2, 14> conv2;
  Planes<kChannels2, 7> pool2;
  std::vector<uint8_t> chosen1, chosen2;
  std::array<float, kFeatures> features;
  std::array<float, kClasses> probabilities;
};

void Softmax(std::array<float, kClasses>& values) {
  const float largest = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - largest);
  for (float& value : values) value /= sum;
}

void Forward(const Network& network, const Image& image, Activations& a) {
  for (int y = 0; y < 28; ++y) {
    for (int x = 0; x < 28; ++x)
      a.image.at(0, y, x) = image[y * kImageSize + x];
  }
  ConvolveAndRelu(a.image, network.conv1_weight, network.conv1_bias, a.conv1);
  Pool(a.conv1, a.pool1, a.chosen1);
  ConvolveAndRelu(a.pool1, network.conv2_weight, network.conv2_bias, a.conv2);
  Pool(a.conv2, a.pool2, a.chosen2);
  for (int i = 0; i < kFeatures; ++i)
    a.features[i] = a.pool2.at(i / 49, i % 49 / 7, i % 7);
  for (int k = 0; k < kClasses; ++k) {
    a.probabilities[k] =
        network.fc_bias[k] +
        Dot(&network.fc_weight[k * kFeatures], a.features.data(), kFeatures);
  }
  Softmax(a.probabilities);
}

void Backward(const Network& network, int label, Activations& a,
              Network& gradient) {
  Planes<kChannels2, 7> pool2_gradient;
  for (int k = 0; k < kClasses; ++k) {
    const float error = a.probabilities[k] - (k == label ? 1.0f : 0.0f);
    gradient.fc_bias[k] += error;
    for (int i = 0; i < kFeatures; ++i) {
      gradient.fc_weight[k * kFeatures + i] += error * a.features[i];
      pool2_gradient.at(i / 49, i % 49 / 7, i % 7) +=
          error * network.fc_weight[k * kFeatures + i];
    }
  }
  Planes<kChannels2, 14> conv2_gradient;
  PoolBackward(pool2_gradient, a.chosen2, conv2_gradient);
  Planes<kChannels1, 14> pool1_gradient;
  ConvolveAndReluBackward(a.pool1, network.conv2_weight, a.conv2,
                          conv2_gradient, gradient.conv2_weight,
                          gradient.conv2_bias, &pool1_gradient);
  Planes<kChannels1, 28> conv1_gradient;
  PoolBackward(pool1_gradient, a.chosen1, conv1_gradient);
  ConvolveAndReluBackward<1, kChannels1, 28>(
      a.image, network.conv1_weight, a.conv1, conv1_gradient,
      gradient.conv1_weight, gradient.conv1_bias, nullptr);
}

std::array<std::vector<float>*, 6> Parts(Network& n) {
  return {&n.conv1_weight, &n.conv1_bias, &n.conv2_weight,
          &n.conv2_bias,   &n.fc_weight,  &n.fc_bias};
}

}  // namespace

Network Network::Zero() {
  Network network;
  network.conv1_weight.resize(kChannels1 * 9);
  network.conv1_bias.resize(kChannels1);
  network.conv2_weight.resize(kChannels2 * kChannels1 * 9);
  network.conv2_bias.resize(kChannels2);
  network.fc_weight.resize(kClasses * kFeatures);
  network.fc_bias.resize(kClasses);
  return network;
}

Network Network::Initial(Random& random) {
  Network network = Zero();
  const auto fill = [&random](std::vector<float>& weight, int inputs) {
    for (float& value : weight)
      value = random.Normal() * std::sqrt(2.0f / static_cast<float>(inputs));
  };
  fill(network.conv1_weight, 9);
  fill(network.conv2_weight, kChannels1 * 9);
  fill(network.fc_weight, kFeatures);
  return network;
}

Trainer::Trainer(Network& network) : network_(network) {}

float Trainer::Step(std::span<const Image> images, std::span<const int> labels,
                    float rate) {
  Network gradient = Network::Zero();
  Activations activations;
  float loss = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    Forward(network_, images[i], activations);
    loss -= std::log(std::max(activations.probabilities[labels[i]], 1e-12f));
    Backward(network_, labels[i], activations, gradient);
  }
  constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f;
  ++steps_;
  const float count = static_cast<float>(images.size());
  const float mean_scale =
      1 / (1 - std::pow(kMeanDecay, static_cast<float>(steps_)));
  const float square_scale =
      1 / (1 - std::pow(kSquareDecay, static_cast<float>(steps_)));
  for (int part = 0; part < 6; ++part) {
    for (size_t i = 0; i < Parts(gradient)[part]->size(); ++i) {
      const float g = (*Parts(gradient)[part])[i] / count;
      float& mean = (*Parts(mean_)[part])[i];
      float& square = (*Parts(square_)[part])[i];
      mean = kMeanDecay * mean + (1 - kMeanDecay) * g;
      square = kSquareDecay * square + (1 - kSquareDecay) * g * g;
      (*Parts(network_)[part])[i] -=
          rate * mean * mean_scale / (std::sqrt(square * square_scale) + 1e-8f);
    }
  }
  return loss / count;
}

int Classify(const Network& network, const Image& image) {
  Activations activations;
  Forward(network, image, activations);
  const auto& p = activations.probabilities;
  return static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
}

}  // namespace ember::digits

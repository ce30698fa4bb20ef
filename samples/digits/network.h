// The sample's convolutional network, and its training: forward, backward and
// Adam in plain C++.
//
//   Network network = Network::Initial(random);
//   Trainer trainer(network);
//   float loss = trainer.Step(images, labels, 0.002f);
//   int digit = Classify(network, image);
//
// image[28, 28] → conv 3x3, 8 channels → relu → max pool 2x2 → conv 3x3, 16
// channels → relu → max pool 2x2 → fully connected, 10 → softmax.
// Thread-compatible.
#ifndef EMBER_SAMPLES_DIGITS_NETWORK_H_
#define EMBER_SAMPLES_DIGITS_NETWORK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "samples/digits/drawing.h"
#include "samples/digits/random.h"

namespace ember::digits {

inline constexpr int kChannels1 = 8;
inline constexpr int kChannels2 = 16;
inline constexpr int kFeatures = kChannels2 * 7 * 7;
inline constexpr int kClasses = 10;

// The network's parameters, with axes in ONNX's order. The same struct holds
// gradients and Adam's moments.
struct Network {
  // First convolution: [8, 1, 3, 3] and [8].
  std::vector<float> conv1_weight, conv1_bias;
  // Second convolution: [16, 8, 3, 3] and [16].
  std::vector<float> conv2_weight, conv2_bias;
  // Fully connected layer: [10, 784] and [10].
  std::vector<float> fc_weight, fc_bias;

  static Network Zero();
  static Network Initial(Random& random);
};

class Trainer {
 public:
  // Makes a trainer of the network, which must outlive the trainer.
  explicit Trainer(Network& network);
  // Makes one step of Adam on a batch. Returns the batch's mean cross entropy
  // before the step.
  float Step(std::span<const Image> images, std::span<const int> labels,
             float rate);

 private:
  Network& network_;
  Network mean_ = Network::Zero(), square_ = Network::Zero();
  int64_t steps_ = 0;
};

int Classify(const Network& network, const Image& image);

}  // namespace ember::digits

#endif  // EMBER_SAMPLES_DIGITS_NETWORK_H_

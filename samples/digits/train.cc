// train OUTPUT.onnx: trains the digit recogniser on drawings made as it goes,
// checks it on drawings that it has not seen, and writes it as an ONNX model.
// Always gives the same model.
#include <cstdio>
#include <vector>

#include "base/file.h"
#include "samples/digits/export.h"
#include "samples/digits/network.h"

namespace ember::digits {
namespace {

constexpr int kSteps = 600, kBatch = 32, kHeldOut = 2000;
constexpr double kRequiredAccuracy = 0.97;

void Train(Network& network) {
  Random random(1);
  network = Network::Initial(random);
  Trainer trainer(network);
  std::vector<Image> images(kBatch);
  std::vector<int> labels(kBatch);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kBatch; ++i) {
      labels[i] = random.Below(kClasses);
      images[i] = DrawDigit(labels[i], random);
    }
    const float progress = static_cast<float>(step) / kSteps;
    const float loss =
        trainer.Step(images, labels, 0.004f * (1 - progress) + 0.0001f);
    if (step % 100 == 99)
      std::printf("step %d of %d: loss %.3f\n", step + 1, kSteps, loss);
  }
}

double HeldOutAccuracy(const Network& network) {
  Random random(0x7e57);
  int correct = 0;
  for (int i = 0; i < kHeldOut; ++i) {
    const int label = i % kClasses;
    correct += Classify(network, DrawDigit(label, random)) == label;
  }
  return static_cast<double>(correct) / kHeldOut;
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: train OUTPUT.onnx\n");
    return 2;
  }
  Network network;
  Train(network);
  const double accuracy = HeldOutAccuracy(network);
  std::printf("%.2f%% of %d drawings not trained on are recognised\n",
              accuracy * 100, kHeldOut);
  if (accuracy < kRequiredAccuracy) {
    std::fprintf(stderr,
                 "train: accuracy is %.2f%%, expected at least %.2f%%\n",
                 accuracy * 100, kRequiredAccuracy * 100);
    return 1;
  }
  if (Status status = WriteFileAtomically(argv[1], ToOnnx(network));
      !status.ok()) {
    std::fprintf(stderr, "train: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ember::digits

int main(int argc, char** argv) { return ember::digits::Main(argc, argv); }

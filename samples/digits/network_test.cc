#include "samples/digits/network.h"

#include <cmath>

#include "gtest/gtest.h"
#include "samples/digits/export.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::digits {
namespace {

void DrawBatch(Random& random, std::vector<Image>& images,
               std::vector<int>& labels) {
  for (size_t i = 0; i < images.size(); ++i) {
    labels[i] = random.Below(kClasses);
    images[i] = DrawDigit(labels[i], random);
  }
}

// One step of Adam with a tiny rate moves each parameter by about the rate
// against its gradient's sign. If the backward pass is right, the loss falls by
// about rate * sum of |gradient|.
TEST(NetworkTest, ASmallStepLowersTheLoss) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    Network network = Network::Initial(random);
    std::vector<Image> images(8);
    std::vector<int> labels(8);
    DrawBatch(random, images, labels);
    Trainer trainer(network);
    const float before = trainer.Step(images, labels, 1e-4f);
    const float after = Trainer(network).Step(images, labels, 0.0f);
    EXPECT_LT(after, before) << "seed " << seed;
    EXPECT_GT(after, before - 1.0f) << "seed " << seed;
  }
}

TEST(NetworkTest, LearnsOneBatchByHeart) {
  Random random(3);
  Network network = Network::Initial(random);
  std::vector<Image> images(16);
  std::vector<int> labels(16);
  DrawBatch(random, images, labels);
  Trainer trainer(network);
  const float first = trainer.Step(images, labels, 0.003f);
  // The loss before any training is about ln(10), that of a guess among ten
  // classes.
  EXPECT_GT(first, 1.0f);
  for (int step = 0; step < 60; ++step) trainer.Step(images, labels, 0.003f);
  for (size_t i = 0; i < images.size(); ++i)
    EXPECT_EQ(Classify(network, images[i]), labels[i]);
}

TEST(ExportTest, WritesEveryWeight) {
  Random random(4);
  const Network network = Network::Initial(random);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ToOnnx(network)));
  ASSERT_EQ(model.graph().initializer_size(), 6);
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    int64_t count = 1;
    for (int64_t dim : tensor.dims()) count *= dim;
    EXPECT_EQ(tensor.raw_data().size(),
              static_cast<size_t>(count) * sizeof(float))
        << tensor.name();
  }
  EXPECT_EQ(model.graph().node_size(), 9);
}

}  // namespace
}  // namespace ember::digits

#include "tools/lib/media/classify.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tools/lib/media/labels.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

using Names = std::vector<std::string>;

Names Parsed(std::string_view text) {
  const StatusOr<Labels> labels = ParseLabels(text, "labels.txt");
  EXPECT_TRUE(labels.ok()) << labels.status().ToString();
  return labels.ok() ? labels->names : Names();
}

template <typename T>
vm::Tensor Of(DType type, std::vector<int64_t> dims, std::vector<T> values) {
  StatusOr<vm::Tensor> tensor = vm::Tensor::Allocate(type, std::move(dims));
  EXPECT_TRUE(tensor.ok());
  std::ranges::copy(values, tensor->template elements<T>().begin());
  return *std::move(tensor);
}

vm::Tensor Floats(std::vector<int64_t> dims, std::vector<float> values) {
  return Of<float>(DType::kF32, std::move(dims), std::move(values));
}

TEST(LabelsTest, Lines) {
  EXPECT_EQ(Parsed("cat\ndog\r\n\n"), (Names{"cat", "dog"}));
  EXPECT_EQ(Parsed("0 cat\n1 dog"), (Names{"cat", "dog"}));
  EXPECT_EQ(Parsed("0: cat\n1: big dog"), (Names{"cat", "big dog"}));
  EXPECT_EQ(Parsed("1,cat\n2,dog"), (Names{"cat", "dog"}));
  EXPECT_EQ(Parsed("n01440764 tench\nn01443537 gold fish"),
            (Names{"tench", "gold fish"}));
  // The first number of a line is removed only if it equals the index of the
  // line and a label follows it.
  EXPECT_EQ(Parsed("0\n1\n2"), (Names{"0", "1", "2"}));
  EXPECT_EQ(Parsed("5 cats\n7 cats"), (Names{"5 cats", "7 cats"}));
}

TEST(LabelsTest, Json) {
  EXPECT_EQ(Parsed("[\"cat\", \"dog\"]"), (Names{"cat", "dog"}));
  EXPECT_EQ(Parsed("{\"1\": \"dog\", \"0\": \"cat\"}"), (Names{"cat", "dog"}));
  EXPECT_EQ(Parsed("{\"0\": [\"n01\", \"cat\"], \"2\": [\"n02\", \"dog\"]}"),
            (Names{"cat", "class 1", "dog"}));
  for (const char* text :
       {"[1]", "{\"a\": \"b\"}", "[", "{\"0\": 1}", "{}", "{\"-1\": \"a\"}",
        "{\"99999999999\": \"a\"}", "[]", "", "\n \n"})
    EXPECT_FALSE(ParseLabels(text, "x").ok()) << text;
}

TEST(LabelsTest, NamesOfClasses) {
  const Labels labels{{"cat", "dog"}, "x"};
  EXPECT_TRUE(labels.Fits(2));
  EXPECT_TRUE(labels.Fits(3));
  EXPECT_FALSE(labels.Fits(4));
  EXPECT_EQ(labels.Name(1, 2), "dog");
  EXPECT_EQ(labels.Name(0, 3), "background");
  EXPECT_EQ(labels.Name(2, 3), "dog");
  EXPECT_EQ(labels.Name(9, 2), "class 9");
  EXPECT_EQ(Labels().Name(7, 10), "class 7");
}

TEST(LabelsTest, Metadata) {
  std::vector<vm::MetadataEntry> metadata;
  EXPECT_TRUE(LabelsOfModel(metadata, 2).empty());
  vm::SetMetadata("onnx.metadata.names", "{0: 'person', 1: \"driver's seat\"}",
                  metadata);
  EXPECT_EQ(LabelsOfModel(metadata, 1).names,
            (Names{"person", "driver's seat"}));
  vm::SetMetadata("tflite.output.1.labels", "a\nb", metadata);
  EXPECT_EQ(LabelsOfModel(metadata, 2).names, (Names{"a", "b"}));
  vm::SetMetadata("labels", "c\nd", metadata);
  EXPECT_EQ(LabelsOfModel(metadata, 2).source, "labels");
}

TEST(ClassifyTest, ProbabilitiesStayAndOtherFloatsGoThroughSoftmax) {
  const Labels labels{{"cat", "dog", "cow"}, "x"};
  EXPECT_EQ(TopText("out", Floats({1, 3}, {0.2f, 0.7f, 0.1f}), labels, 2),
            "out: top 2 of 3\n"
            "    0.7000      1  dog\n"
            "    0.2000      0  cat\n");
  EXPECT_EQ(
      TopText("out", Floats({1, 3, 1, 1}, {0, std::log(3.0f), -90}), labels, 5),
      "out: top 3 of 3 (softmax applied)\n"
      "    0.7500      1  dog\n"
      "    0.2500      0  cat\n"
      "    0.0000      2  cow\n");
  // The scores of a multi-label classifier do not sum up to 1, but they are in
  // [0, 1]. So they are printed without a softmax.
  EXPECT_EQ(TopText("out", Floats({3}, {0.9f, 0.8f, 0}), Labels(), 1),
            "out: top 1 of 3\n    0.9000      0\n");
}

TEST(ClassifyTest, IntegersAreScores) {
  EXPECT_EQ(
      TopText("out", Of<uint8_t>(DType::kU8, {1, 2}, {3, 253}), Labels(), 1),
      "out: top 1 of 2\n       253      1\n");
}

TEST(ClassifyTest, QuantisedScoresAreScaled) {
  std::vector<vm::MetadataEntry> metadata;
  vm::SetMetadata("tflite.output.0.scale", "0.00390625", metadata);
  EXPECT_FALSE(ScaleOfResult(metadata, 0));
  vm::SetMetadata("tflite.output.0.zero_point", "-128", metadata);
  EXPECT_EQ(TopText("out", Of<int8_t>(DType::kI8, {1, 2}, {-64, 64}), Labels(),
                    2, ScaleOfResult(metadata, 0)),
            "out: top 2 of 2\n    0.7500      1\n    0.2500      0\n");
}

TEST(ClassifyTest, NotANumberIsSaid) {
  const auto text = TopText("out", Floats({2}, {NAN, 0.5f}), Labels(), 1);
  EXPECT_EQ(text, "out: top 1 of 2, 1 scores are NaN\n    0.5000      1\n");
}

TEST(ClassifyTest, OtherResultsAreNone) {
  EXPECT_FALSE(ClassCount(Floats({2, 3}, {0, 0, 0, 0, 0, 0})));
  EXPECT_FALSE(ClassCount(Floats({1}, {0})));
  EXPECT_FALSE(ClassCount(Floats({0}, {})));
  EXPECT_FALSE(ClassCount(Floats({2, 0}, {})));
}

}  // namespace
}  // namespace ember::tools

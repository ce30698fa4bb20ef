// Tests that a module keeps the metadata of a TensorFlow Lite file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/testing/model_builder.h"
#include "frontends/tflite/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

StatusOr<graph::Graph> Import(const std::string& file) {
  return tflite::ImportModelBytes(AsBytes(file), nullptr, {});
}

TEST(TfliteMetadata, IsKept) {
  EXPECT_THAT(
      KeptMetadata(Import(tflite::SampleModel("described"))),
      ElementsAre(
          Pair("tflite.author", "somebody"),
          Pair("tflite.description", "made for a test"),
          Pair("tflite.file.readme.md", "# Pets"),
          Pair("tflite.input.0.color_space", "RGB"),
          Pair("tflite.input.0.description", "a picture"),
          Pair("tflite.input.0.max", "127.5"),
          Pair("tflite.input.0.mean", "123.675 116.5"),
          Pair("tflite.input.0.min", "123.675 116.5"),
          Pair("tflite.input.0.name", "image"),
          Pair("tflite.input.0.std", "127.5"),
          Pair("tflite.left_out",
               "output.0.vocabulary: expected 'none.txt' of the ZIP archive, "
               "found none\n"
               "file.weights.bin: expected text in UTF-8, found other "
               "bytes\n"),
          Pair("tflite.license", "MIT"),
          Pair("tflite.metadata.min_runtime_version", "1.5.0"),
          Pair("tflite.metadata.other", "hex:ff01"),
          Pair("tflite.metadata_description", "Cats and dogs."),
          Pair("tflite.name", "pets"),
          Pair("tflite.output.0.labels", "cat\ndog\n"),
          Pair("tflite.output.0.labels.de", "Katze\nHund\n"),
          Pair("tflite.output.0.name", "scores"), Pair("tflite.version", "1")));
}

TEST(TfliteMetadata, WithoutTheArchive) {
  const std::string whole = tflite::SampleModel("described");
  const graph::Metadata metadata =
      KeptMetadata(Import(whole.substr(0, whole.find("PK\x03\x04"))));
  EXPECT_EQ(metadata.at("tflite.input.0.std"), "127.5");
  EXPECT_FALSE(metadata.contains("tflite.output.0.labels"));
  const std::string& left_out = metadata.at("tflite.left_out");
  EXPECT_EQ(left_out.substr(0, left_out.find('\n')),
            "output.0.labels: expected a ZIP archive with 'labels.txt' behind "
            "the model, found none");
}

TEST(TfliteMetadata, QuantizationOfInputsAndOutputs) {
  using tflite::schema::TensorType;
  tflite::ModelBuilder model;
  const int given = model.Input({.type = TensorType::INT8,
                                 .shape = {2},
                                 .scales = {0.5f},
                                 .zero_points = {-3}});
  const int other = model.Output({.type = TensorType::FLOAT32, .shape = {2}});
  model.Operator(tflite::schema::BuiltinOperator::DEQUANTIZE, {given}, {other});
  EXPECT_THAT(KeptMetadata(Import(model.Finish())),
              ElementsAre(Pair("tflite.description", "made for a test"),
                          Pair("tflite.input.0.scale", "0.5"),
                          Pair("tflite.input.0.zero_point", "-3")));
}

}  // namespace
}  // namespace ember::tests

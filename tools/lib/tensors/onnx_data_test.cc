#include "tools/lib/tensors/onnx_data.h"

#include <string>
#include <vector>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/onnx/onnx_data.pb.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

vm::TensorSignature Signature(const std::string& name, DType type,
                              std::vector<int64_t> dims,
                              const std::string& logical_type = "") {
  vm::TensorSignature signature;
  signature.name = name;
  signature.type = type;
  signature.dims = std::move(dims);
  signature.logical_type = logical_type;
  return signature;
}

std::string FileOf(const google::protobuf::MessageLite& message) {
  static int number = 0;
  const std::string path =
      ::testing::TempDir() + "data" + std::to_string(number++) + ".pb";
  EXPECT_TRUE(WriteFileAtomically(path, message.SerializeAsString()).ok());
  return path;
}

void SetFloats(const std::vector<float>& values, onnx::TensorProto& tensor) {
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(std::ssize(values));
  for (float value : values) tensor.add_float_data(value);
}

// Sets the proto to the map {"b": first, "a": second}. Its keys are not in
// ascending order, so reading must sort them.
void SetMap(float first, float second, onnx::MapProto& map) {
  map.set_key_type(onnx::TensorProto::STRING);
  map.add_string_keys("b");
  map.add_string_keys("a");
  SetFloats({first, second}, *map.mutable_values()->add_tensor_values());
}

TEST(OnnxData, SequenceOfMapsInOrderOfKeys) {
  const std::vector<vm::TensorSignature> parts = {
      Signature("z", DType::kF32, {-1, 2}),
      Signature("z.keys", DType::kI64, {2}, "string")};
  EXPECT_EQ(PartCount(parts, 0), 2u);
  onnx::SequenceProto sequence;
  sequence.set_elem_type(4);
  SetMap(1, 2, *sequence.add_map_values());
  SetMap(3, 4, *sequence.add_map_values());
  const auto read = ReadDataFile(FileOf(sequence), parts);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)[0].dims, (std::vector<int64_t>{2, 2}));
  EXPECT_THAT((*read)[0].elements<float>(), ElementsAre(2, 1, 4, 3));
  EXPECT_THAT(*(*read)[1].strings, ElementsAre("a", "b"));

  SetMap(5, 6, *sequence.add_map_values());
  sequence.mutable_map_values(2)->set_string_keys(0, "c");
  EXPECT_THAT(ReadDataFile(FileOf(sequence), parts).status().ToString(),
              HasSubstr("expected maps of the same keys"));
}

TEST(OnnxData, MapWithATensorForEachValue) {
  const std::vector<vm::TensorSignature> parts = {
      Signature("x", DType::kF32, {-1}),
      Signature("x.keys", DType::kI64, {-1}, "map_keys")};
  onnx::MapProto map;
  map.set_key_type(onnx::TensorProto::INT64);
  for (int64_t key : {30, -10}) {
    map.add_keys(key);
    SetFloats({static_cast<float>(key) / 4},
              *map.mutable_values()->add_tensor_values());
  }
  const std::string path = FileOf(map);
  const auto read = ReadDataFile(path, parts);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT((*read)[0].elements<float>(), ElementsAre(-2.5, 7.5));
  EXPECT_THAT((*read)[1].elements<int64_t>(), ElementsAre(-10, 30));
  const auto pins = ReadPins(path);
  ASSERT_TRUE(pins.ok());
  EXPECT_TRUE(pins->empty());

  map.add_keys(30);
  SetFloats({0}, *map.mutable_values()->add_tensor_values());
  EXPECT_THAT(ReadDataFile(FileOf(map), parts).status().ToString(),
              HasSubstr("expected keys that differ"));
  onnx::MapProto strings;
  SetMap(1, 2, strings);
  EXPECT_THAT(ReadDataFile(FileOf(strings), parts).status().ToString(),
              HasSubstr("expected keys that are integers, found strings"));
}

// The names of these two results look like those of a map's values and keys.
// The sizes differ, so they must be treated as two independent results.
TEST(OnnxData, KeysOfAnotherSizeAreAResultOfTheirOwn) {
  EXPECT_EQ(PartCount(
                std::vector<vm::TensorSignature>{
                    Signature("z", DType::kF32, {-1, 2}),
                    Signature("z.keys", DType::kI64, {3}, "string")},
                0),
            1u);
}

}  // namespace
}  // namespace ember::tools

// Tests operators of ai.onnx.ml on maps, end to end. Expected values are worked
// out by hand from the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/onnx/ml_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;

template <typename T>
vm::Tensor VectorOf(const std::vector<T>& values) {
  auto tensor = vm::Tensor::Allocate(kDType<T>, {std::ssize(values)});
  EXPECT_TRUE(tensor.ok());
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor->data));
  return *std::move(tensor);
}

vm::Tensor VectorOf(const Strings& values) {
  auto tensor = vm::Tensor::OfStrings({std::ssize(values)}, values);
  EXPECT_TRUE(tensor.ok());
  return *std::move(tensor);
}

void ExpectStringResult(MlNode& node, int output,
                        const std::vector<int64_t>& dims,
                        const Strings& values) {
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings((*results)[output], dims, values);
}

TEST(ZipMap, ValuesAndKeys) {
  MlNode node("ZipMap", 1);
  node.Set("classlabels_int64s", Ints{3, 7}).Input<float>({2, 2}, {1, 2, 3, 4});
  ExpectResult<float>(node, 0, {2, 2}, {1, 2, 3, 4});
  ExpectResult<int64_t>(node, 1, {2}, {3, 7});
  MlNode wrong("ZipMap", 1);
  wrong.Set("classlabels_int64s", Ints{1}).Input<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(wrong.Error(), HasSubstr("expected 2 class labels, found 1"));
}

// The label "b" occurs twice; the map must have the value of its last
// occurrence. Keys are sorted.
TEST(ZipMap, KeysAreInAscendingOrder) {
  MlNode node("ZipMap", 1);
  node.Set("classlabels_strings", Strings{"b", "c", "a", "b"})
      .Input<float>({1, 4}, {1, 2, 3, 4});
  ExpectResult<float>(node, 0, {1, 3}, {3, 4, 2});
  ExpectStringResult(node, 1, {3}, {"a", "b", "c"});
}

TEST(DictVectorizer, StringsToNumbers) {
  MlNode node("DictVectorizer", 1);
  // The word "a" occurs twice in the vocabulary, and the map's word "z" does
  // not occur in it.
  node.Set("string_vocabulary", Strings{"a", "c", "b", "a"})
      .Map(TensorProto::INT64, VectorOf(Ints{8, 4, 5}),
           VectorOf(Strings{"c", "a", "z"}));
  ExpectResult<int64_t>(node, 0, {1, 4}, {4, 8, 0, 4});
}

TEST(DictVectorizer, IntegersToFloats) {
  MlNode node("DictVectorizer", 1);
  node.Set("int64_vocabulary", Ints{10, 20, 30})
      .Map(TensorProto::DOUBLE, VectorOf(Floats{1.5, -2}),
           VectorOf(Ints{30, 10}));
  ExpectResult<double>(node, 0, {1, 3}, {-2, 0, 1.5});
}

TEST(DictVectorizer, IntegersToStrings) {
  MlNode node("DictVectorizer", 1);
  node.Set("int64_vocabulary", Ints{10, 20, 30})
      .Map(TensorProto::STRING, VectorOf(Strings{"x", "y"}),
           VectorOf(Ints{30, 10}));
  ExpectStringResult(node, 0, {1, 3}, {"y", "", "x"});
}

TEST(DictVectorizer, WantsAVocabularyOfTheKeysType) {
  MlNode node("DictVectorizer", 1);
  node.Set("int64_vocabulary", Ints{10})
      .Map(TensorProto::INT64, VectorOf(Ints{8}), VectorOf(Strings{"c"}));
  EXPECT_THAT(node.Error(), HasSubstr("expected a vocabulary of the map's "
                                      "keys, which are strings"));
}

TEST(CastMap, DenseInOrderOfKeys) {
  MlNode numbers("CastMap", 1);
  numbers.Map(TensorProto::FLOAT, VectorOf(std::vector<float>{1.5, 2.75, -3}),
              VectorOf(Ints{7, -1, 3}));
  ExpectResult<float>(numbers, 0, {1, 3}, {2.75, -3, 1.5});
  MlNode parsed("CastMap", 1);
  parsed.Set("cast_to", "TO_INT64")
      .Map(TensorProto::STRING, VectorOf(Strings{"12", "-5"}),
           VectorOf(Ints{2, 1}));
  ExpectResult<int64_t>(parsed, 0, {1, 2}, {-5, 12});
}

TEST(CastMap, SparseByKey) {
  const auto make = [](const char* type, const Ints& keys) {
    MlNode node("CastMap", 1);
    node.Set("map_form", "SPARSE")
        .Set("max_map", 4)
        .Set("cast_to", type)
        .Map(TensorProto::FLOAT, VectorOf(std::vector<float>{1.5, 2.75}),
             VectorOf(keys));
    return node;
  };
  MlNode floats = make("TO_FLOAT", {3, 1});
  ExpectResult<float>(floats, 0, {1, 4}, {0, 2.75, 0, 1.5});
  MlNode integers = make("TO_INT64", {3, 1});
  ExpectResult<int64_t>(integers, 0, {1, 4}, {0, 2, 0, 1});
  MlNode outside = make("TO_FLOAT", {4, 1});
  EXPECT_FALSE(outside.Run().ok());
  MlNode negative = make("TO_FLOAT", {0, -1});
  EXPECT_FALSE(negative.Run().ok());
}

TEST(CastMap, ToStrings) {
  MlNode node("CastMap", 1);
  node.Set("map_form", "SPARSE")
      .Set("max_map", 3)
      .Set("cast_to", "TO_STRING")
      .Map(TensorProto::STRING, VectorOf(Strings{"x", "y"}),
           VectorOf(Ints{2, 0}));
  ExpectStringResult(node, 0, {1, 3}, {"y", "0.f", "x"});
}

TEST(Maps, OperatorsSayWhatTheyTake) {
  MlNode tensor("CastMap", 1);
  tensor.Input<float>({2}, {1, 2});
  EXPECT_THAT(tensor.Error(), HasSubstr("expected a map"));
  MlNode map("Normalizer", 1);
  map.Map(TensorProto::FLOAT, VectorOf(std::vector<float>{1}),
          VectorOf(Ints{1}));
  EXPECT_THAT(map.Error(),
              HasSubstr("expected tensors as operands, found a map"));
}

TEST(Maps, DoNotLeaveABranch) {
  onnx::ModelBuilder m(17);
  auto& import = *m.proto().add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(1);
  m.Input("condition", {}, TensorProto::BOOL);
  m.Input("x", {1, 1});
  onnx::NodeProto& node = m.Node("If", {"condition"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(AttributeProto::GRAPH);
    onnx::NodeProto& map = *attribute.mutable_g()->add_node();
    map.set_op_type("ZipMap");
    map.set_domain("ai.onnx.ml");
    map.add_input("x");
    map.add_output("z");
    AttributeProto& labels = *map.add_attribute();
    labels.set_name("classlabels_int64s");
    labels.set_type(AttributeProto::INTS);
    labels.add_ints(1);
    attribute.mutable_g()->add_output()->set_name("z");
  }
  m.Output("y");
  EXPECT_THAT(m.Import().status().ToString(),
              HasSubstr("a map as the result of a branch or in a loop is not "
                        "supported"));
}

}  // namespace
}  // namespace ember::tests

// Tests strings end to end: the operators on strings, and the operators that
// only move and compare elements and so accept strings, too. Expected values
// are worked out by hand from the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/node/tensor_proto.h"
#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;
using ::testing::HasSubstr;

using Texts = std::vector<std::string>;

void SetStrings(OneNode& node, const std::string& name, const Texts& texts) {
  onnx::AttributeProto& attribute = *node.node().add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRINGS);
  for (const std::string& text : texts) attribute.add_strings(text);
}

TensorProto StringsProto(const std::vector<int64_t>& dims, const Texts& texts) {
  TensorProto proto;
  EXPECT_TRUE(proto.ParseFromString(onnx::SerializeStrings("s", dims, texts)));
  return proto;
}

// Runs the node and expects that its only result has these strings.
void ExpectTexts(OneNode& node, const std::vector<int64_t>& dims,
                 const Texts& texts) {
  const auto results = node.RunTensors();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings(results->front(), dims, texts);
}

std::string ErrorOf(OneNode& node) {
  return std::string(node.RunTensors().status().message());
}

TEST(StringConcat, Broadcasts) {
  OneNode node("StringConcat", 20);
  node.Strings({2, 1}, {"a", "b"}, {-1, 1}).Strings({2}, {"x", ""});
  ExpectTexts(node, {2, 2}, {"ax", "a", "bx", "b"});
}

TEST(StringConcat, NumbersAreAnError) {
  OneNode node("StringConcat", 20);
  node.Strings({1}, {"a"}).Input(I64({1}, {0}));
  EXPECT_THAT(ErrorOf(node), HasSubstr("expected operands of type STRING"));
}

TEST(StringSplit, FillsUpShortRows) {
  OneNode node("StringSplit", 20, 2);
  node.Strings({2}, {"a,,b", "c"}, {-1}).Attribute({"delimiter", ","});
  const auto results = node.RunTensors();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings((*results)[0], {2, 3}, {"a", "", "b", "c", "", ""});
  const auto counts = (*results)[1].elements<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(counts.begin(), counts.end()),
            (std::vector<int64_t>{3, 1}));
}

TEST(StringSplit, AtWhiteSpaceSoOftenAtMost) {
  OneNode node("StringSplit", 20, 2);
  node.Strings({1, 1}, {"  one two  three "}).Attribute({"maxsplit", 1});
  const auto results = node.RunTensors();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings((*results)[0], {1, 1, 2}, {"one", "two  three "});
}

TEST(StringNormalizer, DropsWordsInAnyCase) {
  OneNode node("StringNormalizer", 10);
  node.Strings({1, 4}, {"Monday", "tuesday", "MONDAY", "Émile"}, {1, -1})
      .Attribute({"case_change_action", "UPPER"});
  SetStrings(node, "stopwords", {"monday"});
  ExpectTexts(node, {1, 2}, {"TUESDAY", "ÉMILE"});
}

TEST(StringNormalizer, DropsWordsInTheirCase) {
  OneNode node("StringNormalizer", 10);
  node.Strings({3}, {"Monday", "monday", "b"})
      .Attribute({"is_case_sensitive", 1});
  SetStrings(node, "stopwords", {"monday", "a"});
  ExpectTexts(node, {2}, {"Monday", "b"});
}

TEST(StringNormalizer, NothingLeftIsOneEmptyString) {
  OneNode node("StringNormalizer", 10);
  node.Strings({1, 2}, {"a", "A"});
  SetStrings(node, "stopwords", {"a"});
  ExpectTexts(node, {1, 1}, {""});
}

TEST(StringNormalizer, SeveralRowsAreAnError) {
  OneNode node("StringNormalizer", 10);
  node.Strings({2, 1}, {"a", "b"});
  EXPECT_THAT(ErrorOf(node), HasSubstr("expected [C] or [1, C], found [2, 1]"));
}

TEST(RegexFullMatch, MatchesTheWholeString) {
  OneNode node("RegexFullMatch", 20);
  node.Strings({2, 2}, {"abc", "ab", "xabc", "abbc"})
      .Attribute({"pattern", "ab+c"});
  const auto results = node.Run();
  ExpectNumbers(results, {{DType::kBool, {2, 2}, {1, 0, 0, 1}}});
}

TEST(RegexFullMatch, WhatIsNoExpressionIsAnError) {
  OneNode node("RegexFullMatch", 20);
  node.Strings({1}, {"a"}).Attribute({"pattern", "("});
  EXPECT_THAT(ErrorOf(node), HasSubstr("expected a regular expression"));
}

TEST(Strings, AreEqualByText) {
  OneNode node("Equal", 19);
  node.Strings({3}, {"a", "b", ""}).Strings({3}, {"a", "c", ""});
  ExpectNumbers(node.Run(), {{DType::kBool, {3}, {1, 0, 1}}});
  OneNode mixed("Equal", 19);
  mixed.Strings({1}, {"a"}).Input(I64({1}, {0}));
  EXPECT_THAT(ErrorOf(mixed), HasSubstr("expected operands of one type"));
}

TEST(Strings, HaveNoSum) {
  OneNode node("Add", 14);
  node.Strings({1}, {"a"}).Strings({1}, {"b"});
  EXPECT_THAT(ErrorOf(node), HasSubstr("operands of type STRING"));
}

TEST(Strings, CastToNumbersAndBack) {
  OneNode read("Cast", 19);
  read.Strings({4}, {"1.5", "-INF", "1e2", " 7"})
      .Attribute({"to", TensorProto::FLOAT});
  ExpectNumbers(read.Run(), {F32({4}, {1.5, -INFINITY, 100, 7})});
  OneNode write("Cast", 19);
  write.Input(I32({2}, {-3, 40})).Attribute({"to", TensorProto::STRING});
  ExpectTexts(write, {2}, {"-3", "40"});
  OneNode wrong("Cast", 19);
  wrong.Strings({1}, {"one"}).Attribute({"to", TensorProto::FLOAT});
  EXPECT_THAT(ErrorOf(wrong), HasSubstr("one"));
}

TEST(Strings, Move) {
  OneNode concat("Concat", 13);
  concat.Strings({2}, {"a", "b"}, {-1})
      .Strings({1}, {"a"})
      .Attribute({"axis", 0});
  ExpectTexts(concat, {3}, {"a", "b", "a"});
  OneNode where("Where", 16);
  where.Input({DType::kBool, {2}, {1, 0}})
      .Strings({2}, {"a", "b"})
      .Strings({1}, {"c"});
  ExpectTexts(where, {2}, {"a", "c"});
  OneNode scatter("ScatterElements", 18);
  scatter.Strings({3}, {"a", "b", "c"})
      .Input(I64({1}, {1}))
      .Strings({1}, {"x"});
  ExpectTexts(scatter, {3}, {"a", "x", "c"});
}

TEST(Strings, DoNotMixWithNumbers) {
  OneNode concat("Concat", 13);
  concat.Strings({1}, {"a"}).Input(I64({1}, {0})).Attribute({"axis", 0});
  EXPECT_THAT(ErrorOf(concat), HasSubstr("found string and i64"));
  OneNode scatter("ScatterElements", 18);
  scatter.Input(I64({1}, {5})).Input(I64({1}, {0})).Strings({1}, {"x"});
  EXPECT_THAT(ErrorOf(scatter), HasSubstr("found i64 and string"));
}

TEST(Strings, PaddingIsEmpty) {
  OneNode node("Pad", 19);
  node.Strings({1}, {"a"}).Constant(I64({2}, {1, 1}));
  ExpectTexts(node, {3}, {"", "a", ""});
}

TEST(Strings, ConstantsOfTheModel) {
  OneNode scalar("Constant", 13);
  scalar.Attribute({"value_string", "one"});
  ExpectTexts(scalar, {}, {"one"});
  OneNode list("Constant", 13);
  SetStrings(list, "value_strings", {"one", "two", "one"});
  ExpectTexts(list, {3}, {"one", "two", "one"});
  OneNode tensor("Constant", 13);
  AttributeProto& value = *tensor.node().add_attribute();
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  *value.mutable_t() = StringsProto({2, 1}, {"x", "y"});
  ExpectTexts(tensor, {2, 1}, {"x", "y"});
  value.mutable_t()->add_string_data("more");
  EXPECT_THAT(ErrorOf(tensor), HasSubstr("expected 2 strings for its dims"));
}

TEST(Strings, UniqueOnesInOrderOfTheirText) {
  OneNode node("Unique", 11, 4);
  node.Strings({5}, {"b", "a", "b", "c", "a"});
  const auto results = node.RunTensors();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings((*results)[0], {3}, {"a", "b", "c"});
  const auto inverse = (*results)[2].elements<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(inverse.begin(), inverse.end()),
            (std::vector<int64_t>{1, 0, 1, 2, 0}));
}

TEST(Strings, NonZeroOnesAreNotEmpty) {
  OneNode node("NonZero", 13);
  node.Strings({3}, {"a", "", "0"});
  ExpectNumbers(node.Run(), {I64({1, 2}, {0, 2})});
}

TEST(Strings, LabelsOfEncoders) {
  OneNode read("LabelEncoder", 17, 1, "ai.onnx.ml");
  read.Strings({3}, {"c", "a", "?"}, {-1})
      .Attribute({"values_int64s", std::vector<int64_t>{1, 2, 3}});
  SetStrings(read, "keys_strings", {"a", "b", "c"});
  ExpectNumbers(read.Run(), {I64({3}, {3, 1, -1})});
  OneNode write("LabelEncoder", 17, 1, "ai.onnx.ml");
  write.Input(I64({2}, {1, 5}))
      .Attribute({"keys_int64s", std::vector<int64_t>{1, 2}});
  SetStrings(write, "values_strings", {"one", "two"});
  ExpectTexts(write, {2}, {"one", "_Unused"});
}

TEST(Strings, CategoriesOfEncoders) {
  OneNode mapper("CategoryMapper", 17, 1, "ai.onnx.ml");
  mapper.Strings({2}, {"b", "?"})
      .Attribute({"cats_int64s", std::vector<int64_t>{7, 8}})
      .Attribute({"default_int64", 5});
  SetStrings(mapper, "cats_strings", {"a", "b"});
  ExpectNumbers(mapper.Run(), {I64({2}, {8, 5})});
  OneNode one_hot("OneHotEncoder", 17, 1, "ai.onnx.ml");
  one_hot.Strings({2}, {"b", "?"});
  SetStrings(one_hot, "cats_strings", {"a", "b"});
  ExpectNumbers(one_hot.Run(), {F32({2, 2}, {0, 1, 0, 0})});
}

TEST(Strings, ClassesOfClassifiers) {
  OneNode node("LinearClassifier", 17, 2, "ai.onnx.ml");
  node.Input(F32({2, 1}, {1, -1}));
  for (const auto& [name, values] :
       {std::pair<std::string, std::vector<float>>{"coefficients", {1, -1}},
        {"intercepts", {0, 0}}}) {
    AttributeProto& attribute = *node.node().add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::FLOATS);
    for (float value : values) attribute.add_floats(value);
  }
  SetStrings(node, "classlabels_strings", {"up", "down"});
  const auto results = node.RunTensors();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectStrings((*results)[0], {2}, {"up", "down"});
}

// The model passes strings x[2] through a sequence, a branch and a loop.
TEST(Strings, InSequencesBranchesAndLoops) {
  onnx::ModelBuilder body(20);
  for (const char* name : {"i", "go", "word"}) {
    onnx::ValueInfoProto& input = *body.graph().add_input();
    input.set_name(name);
  }
  body.Node("StringConcat", {"word", "b"}, {"longer"});
  body.Node("Identity", {"go"}, {"on"});
  for (const char* name : {"on", "longer", "word"})
    body.graph().add_output()->set_name(name);
  onnx::ModelBuilder then(20);
  then.Node("Identity", {"a"}, {"first"});
  then.graph().add_output()->set_name("first");
  onnx::ModelBuilder otherwise(20);
  otherwise.Node("Constant", {}, {"none"}, {{"value_string", "none"}});
  otherwise.graph().add_output()->set_name("none");

  onnx::ModelBuilder model(20);
  model.Input("x", {2}, TensorProto::STRING);
  model.Input("flag", {}, TensorProto::BOOL);
  model.Node("Constant", {}, {"zero"}, {{"value_int", 0}});
  model.Node("Constant", {}, {"two"}, {{"value_int", 2}});
  model.Node("SplitToSequence", {"x"}, {"list"}, {{"keepdims", 0}});
  model.Node("SequenceAt", {"list", "zero"}, {"a"});
  model.Node("Constant", {}, {"b"}, {{"value_string", "+"}});
  onnx::NodeProto& branch = model.Node("If", {"flag"}, {"chosen"});
  onnx::NodeProto& loop =
      model.Node("Loop", {"two", "", "chosen"}, {"last", "all"});
  const auto set = [](onnx::NodeProto& node, const char* name,
                      const onnx::GraphProto& graph) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::GRAPH);
    *attribute.mutable_g() = graph;
  };
  set(branch, "then_branch", then.graph());
  set(branch, "else_branch", otherwise.graph());
  set(loop, "body", body.graph());
  model.Output("last");
  model.Output("all");
  const vm::Tensor x = *vm::Tensor::OfStrings({2}, {"p", "q"});
  for (const bool flag : {true, false}) {
    const auto results = RunGraph(
        model.Import(), {x, vm::Tensor::Borrow(DType::kBool, {}, &flag)});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    const std::string start = flag ? "p" : "none";
    ExpectStrings((*results)[0], {}, {start + "++"});
    ExpectStrings((*results)[1], {2}, {start, start + "+"});
  }
}

TEST(Strings, NgramsOfAPool) {
  OneNode node("TfIdfVectorizer", 9);
  node.Strings({4}, {"a", "b", "a", "b"})
      .Attribute({"min_gram_length", 1})
      .Attribute({"max_gram_length", 2})
      .Attribute({"max_skip_count", 0})
      .Attribute({"mode", "TF"})
      .Attribute({"ngram_counts", std::vector<int64_t>{0, 2}})
      .Attribute({"ngram_indexes", std::vector<int64_t>{0, 1, 2}});
  // The pool has the n-grams "a", "z" (of length 1) and "a b" (of length 2).
  SetStrings(node, "pool_strings", {"a", "z", "a", "b"});
  ExpectNumbers(node.Run(), {F32({3}, {2, 0, 2})});
}

TEST(Strings, AreNoIndices) {
  // Strings are represented by i64 handles. Numbers of the type i64 must not be
  // taken for strings.
  for (const Numbers& data : {F32({2}, {1, 2}), I64({2}, {1, 2})}) {
    OneNode node("Gather", 13);
    node.Input(data).Strings({1}, {"a"});
    EXPECT_THAT(
        node.Run().status().ToString(),
        ::testing::HasSubstr(
            "input 1: operands of type STRING are not taken in this place"));
  }
}

}  // namespace
}  // namespace ember::tests

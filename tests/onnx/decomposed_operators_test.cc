// Tests operators that are decomposed into several others, against plain loops
// that follow the specification's text, and models of several nodes. Single
// nodes with numbers worked out by hand are in cases/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using Values = std::vector<double>;

constexpr unsigned kSeed = 20240607;

Values RandomValues(std::mt19937& random, size_t count, double low,
                    double high) {
  std::uniform_real_distribution<float> distribution(static_cast<float>(low),
                                                     static_cast<float>(high));
  Values values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

// Rows that are long enough to be split into two reductions
// (compiler/passes/split_searches.h) and shorter ones, with ties, infinities
// and NaN.
TEST(ArgReduce, RowsOfAnyLength) {
  std::mt19937 random(kSeed);
  for (const int64_t length : {5, 16, 40}) {
    Values x(static_cast<size_t>(8 * length));
    for (double& value : x) value = static_cast<double>(random() % 7) - 3;
    x[1] = -INFINITY;
    x[static_cast<size_t>(length) + 2] = INFINITY;
    for (const int64_t row : {2, 3})
      for (const int64_t k : {1, 3})
        x[static_cast<size_t>(row * length + k)] = NAN;
    for (int64_t k = 0; k < length; ++k) {
      x[static_cast<size_t>(4 * length + k)] = NAN;
      x[static_cast<size_t>(5 * length + k)] = -INFINITY;
      x[static_cast<size_t>(6 * length + k)] = INFINITY;
    }
    for (const bool is_most : {true, false}) {
      for (const bool takes_last : {true, false}) {
        Values expected;
        for (int64_t row = 0; row < 8; ++row) {
          int64_t best = 0;
          for (int64_t k = 1; k < length; ++k) {
            const double a = x[static_cast<size_t>(row * length + k)];
            const double b = x[static_cast<size_t>(row * length + best)];
            const bool equal = a == b || (std::isnan(a) && std::isnan(b));
            const bool wins = std::isnan(a) ? !std::isnan(b)
                              : is_most     ? a > b
                                            : a < b;
            if (wins || (equal && takes_last)) best = k;
          }
          expected.push_back(static_cast<double>(best));
        }
        OneNode node(is_most ? "ArgMax" : "ArgMin", 13);
        node.Input(F32({8, length}, x));
        node.Attribute({"axis", 1});
        node.Attribute({"select_last_index", takes_last ? 1 : 0});
        SCOPED_TRACE(length);
        ExpectNumbers(node.Run(), {I64({8, 1}, expected)});
      }
    }
  }
}

// Indices that a MaxPool of the same graph made count the elements of the
// MaxPool's operand, not those of the result of MaxUnpool.
TEST(MaxUnpool, IndicesOfAMaxPoolCountInWhatItPooled) {
  for (const bool open : {true, false}) {
    OneNode node("MaxPool", 11, 2);
    Values x, expected(25);
    for (int i = 0; i < 25; ++i) x.push_back(i * 7 % 25);
    if (open)
      node.Input(F32({1, 1, 5, 5}, x), {-2, -2, -2, -2});
    else
      node.Input(F32({1, 1, 5, 5}, x));
    node.Attribute({"kernel_shape", std::vector<int64_t>{2, 2}});
    node.Attribute({"strides", std::vector<int64_t>{2, 2}});
    onnx::ModelBuilder& model = node.model();
    model.Node("Shape", {"x0"}, {"shape"});
    model.Node("MaxUnpool", {"y0", "y1", "shape"}, {"z"},
               {{"kernel_shape", std::vector<int64_t>{2, 2}},
                {"strides", std::vector<int64_t>{2, 2}}});
    model.graph().mutable_output()->RemoveLast();
    model.graph().mutable_output(0)->set_name("z");
    for (const int row : {0, 2}) {
      for (const int column : {0, 2}) {
        int best = row * 5 + column;
        for (const int at : {best + 1, best + 5, best + 6})
          if (x[static_cast<size_t>(at)] > x[static_cast<size_t>(best)])
            best = at;
        expected[static_cast<size_t>(best)] = x[static_cast<size_t>(best)];
      }
    }
    ExpectNumbers(node.Run(), {F32({1, 1, 5, 5}, expected)});
  }
}

TEST(DeformConv, WithoutOffsetsItIsConv) {
  std::mt19937 random(kSeed);
  const Numbers x = F32({2, 4, 5, 6}, RandomValues(random, 240, -1, 1));
  const Numbers w = F32({6, 2, 3, 2}, RandomValues(random, 72, -1, 1));
  auto configure = [&](OneNode& node) {
    node.Attribute({"group", 2});
    node.Attribute({"strides", std::vector<int64_t>{2, 1}});
    node.Attribute({"pads", std::vector<int64_t>{1, 0, 0, 2}});
    node.Attribute({"dilations", std::vector<int64_t>{1, 2}});
  };
  OneNode conv("Conv", 22);
  conv.Input(x).Constant(w);
  configure(conv);
  const auto expected = conv.Run();
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  const std::vector<int64_t>& dims = expected->front().dims;
  OneNode node("DeformConv", 22);
  node.Input(x).Constant(w);
  node.Input(F32({2, 24, dims[2], dims[3]},
                 Values(static_cast<size_t>(48 * dims[2] * dims[3]))));
  node.Attribute({"offset_group", 2});
  configure(node);
  ExpectNumbers(node.Run(), *expected);
}

TEST(BitCast, CarriedTypes) {
  // Bytes become E4M3 numbers with the same bits: 0x38 is 1, 0xC4 is -3.
  OneNode node("BitCast", 26);
  node.Input({DType::kU8, {2}, {0x38, 0xC4}});
  node.Attribute({"to", onnx::TensorProto::FLOAT8E4M3FN});
  node.model().graph().mutable_output(0)->set_name("numbers");
  node.model().Node("Cast", {"y0"}, {"numbers"}, {{"to", 1}});
  ExpectNumbers(node.Run(), {F32({2}, {1, -3})});
  // Numbers of 4 bits keep their bits when UINT4 becomes INT4: 9 becomes -7.
  OneNode four("Cast", 26);
  four.Input(F32({3}, {9, 15, 3}));
  four.Attribute({"to", onnx::TensorProto::UINT4});
  four.model().graph().mutable_output(0)->set_name("numbers");
  four.model().Node("BitCast", {"y0"}, {"signed"},
                    {{"to", onnx::TensorProto::INT4}});
  four.model().Node("Cast", {"signed"}, {"numbers"}, {{"to", 1}});
  ExpectNumbers(four.Run(), {F32({3}, {-7, -1, 3})});
}

TEST(Constant, SparseValueBecomesDense) {
  for (const bool tuples : {false, true}) {
    OneNode node("Constant", 13);
    onnx::AttributeProto& attribute = *node.node().add_attribute();
    attribute.set_name("sparse_value");
    attribute.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    onnx::SparseTensorProto& sparse = *attribute.mutable_sparse_tensor();
    sparse.add_dims(2), sparse.add_dims(3);
    onnx::TensorProto& values = *sparse.mutable_values();
    values.set_data_type(onnx::TensorProto::FLOAT);
    values.add_dims(2), values.add_float_data(7), values.add_float_data(8);
    onnx::TensorProto& indices = *sparse.mutable_indices();
    indices.set_data_type(onnx::TensorProto::INT64);
    indices.add_dims(2);
    if (tuples) indices.add_dims(2);
    for (int64_t index : tuples ? std::vector<int64_t>{0, 1, 1, 2}
                                : std::vector<int64_t>{1, 5}) {
      indices.add_int64_data(index);
    }
    ExpectNumbers(node.Run(), {F32({2, 3}, {0, 7, 0, 0, 0, 8})});
    indices.set_int64_data(1, 6);
    const auto outside = node.Run();
    ASSERT_FALSE(outside.ok());
    EXPECT_NE(outside.status().message().find("expected indices from 0 to"),
              std::string::npos)
        << outside.status().ToString();
  }
}

// Casts 1, 1.25, 1.5, 1.75, 3e38 and infinity to FLOAT8E8M0 (powers of two) and
// returns the bits of the results.
Values PowerCodes(const char* round_mode, int saturate) {
  OneNode node("Cast", 26);
  node.Input(F32({6}, {1, 1.25, 1.5, 1.75, 3e38, INFINITY}));
  node.Attribute({"to", onnx::TensorProto::FLOAT8E8M0});
  node.Attribute({"round_mode", round_mode}).Attribute({"saturate", saturate});
  node.model().graph().mutable_output(0)->set_name("codes");
  node.model().Node("BitCast", {"y0"}, {"codes"}, {{"to", 2}});
  const auto results = node.Run();
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  return results.ok() ? results->front().values : Values();
}

TEST(Cast, PowersOfTwo) {
  EXPECT_EQ(PowerCodes("up", 1), (Values{127, 128, 128, 128, 254, 255}));
  EXPECT_EQ(PowerCodes("down", 1), (Values{127, 127, 127, 127, 254, 255}));
  EXPECT_EQ(PowerCodes("nearest", 1), (Values{127, 127, 128, 128, 254, 255}));
  EXPECT_EQ(PowerCodes("nearest", 0), (Values{127, 127, 128, 128, 255, 255}));
}

TEST(IsNan, CarriedTypes) {
  OneNode node("Cast", 22);
  node.Input(F32({2}, {1, NAN}))
      .Attribute({"to", onnx::TensorProto::FLOAT8E5M2});
  node.model().graph().mutable_output(0)->set_name("y");
  node.model().Node("IsNaN", {"y0"}, {"y"});
  ExpectNumbers(node.Run(), {{DType::kBool, {2}, {0, 1}}});
}

TEST(FlexAttention, SubgraphsSeeWholeTensorsAndOuterValues) {
  OneNode node("FlexAttention", 26, 1, "ai.onnx.preview");
  // Two query heads share one key head. All scores are 0, so without the
  // subgraph each result would be the mean of the values.
  node.Input(F32({1, 2, 1, 1}, {0, 0}));
  node.Input(F32({1, 1, 2, 1}, {1, 2}), {1, 1, -1, 1});
  node.Input(F32({1, 1, 2, 2}, {1, 2, 3, 6}), {1, 1, -1, 2});
  node.model().Floats("factor", {1, 2, 1, 1}, {1, 10});
  onnx::AttributeProto& attribute = *node.node().add_attribute();
  attribute.set_name("prob_mod");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& graph = *attribute.mutable_g();
  graph.add_input()->set_name("p");
  graph.add_output()->set_name("q");
  onnx::NodeProto& scale = *graph.add_node();
  scale.set_op_type("Mul");
  scale.add_input("p"), scale.add_input("factor"), scale.add_output("q");
  ExpectNumbers(node.Run(), {F32({1, 2, 1, 2}, {2, 4, 20, 40})});
}

TEST(MelWeightMatrix, SizesAreConstantsOrInputs) {
  const auto run = [](bool known) {
    OneNode node("MelWeightMatrix", 17);
    for (const Numbers& value : {I64({}, {8}), I64({}, {16}), I64({}, {8192}),
                                 F32({}, {0}), F32({}, {4096})}) {
      if (known)
        node.Constant(value);
      else
        node.Input(value);
    }
    return node.Run();
  };
  const auto known = run(true);
  ASSERT_TRUE(known.ok()) << known.status().ToString();
  ASSERT_EQ((*known)[0].dims, (std::vector<int64_t>{9, 8}));
  ExpectNumbers(run(false), *known);
}

// A shape with -1 is refused with advice: PyTorch's expand writes -1 for a dim
// that stays, but ONNX writes 1.
TEST(Expand, NamesADimThatIsNegative) {
  OneNode node("Expand", 13);
  node.Input(F32({1, 2}, {5, 6})).Constant(I64({2}, {3, -1}));
  EXPECT_THAT(node.Run().status().ToString(),
              ::testing::HasSubstr(
                  "shape (input 1): expected dims of at least 0, found "
                  "[3, -1]; write 1 for a dim that stays as it is"));
}

}  // namespace
}  // namespace ember::tests

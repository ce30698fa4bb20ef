// Tests operators that are decomposed into several others, against plain loops
// that follow the specification's text, and against numbers worked out by hand.
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

TEST(Det, PivotsAndBatches) {
  OneNode node("Det", 22);
  node.Input(F32({3, 2, 2}, {0, 1, 1, 0, 1, 2, 2, 4, 3, 1, 4, 2}), {-1, 2, 2});
  ExpectNumbers(node.Run(), {F32({3}, {-1, 0, 2})});
  OneNode three("Det", 11);
  three.Input({DType::kF64, {3, 3}, {2, 0, 1, 4, 0, 3, 1, 5, 2}});
  ExpectNumbers(three.Run(), {{DType::kF64, {}, {-10}}});
}

// If an output shape is given, the windows cover only its beginning, and the
// indices count positions in the area that the windows cover. ONNX publishes
// this case as maxunpool_export_with_output_shape.
TEST(MaxUnpool, IndicesCountInTheShapeOfTheWindows) {
  for (const bool known : {true, false}) {
    OneNode node("MaxUnpool", 22);
    node.Input(F32({1, 1, 2, 2}, {5, 6, 7, 8}), {-2, -2, -2, -2});
    node.Input(I64({1, 1, 2, 2}, {5, 7, 13, 15}));
    const Numbers shape = I64({4}, {1, 1, 5, 5});
    if (known)
      node.Constant(shape);
    else
      node.Input(shape);
    node.Attribute({"kernel_shape", std::vector<int64_t>{2, 2}});
    node.Attribute({"strides", std::vector<int64_t>{2, 2}});
    Values expected(25);
    expected[6] = 5, expected[8] = 6, expected[16] = 7, expected[18] = 8;
    ExpectNumbers(node.Run(), {F32({1, 1, 5, 5}, expected)});
  }
}

// If a MaxPool of the same graph made the indices, they count the elements of
// the MaxPool's operand.
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

TEST(MaxUnpool, ShapeFollowsFromTheWindow) {
  OneNode node("MaxUnpool", 9);
  node.Input(F32({1, 1, 2}, {5, 6}));
  node.Input(I64({1, 1, 2}, {0, 2}));
  node.Attribute({"kernel_shape", std::vector<int64_t>{3}});
  node.Attribute({"strides", std::vector<int64_t>{2}});
  node.Attribute({"pads", std::vector<int64_t>{1, 1}});
  // The extent of the result is (2 - 1) * 2 + 3 - 2.
  ExpectNumbers(node.Run(), {F32({1, 1, 3}, {5, 0, 6})});
}

TEST(TensorScatter, CircularWritesWrap) {
  OneNode node("TensorScatter", 24);
  node.Input(F32({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  node.Input(F32({2, 2, 1}, {10, 20, 30, 40}));
  node.Input(I64({2}, {3, 1}));
  node.Attribute({"mode", "circular"});
  ExpectNumbers(node.Run(), {F32({2, 4, 1}, {20, 2, 3, 10, 5, 30, 40, 8})});
}

TEST(TensorScatter, StartsAtZeroWithoutIndices) {
  OneNode node("TensorScatter", 24);
  node.Input(F32({1, 1, 3}, {1, 2, 3}));
  node.Input(F32({1, 1, 2}, {10, 20}));
  node.Attribute({"axis", -1});
  ExpectNumbers(node.Run(), {F32({1, 1, 3}, {10, 20, 3})});
}

OneNode TfIdf(const char* mode, int skips) {
  OneNode node("TfIdfVectorizer", 9);
  node.Attribute({"mode", mode}).Attribute({"max_skip_count", skips});
  node.Attribute({"min_gram_length", 1}).Attribute({"max_gram_length", 2});
  node.Attribute({"ngram_counts", std::vector<int64_t>{0, 2}});
  node.Attribute({"ngram_indexes", std::vector<int64_t>{3, 0, 1}});
  // The pool has the 1-grams 2 and 3, and the 2-gram 2, 3.
  node.Attribute({"pool_int64s", std::vector<int64_t>{2, 3, 2, 3}});
  onnx::AttributeProto& weights = *node.node().add_attribute();
  weights.set_name("weights");
  weights.set_type(onnx::AttributeProto::FLOATS);
  for (float weight : {10.0f, 20.0f, 0.5f}) weights.add_floats(weight);
  return node;
}

TEST(TfIdfVectorizer, ModesAndSkips) {
  const Numbers x{DType::kI32, {6}, {2, 2, 3, 3, 9, 2}};
  auto run = [&](const char* mode, int skips) {
    OneNode node = TfIdf(mode, skips);
    node.Input(x, {-1});
    return node.Run();
  };
  // The pair 2, 3 occurs once in adjacent positions, and twice if one element
  // may be skipped between them.
  ExpectNumbers(run("TF", 0), {F32({4}, {2, 1, 0, 3})});
  ExpectNumbers(run("TF", 1), {F32({4}, {2, 3, 0, 3})});
  ExpectNumbers(run("IDF", 1), {F32({4}, {20, 0.5, 0, 10})});
  ExpectNumbers(run("TFIDF", 1), {F32({4}, {40, 1.5, 0, 30})});
}

TEST(TfIdfVectorizer, SequencesShorterThanTheNgrams) {
  OneNode node = TfIdf("TF", 5);
  node.Input({DType::kI64, {2, 1}, {2, 3}}, {2, -1});
  ExpectNumbers(node.Run(), {F32({2, 4}, {0, 0, 0, 1, 1, 0, 0, 0})});
}

constexpr char kTraining[] = "ai.onnx.preview.training";

TEST(Momentum, Nesterov) {
  OneNode node("Momentum", 7, 2, kTraining);
  node.Input(F32({}, {0.1})).Input(I64({}, {0}));
  node.Input(F32({1}, {2})).Input(F32({1}, {3})).Input(F32({1}, {4}));
  node.Attribute({"alpha", 0.5}).Attribute({"beta", 0.25});
  node.Attribute({"norm_coefficient", 0.5}).Attribute({"mode", "nesterov"});
  // Expected values: the gradient g = 0.5 * 2 + 3 = 4; the momentum v = 0.5 * 4
  // + 1 * 4 = 6 (beta does not apply at T = 0); x = 2 - 0.1 * (4 + 0.5 * 6).
  ExpectNumbers(node.Run(), {F32({1}, {1.3}), F32({1}, {6})});
}

TEST(Adam, AdjustsTheRateAfterTheFirstStep) {
  OneNode node("Adam", 7, 3, kTraining);
  node.Input(F32({1}, {0.1})).Input(I64({}, {1}));
  node.Input(F32({1}, {2})).Input(F32({1}, {3}));
  node.Input(F32({1}, {1})).Input(F32({1}, {4}));
  node.Attribute({"alpha", 0.5}).Attribute({"beta", 0.75});
  node.Attribute({"epsilon", 0.0}).Attribute({"norm_coefficient_post", 0.5});
  // Expected values: v = 0.5 + 1.5 and h = 3 + 2.25; rate = 0.1 * sqrt(0.25) /
  // 0.5.
  ExpectNumbers(node.Run(), {F32({1}, {(2 - 0.1 * 2 / std::sqrt(5.25)) * 0.5}),
                             F32({1}, {2}), F32({1}, {5.25})});
}

TEST(Adagrad, DecaysTheRate) {
  OneNode node("Adagrad", 7, 2, kTraining);
  node.Input({DType::kF64, {}, {0.5}}).Input(I64({}, {2}));
  node.Input({DType::kF64, {1}, {1}}).Input({DType::kF64, {1}, {3}});
  node.Input({DType::kF64, {1}, {16}});
  node.Attribute({"decay_factor", 0.5}).Attribute({"epsilon", 1.0});
  // Expected values: rate = 0.5 / 2, the squared gradients h = 25, and x = 1 -
  // 0.25 * 3 / (5 + 1).
  ExpectNumbers(node.Run(),
                {{DType::kF64, {1}, {0.875}}, {DType::kF64, {1}, {25}}});
}

TEST(DeformConv, OffsetsMaskAndBias) {
  OneNode node("DeformConv", 19);
  // The window has one element, so each result is one interpolated element of
  // the input, times the weight.
  node.Input(F32({1, 1, 2, 2}, {1, 2, 3, 4}));
  node.Constant(F32({1, 1, 1, 1}, {2}));
  // The first four offsets are along y, the last four along x. With them the
  // four results read a point in the middle of four elements, a point half an
  // element above the map, an element itself, and a point far outside.
  node.Input(F32({1, 2, 2, 2}, {0.5, -0.5, 0, 9, 0.5, 0, 0, 9}));
  node.Input(F32({1}, {100}));
  node.Input(F32({1, 1, 2, 2}, {1, 1, 0.5, 1}));
  ExpectNumbers(node.Run(), {F32({1, 1, 2, 2}, {105, 102, 103, 100})});
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

TEST(Cast, LargeNumbersSaturateAndNegativeOnesWrap) {
  OneNode node("Cast", 22);
  node.Input(F32({5}, {-1, 300, -129.7, 65536 + 7, 255.9}));
  node.Attribute({"to", 2});
  ExpectNumbers(node.Run(), {{DType::kU8, {5}, {255, 255, 127, 255, 255}}});
  OneNode wide("Cast", 22);
  wide.Input({DType::kF64, {2}, {-1, 4294967298.0}});
  wide.Attribute({"to", 12});
  ExpectNumbers(wide.Run(), {{DType::kU32, {2}, {4294967295.0, 4294967295.0}}});
}

TEST(Cast, TypesWereWrittenOutBeforeOpset6) {
  OneNode node("Cast", 1);
  node.Input(F32({2}, {1.5, -2.5}));
  node.Attribute({"to", "INT64"});
  ExpectNumbers(node.Run(), {I64({2}, {1, -2})});
}

TEST(BitCast, CarriedTypes) {
  // u8 is cast to E4M3: 0x38 is 1, 0xC4 is -3.
  OneNode node("BitCast", 26);
  node.Input({DType::kU8, {2}, {0x38, 0xC4}});
  node.Attribute({"to", onnx::TensorProto::FLOAT8E4M3FN});
  node.model().graph().mutable_output(0)->set_name("numbers");
  node.model().Node("Cast", {"y0"}, {"numbers"}, {{"to", 1}});
  ExpectNumbers(node.Run(), {F32({2}, {1, -3})});
  // Four-bit numbers are cast bit by bit to another type.
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

// Returns the codes of 1, 1.25, 1.5, 1.75, 3e38 and infinity as powers of two.
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

TEST(BatchNormalization, PerElementUntilOpset8) {
  OneNode node("BatchNormalization", 7);
  node.Input(F32({2, 1, 2}, {1, 2, 3, 4}));
  for (const Values& parameter :
       {Values{1, 2}, Values{0, 10}, Values{1, 0}, Values{4, 1}}) {
    node.Input(F32({1, 2}, parameter));
  }
  node.Attribute({"spatial", 0}).Attribute({"epsilon", 0.0});
  ExpectNumbers(node.Run(), {F32({2, 1, 2}, {0, 14, 1, 18})});
}

TEST(BatchNormalization, TrainingBeforeOpset14) {
  OneNode node("BatchNormalization", 9, 5);
  node.Input(F32({4, 1}, {1, 3, 1, 3}));
  for (const double parameter : {2, 1, 10, 20})
    node.Input(F32({1}, {parameter}));
  node.Attribute({"epsilon", 3.0}).Attribute({"momentum", 0.5});
  // The mean of the batch is 2 and its variance is 1. With momentum 0.5, half
  // of them is added to half of the running statistics.
  ExpectNumbers(node.Run(), {F32({4, 1}, {0, 2, 0, 2}), F32({1}, {6}),
                             F32({1}, {10.5}), F32({1}, {2}), F32({1}, {1})});
}

TEST(Gemm, ScalesDoublesAsDoubles) {
  OneNode node("Gemm", 13);
  node.Input({DType::kF64, {1, 1}, {1 + 1e-12}});
  node.Input({DType::kF64, {1, 1}, {1}}).Attribute({"alpha", 0.5});
  ExpectNumbers(node.Run(), {{DType::kF64, {1, 1}, {0.5 + 0.5e-12}}}, 1e-14);
}

TEST(QuantizeLinear, DividesInTheScalesPrecisionSinceOpset23) {
  // The quotient 2056 / 3 = 685.33 is 685.5 in f16, which rounds to 686, the
  // even neighbour. In f32 it rounds to 685.
  for (const bool single : {false, true}) {
    OneNode node("QuantizeLinear", 23);
    node.Input({DType::kF16, {2}, {1003, 2056}});
    node.Input({DType::kF16, {}, {3}});
    node.Attribute({"output_dtype", onnx::TensorProto::INT16});
    if (single) node.Attribute({"precision", onnx::TensorProto::FLOAT});
    ExpectNumbers(node.Run(),
                  {{DType::kI16, {2}, {334, single ? 685.0 : 686.0}}}, 0);
  }
}

TEST(FlexAttention, SubgraphsSeeWholeTensorsAndOuterValues) {
  OneNode node("FlexAttention", 26, 1, "ai.onnx.preview");
  // Two query heads share one head of keys. All scores are 0, so the result is
  // the mean of the values.
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

// The dims are open: when the model runs they must be equal, or one of them 1.
// Otherwise the run fails.
TEST(Expand, DimsThatOnlyTheProgramKnows) {
  const auto expand = [](std::vector<double> x, double target) {
    const auto extent = static_cast<int64_t>(x.size());
    OneNode node("Expand", 13);
    node.Input(F32({extent}, std::move(x)), {-1});
    return node.Input(I64({1}, {target})).Run();
  };
  ExpectNumbers(expand({5}, 3), {F32({3}, {5, 5, 5})});
  ExpectNumbers(expand({5, 6}, 2), {F32({2}, {5, 6})});
  ExpectNumbers(expand({5, 6}, 1), {F32({2}, {5, 6})});
  for (const double target : {3, 5}) {
    EXPECT_THAT(expand({5, 6, 7, 8}, target).status().ToString(),
                ::testing::HasSubstr("expected equal dims or 1"));
  }
}

// PyTorch's expand has -1 for a dim that stays; ONNX has 1.
TEST(Expand, NamesADimThatIsNegative) {
  OneNode node("Expand", 13);
  node.Input(F32({1, 2}, {5, 6})).Constant(I64({2}, {3, -1}));
  EXPECT_THAT(node.Run().status().ToString(),
              ::testing::HasSubstr(
                  "shape (input 1): expected dims of at least 0, found "
                  "[3, -1]; write 1 for a dim that stays as it is"));
}

TEST(ConvTranspose, PadsThatLeaveNoRows) {
  OneNode node("ConvTranspose", 11);
  node.Input(F32({1, 1, 2, 2}, {1, 2, 3, 4}));
  node.Constant(F32({1, 1, 2, 2}, {1, 1, 1, 1}));
  node.Attribute({"strides", std::vector<int64_t>{2, 2}});
  node.Attribute({"pads", std::vector<int64_t>{2, 0, 2, 0}});
  ExpectNumbers(node.Run(), {F32({1, 1, 0, 4}, {})});
}

TEST(Dft, OfASignalWhosePartsAreOpen) {
  // The last dim of the signal is open: when the model runs, 1 means a real
  // signal and 2 a complex one.
  OneNode real("DFT", 20);
  real.Input(F32({1, 4, 1}, {0, 1, 0, 0}), {1, 4, -1});
  ExpectNumbers(real.Run(), {F32({1, 4, 2}, {1, 0, 0, -1, -1, 0, 0, 1})});
  OneNode complex("DFT", 20);
  complex.Input(F32({1, 2, 2}, {1, 0, 0, 1}), {1, 2, -1});
  ExpectNumbers(complex.Run(), {F32({1, 2, 2}, {1, 1, 1, -1})});
}

TEST(Slice, OfNothingBackwardIsNothing) {
  OneNode node("Slice", 13);
  node.Input(F32({0, 2}, {}));
  // These constants are the operands start, end, axis and step of Slice.
  for (const double number : {1.0, -5.0, 0.0, -1.0})
    node.Constant(I64({1}, {number}));
  ExpectNumbers(node.Run(), {F32({0, 2}, {})});
}

}  // namespace
}  // namespace ember::tests

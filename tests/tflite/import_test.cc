// Tests refused files and their error messages, and the several forms of
// constants.
#include "frontends/tflite/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using schema::TensorType;
using ::testing::HasSubstr;
using tflite::ModelBuilder;
using tflite::TestTensor;

std::string ErrorOf(const std::string& file,
                    const frontends::ImportOptions& options = {}) {
  const auto graph = tflite::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      options, "m.tflite");
  if (graph.ok()) return "";
  EXPECT_EQ(graph.status().message().find('\n'), std::string_view::npos);
  return std::string(graph.status().message());
}

TEST(Import, AllUnsupportedOperatorsAtOnce) {
  ModelBuilder m;
  const int x = m.Input({.shape = {2}});
  const int a = m.Tensor({.shape = {2}, .name = "a"});
  const int b = m.Tensor({.shape = {2}, .name = "b"});
  const int y = m.Output({.shape = {2}, .name = "y"});
  m.Operator(Code::RANDOM_UNIFORM, {x}, {a});
  m.Custom("MyOwn", {a}, {b});
  m.Custom("FlexErf", {b}, {b});
  m.Custom("MyOwn", {b}, {y});
  EXPECT_EQ(ErrorOf(m.Finish()),
            "model 'm.tflite': unsupported operators: RANDOM_UNIFORM (node "
            "'a'; random numbers differ from run to run: make them an input of "
            "the model), custom operator FlexErf (node 'b'; it is an operator "
            "of TensorFlow itself: give the SavedModel that the file was "
            "converted from, or convert it without SELECT_TF_OPS), custom "
            "operator MyOwn (node 'b', 2 nodes; only the program that the "
            "model was made for knows what it computes: convert the model "
            "without it)");
}

TEST(Import, WhatIsNoModel) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("expected a TensorFlow Lite model"));
  EXPECT_THAT(ErrorOf("\x1c\x01\x01\x01TFL3 and then nothing that fits"),
              HasSubstr("whose tables do not verify"));
  ModelBuilder old;
  old.SetVersion(2);
  EXPECT_THAT(ErrorOf(old.Finish()),
              HasSubstr("expected version 3 of the format, found 2"));
}

TEST(Import, WhatDoesNotFit) {
  ModelBuilder indices;
  indices.Operator(Code::ABS, {7}, {indices.Output({.shape = {2}})});
  EXPECT_THAT(ErrorOf(indices.Finish()),
              HasSubstr("operator 0, inputs: expected one of 1 tensors, found "
                        "number 7"));
  ModelBuilder bytes;
  bytes.Tensor({.shape = {2}, .name = "w", .data = "123"});
  EXPECT_THAT(ErrorOf(bytes.Finish()),
              HasSubstr("tensor 'w': expected 8 bytes of data, found 3"));
  ModelBuilder operands;
  operands.Operator(Code::ADD, {operands.Input({.shape = {2}})},
                    {operands.Output({.shape = {2}, .name = "sum"})});
  EXPECT_THAT(ErrorOf(operands.Finish()),
              HasSubstr("node 'sum (ADD)': expected 2 to 2 inputs, found 1"));
  ModelBuilder left_out;
  left_out.Operator(Code::ADD, {left_out.Input({.shape = {2}}), -1},
                    {left_out.Output({.shape = {2}, .name = "sum"})});
  EXPECT_THAT(ErrorOf(left_out.Finish()),
              HasSubstr("node 'sum (ADD)': expected input 1, found it left "
                        "out"));
  ModelBuilder order;
  const int later = order.Tensor({.shape = {2}, .name = "later"});
  order.Operator(Code::ABS, {later}, {order.Output({.shape = {2}})});
  EXPECT_THAT(ErrorOf(order.Finish()), HasSubstr("tensor 'later': expected"));
}

TEST(Import, Pins) {
  ModelBuilder m;
  tflite::TestTensor open{.shape = {1, 2}, .name = "x", .signature = {-1, 2}};
  m.Operator(Code::ABS, {m.Input(open)}, {m.Output({.shape = {1, 2}})});
  const std::string file = m.Finish();
  const auto pinned = [](const std::string& name,
                         std::vector<std::optional<int64_t>> dims) {
    frontends::ImportOptions options;
    options.input_shapes[name] = std::move(dims);
    return options;
  };
  EXPECT_EQ(ErrorOf(file, pinned("x", {5, 2})), "");
  EXPECT_EQ(ErrorOf(file, pinned("x", {std::nullopt, 2})), "");
  EXPECT_THAT(ErrorOf(file, pinned("x", {5, 3})),
              HasSubstr("input 'x' axis 1: expected 2, as the model fixes this "
                        "dim, found 3; give 2, or export the model with this "
                        "dim open"));
  EXPECT_THAT(ErrorOf(file, pinned("x", {5, std::nullopt})),
              HasSubstr("input 'x' axis 1: expected 2, as the model fixes this "
                        "dim, found '?' for an open one; give 2, "));
  EXPECT_THAT(ErrorOf(file, pinned("z", {5, 3})),
              HasSubstr("expected one of the inputs 'x', found 'z'"));
}

// A subgraph that calls itself is refused, because the import would never end.
TEST(Import, EndlessCalls) {
  ModelBuilder m;
  const int x = m.Input({.shape = {2}}), y = m.Output({.shape = {2}});
  m.Operator(Code::CALL, {x}, {y}, schema::BuiltinOptions::CallOptions,
             schema::CreateCallOptions(m.fbb(), 0).Union());
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("expected at most 32 subgraphs"));
}

TEST(Import, FourBitConstants) {
  ModelBuilder m;
  const int x = m.Input({.type = TensorType::INT8, .shape = {3}});
  const int w = m.Tensor({.type = TensorType::INT4,
                          .shape = {3},
                          .data = std::string("\xf1\x08")});
  m.Operator(Code::MAXIMUM, {x, w},
             {m.Output({.type = TensorType::INT8, .shape = {3}})});
  // The constant's four-bit numbers are 1, -1 and -8. The first number of a
  // byte is in its lower half.
  ExpectNumbers(RunFile(m.Finish(), {I8({3}, {-100, -100, -100})}),
                {I8({3}, {1, -1, -8})});
}

// Two calls of one subgraph must share one copy of its unpacked four-bit
// constant.
TEST(Import, FourBitConstantsAreUnpackedOnce) {
  ModelBuilder m;
  const TestTensor bytes{.type = TensorType::INT8, .shape = {3}};
  const int x = m.Input(bytes), y = m.Tensor(bytes), z = m.Output(bytes);
  for (const auto& [from, to] : {std::pair(x, y), std::pair(y, z)}) {
    m.Operator(Code::CALL, {from}, {to}, schema::BuiltinOptions::CallOptions,
               schema::CreateCallOptions(m.fbb(), 1).Union());
  }
  m.Subgraph("called");
  const int a = m.Input(bytes);
  const int w = m.Tensor({.type = TensorType::INT4,
                          .shape = {3},
                          .data = std::string("\xf1\x08")});
  m.Operator(Code::MAXIMUM, {a, w}, {m.Output(bytes)});
  const std::string file = m.Finish();
  const auto graph = tflite::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr, {},
      "m.tflite");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  std::vector<const uint8_t*> unpacked;
  for (const auto& operation : graph->operations()) {
    if (operation->name() != "constant") continue;
    unpacked.push_back(
        operation->attributes().Get<graph::ConstantData>("value").bytes.data());
  }
  ASSERT_EQ(unpacked.size(), 2u);
  EXPECT_EQ(unpacked[0], unpacked[1]);
}

// A sparse constant with three rows in compressed form: the first row is empty,
// the others have one element each.
TEST(Import, SparseConstants) {
  ModelBuilder m;
  auto& fbb = m.fbb();
  const std::vector<uint8_t> segments = {0, 0, 1, 2}, indices = {1, 0};
  const auto row =
      schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, 3);
  const auto s = schema::CreateUint8VectorDirect(fbb, &segments);
  const auto i = schema::CreateUint8VectorDirect(fbb, &indices);
  const auto column = schema::CreateDimensionMetadata(
      fbb, schema::DimensionType::SPARSE_CSR, 0,
      schema::SparseIndexVector::Uint8Vector, s.Union(),
      schema::SparseIndexVector::Uint8Vector, i.Union());
  const std::vector<int32_t> order = {0, 1};
  const std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels = {
      row, column};
  m.Sparsity(
      schema::CreateSparsityParametersDirect(fbb, &order, nullptr, &levels));
  const int x = m.Input({.shape = {3, 2}});
  const int sparse =
      m.Constant<float>({.shape = {3, 2}, .sparse = true}, {5, 6});
  const int dense = m.Tensor({.shape = {3, 2}});
  m.Operator(Code::DENSIFY, {sparse}, {dense});
  m.Operator(Code::ADD, {x, dense}, {m.Output({.shape = {3, 2}})});
  ExpectNumbers(RunFile(m.Finish(), {F32({3, 2}, {0, 0, 0, 0, 0, 0})}),
                {F32({3, 2}, {0, 0, 0, 5, 6, 0})});
}

// Returns the error of importing a sparse constant of shape [1, 1] with one
// element. All its levels are dense and have these sizes.
std::string SparseError(const std::vector<int32_t>& sizes,
                        const std::vector<int32_t>& blocks,
                        const std::vector<int32_t>& shape = {1, 1}) {
  ModelBuilder m;
  auto& fbb = m.fbb();
  std::vector<int32_t> order;
  std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels;
  for (const int32_t size : sizes) {
    order.push_back(static_cast<int32_t>(order.size()));
    levels.push_back(schema::CreateDimensionMetadata(
        fbb, schema::DimensionType::DENSE, size));
  }
  m.Sparsity(
      schema::CreateSparsityParametersDirect(fbb, &order, &blocks, &levels));
  const int x = m.Input({.shape = {1, 1}});
  const int sparse = m.Constant<float>({.shape = shape, .sparse = true}, {5});
  m.Operator(Code::ADD, {x, sparse}, {m.Output({.shape = {1, 1}})});
  return ErrorOf(m.Finish());
}

// A sparse constant may list more levels than its shape has. The importer must
// not recurse once for each nested block, nor iterate over dense levels without
// data, however long they are.
TEST(Import, SparseLevelsThatTheShapeDoesNotHave) {
  EXPECT_EQ(SparseError({1, 1}, {}), "");
  EXPECT_EQ(SparseError({1, 1, 1, 1}, {0, 1}), "");
  const auto malformed =
      HasSubstr("expected levels that its shape, blocks and data fit");
  EXPECT_THAT(SparseError(std::vector<int32_t>(200'002, 1),
                          std::vector<int32_t>(200'000, 0)),
              malformed);
  EXPECT_THAT(SparseError({1, 1, 1, 1}, {0, 0}), malformed);
  EXPECT_THAT(SparseError({INT32_MAX, INT32_MAX, 0}, {}, {1, 1, 1}), malformed);
  EXPECT_THAT(
      SparseError({INT32_MAX, INT32_MAX, 0}, {}, {INT32_MAX, INT32_MAX, 0}),
      malformed);
  EXPECT_THAT(SparseError({0, 0, INT32_MAX, INT32_MAX}, {0, 1}), malformed);
}

// A file may refer to the same table many times. Its contents count towards the
// limits each time.
TEST(Import, TablesThatAreNamedVeryOften) {
  const auto model = [](uint32_t subgraphs, uint32_t tensors, size_t name,
                        size_t scales) {
    flatbuffers::FlatBufferBuilder b;
    const auto quantization =
        scales == 0
            ? 0
            : schema::CreateQuantizationParameters(
                  b, 0, 0, b.CreateVector(std::vector<float>(scales, 1)));
    const std::vector<int32_t> shape(1, static_cast<int32_t>(scales));
    const auto text = b.CreateString(std::string(name, 'n'));
    const auto dims = b.CreateVector(shape);
    const auto tensor =
        schema::CreateTensor(b, dims, TensorType::INT8, 0, text, quantization);
    const auto all = b.CreateVector(std::vector(tensors, tensor));
    const std::vector<int32_t> ends(1, 0);
    const auto inputs = b.CreateVector(ends), outputs = b.CreateVector(ends);
    const auto graph = schema::CreateSubGraph(b, all, inputs, outputs);
    const auto graphs = b.CreateVector(std::vector(subgraphs, graph));
    schema::FinishModelBuffer(b, schema::CreateModel(b, 3, 0, graphs));
    return std::string(reinterpret_cast<const char*>(b.GetBufferPointer()),
                       b.GetSize());
  };
  EXPECT_EQ(ErrorOf(model(1, 100, 10, 0)), "");
  for (const std::string& file :
       {model(1500, 1500, 8000, 0), model(1, 20'000, 80'000, 0),
        model(1000, 1000, 0, 2000)}) {
    EXPECT_THAT(ErrorOf(file), HasSubstr("named so often that they take many "
                                         "times as much"));
  }
}

// The inputs, results and variables of the file all have one name.
TEST(Import, VeryManyOfOneName) {
  ModelBuilder m;
  const int x = m.Input({.shape = {1}, .name = "x"});
  for (int i = 0; i < 30'000; ++i) {
    m.MakeOutput(x);
    m.Tensor({.shape = {1}, .name = "x", .is_variable = true});
  }
  EXPECT_EQ(ErrorOf(m.Finish()), "");
}

// Subgraphs call each other several times. An operator's long name is shortened
// before it becomes a part of each node's name.
TEST(Import, LongNamesOfOperatorsThatAreCalledVeryOften) {
  constexpr int kDepth = 4, kTimes = 20;
  const std::string name(200'000, 'n');
  ModelBuilder m;
  for (int depth = 0; depth < kDepth; ++depth) {
    if (depth > 0) m.Subgraph("inner");
    int at = m.Input({.shape = {1}});
    for (int i = 0; i < kTimes; ++i) {
      const bool last = i + 1 == kTimes;
      const TestTensor result{.shape = {1}, .name = last ? name : ""};
      const int next = last ? m.Output(result) : m.Tensor(result);
      if (depth + 1 == kDepth) {
        m.Operator(Code::ABS, {at}, {next});
      } else {
        m.Operator(
            Code::CALL, {at}, {next}, schema::BuiltinOptions::CallOptions,
            schema::CreateCallOptions(m.fbb(), static_cast<uint32_t>(depth + 1))
                .Union());
      }
      at = next;
    }
  }
  const std::string file = m.Finish();
  const auto graph = tflite::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      {});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  for (const auto& operation : graph->operations())
    ASSERT_LT(operation->origin().size(), 600u);
}

// Custom options are read without the verifier of FlexBuffers, which takes
// quadratic time.
TEST(Import, LongCustomOptions) {
  ModelBuilder m;
  std::vector<int32_t> operands, results;
  for (const std::vector<int32_t>& shape :
       {std::vector<int32_t>{1, 3, 4}, {1, 3, 3}, {3, 4}})
    operands.push_back(m.Input({.shape = shape}));
  for (int i = 0; i < 4; ++i) results.push_back(m.Output({.shape = {1}}));
  m.Custom("TFLite_Detection_PostProcess", operands, results,
           std::vector<uint8_t>(20'000, 1));
  EXPECT_THAT(ErrorOf(m.Finish()),
              HasSubstr("custom options: expected at most 16384 bytes, found "
                        "20000"));
}

}  // namespace
}  // namespace ember::tests

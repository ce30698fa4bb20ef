// Tests subgraphs, state, signatures and open dims.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/tflite/import.h"
#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using schema::BuiltinOptions;
using schema::TensorType;
using tflite::ModelBuilder;
using tflite::TestTensor;

TestTensor Floats(std::vector<int32_t> shape) {
  return {.shape = std::move(shape)};
}

// Adds a subgraph y = op(a, b).
void Binary(ModelBuilder& m, Code code) {
  m.Subgraph("binary");
  const int a = m.Input(Floats({2})), b = m.Input(Floats({2}));
  m.Operator(code, {a, b}, {m.Output(Floats({2}))});
}

TEST(ControlFlow, If) {
  ModelBuilder m;
  const int condition = m.Input({.type = TensorType::BOOL});
  const int a = m.Input(Floats({2})), b = m.Input(Floats({2}));
  m.Operator(Code::IF, {condition, a, b}, {m.Output(Floats({2}))},
             BuiltinOptions::IfOptions,
             schema::CreateIfOptions(m.fbb(), 1, 2).Union());
  Binary(m, Code::ADD);
  Binary(m, Code::MUL);
  const std::string file = m.Finish();
  const Numbers x = F32({2}, {2, 3}), y = F32({2}, {5, 7});
  ExpectNumbers(RunFile(file, {{DType::kBool, {}, {1}}, x, y}),
                {F32({2}, {7, 10})});
  ExpectNumbers(RunFile(file, {{DType::kBool, {}, {0}}, x, y}),
                {F32({2}, {10, 21})});
}

// The model is while (i < 3) { i += 1; x *= 2 }.
TEST(ControlFlow, While) {
  ModelBuilder m;
  const TestTensor counter{.type = TensorType::INT32};
  const int i = m.Input(counter), x = m.Input(Floats({2}));
  const int last = m.Output(counter), result = m.Output(Floats({2}));
  m.Operator(Code::WHILE, {i, x}, {last, result}, BuiltinOptions::WhileOptions,
             schema::CreateWhileOptions(m.fbb(), 1, 2).Union());
  m.Subgraph("condition");
  const int ci = m.Input(counter);
  m.Input(Floats({2}));
  const int three = m.Constant<int32_t>(counter, {3});
  m.Operator(Code::LESS, {ci, three}, {m.Output({.type = TensorType::BOOL})});
  m.Subgraph("body");
  const int bi = m.Input(counter), bx = m.Input(Floats({2}));
  const int one = m.Constant<int32_t>(counter, {1});
  const int two = m.Constant<float>(Floats({1}), {2});
  m.Operator(Code::ADD, {bi, one}, {m.Output(counter)});
  m.Operator(Code::MUL, {bx, two}, {m.Output(Floats({2}))});
  const std::string file = m.Finish();
  ExpectNumbers(RunFile(file, {I32({}, {0}), F32({2}, {1, -1})}),
                {I32({}, {3}), F32({2}, {8, -8})});
  ExpectNumbers(RunFile(file, {I32({}, {5}), F32({2}, {1, -1})}),
                {I32({}, {5}), F32({2}, {1, -1})});
}

// Returns a model with a variable: the initialization sub-graph (CALL_ONCE)
// sets count = 10; each run computes count += x and returns y = count.
std::string Counter() {
  ModelBuilder m;
  const TestTensor handle{.type = TensorType::RESOURCE};
  const int x = m.Input(Floats({1}));
  m.Operator(Code::CALL_ONCE, {}, {}, BuiltinOptions::CallOnceOptions,
             schema::CreateCallOnceOptions(m.fbb(), 1).Union());
  const auto variable = [&] {
    const int tensor = m.Tensor(handle);
    m.Operator(
        Code::VAR_HANDLE, {}, {tensor}, BuiltinOptions::VarHandleOptions,
        schema::CreateVarHandleOptionsDirect(m.fbb(), "", "count").Union());
    return tensor;
  };
  const int count = variable();
  const int before = m.Tensor(Floats({1}));
  m.Operator(Code::READ_VARIABLE, {count}, {before});
  const int after = m.Output(Floats({1}));
  m.Operator(Code::ADD, {before, x}, {after});
  m.Operator(Code::ASSIGN_VARIABLE, {count, after}, {});
  m.Subgraph("initialize");
  const int first = variable();
  const int ten = m.Constant<float>(Floats({1}), {10});
  m.Operator(Code::ASSIGN_VARIABLE, {first, ten}, {});
  return m.Finish();
}

// The state is zeros before the first run; then each run's state is passed to
// the next.
TEST(ControlFlow, VariablesAreState) {
  const std::string file = Counter();
  const auto graph = tflite::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      {});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->input_logical_types()[1], frontends::kStateType);
  EXPECT_EQ(graph->inputs()[1]->name(), "count");
  EXPECT_EQ(graph->output_names()[1], "count");
  std::vector<Numbers> state = {F32({1}, {0}), {DType::kBool, {}, {0}}};
  for (const double expected : {13.0, 16.0, 19.0}) {
    const auto results = RunFile(file, {F32({1}, {3}), state[0], state[1]});
    ExpectNumbers(
        results,
        {F32({1}, {expected}), F32({1}, {expected}), {DType::kBool, {}, {1}}});
    ASSERT_TRUE(results.ok());
    state = {(*results)[1], (*results)[2]};
  }
}

TEST(ControlFlow, Signatures) {
  ModelBuilder m;
  const int x = m.Input(Floats({2})), y = m.Output(Floats({2}));
  m.Operator(Code::NEG, {x}, {y});
  m.Subgraph("other");
  const int a = m.Input(Floats({2})), b = m.Output(Floats({2}));
  m.Operator(Code::SQUARE, {a}, {b});
  m.Signature("negate", 0, {{"value", x}}, {{"negated", y}});
  m.Signature("square", 1, {{"base", a}}, {{"squared", b}});
  const std::string file = m.Finish();
  const auto import = [&](const std::string& entry) {
    return tflite::ImportModelBytes(
        {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
        {.input_shapes = {}, .input_values = {}, .entry = entry});
  };
  const auto main = import(""), square = import("square"),
             wrong = import("cube");
  ASSERT_TRUE(main.ok() && square.ok());
  EXPECT_EQ(main->inputs()[0]->name(), "value");
  EXPECT_EQ(main->output_names()[0], "negated");
  EXPECT_EQ(square->inputs()[0]->name(), "base");
  EXPECT_EQ(square->output_names()[0], "squared");
  EXPECT_EQ(wrong.status().message(),
            "model 'model': --entry: expected one of the signatures 'negate', "
            "'square', found 'cube'");
}

// Dims that the file leaves open accept any extent.
TEST(ControlFlow, OpenDims) {
  ModelBuilder m;
  TestTensor open = Floats({1, 2});
  open.signature = {-1, 2};
  const int x = m.Input(open);
  const int w = m.Constant<float>(Floats({1, 2}), {3, 4});
  m.Operator(Code::FULLY_CONNECTED, {x, w, -1}, {m.Output(Floats({1, 1}))});
  const std::string file = m.Finish();
  ExpectNumbers(RunFile(file, {F32({3, 2}, {1, 0, 0, 1, 1, 1})}),
                {F32({3, 1}, {3, 4, 7})});
}

}  // namespace
}  // namespace ember::tests

// Tests RNN, GRU and LSTM with every attribute and operand against their
// equations, number by number (recurrent_reference.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/onnx/one_node.h"
#include "tests/onnx/recurrent_reference.h"

namespace ember::tests {
namespace {

void AddAttributes(const Problem& p, onnx::NodeProto& node) {
  const auto add =
      [&](const char* name,
          onnx::AttributeProto::AttributeType type) -> onnx::AttributeProto& {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  const auto integer = [&](const char* name, int value) {
    add(name, onnx::AttributeProto::INT).set_i(value);
  };
  integer("hidden_size", p.hidden);
  add("direction", onnx::AttributeProto::STRING).set_s(p.direction);
  if (p.layout != 0) integer("layout", p.layout);
  if (p.input_forget) integer("input_forget", 1);
  if (p.linear) integer("linear_before_reset", 1);
  if (p.clip > 0)
    add("clip", onnx::AttributeProto::FLOAT).set_f(static_cast<float>(p.clip));
  if (!p.names.empty()) {
    auto& names = add("activations", onnx::AttributeProto::STRINGS);
    for (const std::string& name : p.names) names.add_strings(name);
  }
  for (const auto& [name, values] : {std::pair("activation_alpha", p.alphas),
                                     std::pair("activation_beta", p.betas)}) {
    if (values.empty()) continue;
    auto& attribute = add(name, onnx::AttributeProto::FLOATS);
    for (double value : values) attribute.add_floats(static_cast<float>(value));
  }
}

OneNode MakeNode(const Problem& p) {
  const Data data(p);
  const int64_t directions = p.directions(), width = p.gates() * p.hidden;
  OneNode node(p.op, p.opset, 1 + static_cast<int>(p.states()));
  AddAttributes(p, node.node());
  const auto typed = [&](std::vector<int64_t> dims, Values values) {
    return Numbers{p.type, std::move(dims), std::move(values)};
  };
  std::vector<int64_t> x_dims = {p.steps, p.batch, p.input};
  std::vector<int64_t> state_dims = {directions, p.batch, p.hidden};
  if (p.layout == 1) {
    std::swap(x_dims[0], x_dims[1]);
    std::swap(state_dims[0], state_dims[1]);
  }
  node.Input(typed(x_dims, data.x),
             p.open_dims ? std::vector<int64_t>{-1, -1, p.input} : x_dims);
  const auto weights = [&](const Numbers& numbers) {
    if (p.known_weights) {
      node.Constant(numbers);
    } else {
      node.Input(numbers);
    }
  };
  weights(typed({directions, width, p.input}, data.w));
  weights(typed({directions, width, p.hidden}, data.r));
  if (p.bias) {
    weights(typed({directions, 2 * width}, data.b));
  } else {
    node.Absent();
  }
  if (p.lengths.empty()) {
    node.Absent();
  } else {
    node.Input({DType::kI32, {p.batch}, {p.lengths.begin(), p.lengths.end()}});
  }
  for (size_t s = 0; s < p.states(); ++s) {
    if (p.initial) {
      node.Input(typed(state_dims, data.initial[s]));
    } else {
      node.Absent();
    }
  }
  if (p.peepholes) weights(typed({directions, 3 * p.hidden}, data.peepholes));
  return node;
}

void Check(const Problem& p, double tolerance = 1e-5) {
  SCOPED_TRACE(p.op + " " + p.direction);
  ExpectNumbers(MakeNode(p).Run(), Expected(p), tolerance);
}

// Returns weights [directions, units, rows] as the quantized operator takes
// them: with the dims [directions, rows, units], divided by their scales, plus
// the zero point.
Numbers QuantizedWeights(const Values& values, int directions, int units,
                         int rows, double (*scale)(int, int),
                         double zero_point) {
  Numbers result{DType::kI8, {directions, rows, units}, {}};
  for (int d = 0; d < directions; ++d) {
    for (int i = 0; i < rows; ++i) {
      for (int u = 0; u < units; ++u) {
        const double value = values[(d * units + u) * rows + i];
        result.values.push_back(std::round(value / scale(d, u)) + zero_point);
      }
    }
  }
  return result;
}

// Makes a node with quantized weights. W has one scale per direction and a zero
// point, R has scales per column.
OneNode MakeQuantizedNode(const Problem& p) {
  const Data data(p);
  const int directions = p.directions(), units = 4 * p.hidden;
  OneNode node("DynamicQuantizeLSTM", 1, 3, "com.microsoft");
  AddAttributes(p, node.node());
  node.Input(F32({p.steps, p.batch, p.input}, data.x));
  node.Constant(
      QuantizedWeights(data.w, directions, units, p.input, WeightScale, 3));
  node.Constant(QuantizedWeights(data.r, directions, units, p.hidden,
                                 RecurrenceScale, 0));
  node.Constant(F32({directions, 2 * units}, data.b));
  node.Absent();
  for (const Values& state : data.initial)
    node.Input(F32({directions, p.batch, p.hidden}, state));
  node.Absent();
  Values w_scales, r_scales;
  for (int d = 0; d < directions; ++d) {
    w_scales.push_back(WeightScale(d, 0));
    for (int u = 0; u < units; ++u) r_scales.push_back(RecurrenceScale(d, u));
  }
  node.Constant(F32({directions}, w_scales));
  node.Constant({DType::kI8, {directions}, Values(directions, 3)});
  node.Constant(F32({directions, units}, r_scales));
  node.Constant({DType::kI8, {directions, units}, Values(directions * units)});
  return node;
}

constexpr const char* kOperators[] = {"RNN", "GRU", "LSTM"};
constexpr const char* kDirections[] = {"forward", "reverse", "bidirectional"};

TEST(Recurrent, DirectionsAndLayouts) {
  for (const char* op : kOperators) {
    for (const char* direction : kDirections) {
      for (int layout : {0, 1})
        Check({.op = op, .direction = direction, .layout = layout});
    }
  }
}

TEST(Recurrent, OnlyTheRequiredOperands) {
  for (const char* op : kOperators)
    Check({.op = op, .opset = 7, .bias = false, .initial = false});
}

TEST(Recurrent, SequencesEndAtTheirLengths) {
  for (const char* op : kOperators) {
    for (const char* direction : kDirections) {
      for (int layout : {0, 1}) {
        Check({.op = op,
               .direction = direction,
               .layout = layout,
               .lengths = {2, 4, 1}});
      }
    }
  }
}

TEST(Recurrent, AnEmptySequenceEndsWithZeros) {
  for (const char* op : kOperators) {
    for (const char* direction : kDirections)
      Check({.op = op, .direction = direction, .lengths = {0, 3, 4}});
  }
}

TEST(Recurrent, OpenDims) {
  for (const char* op : kOperators) {
    for (const char* direction : kDirections) {
      Check({.op = op, .direction = direction, .open_dims = true});
      Check({.op = op,
             .direction = direction,
             .initial = false,
             .lengths = {4, 1, 3},
             .open_dims = true});
    }
  }
}

TEST(Recurrent, OneStep) {
  for (const char* op : kOperators) {
    Check({.op = op, .direction = "bidirectional", .steps = 1});
    Check({.op = op, .steps = 1, .lengths = {1, 0, 1}});
  }
}

TEST(Recurrent, WeightsThatAreOnlyKnownWhenRun) {
  for (const char* op : kOperators)
    Check({.op = op, .direction = "bidirectional", .known_weights = false});
}

TEST(Recurrent, FloatTypes) {
  for (const char* op : kOperators) {
    Check({.op = op, .type = DType::kF64}, 1e-12);
    Check({.op = op, .type = DType::kF16}, 1e-3);
    Check({.op = op, .type = DType::kBF16}, 1e-2);
  }
}

TEST(Recurrent, ClipBoundsWhatActivationsGet) {
  for (const char* op : kOperators)
    Check({.op = op, .peepholes = op == std::string("LSTM"), .clip = 0.25});
}

TEST(Gru, LinearBeforeReset) {
  for (bool bias : {false, true})
    Check({.op = "GRU",
           .direction = "bidirectional",
           .bias = bias,
           .linear = true});
}

TEST(Lstm, Peepholes) {
  Check({.op = "LSTM", .direction = "bidirectional", .peepholes = true});
}

TEST(Lstm, CoupledInputAndForgetGates) {
  Check({.op = "LSTM", .peepholes = true, .input_forget = true});
}

TEST(Lstm, QuantizedWeights) {
  for (const char* direction : {"forward", "bidirectional"}) {
    SCOPED_TRACE(direction);
    const Problem p = {
        .op = "LSTM", .direction = direction, .batch = 1, .quantized = true};
    ExpectNumbers(MakeQuantizedNode(p).Run(), Expected(p));
  }
}

TEST(Recurrent, EveryActivation) {
  struct Case {
    std::string name;
    Values alphas, betas;
    Function function;
  };
  const Case cases[] = {
      {"Affine", {0.5}, {0.25}, [](double x) { return 0.5 * x + 0.25; }},
      {"Elu",
       {0.5},
       {},
       [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }},
      {"Elu", {}, {}, [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
      {"HardSigmoid",
       {0.5},
       {0.25},
       [](double x) { return std::clamp(0.5 * x + 0.25, 0.0, 1.0); }},
      {"HardSigmoid",
       {},
       {},
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"LeakyRelu", {0.5}, {}, [](double x) { return x < 0 ? 0.5 * x : x; }},
      {"LeakyRelu", {}, {}, [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"Relu", {}, {}, [](double x) { return std::max(x, 0.0); }},
      {"ScaledTanh",
       {0.5},
       {0.25},
       [](double x) { return 0.5 * std::tanh(0.25 * x); }},
      {"Sigmoid", {}, {}, SigmoidOf},
      {"Softplus", {}, {}, [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", {}, {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"tanh", {}, {}, TanhOf},
      {"ThresholdedRelu",
       {0.25},
       {},
       [](double x) { return x >= 0.25 ? x : 0; }},
      {"ThresholdedRelu", {}, {}, [](double x) { return x >= 1 ? x : 0; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Check({.op = "RNN",
           .names = {c.name},
           .alphas = c.alphas,
           .betas = c.betas,
           .functions = {c.function}});
  }
}

// The lists alphas and betas have entries only for those activations that take
// the parameter, in the order of activations.
TEST(Lstm, ParametersOfActivationsInBothDirections) {
  const Function hard = [](double x) {
    return std::clamp(0.25 * x + 0.5, 0.0, 1.0);
  };
  const Function leaky = [](double x) { return x < 0 ? 0.125 * x : x; };
  const Function affine = [](double x) { return 0.75 * x - 0.25; };
  Check({.op = "LSTM",
         .direction = "bidirectional",
         .names = {"HardSigmoid", "Tanh", "LeakyRelu", "Sigmoid", "Affine",
                   "Tanh"},
         .alphas = {0.25, 0.125, 0.75},
         .betas = {0.5, -0.25},
         .functions = {hard, TanhOf, leaky, SigmoidOf, affine, TanhOf}});
}

TEST(Rnn, TheDefaultActivationsWrittenOut) {
  Check({.op = "RNN", .names = {"Tanh", "Tanh"}, .functions = {TanhOf}});
}

TEST(Recurrent, ResultsThatAreNotAskedFor) {
  const Problem p = {.op = "LSTM", .direction = "bidirectional"};
  const std::vector<Numbers> expected = Expected(p);
  for (int kept = 0; kept < 3; ++kept) {
    OneNode node = MakeNode(p);
    auto& outputs = *node.model().graph().mutable_output();
    for (int i = 2; i >= 0; --i) {
      if (i == kept) continue;
      node.node().set_output(i, "");
      outputs.DeleteSubrange(i, 1);
    }
    ExpectNumbers(node.Run(), {expected[static_cast<size_t>(kept)]});
  }
}

// If there are no steps, the final states are the initial ones.
TEST(Recurrent, NoSteps) {
  for (const char* op : kOperators) Check({.op = op, .steps = 0});
}

void ExpectError(const Problem& p, const std::string& text) {
  const auto results = MakeNode(p).Run();
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find(text), std::string::npos)
      << results.status().message();
}

TEST(Recurrent, Errors) {
  ExpectError({.op = "GRU", .direction = "sideways"},
              "expected forward, reverse or bidirectional, found 'sideways'");
  ExpectError({.op = "GRU", .names = {"Sigmoid"}}, "expected 2 names, found 1");
  ExpectError({.op = "RNN", .names = {"Cosine"}}, "found 'Cosine'");
  Problem p = {.op = "RNN"};
  OneNode node = MakeNode(p);
  // Attribute 0 is hidden_size. The value 5 does not fit the weights, which
  // must be an error.
  node.node().mutable_attribute(0)->set_i(5);
  const auto results = node.Run();
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find("W (input 1): expected shape"),
            std::string::npos)
      << results.status().message();
}

}  // namespace
}  // namespace ember::tests

// RNN, GRU and LSTM against the equations of their specification, written out
// number by number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using Values = std::vector<double>;
using Function = std::function<double(double)>;

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double TanhOf(double x) { return std::tanh(x); }

struct Problem {
  std::string op;
  int opset = 22;
  std::string direction = "forward";
  int steps = 4, batch = 3, input = 2, hidden = 3;
  int layout = 0;
  bool bias = true, initial = true, peepholes = false;
  std::vector<int> lengths = {};  // empty: none given
  std::vector<std::string> names = {};
  Values alphas = {}, betas = {};
  std::vector<Function> functions = {};  // what the names mean, all directions
  double clip = 0;
  bool input_forget = false, linear = false;
  DType type = DType::kF32;
  bool known_weights = true;
  bool open_dims = false;  // of X: steps and batch

  int directions() const { return direction == "bidirectional" ? 2 : 1; }
  int gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  size_t states() const { return op == "LSTM" ? 2 : 1; }
};

// Multiples of 1/64, which all float types hold.
Values SomeValues(int count, int number) {
  Values values;
  for (int i = 0; i < count; ++i)
    values.push_back(((i * 37 + number * 29 + i * i * 3) % 129 - 64) / 64.0);
  return values;
}

struct Data {
  explicit Data(const Problem& p)
      : x(SomeValues(p.steps * p.batch * p.input, 1)),
        w(SomeValues(p.directions() * p.gates() * p.hidden * p.input, 2)),
        r(SomeValues(p.directions() * p.gates() * p.hidden * p.hidden, 3)),
        b(SomeValues(p.directions() * 2 * p.gates() * p.hidden, 4)),
        peepholes(SomeValues(p.directions() * 3 * p.hidden, 5)),
        initial{SomeValues(p.directions() * p.batch * p.hidden, 6),
                SomeValues(p.directions() * p.batch * p.hidden, 7)} {}
  Values x, w, r, b, peepholes, initial[2];
};

// One sequence in one direction.
class Sequence {
 public:
  Sequence(const Problem& p, const Data& data, int direction, int row)
      : p_(p), data_(data), direction_(direction), row_(row) {
    for (size_t s = 0; s < p.states(); ++s) {
      Values state(p.hidden);
      for (int j = 0; p.initial && j < p.hidden; ++j)
        state[j] = data.initial[s][StateIndex(j)];
      states_.push_back(std::move(state));
    }
    functions_ = p.functions;
    if (functions_.empty()) {
      const std::vector<Function> defaults =
          p.op == "LSTM"  ? std::vector<Function>{SigmoidOf, TanhOf, TanhOf}
          : p.op == "GRU" ? std::vector<Function>{SigmoidOf, TanhOf}
                          : std::vector<Function>{TanhOf};
      for (int d = 0; d < p.directions(); ++d)
        functions_.insert(functions_.end(), defaults.begin(), defaults.end());
    }
    per_direction_ = functions_.size() / static_cast<size_t>(p.directions());
  }

  // Of [directions, batch, hidden], or the layout with batch first.
  int StateIndex(int j) const {
    const int row = p_.layout == 0 ? direction_ * p_.batch + row_
                                   : row_ * p_.directions() + direction_;
    return row * p_.hidden + j;
  }
  int OutputIndex(int t, int j) const {
    const int row = p_.layout == 0
                        ? (t * p_.directions() + direction_) * p_.batch + row_
                        : (row_ * p_.steps + t) * p_.directions() + direction_;
    return row * p_.hidden + j;
  }

  void Run(Values& y) {
    const int length = p_.lengths.empty() ? p_.steps : p_.lengths[row_];
    for (int i = 0; i < length; ++i) {
      const bool reverse = p_.direction == "reverse" || direction_ == 1;
      const int t = reverse ? length - 1 - i : i;
      Step(t);
      for (int j = 0; j < p_.hidden; ++j) y[OutputIndex(t, j)] = states_[0][j];
    }
  }
  const Values& state(size_t s) const { return states_[s]; }

 private:
  double Activate(size_t number, double x) const {
    if (p_.clip > 0) x = std::clamp(x, -p_.clip, p_.clip);
    return functions_[static_cast<size_t>(direction_) * per_direction_ +
                      number](x);
  }
  // Row `gate`, unit j of the product of W with the input of a step, and bias.
  double InputPart(int t, int gate, int j) const {
    const int unit = (direction_ * p_.gates() + gate) * p_.hidden + j;
    const int row = p_.layout == 0 ? t * p_.batch + row_ : row_ * p_.steps + t;
    double sum = Bias(gate, j);
    for (int i = 0; i < p_.input; ++i)
      sum += data_.w[unit * p_.input + i] * data_.x[row * p_.input + i];
    return sum;
  }
  double RecurrentPart(const Values& h, int gate, int j) const {
    const int unit = (direction_ * p_.gates() + gate) * p_.hidden + j;
    double sum = Bias(p_.gates() + gate, j);
    for (int i = 0; i < p_.hidden; ++i)
      sum += data_.r[unit * p_.hidden + i] * h[i];
    return sum;
  }
  double Bias(int gate, int j) const {
    if (!p_.bias) return 0;
    return data_.b[(direction_ * 2 * p_.gates() + gate) * p_.hidden + j];
  }
  double Peephole(int gate, int j) const {
    if (!p_.peepholes) return 0;
    return data_.peepholes[(direction_ * 3 + gate) * p_.hidden + j];
  }

  void Step(int t) {
    if (p_.op == "LSTM") {
      LstmStep(t);
    } else if (p_.op == "GRU") {
      GruStep(t);
    } else {
      Values next(p_.hidden);
      for (int j = 0; j < p_.hidden; ++j) next[j] = Activate(0, Gate(t, 0, j));
      states_[0] = next;
    }
  }
  double Gate(int t, int gate, int j) const {
    return InputPart(t, gate, j) + RecurrentPart(states_[0], gate, j);
  }

  void LstmStep(int t) {
    Values h(p_.hidden), c(p_.hidden);
    const Values& before = states_[1];
    for (int j = 0; j < p_.hidden; ++j) {
      const double in = Activate(0, Gate(t, 0, j) + Peephole(0, j) * before[j]);
      const double forget =
          p_.input_forget
              ? 1 - in
              : Activate(0, Gate(t, 2, j) + Peephole(2, j) * before[j]);
      c[j] = forget * before[j] + in * Activate(1, Gate(t, 3, j));
      h[j] = Activate(0, Gate(t, 1, j) + Peephole(1, j) * c[j]) *
             Activate(2, c[j]);
    }
    states_ = {h, c};
  }

  void GruStep(int t) {
    const Values& before = states_[0];
    Values update(p_.hidden), reset(p_.hidden), masked(p_.hidden);
    for (int j = 0; j < p_.hidden; ++j) {
      update[j] = Activate(0, Gate(t, 0, j));
      reset[j] = Activate(0, Gate(t, 1, j));
      masked[j] = reset[j] * before[j];
    }
    Values next(p_.hidden);
    for (int j = 0; j < p_.hidden; ++j) {
      const double recurrent = p_.linear
                                   ? reset[j] * RecurrentPart(before, 2, j)
                                   : RecurrentPart(masked, 2, j);
      const double hidden = Activate(1, InputPart(t, 2, j) + recurrent);
      next[j] = (1 - update[j]) * hidden + update[j] * before[j];
    }
    states_[0] = next;
  }

  const Problem& p_;
  const Data& data_;
  const int direction_, row_;
  std::vector<Values> states_;
  std::vector<Function> functions_;
  size_t per_direction_ = 0;
};

std::vector<Numbers> Expected(const Problem& p) {
  const Data data(p);
  const int state_count = p.directions() * p.batch * p.hidden;
  Values y(p.steps * state_count);
  std::vector<Values> last(p.states(), Values(state_count));
  for (int d = 0; d < p.directions(); ++d) {
    for (int b = 0; b < p.batch; ++b) {
      Sequence sequence(p, data, d, b);
      sequence.Run(y);
      for (size_t s = 0; s < p.states(); ++s) {
        for (int j = 0; j < p.hidden; ++j)
          last[s][sequence.StateIndex(j)] = sequence.state(s)[j];
      }
    }
  }
  std::vector<int64_t> y_dims = {p.steps, p.directions(), p.batch, p.hidden};
  std::vector<int64_t> dims = {p.directions(), p.batch, p.hidden};
  if (p.layout == 1) {
    y_dims = {p.batch, p.steps, p.directions(), p.hidden};
    dims = {p.batch, p.directions(), p.hidden};
  }
  std::vector<Numbers> expected = {{p.type, y_dims, y}};
  for (Values& state : last) expected.push_back({p.type, dims, state});
  return expected;
}

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
  const auto weights = [&](Numbers numbers) {
    if (p.known_weights) {
      node.Constant(std::move(numbers));
    } else {
      node.Input(std::move(numbers));
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

TEST(Recurrent, AnEmptySequenceKeepsItsState) {
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

// Only functions that have a parameter take one, in order.
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
  node.node().mutable_attribute(0)->set_i(5);  // hidden_size
  const auto results = node.Run();
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find("W (input 1): expected shape"),
            std::string::npos)
      << results.status().message();
}

}  // namespace
}  // namespace ember::tests

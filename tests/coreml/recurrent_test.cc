// Tests recurrent layers and operations against the formulas of the
// specification.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::ConstBool;
using coreml::ConstFloats;
using coreml::ConstText;
using coreml::Message;

constexpr int kSteps = 3, kBatch = 2, kIn = 2, kSize = 2;

// Returns numbers in [-1, 1] for inputs and weights; other seeds give other
// numbers.
std::vector<float> Spread(size_t count, int seed) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(
        std::sin(static_cast<double>(i) * 1.7 + seed * 2.3)));
  }
  return values;
}
std::vector<double> Wide(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

using Row = std::vector<double>;
using Function = std::function<double(double)>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double HyperbolicTangent(double x) { return std::tanh(x); }

// Returns the product of a gate's matrix [kSize, columns] and a vector x.
Row Product(const std::vector<float>& matrix, const Row& x) {
  Row y(kSize, 0);
  for (size_t i = 0; i < kSize; ++i)
    for (size_t j = 0; j < x.size(); ++j)
      y[i] += matrix[i * x.size() + j] * x[j];
  return y;
}

struct Gate {
  std::vector<float> input = {}, hidden = {}, bias = Row0(), peephole = Row0();
  static std::vector<float> Row0() { return std::vector<float>(kSize, 0); }
};
Gate GateOf(int seed, bool has_bias = true) {
  Gate gate{Spread(kSize * kIn, seed), Spread(kSize * kSize, seed + 20)};
  if (has_bias) gate.bias = Spread(kSize, seed + 40);
  return gate;
}

Row Apply(const Gate& gate, const Row& x, const Row& h, const Row& c,
          const Function& f) {
  Row y = Product(gate.input, x);
  const Row from_state = Product(gate.hidden, h);
  for (size_t i = 0; i < kSize; ++i) {
    y[i] = f(y[i] + from_state[i] + gate.bias[i] +
             (c.empty() ? 0 : gate.peephole[i] * c[i]));
  }
  return y;
}

struct Lstm {
  Gate input, forget, output, candidate;
  bool is_coupled = false;
  double limit = 50;
  Function f = Sigmoid, g = HyperbolicTangent, h = HyperbolicTangent;

  void Step(const Row& x, Row& state, Row& cell) const {
    const Row i = Apply(input, x, state, cell, f);
    const Row forgotten = Apply(forget, x, state, cell, f);
    const Row z = Apply(candidate, x, state, {}, g);
    for (size_t k = 0; k < kSize; ++k) {
      const double kept = is_coupled ? 1 - i[k] : forgotten[k];
      cell[k] = std::clamp(cell[k] * kept + i[k] * z[k], -limit, limit);
    }
    const Row o = Apply(output, x, state, cell, f);
    for (size_t k = 0; k < kSize; ++k) state[k] = o[k] * h(cell[k]);
  }
};

// A function that computes one step and changes the state and the cell.
// Sequences are [steps, batch, size], row-major.
using Stepper = std::function<void(const Row& x, Row& state, Row& cell)>;
struct Expected {
  // The shapes are [steps, batch, H] of outputs, and [batch, H] of state and
  // cell.
  Row outputs, state, cell;
};
Expected RunSteps(const std::vector<float>& x, const Row& state0,
                  const Row& cell0, bool is_backward, const Stepper& step) {
  Expected expected{Row(kSteps * kBatch * kSize), state0, cell0};
  for (size_t b = 0; b < kBatch; ++b) {
    const auto part = [&](const Row& of) {
      return Row(of.begin() + b * kSize, of.begin() + (b + 1) * kSize);
    };
    Row state = part(state0), cell = part(cell0);
    for (size_t t = 0; t < kSteps; ++t) {
      const size_t at = (is_backward ? kSteps - 1 - t : t) * kBatch + b;
      step(Row(x.begin() + at * kIn, x.begin() + (at + 1) * kIn), state, cell);
      for (size_t k = 0; k < kSize; ++k)
        expected.outputs[(t * kBatch + b) * kSize + k] = state[k];
    }
    for (size_t k = 0; k < kSize; ++k) {
      expected.state[b * kSize + k] = state[k];
      expected.cell[b * kSize + k] = cell[k];
    }
  }
  return expected;
}

Message Weights(const std::vector<float>& values) {
  return Message().Floats(1, values);
}
Message ActivationOf(uint64_t kind) { return Message().Put(kind, Message()); }

Numbers Blob(int64_t steps, const Row& values, int64_t size = kSize) {
  return F32({steps, kBatch, size, 1, 1}, values);
}

// Makes the expected result for a model whose description gives no dims for it:
// a single step has no dim of steps.
Numbers Result(int64_t steps, const Row& values, int64_t size = kSize) {
  Numbers result = Blob(steps, values, size);
  if (steps == 1) result.dims.erase(result.dims.begin());
  return result;
}

const std::vector<float> kX = Spread(kSteps * kBatch * kIn, 7);
const Row kZero(kBatch* kSize, 0);

TEST(Recurrent, Simple) {
  const Gate gate = GateOf(1);
  for (const bool is_backward : {false, true}) {
    const Expected expected = RunSteps(
        kX, kZero, kZero, is_backward, [&](const Row& x, Row& state, Row&) {
          state = Apply(gate, x, state, {},
                        [](double v) { return std::max(v, 0.0); });
        });
    const Message layer = Message()
                              .Integer(1, kIn)
                              .Integer(2, kSize)
                              .Put(10, ActivationOf(10))
                              .Integer(15, 1)
                              .Integer(20, 1)
                              .Put(30, Weights(gate.input))
                              .Put(31, Weights(gate.hidden))
                              .Put(32, Weights(gate.bias))
                              .Integer(100, is_backward ? 1 : 0);
    ExpectNumbers(
        RunLayer(400, layer, {Blob(kSteps, Wide(kX), kIn)}, 2),
        {Result(kSteps, expected.outputs), Result(1, expected.state)});
  }
}

TEST(Recurrent, GruWithState) {
  const Gate update = GateOf(1), reset = GateOf(2), output = GateOf(3);
  const Row start = Wide(Spread(kBatch * kSize, 11));
  const auto step = [&](const Row& x, Row& state, Row&) {
    const Row z = Apply(update, x, state, {}, Sigmoid);
    const Row r = Apply(reset, x, state, {}, Sigmoid);
    Row c = state;
    for (size_t k = 0; k < kSize; ++k) c[k] *= r[k];
    const Row o = Apply(output, x, c, {}, HyperbolicTangent);
    for (size_t k = 0; k < kSize; ++k)
      state[k] = (1 - z[k]) * o[k] + z[k] * state[k];
  };
  const Expected expected = RunSteps(kX, start, kZero, false, step);
  const Message layer = Message()
                            .Integer(1, kIn)
                            .Integer(2, kSize)
                            .Put(10, ActivationOf(40))
                            .Put(10, ActivationOf(30))
                            .Integer(20, 1)
                            .Put(30, Weights(update.input))
                            .Put(31, Weights(reset.input))
                            .Put(32, Weights(output.input))
                            .Put(50, Weights(update.hidden))
                            .Put(51, Weights(reset.hidden))
                            .Put(52, Weights(output.hidden))
                            .Put(70, Weights(update.bias))
                            .Put(71, Weights(reset.bias))
                            .Put(72, Weights(output.bias));
  // The layer returns only its last step, because it does not set
  // sequenceOutput.
  ExpectNumbers(
      RunLayer(410, layer, {Blob(kSteps, Wide(kX), kIn), Blob(1, start)}, 2),
      {Result(1, expected.state), Result(1, expected.state)});
  // The same GRU is also run as an operation of an ML program, with the gates'
  // weights joined.
  const auto joined = [&](const auto& member) {
    std::vector<float> all;
    for (const Gate* gate : {&reset, &output, &update})
      all.insert(all.end(), (gate->*member).begin(), (gate->*member).end());
    return all;
  };
  ExpectNumbers(
      RunOperation(
          "gru", F32({kSteps, kBatch, kIn}, Wide(kX)),
          {ConstFloats("h0", {kBatch, kSize}, {start.begin(), start.end()}),
           ConstFloats("w", {3 * kSize, kIn}, joined(&Gate::input)),
           ConstFloats("r", {3 * kSize, kSize}, joined(&Gate::hidden)),
           ConstFloats("b", {3 * kSize}, joined(&Gate::bias)),
           ConstBool("all", true)},
          {{"initial_h", {"h0"}},
           {"weight_ih", {"w"}},
           {"weight_hh", {"r"}},
           {"bias", {"b"}},
           {"output_sequence", {"all"}}},
          {"y", "h"}),
      {F32({kSteps, kBatch, kSize}, expected.outputs),
       F32({kBatch, kSize}, expected.state)});
}

Lstm LstmOf(int seed, bool has_peepholes) {
  Lstm lstm{GateOf(seed), GateOf(seed + 1), GateOf(seed + 2), GateOf(seed + 3)};
  if (has_peepholes) {
    lstm.input.peephole = Spread(kSize, seed + 60);
    lstm.forget.peephole = Spread(kSize, seed + 61);
    lstm.output.peephole = Spread(kSize, seed + 62);
  }
  return lstm;
}

Message LstmWeights(const Lstm& lstm) {
  Message message;
  const std::pair<uint64_t, const Gate*> gates[] = {{1, &lstm.input},
                                                    {2, &lstm.forget},
                                                    {3, &lstm.candidate},
                                                    {4, &lstm.output}};
  for (const auto& [field, gate] : gates)
    message.Put(field, Weights(gate->input));
  for (const auto& [field, gate] : gates)
    message.Put(field + 19, Weights(gate->hidden));
  for (const auto& [field, gate] : gates)
    message.Put(field + 39, Weights(gate->bias));
  return message.Put(60, Weights(lstm.input.peephole))
      .Put(61, Weights(lstm.forget.peephole))
      .Put(62, Weights(lstm.output.peephole));
}

Stepper StepOf(const Lstm& lstm) {
  return [&lstm](const Row& x, Row& state, Row& cell) {
    lstm.Step(x, state, cell);
  };
}

TEST(Recurrent, LstmOfAllOptions) {
  const Row start = Wide(Spread(kBatch * kSize, 11));
  const Row cells = Wide(Spread(kBatch * kSize, 12));
  for (const bool has_peepholes : {false, true}) {
    for (const bool is_coupled : {false, true}) {
      for (const bool forgets_less : {false, true}) {
        Lstm lstm = LstmOf(5, has_peepholes);
        const Message weights = LstmWeights(lstm);
        if (forgets_less) {
          for (float& value : lstm.forget.bias) value += 1;
        }
        lstm.is_coupled = is_coupled;
        lstm.limit = 0.3f;
        lstm.h = [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); };
        const bool is_backward = is_coupled;
        const Expected expected =
            RunSteps(kX, start, cells, is_backward, StepOf(lstm));
        const Message layer = Message()
                                  .Integer(1, kIn)
                                  .Integer(2, kSize)
                                  .Put(10, ActivationOf(40))
                                  .Put(10, ActivationOf(30))
                                  .Put(10, ActivationOf(41))
                                  .Put(15, Message()
                                               .Integer(10, 1)
                                               .Integer(20, 1)
                                               .Integer(30, forgets_less)
                                               .Integer(40, has_peepholes)
                                               .Integer(50, is_coupled)
                                               .Float(60, 0.3f))
                                  .Put(20, weights)
                                  .Integer(100, is_backward);
        ExpectNumbers(RunLayer(420, layer,
                               {Blob(kSteps, Wide(kX), kIn), Blob(1, start),
                                Blob(1, cells)},
                               3),
                      {Result(kSteps, expected.outputs),
                       Result(1, expected.state), Result(1, expected.cell)});
      }
    }
  }
}

// Joins the results of a bidirectional layer: for each step, the row of the
// forward direction, then that of the backward direction.
Row SideBySide(const Row& forward, const Row& backward, size_t steps) {
  Row both;
  for (size_t t = 0; t < steps; ++t) {
    for (size_t b = 0; b < kBatch; ++b) {
      const auto add = [&](const Row& of, size_t at) {
        both.insert(both.end(), of.begin() + at * kSize,
                    of.begin() + (at + 1) * kSize);
      };
      add(forward, t * kBatch + b);
      add(backward, (steps - 1 - t) * kBatch + b);
    }
  }
  return both;
}

TEST(Recurrent, LstmBothWays) {
  const Lstm forward = LstmOf(5, true), backward = LstmOf(30, true);
  const Expected there = RunSteps(kX, kZero, kZero, false, StepOf(forward));
  const Expected back = RunSteps(kX, kZero, kZero, true, StepOf(backward));
  for (const bool keeps_sequence : {false, true}) {
    Message layer = Message().Integer(1, kIn).Integer(2, kSize);
    for (const uint64_t field : {10, 11}) {
      layer.Put(field, ActivationOf(40))
          .Put(field, ActivationOf(30))
          .Put(field, ActivationOf(30));
    }
    layer
        .Put(
            15,
            Message().Integer(10, keeps_sequence).Integer(20, 1).Integer(40, 1))
        .Put(20, LstmWeights(forward))
        .Put(20, LstmWeights(backward));
    const Numbers y =
        keeps_sequence
            ? Result(kSteps, SideBySide(there.outputs, back.outputs, kSteps),
                     2 * kSize)
            : Result(1, SideBySide(there.state, back.state, 1), 2 * kSize);
    ExpectNumbers(RunLayer(430, layer, {Blob(kSteps, Wide(kX), kIn)}, 5),
                  {y, Result(1, there.state), Result(1, there.cell),
                   Result(1, back.state), Result(1, back.cell)});
  }
  std::vector<Message> constants = {
      ConstFloats("zero", {kBatch, 2 * kSize},
                  std::vector<float>(kBatch * 2 * kSize, 0)),
      ConstBool("all", true), ConstText("both", "bidirectional")};
  OperationInputs inputs = {{"initial_h", {"zero"}},
                            {"initial_c", {"zero"}},
                            {"output_sequence", {"all"}},
                            {"direction", {"both"}}};
  using Side = std::pair<std::string, const Lstm*>;
  for (const auto& [suffix, lstm] :
       {Side("", &forward), Side("_back", &backward)}) {
    const auto add = [&](const std::string& name,
                         const std::vector<int64_t>& dims, const auto& member,
                         const std::vector<const Gate*>& gates) {
      std::vector<float> all;
      for (const Gate* gate : gates)
        all.insert(all.end(), (gate->*member).begin(), (gate->*member).end());
      constants.push_back(ConstFloats(name + suffix, dims, all));
      inputs.push_back({name + suffix, {name + suffix}});
    };
    const std::vector<const Gate*> three = {&lstm->input, &lstm->forget,
                                            &lstm->output};
    std::vector<const Gate*> four = three;
    four.push_back(&lstm->candidate);
    add("weight_ih", {4 * kSize, kIn}, &Gate::input, four);
    add("weight_hh", {4 * kSize, kSize}, &Gate::hidden, four);
    add("bias", {4 * kSize}, &Gate::bias, four);
    add("peephole", {3 * kSize}, &Gate::peephole, three);
  }
  ExpectNumbers(
      RunOperation("lstm", F32({kSteps, kBatch, kIn}, Wide(kX)), constants,
                   inputs, {"y", "h", "c"}),
      {F32({kSteps, kBatch, 2 * kSize},
           SideBySide(there.outputs, back.outputs, kSteps)),
       F32({kBatch, 2 * kSize}, SideBySide(there.state, back.state, 1)),
       F32({kBatch, 2 * kSize}, SideBySide(there.cell, back.cell, 1))});
}

TEST(Recurrent, MilRnnBackward) {
  const Gate gate = GateOf(1, false);
  const Expected expected =
      RunSteps(kX, kZero, kZero, true, [&](const Row& x, Row& state, Row&) {
        state = Apply(gate, x, state, {}, HyperbolicTangent);
      });
  const std::vector<Message> constants = {
      ConstFloats("h0", {kBatch, kSize}, std::vector<float>(kBatch * kSize, 0)),
      ConstFloats("w", {kSize, kIn}, gate.input),
      ConstFloats("r", {kSize, kSize}, gate.hidden),
      ConstText("way", "reverse")};
  const OperationInputs inputs = {{"initial_h", {"h0"}},
                                  {"weight_ih", {"w"}},
                                  {"weight_hh", {"r"}},
                                  {"direction", {"way"}}};
  const Numbers x = F32({kSteps, kBatch, kIn}, Wide(kX));
  ExpectNumbers(RunOperation("rnn", x, constants, inputs, {"y", "h"}),
                {F32({1, kBatch, kSize}, expected.state),
                 F32({kBatch, kSize}, expected.state)});
  // An LSTM's weights have more rows than a GRU needs, so the GRU refuses them.
  EXPECT_NE(RunOperation("gru", x, constants, inputs, {"y", "h"})
                .status()
                .message()
                .find("weight_ih: expected 6 rows"),
            std::string_view::npos);
}

TEST(Recurrent, WhatIsMissingIsSaid) {
  const auto error = [](const Message& layer) {
    const auto results = RunLayer(400, layer, {Blob(kSteps, Wide(kX), kIn)});
    return results.ok() ? "" : std::string(results.status().message());
  };
  const Message sizes = Message().Integer(1, kIn).Integer(2, kSize);
  EXPECT_NE(error(Message()).find("inputVectorSize"), std::string::npos);
  EXPECT_NE(error(sizes).find("weights: expected [2, 2], found none"),
            std::string::npos)
      << error(sizes);
}

}  // namespace
}  // namespace ember::tests

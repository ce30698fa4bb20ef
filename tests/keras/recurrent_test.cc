// Tests recurrent layers against a reference that runs step by step:
// directions, states, masks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/keras/one_layer.h"

namespace ember::tests {
namespace {

using Vector = std::vector<double>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Computes one step of a SimpleRNN with one unit and one feature, from the
// input x and the states s.
Vector SimpleStep(double x, const Vector& s) {
  return {std::tanh(0.5 * x + 0.25 * s[0] + 0.1)};
}
// Computes one step of an LSTM. The gates i, f, c, o have kernels 0.5, -0.5, 1,
// 0.25, recurrent kernels 0.1 … 0.4 and biases 0, 1, 0, 0.
Vector LstmStep(double x, const Vector& s) {
  const double i = Sigmoid(0.5 * x + 0.1 * s[0]);
  const double f = Sigmoid(-0.5 * x + 0.2 * s[0] + 1);
  const double c = std::tanh(x + 0.3 * s[0]);
  const double o = Sigmoid(0.25 * x + 0.4 * s[0]);
  const double next = f * s[1] + i * c;
  return {o * std::tanh(next), next};
}
// Computes one step of a GRU. The gates are z, r, h, with the reset after the
// product and two biases.
Vector GruStep(double x, const Vector& s) {
  const double z = Sigmoid(0.5 * x + 0.1 + 0.2 * s[0] + 0.4);
  const double r = Sigmoid(-0.5 * x + 0.2 + 0.3 * s[0] + 0.5);
  const double h = std::tanh(x + 0.3 + r * (0.4 * s[0] + 0.6));
  return {z * s[0] + (1 - z) * h};
}
// Computes one step of a GRU with the reset before the product, and one bias.
Vector OldGruStep(double x, const Vector& s) {
  const double z = Sigmoid(0.5 * x + 0.1 + 0.2 * s[0]);
  const double r = Sigmoid(-0.5 * x + 0.2 + 0.3 * s[0]);
  const double h = std::tanh(x + 0.3 + 0.4 * (r * s[0]));
  return {z * s[0] + (1 - z) * h};
}

struct Layer {
  std::string name, config;
  Vector (*step)(double, const Vector&);
  size_t states;
  std::vector<Numbers> weights;
};

std::vector<Layer> Layers() {
  return {
      {"SimpleRNN",
       R"("activation": "tanh")",
       SimpleStep,
       1,
       {F32({1, 1}, {0.5}), F32({1, 1}, {0.25}), F32({1}, {0.1})}},
      {"LSTM",
       R"("activation": "tanh", "recurrent_activation": "sigmoid")",
       LstmStep,
       2,
       {F32({1, 4}, {0.5, -0.5, 1, 0.25}), F32({1, 4}, {0.1, 0.2, 0.3, 0.4}),
        F32({4}, {0, 1, 0, 0})}},
      {"GRU",
       R"("activation": "tanh", "recurrent_activation": "sigmoid",
                 "reset_after": true)",
       GruStep,
       1,
       {F32({1, 3}, {0.5, -0.5, 1}), F32({1, 3}, {0.2, 0.3, 0.4}),
        F32({2, 3}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6})}},
      {"GRU",
       R"("activation": "tanh", "recurrent_activation": "sigmoid",
                 "reset_after": false)",
       OldGruStep,
       1,
       {F32({1, 3}, {0.5, -0.5, 1}), F32({1, 3}, {0.2, 0.3, 0.4}),
        F32({3}, {0.1, 0.2, 0.3})}},
  };
}

OneLayer Make(const Layer& layer, const std::string& options, const Vector& x) {
  OneLayer one(layer.name, "{" + layer.config + options + "}");
  one.Input(F32({1, static_cast<int64_t>(x.size()), 1}, x));
  for (const Numbers& weight : layer.weights) one.Weight(weight);
  return one;
}

// The reference's result: the output of each step, and the states after the
// last step. If `masked` is true, steps whose input is 0 are skipped.
struct Outcome {
  Vector outputs, states;
};
Outcome Reference(const Layer& layer, const Vector& x, bool masked = false) {
  Outcome outcome;
  outcome.states.assign(layer.states, 0);
  double output = 0;
  for (const double value : x) {
    if (!masked || value != 0) {
      outcome.states = layer.step(value, outcome.states);
      output = outcome.states[0];
    }
    outcome.outputs.push_back(output);
  }
  return outcome;
}

const Vector kInput = {0.5, -1, 0, 2, 0};

TEST(Recurrent, LastOutput) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    ExpectNumbers(Make(layer, "", kInput).Run(),
                  {F32({1, 1}, {Reference(layer, kInput).outputs.back()})});
  }
}

TEST(Recurrent, SequencesAndStates) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    OneLayer one = Make(
        layer, R"(, "return_sequences": true, "return_state": true)", kInput);
    const Outcome expected = Reference(layer, kInput);
    std::vector<Numbers> numbers{F32({1, 5, 1}, expected.outputs)};
    for (const double state : expected.states)
      numbers.push_back(F32({1, 1}, {state}));
    ExpectNumbers(one.Results(static_cast<int>(numbers.size())).Run(), numbers);
  }
}

TEST(Recurrent, Backwards) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    // A layer with go_backwards begins with the last step, and returns the
    // outputs in the order in which it computes them.
    const Vector reversed(kInput.rbegin(), kInput.rend());
    ExpectNumbers(
        Make(layer, R"(, "return_sequences": true, "go_backwards": true)",
             kInput)
            .Run(),
        {F32({1, 5, 1}, Reference(layer, reversed).outputs)});
  }
}

TEST(Recurrent, MaskedStepsKeepOutputAndStates) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    const Outcome expected = Reference(layer, kInput, /*masked=*/true);
    ExpectNumbers(
        Make(layer, R"(, "return_sequences": true)", kInput).Masked(0).Run(),
        {F32({1, 5, 1}, expected.outputs)});
    Vector zeroed = expected.outputs;
    zeroed[2] = zeroed[4] = 0;
    ExpectNumbers(Make(layer, R"(, "return_sequences": true,
                                  "zero_output_for_mask": true)",
                       kInput)
                      .Masked(0)
                      .Run(),
                  {F32({1, 5, 1}, zeroed)});
  }
}

TEST(Recurrent, InitialStates) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    const Vector first(kInput.begin(), kInput.begin() + 2);
    const Vector rest(kInput.begin() + 2, kInput.end());
    OneLayer one = Make(layer, "", rest);
    for (const double state : Reference(layer, first).states)
      one.Input(F32({1, 1}, {state}));
    ExpectNumbers(one.Run(),
                  {F32({1, 1}, {Reference(layer, kInput).outputs.back()})});
  }
}

// The state of a stateful layer consists of inputs and results of the module.
TEST(Recurrent, Stateful) {
  for (const Layer& layer : Layers()) {
    SCOPED_TRACE(layer.name);
    const Vector first(kInput.begin(), kInput.begin() + 2);
    const Vector rest(kInput.begin() + 2, kInput.end());
    std::vector<Numbers> state;
    for (const double value : Reference(layer, first).states)
      state.push_back(F32({1, 1}, {value}));
    const Outcome expected = Reference(layer, kInput);
    std::vector<Numbers> numbers{F32({1, 1}, {expected.outputs.back()})};
    for (const double value : expected.states)
      numbers.push_back(F32({1, 1}, {value}));
    ExpectNumbers(Make(layer, R"(, "stateful": true)", rest).Run(state),
                  numbers);
  }
}

TEST(Recurrent, Bidirectional) {
  const Layer layer = Layers()[1];
  const Vector reversed(kInput.rbegin(), kInput.rend());
  const Vector ahead = Reference(layer, kInput).outputs;
  const Vector back = Reference(layer, reversed).outputs;
  for (const std::string mode : {"concat", "sum", "mul", "ave"}) {
    OneLayer one("Bidirectional",
                 R"({"merge_mode": ")" + mode +
                     R"(", "layer": {"class_name": "LSTM", "config": {)" +
                     layer.config + R"(, "return_sequences": true}}})");
    one.Input(F32({1, 5, 1}, kInput));
    for (int i = 0; i < 2; ++i)
      for (const Numbers& weight : layer.weights) one.Weight(weight);
    Vector expected;
    for (size_t i = 0; i < 5; ++i) {
      const double a = ahead[i], b = back[4 - i];
      if (mode == "concat") {
        expected.insert(expected.end(), {a, b});
      } else {
        expected.push_back(mode == "sum"   ? a + b
                           : mode == "mul" ? a * b
                                           : (a + b) / 2);
      }
    }
    SCOPED_TRACE(mode);
    ExpectNumbers(one.Run(), {F32({1, 5, mode == "concat" ? 2 : 1}, expected)});
  }
}

TEST(Recurrent, StackedCells) {
  const Layer simple = Layers()[0], gru = Layers()[2];
  OneLayer one("RNN",
               R"({"cell": {"class_name": "StackedRNNCells", "config": {
                     "cells": [{"class_name": "SimpleRNNCell", "config": {)" +
                   simple.config +
                   R"(}}, {"class_name": "GRUCell", "config": {)" + gru.config +
                   "}}]}}}");
  one.Input(F32({1, 5, 1}, kInput));
  for (const Layer* layer : {&simple, &gru})
    for (const Numbers& weight : layer->weights) one.Weight(weight);
  const Vector below = Reference(simple, kInput).outputs;
  ExpectNumbers(one.Run(),
                {F32({1, 1}, {Reference(gru, below).outputs.back()})});
}

// The layer's kernels are 1 x 1, so each pixel is an LSTM of its own, whose
// reference is known.
TEST(Recurrent, ConvolutionalLstm) {
  const Layer layer = Layers()[1];
  OneLayer one("ConvLSTM2D", "{" + layer.config +
                                 R"(, "kernel_size": [1, 1], "filters": 1})");
  const Vector other = {1, 1, -1, 0.5, 0.25};
  Vector x;
  for (size_t i = 0; i < 5; ++i) x.insert(x.end(), {kInput[i], other[i]});
  one.Input(F32({1, 5, 1, 2, 1}, x));
  for (Numbers weight : layer.weights) {
    if (weight.dims.size() == 2) weight.dims = {1, 1, 1, 4};
    one.Weight(weight);
  }
  ExpectNumbers(one.Run(),
                {F32({1, 1, 2, 1}, {Reference(layer, kInput).outputs.back(),
                                    Reference(layer, other).outputs.back()})});
}

TEST(Recurrent, TimeDistributed) {
  OneLayer one("TimeDistributed",
               R"({"layer": {"class_name": "Dense",
                             "config": {"name": "inner", "units": 1}}})");
  one.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  one.Weight(F32({2, 1}, {1, 10})).Weight(F32({1}, {0.5}));
  ExpectNumbers(one.Run(), {F32({1, 2, 1}, {21.5, 43.5})});
}

}  // namespace
}  // namespace ember::tests

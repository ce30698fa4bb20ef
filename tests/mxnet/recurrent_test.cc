// Tests the operator RNN against its definition, step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/mxnet/one_operator.h"

namespace ember::tests {
namespace {

using Op = OneMxnetOperator;
using Vector = std::vector<double>;

constexpr size_t kSteps = 3, kBatch = 2, kInput = 3, kState = 2;

// Returns numbers around 0 that all differ.
Vector Values(size_t count, double seed) {
  Vector values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(0.8 * std::sin(seed + 1.7 * static_cast<double>(i)));
  return values;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Weights and biases of one direction of one layer.
struct Cell {
  size_t gates, inputs;
  Vector input, hidden, input_bias, hidden_bias;

  Vector FromInput(const Vector& x) const {
    return Product(input, input_bias, x);
  }
  Vector FromHidden(const Vector& h) const {
    return Product(hidden, hidden_bias, h);
  }
  Vector Product(const Vector& matrix, const Vector& bias,
                 const Vector& x) const {
    Vector y = bias;
    for (size_t row = 0; row < y.size(); ++row) {
      for (size_t i = 0; i < x.size(); ++i)
        y[row] += matrix[row * x.size() + i] * x[i];
    }
    return y;
  }
};

// Computes one step of an RNN, GRU or LSTM cell by its definition. Returns h
// and c after the step.
std::pair<Vector, Vector> Step(const std::string& mode, const Cell& cell,
                               const Vector& x, const Vector& h,
                               const Vector& c) {
  const Vector a = cell.FromInput(x), b = cell.FromHidden(h);
  Vector next(kState), next_c(kState);
  for (size_t i = 0; i < kState; ++i) {
    const auto sum = [&](size_t gate) {
      return a[gate * kState + i] + b[gate * kState + i];
    };
    if (mode == "rnn_tanh") {
      next[i] = std::tanh(sum(0));
    } else if (mode == "rnn_relu") {
      next[i] = std::max(sum(0), 0.0);
    } else if (mode == "gru") {
      const double reset = Sigmoid(sum(0)), update = Sigmoid(sum(1));
      const double candidate =
          std::tanh(a[2 * kState + i] + reset * b[2 * kState + i]);
      next[i] = (1 - update) * candidate + update * h[i];
    } else {
      next_c[i] = Sigmoid(sum(1)) * c[i] + Sigmoid(sum(0)) * std::tanh(sum(2));
      next[i] = Sigmoid(sum(3)) * std::tanh(next_c[i]);
    }
  }
  return {next, next_c};
}

size_t GatesOf(const std::string& mode) {
  return mode == "lstm" ? 4 : mode == "gru" ? 3 : 1;
}

// Compares the operator, with two layers in both directions, with the
// definition.
void ExpectDefinition(const std::string& mode) {
  SCOPED_TRACE(mode);
  const size_t rows = GatesOf(mode) * kState;
  std::vector<Cell> cells(4);
  Vector packed;
  const auto take = [&packed](size_t count) {
    const Vector values =
        Values(count, 0.1 * static_cast<double>(packed.size()));
    packed.insert(packed.end(), values.begin(), values.end());
    return values;
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i].inputs = i < 2 ? kInput : 2 * kState;
    cells[i].input = take(rows * cells[i].inputs);
    cells[i].hidden = take(rows * kState);
  }
  for (Cell& cell : cells) {
    cell.input_bias = take(rows);
    cell.hidden_bias = take(rows);
  }
  const Vector data = Values(kSteps * kBatch * kInput, 5);
  const Vector first_h = Values(4 * kBatch * kState, 6);
  const Vector first_c = Values(4 * kBatch * kState, 7);
  Vector output(kSteps * kBatch * 2 * kState), last_h, last_c;
  last_h.resize(first_h.size());
  last_c.resize(first_c.size());
  for (size_t batch = 0; batch < kBatch; ++batch) {
    std::vector<Vector> x(kSteps);
    for (size_t t = 0; t < kSteps; ++t) {
      const auto from = data.begin() + (t * kBatch + batch) * kInput;
      x[t].assign(from, from + kInput);
    }
    for (size_t layer = 0; layer < 2; ++layer) {
      std::vector<Vector> y(kSteps);
      for (size_t direction = 0; direction < 2; ++direction) {
        const size_t cell = 2 * layer + direction;
        const size_t at = (cell * kBatch + batch) * kState;
        Vector h(first_h.begin() + at, first_h.begin() + at + kState);
        Vector c(first_c.begin() + at, first_c.begin() + at + kState);
        std::vector<Vector> all(kSteps);
        for (size_t i = 0; i < kSteps; ++i) {
          const size_t t = direction == 0 ? i : kSteps - 1 - i;
          std::tie(h, c) = Step(mode, cells[cell], x[t], h, c);
          all[t] = h;
        }
        for (size_t t = 0; t < kSteps; ++t)
          y[t].insert(y[t].end(), all[t].begin(), all[t].end());
        std::copy(h.begin(), h.end(), last_h.begin() + at);
        std::copy(c.begin(), c.end(), last_c.begin() + at);
      }
      x = y;
    }
    for (size_t t = 0; t < kSteps; ++t) {
      std::copy(x[t].begin(), x[t].end(),
                output.begin() + (t * kBatch + batch) * 2 * kState);
    }
  }
  const std::vector<int64_t> states = {4, kBatch, kState};
  Op op("RNN", {{"mode", mode},
                {"state_size", "2"},
                {"num_layers", "2"},
                {"bidirectional", "True"},
                {"state_outputs", "True"},
                {"p", "0.5"}});
  op.Input(F32({kSteps, kBatch, kInput}, data));
  op.Constant(F32({static_cast<int64_t>(packed.size())}, packed));
  op.Input(F32(states, first_h));
  std::vector<Numbers> want = {F32({kSteps, kBatch, 2 * kState}, output),
                               F32(states, last_h)};
  if (mode == "lstm") {
    op.Input(F32(states, first_c));
    want.push_back(F32(states, last_c));
  }
  op.Results(static_cast<int>(want.size()));
  ExpectNumbers(op.Run(), want);
}

TEST(MxnetRecurrent, TwoLayersInBothDirections) {
  for (const char* mode : {"rnn_tanh", "rnn_relu", "lstm", "gru"})
    ExpectDefinition(mode);
}

// Tests an LSTM with a projection of its state, whose matrix follows the other
// matrices of the cell in the parameters. The state then is as long as the
// projection's result.
TEST(MxnetRecurrent, Projection) {
  Op op("RNN", {{"mode", "lstm"},
                {"state_size", "1"},
                {"num_layers", "1"},
                {"projection_size", "2"}});
  op.Input(F32({1, 1, 1}, {0}));
  // All weights and biases of the gates are 0, except the candidate's bias,
  // which is 1. They are followed by the projection's matrix, of the shape [2,
  // 1].
  op.Constant(F32({22}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, -5,  //
                         0, 0, 1, 0, 0, 0, 0, 0}));
  op.Input(F32({1, 1, 2}, {0, 0}));
  op.Input(F32({1, 1, 1}, {0}));
  const double h = 0.5 * std::tanh(0.5 * std::tanh(1.0));
  ExpectNumbers(op.Run(), {F32({1, 1, 2}, {3 * h, -5 * h})});
}

TEST(MxnetRecurrent, WrongOnesAreRefused) {
  Op op("RNN", {{"mode", "gru"}, {"state_size", "2"}, {"num_layers", "1"}});
  op.Input(F32({1, 1, 3}, {1, 2, 3}));
  op.Constant(F32({5}, {1, 2, 3, 4, 5}));
  op.Input(F32({1, 1, 2}, {0, 0}));
  const auto results = op.Run();
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find(
                "parameters: expected 42 elements, found 5"),
            std::string_view::npos)
      << results.status().ToString();
}

}  // namespace
}  // namespace ember::tests

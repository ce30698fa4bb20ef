// Tests recurrent layers against their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

struct Unit {
  std::vector<double> h, c;
};

// Computes one step of an LSTM. `gates` are the products of x with the weights
// of the gates, which are computed beforehand.
Unit LstmStep(const std::vector<double>& gates, double cont, const Unit& before,
              const std::vector<float>& w) {
  const size_t d = before.h.size();
  std::vector<double> g = gates;
  for (size_t i = 0; i < 4 * d; ++i)
    for (size_t j = 0; j < d; ++j) g[i] += w[i * d + j] * cont * before.h[j];
  Unit after = before;
  for (size_t i = 0; i < d; ++i) {
    after.c[i] = cont * SigmoidOf(g[d + i]) * before.c[i] +
                 SigmoidOf(g[i]) * std::tanh(g[3 * d + i]);
    after.h[i] = SigmoidOf(g[2 * d + i]) * std::tanh(after.c[i]);
  }
  return after;
}

TEST(Layers, LstmBeginsAnewAndKeepsItsState) {
  constexpr size_t kSteps = 3, kD = 2, kIn = 3;
  const Numbers x = SequenceOf({kSteps, 1, kIn});
  const Numbers cont = F32({kSteps, 1}, {1, 1, 0});
  const TestBlob wx = BlobOf({4 * kD, kIn}), b = BlobOf({4 * kD}),
                 wh = BlobOf({4 * kD, kD});
  Unit unit{{0.5, -0.25}, {1, 2}};
  const Numbers h0 = F32({1, kD}, unit.h), c0 = F32({1, kD}, unit.c);
  Numbers y = F32({kSteps, 1, kD}, {});
  for (size_t t = 0; t < kSteps; ++t) {
    std::vector<double> gates(b.values.begin(), b.values.end());
    for (size_t g = 0; g < 4 * kD; ++g)
      for (size_t i = 0; i < kIn; ++i)
        gates[g] += wx.values[g * kIn + i] * x.values[t * kIn + i];
    unit = LstmStep(gates, cont.values[t], unit, wh.values);
    y.values.insert(y.values.end(), unit.h.begin(), unit.h.end());
  }
  const Numbers h = F32({1, kD}, unit.h), c = F32({1, kD}, unit.c);
  ExpectNumbers(RunLayer(R"(type: "LSTM" recurrent_param { num_output: 2 })",
                         {x, cont}, {wx, b, wh}, 1, {h0, c0}),
                {y, h, c});
  // The parameter expose_hidden makes states bottoms and tops of the layer
  // instead of state of the module. They then have a leading dim, for the
  // single step.
  auto stepped = [](Numbers state) {
    state.dims.insert(state.dims.begin(), 1);
    return state;
  };
  ExpectNumbers(RunLayer(R"(type: "LSTM" recurrent_param { num_output: 2
                            expose_hidden: true })",
                         {x, cont, stepped(h0), stepped(c0)}, {wx, b, wh}, 3),
                {y, stepped(h), stepped(c)});
}

TEST(Layers, LstmWithStaticInput) {
  const Numbers x = F32({1, 1, 1}, {0.5}), cont = F32({1, 1}, {0});
  const Numbers fixed = F32({1, 2}, {1, -1});
  const TestBlob wx = BlobOf({4, 1}), b = BlobOf({4}), ws = BlobOf({4, 2}),
                 wh = BlobOf({4, 1});
  std::vector<double> gates;
  for (size_t g = 0; g < 4; ++g)
    gates.push_back(b.values[g] + 0.5 * wx.values[g] + ws.values[2 * g] -
                    ws.values[2 * g + 1]);
  const Unit unit = LstmStep(gates, 0, {{9}, {9}}, wh.values);
  ExpectNumbers(
      RunLayer(R"(type: "LSTM" recurrent_param { num_output: 1 })",
               {x, cont, fixed}, {wx, b, ws, wh}, 1,
               {F32({1, 1}, {9}), F32({1, 1}, {9})}),
      {F32({1, 1, 1}, unit.h), F32({1, 1}, unit.h), F32({1, 1}, unit.c)});
  const Numbers before = F32({1, 1, 1}, {0.75});
  Numbers given = F32({1, 1, 4}, gates);
  const Unit next = LstmStep(gates, 1, {{0}, {0.75}}, {0, 0, 0, 0});
  ExpectNumbers(
      RunLayer(R"(type: "LSTMUnit")", {before, given, F32({1, 1}, {1})}, {}, 2),
      {F32({1, 1, 1}, next.c), F32({1, 1, 1}, next.h)});
}

TEST(Layers, Rnn) {
  const Numbers x = SequenceOf({2, 1, 2}), cont = F32({2, 1}, {0, 1});
  const TestBlob wx = BlobOf({2, 2}), b = BlobOf({2}), wh = BlobOf({2, 2}),
                 wo = BlobOf({2, 2}), bo{{2}, {0.25, -0.5}};
  std::vector<double> h{3, 4}, outputs;
  for (size_t t = 0; t < 2; ++t) {
    std::vector<double> next(2), out(2);
    for (size_t i = 0; i < 2; ++i) {
      double sum = b.values[i];
      for (size_t j = 0; j < 2; ++j)
        sum += wx.values[i * 2 + j] * x.values[t * 2 + j] +
               wh.values[i * 2 + j] * h[j] * cont.values[t];
      next[i] = std::tanh(sum);
    }
    for (size_t i = 0; i < 2; ++i)
      outputs.push_back(std::tanh(bo.values[i] + wo.values[i * 2] * next[0] +
                                  wo.values[i * 2 + 1] * next[1]));
    h = next;
  }
  ExpectNumbers(
      RunLayer(R"(type: "RNN" recurrent_param { num_output: 2 })", {x, cont},
               {wx, b, wh, wo, bo}, 1, {F32({1, 2}, {3, 4})}),
      {F32({2, 1, 2}, outputs), F32({1, 2}, h)});
}

}  // namespace
}  // namespace ember::tests

// Tests LinearAttention against its recurrence, step by step.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using Values = std::vector<double>;

constexpr unsigned kSeed = 99;
constexpr int kBatch = 2, kQueryHeads = 4, kHeads = 2, kKeys = 3, kValues = 5;

struct Problem {
  std::string rule;
  int steps;
  bool past;
  int decays;  // number of decays per head: 1 or kKeys
  int betas;   // number of betas: 1 or kHeads
};

struct Data {
  Values q, k, v, past, decay, beta;
};

Data MakeData(const Problem& p) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto fill = [&](int count, double low, double high) {
    Values values(count);
    for (double& value : values)
      value =
          static_cast<float>(low + (high - low) * (uniform(random) + 1) / 2);
    return values;
  };
  const int rows = kBatch * p.steps;
  return {fill(rows * kQueryHeads * kKeys, -1, 1),
          fill(rows * kHeads * kKeys, -0.6, 0.6),
          fill(rows * kHeads * kValues, -1, 1),
          fill(kBatch * kHeads * kKeys * kValues, -1, 1),
          fill(rows * kHeads * p.decays, -2, 0),
          fill(rows * p.betas, 0, 1)};
}

// Computes the expected result for one element of the batch and one key head,
// by the operator's recurrence.
void RunHead(const Problem& p, const Data& d, int b, int h, Values& y,
             Values& state) {
  const bool gated = p.rule == "gated" || p.rule == "gated_delta";
  const bool delta = p.rule == "delta" || p.rule == "gated_delta";
  double* s = &state[(b * kHeads + h) * kKeys * kValues];
  for (int t = 0; t < p.steps; ++t) {
    const int row = b * p.steps + t;
    const double* k = &d.k[(row * kHeads + h) * kKeys];
    const double* v = &d.v[(row * kHeads + h) * kValues];
    for (int i = 0; gated && i < kKeys; ++i) {
      const double g =
          d.decay[(row * kHeads + h) * p.decays + (p.decays == 1 ? 0 : i)];
      for (int j = 0; j < kValues; ++j) s[i * kValues + j] *= std::exp(g);
    }
    for (int j = 0; j < kValues; ++j) {
      double write = v[j];
      if (delta) {
        for (int i = 0; i < kKeys; ++i) write -= s[i * kValues + j] * k[i];
        write *= d.beta[row * p.betas + (p.betas == 1 ? 0 : h)];
      }
      for (int i = 0; i < kKeys; ++i) s[i * kValues + j] += k[i] * write;
    }
    for (int g = 0; g < kQueryHeads / kHeads; ++g) {
      const int head = h * (kQueryHeads / kHeads) + g;
      const double* q = &d.q[(row * kQueryHeads + head) * kKeys];
      for (int j = 0; j < kValues; ++j) {
        double sum = 0;
        for (int i = 0; i < kKeys; ++i) sum += q[i] * s[i * kValues + j];
        y[(row * kQueryHeads + head) * kValues + j] = sum / std::sqrt(kKeys);
      }
    }
  }
}

void Check(const Problem& p, bool symbolic, int chunk_size) {
  SCOPED_TRACE(testing::Message()
               << p.rule << ", " << p.steps << " steps, past " << p.past
               << ", decays " << p.decays << ", symbolic " << symbolic
               << ", chunk_size " << chunk_size << ", seed " << kSeed);
  const Data d = MakeData(p);
  Values y(kBatch * p.steps * kQueryHeads * kValues);
  Values state = p.past ? d.past : Values(d.past.size());
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h) RunHead(p, d, b, h, y, state);

  OneNode node("LinearAttention", 27, 2);
  auto packed = [&](const Values& values) {
    const int64_t width =
        static_cast<int64_t>(values.size()) / (kBatch * p.steps);
    node.Input(F32({kBatch, p.steps, width}, values),
               {kBatch, symbolic ? -1 : p.steps, width});
  };
  packed(d.q), packed(d.k), packed(d.v);
  const std::vector<int64_t> state_dims{kBatch, kHeads, kKeys, kValues};
  if (p.past) {
    node.Input(F32(state_dims, d.past));
  } else {
    node.Absent();
  }
  if (p.rule == "gated" || p.rule == "gated_delta") {
    packed(d.decay);
  } else {
    node.Absent();
  }
  if (p.rule == "delta" || p.rule == "gated_delta") packed(d.beta);
  node.Attribute({"q_num_heads", kQueryHeads});
  node.Attribute({"kv_num_heads", kHeads});
  node.Attribute({"update_rule", p.rule.c_str()});
  node.Attribute({"chunk_size", chunk_size});
  ExpectNumbers(node.Run(),
                {F32({kBatch, p.steps, kQueryHeads * kValues}, y),
                 F32(state_dims, state)},
                5e-5);
}

TEST(LinearAttention, AllRules) {
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    for (const int steps : {1, 2, 11}) {
      for (const bool past : {false, true}) {
        Check({rule, steps, past, kKeys, kHeads}, false, 64);
        Check({rule, steps, past, 1, 1}, false, 4);
      }
    }
  }
}

TEST(LinearAttention, NumberOfStepsKnownWhenRun) {
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"})
    Check({rule, 7, true, kKeys, kHeads}, true, 64);
}

}  // namespace
}  // namespace ember::tests

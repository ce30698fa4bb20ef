// Tests mixtures of experts of the com.microsoft domain against the formula in
// plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

constexpr int kTokens = 5, kHidden = 4, kExperts = 3, kInner = 3;

// Returns numbers of either sign that follow no simple pattern. Other seeds
// give other numbers.
Values Noise(int count, int seed) {
  Values values;
  for (int i = 0; i < count; ++i)
    values.push_back(std::sin(0.9 * (i + 1) * (seed + 2)));
  return values;
}

// The weights and biases of all experts, row-major [expert, results, operands],
// and the options of their activation.
struct Experts {
  Values w1, b1, w2, b2, w3;
  bool swiglu = false, interleaved = false;
  double alpha = 1, beta = 0, limit = 1e9;
  int fused() const { return swiglu && w3.empty() ? 2 * kInner : kInner; }
};

Values Linear(const Values& w, const Values& b, int expert, int results,
              const Values& x) {
  const int width = static_cast<int>(x.size());
  Values y(static_cast<size_t>(results));
  for (int r = 0; r < results; ++r) {
    double sum = b.empty() ? 0 : b[static_cast<size_t>(expert * results + r)];
    for (int i = 0; i < width; ++i) {
      sum += w[static_cast<size_t>((expert * results + r) * width + i)] *
             x[static_cast<size_t>(i)];
    }
    y[static_cast<size_t>(r)] = sum;
  }
  return y;
}

double Silu(double x, double alpha) { return x / (1 + std::exp(-alpha * x)); }

Values OneExpert(const Experts& e, int expert, const Values& x) {
  const Values h = Linear(e.w1, e.b1, expert, e.fused(), x);
  Values third;
  if (!e.w3.empty()) third = Linear(e.w3, {}, expert, kInner, x);
  Values a;
  for (int i = 0; i < kInner; ++i) {
    const auto at = [&](int index) { return h[static_cast<size_t>(index)]; };
    if (!e.swiglu) {
      a.push_back(std::max(at(i), 0.0) *
                  (third.empty() ? 1 : third[static_cast<size_t>(i)]));
      continue;
    }
    double gate = at(e.w3.empty() && e.interleaved ? 2 * i : i);
    double value = !e.w3.empty()   ? third[static_cast<size_t>(i)]
                   : e.interleaved ? at(2 * i + 1)
                                   : at(kInner + i);
    gate = std::min(gate, e.limit);
    value = std::clamp(value, -e.limit, e.limit);
    a.push_back(Silu(gate, e.alpha) * (value + e.beta));
  }
  return Linear(e.w2, e.b2, expert, kHidden, a);
}

// Returns the expected result of a mixture of experts. If `of_chosen` is true,
// the softmax is taken over the k best logits only; otherwise over all of them.
Values Reference(const Experts& e, const Values& x, const Values& logits, int k,
                 bool of_chosen) {
  Values y;
  for (int t = 0; t < kTokens; ++t) {
    const Values token(x.begin() + t * kHidden, x.begin() + (t + 1) * kHidden);
    Values powers;
    for (int expert = 0; expert < kExperts; ++expert) {
      powers.push_back(
          std::exp(logits[static_cast<size_t>(t * kExperts + expert)]));
    }
    std::vector<int> order(kExperts);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return powers[static_cast<size_t>(a)] > powers[static_cast<size_t>(b)];
    });
    double sum = 0;
    for (int i = 0; i < (of_chosen ? k : kExperts); ++i)
      sum += powers[static_cast<size_t>(order[static_cast<size_t>(i)])];
    Values out(kHidden);
    for (int i = 0; i < k; ++i) {
      const int expert = order[static_cast<size_t>(i)];
      const Values part = OneExpert(e, expert, token);
      for (size_t j = 0; j < out.size(); ++j)
        out[j] += powers[static_cast<size_t>(expert)] / sum * part[j];
    }
    y.insert(y.end(), out.begin(), out.end());
  }
  return y;
}

OneNode Node(const std::string& op_type) {
  return OneNode(op_type, 1, 1, "com.microsoft");
}

// Adds the inputs x and logits to the node. If `open` is true, their dims are
// symbols.
void AddOperands(OneNode& node, const Values& x, const Values& logits,
                 bool open) {
  if (open) {
    node.Input(F32({1, kTokens, kHidden}, x), {-2, -2, -2});
    node.Input(F32({kTokens, kExperts}, logits), {-2, kExperts});
  } else {
    node.Input(F32({kTokens, kHidden}, x));
    node.Input(F32({kTokens, kExperts}, logits));
  }
}

void ExpectTokens(OneNode& node, const Values& want, bool open) {
  ExpectNumbers(node.Run(),
                {F32(open ? std::vector<int64_t>{1, kTokens, kHidden}
                          : std::vector<int64_t>{kTokens, kHidden},
                     want)});
}

TEST(MoE, ChosenExpertsAreWeighted) {
  Experts e;
  e.w1 = Noise(kExperts * kInner * kHidden, 1);
  e.b1 = Noise(kExperts * kInner, 2);
  e.w2 = Noise(kExperts * kHidden * kInner, 3);
  e.b2 = Noise(kExperts * kHidden, 4);
  const Values x = Noise(kTokens * kHidden, 5);
  const Values logits = Noise(kTokens * kExperts, 6);
  for (const bool open : {false, true}) {
    for (const int k : {1, 2}) {
      for (const bool normalize : {false, true}) {
        OneNode node = Node("MoE");
        AddOperands(node, x, logits, open);
        node.Constant(F32({kExperts, kInner, kHidden}, e.w1));
        node.Constant(F32({kExperts, kInner}, e.b1));
        node.Constant(F32({kExperts, kHidden, kInner}, e.w2));
        node.Constant(F32({kExperts, kHidden}, e.b2));
        node.Attribute({"k", k});
        node.Attribute({"normalize_routing_weights", normalize ? 1 : 0});
        ExpectTokens(node, Reference(e, x, logits, k, normalize), open);
      }
    }
  }
}

// The logits make all tokens choose the first expert, so that the other experts
// have none.
TEST(MoE, AnExpertMayHaveNoTokens) {
  Experts e;
  e.w1 = Noise(kExperts * kInner * kHidden, 1);
  e.w2 = Noise(kExperts * kHidden * kInner, 3);
  const Values x = Noise(kTokens * kHidden, 5);
  Values logits;
  for (int t = 0; t < kTokens; ++t) logits.insert(logits.end(), {2, 0, -1});
  OneNode node = Node("MoE");
  AddOperands(node, x, logits, false);
  node.Constant(F32({kExperts, kInner, kHidden}, e.w1)).Absent();
  node.Constant(F32({kExperts, kHidden, kInner}, e.w2));
  ExpectTokens(node, Reference(e, x, logits, 1, false), false);
}

TEST(MoE, GateAndValueOfSwiglu) {
  const Values x = Noise(kTokens * kHidden, 5);
  const Values logits = Noise(kTokens * kExperts, 6);
  for (const int fusion : {0, 1, 2}) {
    Experts e;
    e.swiglu = true;
    e.interleaved = fusion == 1;
    e.alpha = 1.702, e.beta = 1, e.limit = 0.5;
    e.w1 = Noise(kExperts * (fusion == 0 ? 1 : 2) * kInner * kHidden, 1);
    e.w2 = Noise(kExperts * kHidden * kInner, 3);
    if (fusion == 0) e.w3 = Noise(kExperts * kInner * kHidden, 7);
    OneNode node = Node("MoE");
    AddOperands(node, x, logits, false);
    node.Constant(F32({kExperts, e.fused(), kHidden}, e.w1)).Absent();
    node.Constant(F32({kExperts, kHidden, kInner}, e.w2));
    if (fusion == 0)
      node.Absent().Constant(F32({kExperts, kInner, kHidden}, e.w3));
    node.Attribute({"activation_type", "swiglu"}).Attribute({"k", 2});
    node.Attribute({"swiglu_fusion", fusion});
    node.Attribute({"activation_alpha", 1.702})
        .Attribute({"swiglu_limit", 0.5});
    node.Attribute({"activation_beta", 1.0});
    ExpectTokens(node, Reference(e, x, logits, 2, false), false);
  }
}

// Returns integers of `bits` bits each, several to a byte along the last dim.
Numbers Packed(const std::vector<int64_t>& dims, const std::vector<int>& values,
               int bits) {
  const int count = 8 / bits;
  const auto width = static_cast<int>(dims.back());
  Values bytes;
  for (size_t row = 0; row * dims.back() < values.size(); ++row) {
    for (int first = 0; first < width; first += count) {
      int byte = 0;
      for (int i = 0; i < count && first + i < width; ++i)
        byte |= values[row * dims.back() + static_cast<size_t>(first + i)]
                << (i * bits);
      bytes.push_back(byte);
    }
  }
  std::vector<int64_t> packed = dims;
  packed.back() = (width + count - 1) / count;
  return U8(packed, bytes);
}

struct Quantized {
  Numbers packed, scales, zeros;
  Values values;
};

// Makes random quantized weights for all experts. `block` is the number of
// columns that share a scale; 0 means that all columns of a row share it.
Quantized Quantize(int rows, int columns, int bits, int block, bool zeros,
                   int seed) {
  const int blocks = block == 0 ? 1 : (columns + block - 1) / block;
  std::vector<int> weights, points;
  Values scales;
  Quantized q;
  const int count = kExperts * rows;
  for (int r = 0; r < count; ++r) {
    for (int b = 0; b < blocks; ++b) {
      scales.push_back(0.1 + 0.01 * ((r * 7 + b * 3 + seed) % 5));
      points.push_back((r + 2 * b + seed) % (1 << bits));
    }
    for (int i = 0; i < columns; ++i) {
      weights.push_back((r * 5 + i * 11 + seed) % (1 << bits));
      const auto at =
          static_cast<size_t>(r * blocks + (block == 0 ? 0 : i / block));
      const int zero = zeros ? points[at] : 1 << (bits - 1);
      q.values.push_back((weights.back() - zero) * scales[at]);
    }
  }
  q.packed = Packed({kExperts, rows, columns}, weights, bits);
  const std::vector<int64_t> dims =
      block == 0 ? std::vector<int64_t>{kExperts, rows}
                 : std::vector<int64_t>{kExperts, rows, blocks};
  q.scales = F32(dims, scales);
  q.zeros = Packed(dims, points, bits);
  return q;
}

TEST(QMoE, WeightsAreWidened) {
  const Values x = Noise(kTokens * kHidden, 5);
  const Values logits = Noise(kTokens * kExperts, 6);
  for (const int bits : {4, 8}) {
    for (const int block : {0, 2}) {
      for (const bool zeros : {false, true}) {
        Experts e;
        // The second layer has an odd number of operands, so that its rows of
        // 2- or 4-bit numbers do not fill whole bytes.
        const Quantized first =
            Quantize(kInner + 1, kHidden, bits, block, zeros, 1);
        const Quantized second =
            Quantize(kHidden, kInner + 1, bits, block, zeros, 2);
        // The first layer has one result more than Reference knows, so the
        // weights of that result are not passed to Reference.
        for (int expert = 0; expert < kExperts; ++expert) {
          const auto begin =
              first.values.begin() + expert * (kInner + 1) * kHidden;
          e.w1.insert(e.w1.end(), begin, begin + kInner * kHidden);
        }
        Values w2 = second.values;
        for (size_t i = 0; i < w2.size(); ++i)
          if (i % (kInner + 1) != kInner) e.w2.push_back(w2[i]);
        OneNode node = Node("QMoE");
        AddOperands(node, x, logits, false);
        // The additional result of the first layer has a bias of -1000, so the
        // activation makes it 0 and it changes nothing.
        Values bias;
        for (int expert = 0; expert < kExperts; ++expert)
          bias.insert(bias.end(), {0, 0, 0, -1000});
        node.Constant(first.packed).Constant(first.scales);
        node.Constant(F32({kExperts, kInner + 1}, bias));
        node.Constant(second.packed).Constant(second.scales).Absent();
        if (zeros) {
          node.Absent().Absent().Absent();
          node.Constant(first.zeros).Constant(second.zeros);
        }
        node.Attribute({"k", 2}).Attribute({"expert_weight_bits", bits});
        if (block > 0) node.Attribute({"block_size", block});
        ExpectTokens(node, Reference(e, x, logits, 2, true), false);
      }
    }
  }
}

TEST(QMoE, WhatIsNotSupportedIsSaid) {
  OneNode node = Node("QMoE");
  AddOperands(node, Noise(kTokens * kHidden, 5), Noise(kTokens * kExperts, 6),
              false);
  const Quantized first = Quantize(kInner, kHidden, 4, 0, false, 1);
  node.Constant(first.packed).Constant(first.scales).Absent();
  node.Constant(first.packed).Constant(first.scales);
  node.Attribute({"quant_type", "fp4"});
  EXPECT_THAT(node.Run().status().ToString(), HasSubstr("only int"));
  OneNode many = Node("MoE");
  AddOperands(many, Noise(kTokens * kHidden, 5), Noise(kTokens * kExperts, 6),
              false);
  many.Constant(F32({kExperts, kInner, kHidden}, Noise(36, 1))).Absent();
  many.Constant(F32({kExperts, kHidden, kInner}, Noise(36, 2)));
  many.Attribute({"k", 4});
  EXPECT_THAT(many.Run().status().ToString(),
              HasSubstr("expected 1 to the number of experts 3, found 4"));
}

}  // namespace
}  // namespace ember::tests

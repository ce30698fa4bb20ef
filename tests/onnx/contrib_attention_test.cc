// Tests attention of the com.microsoft domain against loops of the formula, and
// by cases whose results are obvious.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "tensor/dispatch.h"
#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Floats = std::vector<double>;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

OneNode Contrib(const std::string& op_type, int outputs = 1) {
  return OneNode(op_type, 1, outputs, "com.microsoft");
}

void ExpectNear(const Numbers& got, const std::vector<int64_t>& dims,
                const Floats& want) {
  ExpectNumbers(std::vector<Numbers>{got}, {F32(dims, want)});
}

void Expect(const StatusOr<std::vector<Numbers>>& results,
            const std::vector<int64_t>& dims, const Floats& want) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear(results->front(), dims, want);
}

// Returns numbers in [-1, 1] that follow no simple pattern, so that a wrong
// order of operands shows. Other seeds give other numbers.
Floats Noise(int64_t count, int seed) {
  Floats values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = (std::sin(0.7 * (i + 1) * (seed + 3)));
  return values;
}

// The operands of an attention with a batch of 1. `q` has the shape [queries,
// heads * size]; `k` and `v` have the shape [keys, heads * size]. `bias` is
// added to the score of each head, query and key.
struct Problem {
  int heads, size, queries, keys;
  Floats q, k, v;
  double scale;
};

Floats Reference(const Problem& p,
                 const std::function<double(int, int, int)>& bias) {
  const int width = p.heads * p.size;
  Floats y(static_cast<size_t>(p.queries) * width);
  for (int h = 0; h < p.heads; ++h) {
    for (int i = 0; i < p.queries; ++i) {
      std::vector<double> weights(p.keys);
      double sum = 0;
      for (int j = 0; j < p.keys; ++j) {
        double score = 0;
        for (int s = 0; s < p.size; ++s)
          score += static_cast<double>(p.q[i * width + h * p.size + s]) *
                   p.k[j * width + h * p.size + s];
        weights[j] = std::exp(score * p.scale + bias(h, i, j));
        sum += weights[j];
      }
      for (int s = 0; s < p.size; ++s) {
        double value = 0;
        for (int j = 0; j < p.keys; ++j)
          value += weights[j] / sum * p.v[j * width + h * p.size + s];
        y[i * width + h * p.size + s] = (value);
      }
    }
  }
  return y;
}

double NoBias(int, int, int) { return 0; }

// Returns a matrix [rows, heads * size] as [heads, rows, size].
Floats ByHead(const Floats& x, int rows, int heads, int size) {
  Floats y;
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < rows; ++r)
      for (int s = 0; s < size; ++s) y.push_back(x[(r * heads + h) * size + s]);
  return y;
}

Floats Join(Floats a, const Floats& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The projection's weights for an input of width 2: q, k and v are each equal
// to the input.
const Floats kThrice = {1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1};

TEST(ContribAttention, ProjectsAndAttends) {
  const Problem p{1,           2,           3,           3,
                  Noise(6, 0), Noise(6, 0), Noise(6, 0), 1 / std::sqrt(2.0)};
  OneNode node = Contrib("Attention");
  node.Input(F32({1, 3, 2}, p.q)).Constant(F32({2, 6}, kThrice));
  node.Attribute({"num_heads", 1});
  Expect(node.Run(), {1, 3, 2}, Reference(p, NoBias));
}

TEST(ContribAttention, CausalWithPastReturnsBoth) {
  // The past holds one key, (9, 8), and one value, (7, 6).
  const Floats past = {9, 8, 7, 6};
  OneNode node = Contrib("Attention", 2);
  node.Input(F32({1, 1, 2}, {1, 2})).Constant(F32({2, 6}, kThrice));
  node.Absent().Absent().Input(F32({2, 1, 1, 1, 2}, past));
  node.Attribute({"num_heads", 1}).Attribute({"unidirectional", 1});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear((*results)[1], {2, 1, 1, 2, 2}, {9, 8, 1, 2, 7, 6, 1, 2});
  // The token (1, 2) attends to the past key with the score (9 + 16) / √2, and
  // to itself with the score 5 / √2.
  const double w = (1 / (1 + std::exp(-20 / std::sqrt(2.0))));
  ExpectNear((*results)[0], {1, 1, 2},
             {7 * w + 1 * (1 - w), 6 * w + 2 * (1 - w)});
}

TEST(ContribAttention, TheOrderHidesMoreThanTheMask) {
  // For the first row, the mask hides the row's own key, and causality hides
  // the other key. Causality has priority, so the row attends to its own key.
  // ONNX Runtime 1.30 gives the same result.
  for (const float filter : {-1e30f, -10000.0f, -1.0f}) {
    OneNode node = Contrib("Attention");
    // These weights make v equal to the input and q and k 0, so all scores are
    // 0 before masking.
    Floats weights(12, 0);
    weights[4] = weights[11] = 1;
    node.Input(F32({1, 2, 2}, {1, 2, 3, 4})).Constant(F32({2, 6}, weights));
    node.Absent().Input(I32({1, 2}, {0, 1})).Attribute({"num_heads", 1});
    node.Attribute({"unidirectional", 1});
    node.Attribute({"mask_filter_value", filter});
    const double hidden = std::exp(filter) / (1 + std::exp(filter));
    Expect(node.Run(), {1, 2, 2}, {1, 2, 3 - 2 * hidden, 4 - 2 * hidden});
  }
  OneNode unmasked = Contrib("Attention");
  Floats weights(12, 0);
  weights[4] = weights[11] = 1;
  unmasked.Input(F32({1, 2, 2}, {1, 2, 3, 4})).Constant(F32({2, 6}, weights));
  unmasked.Attribute({"num_heads", 1}).Attribute({"unidirectional", 1});
  unmasked.Attribute({"mask_filter_value", -1.0});
  Expect(unmasked.Run(), {1, 2, 2}, {1, 2, 2, 3});
}

TEST(ContribAttention, MasksByLengthStartAndFlag) {
  // Each kind of mask (lengths, starts, flags) leaves a single key visible, so
  // each row of the result is that key's value.
  const Floats x = {1, 2, 3, 4, 5, 6};
  struct Case {
    std::vector<int64_t> dims;
    std::vector<double> mask;
    Floats row;
  };
  for (const Case& c :
       {Case{{1}, {1}, {1, 2}}, Case{{2}, {2, 1}, {3, 4}},
        Case{{5}, {1, 0, 3, 0, 3}, {1, 2}}, Case{{1, 3}, {0, 0, 1}, {5, 6}},
        Case{{1, 3, 3}, {0, 1, 0, 0, 1, 0, 0, 1, 0}, {3, 4}}}) {
    OneNode node = Contrib("Attention");
    node.Input(F32({1, 3, 2}, x)).Constant(F32({2, 6}, kThrice));
    node.Absent().Input(I32(c.dims, c.mask)).Attribute({"num_heads", 1});
    Expect(node.Run(), {1, 3, 2}, Join(Join(c.row, c.row), c.row));
  }
}

TEST(ContribAttention, RotaryTurnsByPosition) {
  // Without a past, the token is at position 0 and is not rotated. With one
  // past key it is at position 1 and is rotated by one radian, so its score (1,
  // 0) with the past key (1, 0) is cos 1.
  OneNode node = Contrib("Attention", 2);
  node.Input(F32({1, 1, 2}, {1, 0})).Constant(F32({2, 6}, kThrice));
  node.Absent().Absent().Input(F32({2, 1, 1, 1, 2}, {1, 0, 0, 0}));
  node.Attribute({"num_heads", 1}).Attribute({"do_rotary", 1});
  node.Attribute({"scale", 1.0});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const double own = std::exp(1.0) / (std::exp(1.0) + std::exp(std::cos(1.0)));
  ExpectNear((*results)[0], {1, 1, 2}, {(own), 0});
  ExpectNear((*results)[1], {2, 1, 1, 2, 2},
             {1, 0, (std::cos(1.0)), (std::sin(1.0)), 0, 0, 1, 0});
}

TEST(MultiHeadAttention, OperandsInAllForms) {
  const int heads = 2, size = 3, queries = 2, keys = 4;
  const Problem p{heads,        size,         queries,      keys,
                  Noise(12, 1), Noise(24, 2), Noise(24, 3), 0.4};
  const Floats want = Reference(p, NoBias);
  OneNode plain = Contrib("MultiHeadAttention");
  plain.Input(F32({1, 2, 6}, p.q), {-1, -1, 6});
  plain.Input(F32({1, 4, 6}, p.k), {-1, 4, 6});
  plain.Input(F32({1, 4, 6}, p.v), {-1, 4, 6});
  plain.Attribute({"num_heads", heads}).Attribute({"scale", 0.4});
  Expect(plain.Run(), {1, 2, 6}, want);

  OneNode cached = Contrib("MultiHeadAttention");
  cached.Input(F32({1, 2, 6}, p.q));
  cached.Input(F32({1, 2, 4, 3}, ByHead(p.k, 4, heads, size)));
  cached.Input(F32({1, 2, 4, 3}, ByHead(p.v, 4, heads, size)));
  // The keys and values from the cache already include the bias, so it must not
  // be added to them again.
  cached.Input(F32({18}, Join(Floats(6, 0), Floats(12, 100))));
  cached.Attribute({"num_heads", heads}).Attribute({"scale", 0.4});
  Expect(cached.Run(), {1, 2, 6}, want);

  // The same keys and values are passed packed into one tensor, [keys, heads,
  // 2, size].
  Floats packed;
  for (int i = 0; i < keys * heads; ++i) {
    packed =
        Join(packed, {p.k.begin() + i * size, p.k.begin() + (i + 1) * size});
    packed =
        Join(packed, {p.v.begin() + i * size, p.v.begin() + (i + 1) * size});
  }
  OneNode both = Contrib("MultiHeadAttention");
  both.Input(F32({1, 2, 6}, p.q)).Input(F32({1, 4, 2, 2, 3}, packed));
  both.Attribute({"num_heads", heads}).Attribute({"scale", 0.4});
  Expect(both.Run(), {1, 2, 6}, want);
}

TEST(MultiHeadAttention, PackedOperandsGetTheBias) {
  const Floats q = Noise(4, 1), k = Noise(4, 2), v = Noise(4, 3);
  const Problem p{1, 2, 2, 2, q, k, v, 1 / std::sqrt(2.0)};
  // The operands q, k and v are packed into one tensor [tokens, 1, 3, 2]. Their
  // biases are subtracted, and the operator must add them again.
  Floats packed;
  for (int t = 0; t < 2; ++t) {
    for (const Floats* x : {&q, &k, &v}) {
      const double bias = x == &q ? 1 : x == &k ? 2 : 3;
      packed.push_back((*x)[2 * t] - bias);
      packed.push_back((*x)[2 * t + 1] - bias);
    }
  }
  OneNode node = Contrib("MultiHeadAttention");
  node.Input(F32({1, 2, 1, 3, 2}, packed)).Absent().Absent();
  node.Input(F32({6}, {1, 1, 2, 2, 3, 3})).Attribute({"num_heads", 1});
  Expect(node.Run(), {1, 2, 2}, Reference(p, NoBias));
}

TEST(DecoderMaskedMultiHeadAttention, WritesToTheBufferAndFollowsBeams) {
  // One batch has two beams, and the cache has room for three keys, of which
  // one is used. Beam 0 continues the keys of beam 1, and the other way round.
  // All scores are 0, so results are means of values.
  OneNode node = Contrib("DecoderMaskedMultiHeadAttention", 3);
  node.Input(F32({2, 1, 1}, {0, 0})).Input(F32({2, 1, 1}, {5, 6}));
  node.Input(F32({2, 1, 1}, {50, 60})).Absent().Absent();
  node.Input(F32({2, 1, 3, 1}, {1, 0, 0, 2, 0, 0}));
  node.Input(F32({2, 1, 3, 1}, {10, 0, 0, 20, 0, 0}));
  node.Input(I32({1}, {1})).Input(I32({1}, {2}));
  node.Input(I32({1, 2, 3}, {1, 0, 0, 0, 0, 0}));
  node.Attribute({"num_heads", 1}).Attribute({"past_present_share_buffer", 1});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear((*results)[0], {2, 1, 1}, {(20 + 50) / 2.0, (10 + 60) / 2.0});
  ExpectNear((*results)[1], {2, 1, 3, 1}, {1, 5, 0, 2, 6, 0});
  ExpectNear((*results)[2], {2, 1, 3, 1}, {10, 50, 0, 20, 60, 0});
}

TEST(GroupQueryAttention, SequencesOfDifferentLengths) {
  // Two query heads share one key head. The first sequence has two keys in the
  // cache, the second one only one, so their new keys go to different
  // positions. All scores are 0, so results are means of values.
  OneNode node = Contrib("GroupQueryAttention", 3);
  node.Input(F32({2, 1, 2}, {0, 0, 0, 0})).Input(F32({2, 1, 1}, {7, 8}));
  node.Input(F32({2, 1, 1}, {70, 80}));
  node.Input(F32({2, 1, 2, 1}, {1, 2, 3, 4}));
  node.Input(F32({2, 1, 2, 1}, {10, 20, 30, 40}));
  node.Input(I32({2}, {2, 1})).Constant(I32({}, {3}));
  node.Attribute({"num_heads", 2}).Attribute({"kv_num_heads", 1});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear((*results)[0], {2, 1, 2},
             {100 / 3.0, 100 / 3.0, 110 / 2.0, 110 / 2.0});
  ExpectNear((*results)[1], {2, 1, 3, 1}, {1, 2, 7, 3, 8, 0});
  ExpectNear((*results)[2], {2, 1, 3, 1}, {10, 20, 70, 30, 80, 0});
}

TEST(GroupQueryAttention, CausalPromptWithWindowAndSoftcap) {
  const int size = 2, tokens = 4;
  const Problem p{1,           size,        tokens,      tokens,
                  Noise(8, 1), Noise(8, 2), Noise(8, 3), 1};
  Floats packed;
  for (int t = 0; t < tokens; ++t) {
    for (const Floats* x : {&p.q, &p.k, &p.v}) {
      packed.push_back((*x)[2 * t]);
      packed.push_back((*x)[2 * t + 1]);
    }
  }
  OneNode node = Contrib("GroupQueryAttention");
  node.Input(F32({1, 4, 6}, packed)).Absent().Absent().Absent().Absent();
  node.Input(I32({1}, {3})).Constant(I32({}, {4}));
  node.Attribute({"num_heads", 1}).Attribute({"kv_num_heads", 1});
  node.Attribute({"scale", 1.0}).Attribute({"softcap", 0.5});
  node.Attribute({"local_window_size", 2});
  Expect(node.Run(), {1, 4, 2}, Reference(p, [&](int, int i, int j) {
           if (j > i || j + 2 <= i) return kHidden;
           double score = 0;
           for (int s = 0; s < size; ++s)
             score += static_cast<double>(p.q[i * 2 + s]) * p.k[j * 2 + s];
           return 0.5 * std::tanh(score / 0.5) - score;
         }));
}

TEST(GroupQueryAttention, SinksTakeAPartOfTheSoftmax) {
  for (const bool smooth : {false, true}) {
    OneNode node = Contrib("GroupQueryAttention");
    node.Input(F32({1, 1, 2}, {0, 0})).Input(F32({1, 1, 1}, {7}));
    node.Input(F32({1, 1, 1}, {12})).Absent().Absent();
    node.Input(I32({1}, {0})).Constant(I32({}, {1}));
    node.Attribute({"num_heads", 2}).Attribute({"kv_num_heads", 1});
    if (smooth) {
      node.Attribute({"smooth_softmax", 1});
      Expect(node.Run(), {1, 1, 2}, {6, 6});
    } else {
      node.Absent().Absent().Absent().Absent();
      node.Input(F32({2}, {std::log(2.0), std::log(3.0)}));
      Expect(node.Run(), {1, 1, 2}, {4, 3});
    }
  }
}

// Query heads 0 and 1 share key head 0, and heads 2 and 3 share key head 1.
// Each query head has its own bias and its own sink.
TEST(GroupQueryAttention, BiasAndSinksOfHeadsThatShareKeys) {
  const int heads = 4, size = 2, tokens = 3, width = heads * size;
  const Floats q = Noise(tokens * width, 1), bias = Noise(heads * 9, 4);
  const Floats k = Noise(tokens * 2 * size, 2), v = Noise(tokens * 4, 3);
  // The reference has no shared key heads and no sink: each key head is written
  // twice, and a further key of zeros with the value 0 is the sink.
  Floats all_k, all_v;
  for (int t = 0; t <= tokens; ++t) {
    for (int i = 0; i < width; ++i) {
      const int from = t * 2 * size + i / (2 * size) * size + i % size;
      all_k.push_back(t < tokens ? k[from] : 0);
      all_v.push_back(t < tokens ? v[from] : 0);
    }
  }
  const Floats sinks = {0.1, 0.2, 0.3, 0.4};
  const Problem p{heads, size, tokens, tokens + 1, q, all_k, all_v, 0.5};
  const Floats want = Reference(p, [&](int h, int i, int j) {
    if (j == tokens) return sinks[h];
    return j > i ? kHidden : bias[(h * 3 + i) * 3 + j];
  });
  OneNode node = Contrib("GroupQueryAttention");
  node.Input(F32({1, 3, 8}, q)).Input(F32({1, 3, 4}, k));
  node.Input(F32({1, 3, 4}, v)).Absent().Absent();
  node.Input(I32({1}, {2})).Constant(I32({}, {3}));
  node.Absent().Absent().Absent();
  node.Input(F32({1, 4, 3, 3}, bias)).Input(F32({4}, sinks));
  node.Attribute({"num_heads", 4}).Attribute({"kv_num_heads", 2});
  node.Attribute({"scale", 0.5});
  Expect(node.Run(), {1, 3, 8}, want);
}

// The products of the prompt and its softmax share one dispatch, so that no
// matrix of all scores is in memory.
TEST(GroupQueryAttention, APromptIsOneDispatch) {
  const int tokens = 16, width = 4 * 8;
  OneNode node = Contrib("GroupQueryAttention");
  node.Input(F32({1, tokens, width}, Noise(tokens * width, 1)));
  node.Input(F32({1, tokens, 16}, Noise(tokens * 16, 2)));
  node.Input(F32({1, tokens, 16}, Noise(tokens * 16, 3))).Absent().Absent();
  node.Input(I32({1}, {tokens - 1})).Constant(I32({}, {tokens}));
  node.Attribute({"num_heads", 4}).Attribute({"kv_num_heads", 2});
  StatusOr<graph::Graph> graph = node.model().Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto module = compiler::Compile(*std::move(graph), {});
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  std::vector<std::string> products;
  for (const tensor::Dispatch& dispatch : module->dispatches) {
    if (dispatch.name.find("contract") != std::string::npos)
      products.push_back(dispatch.name);
  }
  EXPECT_THAT(products, ElementsAre(HasSubstr("exp")));
}

// The model gives the batch as an open dim in some operands, and as the
// constant 1 in others. Both must count as the same.
TEST(GroupQueryAttention, AnOpenBatchBesideOneOf1) {
  OneNode node = Contrib("GroupQueryAttention", 3);
  node.Input(F32({1, 1, 2}, {0, 0}), {-2, -2, 2});
  node.Input(F32({1, 1, 1}, {7}), {1, -2, 1});
  node.Input(F32({1, 1, 1}, {70}), {1, -2, 1});
  node.Input(F32({1, 1, 2, 1}, {1, 2}), {-2, 1, -2, 1});
  node.Input(F32({1, 1, 2, 1}, {10, 20}), {-2, 1, -2, 1});
  node.Input(I32({1}, {2}), {-2}).Input(I32({}, {3}));
  node.Attribute({"num_heads", 2}).Attribute({"kv_num_heads", 1});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear((*results)[0], {1, 1, 2}, {100 / 3.0, 100 / 3.0});
  ExpectNear((*results)[1], {1, 1, 3, 1}, {1, 2, 7});
}

TEST(GroupQueryAttention, LengthsAreChecked) {
  struct Lengths {
    double last, total;
    bool fits;
  };
  for (const Lengths& lengths :
       {Lengths{1, 2, true}, Lengths{0, 2, true}, Lengths{-1, 2, false},
        Lengths{2, 2, false}, Lengths{0, 1, false}}) {
    OneNode node = Contrib("GroupQueryAttention");
    node.Input(F32({1, 2, 1}, {0, 0}), {-2, -2, 1});
    node.Input(F32({1, 2, 1}, {7, 8}), {-2, -2, 1});
    node.Input(F32({1, 2, 1}, {70, 80}), {-2, -2, 1}).Absent().Absent();
    node.Input(I32({1}, {lengths.last})).Input(I32({}, {lengths.total}));
    node.Attribute({"num_heads", 1}).Attribute({"kv_num_heads", 1});
    const auto results = node.Run();
    EXPECT_EQ(results.ok(), lengths.fits) << lengths.last << lengths.total;
    if (!lengths.fits) {
      EXPECT_THAT(results.status().ToString(),
                  HasSubstr("expected lengths (input 5)"));
    }
  }
}

TEST(GroupQueryAttention, WhatIsNotSupportedIsSaid) {
  OneNode node = Contrib("GroupQueryAttention");
  node.Input(F32({1, 1, 2}, {0, 0})).Input(F32({1, 1, 1}, {7}));
  node.Input(F32({1, 1, 1}, {12})).Absent().Absent();
  node.Input(I32({1}, {0})).Constant(I32({}, {1}));
  node.Attribute({"num_heads", 2}).Attribute({"kv_num_heads", 1});
  node.Attribute({"k_quant_type", "PER_TENSOR"});
  EXPECT_THAT(node.Run().status().ToString(),
              HasSubstr("quantized caches are not supported"));
}

TEST(RotaryEmbedding, HalvesAndNeighbours) {
  // Position 1 is rotated by a quarter of a circle: (a, b) becomes (-b, a).
  for (const int interleaved : {0, 1}) {
    OneNode node = Contrib("RotaryEmbedding");
    node.Input(F32({1, 1, 4}, {1, 2, 3, 4})).Input(I64({1}, {1}));
    node.Constant(F32({2, 2}, {1, 1, 0, 0}));
    node.Constant(F32({2, 2}, {0, 0, 1, 1}));
    node.Attribute({"interleaved", interleaved});
    Expect(node.Run(), {1, 1, 4},
           interleaved == 1 ? Floats{-2, 1, -4, 3} : Floats{-3, -4, 1, 2});
  }
}

TEST(QAttention, ProjectsQuantizedOperands) {
  // The operands are dequantized as (x - 10) * 0.5 and (w - 1) * 2. Their
  // products are (2, 4) and (4, 6), as in the test of Attention.
  OneNode node = Contrib("QAttention");
  node.Input(U8({1, 2, 2}, {12, 14, 14, 16}));
  node.Constant(U8({2, 6}, {2, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 2}));
  node.Constant(F32({6}, Floats(6, 0))).Constant(F32({}, {0.5}));
  node.Constant(F32({}, {2.0})).Absent().Constant(U8({}, {10}));
  node.Constant(U8({}, {1})).Attribute({"num_heads", 1});
  const Floats x = {2, 4, 4, 6};
  Expect(node.Run(), {1, 2, 2},
         Reference({1, 2, 2, 2, x, x, x, 1 / std::sqrt(2.0)}, NoBias));
}

}  // namespace
}  // namespace ember::tests

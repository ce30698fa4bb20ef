#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Adds an Attention with random properties: heads in a dim of their own or not,
// fewer heads of keys, a past, a mask.
bool Attention(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), heads = b.random().Between(1, 3),
                shared = b.random().Chance(0.3) ? 1 : heads;
  const int64_t q = b.random().Between(1, 8), k = b.random().Between(1, 9),
                d = 2 * b.random().Between(1, 8),
                v = b.random().Chance(0.7) ? d : b.random().Between(1, 8);
  const bool is_flat = b.random().Chance(0.4);
  const auto operand = [&](int64_t h, int64_t s, int64_t e) {
    return b
        .Operand(TensorProto::FLOAT,
                 is_flat ? Dims{n, s, h * e} : Dims{n, h, s, e})
        .name;
  };
  const std::string query = operand(heads, q, d), key = operand(shared, k, d),
                    value = operand(shared, k, v);
  Names inputs = {query, key, value};
  const bool has_past = b.random().Chance(0.25);
  const int64_t past = has_past ? b.random().Between(1, 4) : 0;
  if (b.random().Chance(0.4) || has_past) {
    std::string mask;
    if (b.random().Chance(0.7)) {
      const int32_t type = b.Type("f?");
      const Dims forms[] = {
          {q, past + k}, {1, 1, q, past + k}, {n, heads, q, past + k}};
      if (type == TensorProto::BOOL) {
        // In each row of the mask at least one key is visible, because
        // attention is not defined for a row that hides all keys.
        const Value bits =
            b.Operand(TensorProto::FLOAT, forms[b.random().Between(0, 2)]);
        mask = b.Node("Less", {bits.name, b.Scalar(TensorProto::FLOAT, 1.2)});
      } else {
        mask = b.Operand(type, forms[b.random().Between(0, 2)]).name;
      }
    }
    inputs.push_back(mask);
  }
  if (has_past) {
    inputs.push_back(b.Operand(TensorProto::FLOAT, {n, shared, past, d}).name);
    inputs.push_back(b.Operand(TensorProto::FLOAT, {n, shared, past, v}).name);
  }
  while (inputs.back().empty()) inputs.pop_back();
  Attributes attributes;
  if (is_flat)
    attributes = {{"q_num_heads", static_cast<int>(heads)},
                  {"kv_num_heads", static_cast<int>(shared)}};
  if (b.random().Chance(0.3)) attributes.emplace_back("is_causal", 1);
  if (b.random().Chance(0.3)) attributes.emplace_back("scale", 0.3);
  if (b.random().Chance(0.2)) attributes.emplace_back("softcap", 2.0);
  b.Nodes("Attention", inputs, has_past ? 3 : 1, attributes);
  return true;
}

bool Rotary(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), heads = b.random().Between(1, 3),
                s = b.random().Between(1, 6), d = 2 * b.random().Between(1, 5),
                most = s + b.random().Between(0, 4);
  const bool is_flat = b.random().Chance(0.4);
  const Value x = b.Operand(TensorProto::FLOAT, is_flat ? Dims{n, s, heads * d}
                                                        : Dims{n, heads, s, d});
  const Range unit = {-1, 1, false};
  Attributes attributes = {{"interleaved", b.random().Chance(0.4) ? 1 : 0}};
  if (is_flat) attributes.emplace_back("num_heads", static_cast<int>(heads));
  const Value c = b.Operand(TensorProto::FLOAT, {most, d / 2}, unit),
              t = b.Operand(TensorProto::FLOAT, {most, d / 2}, unit);
  const Value positions = b.Operand(TensorProto::INT64, {n, s},
                                    {0, static_cast<double>(most - 1), false});
  if (recipe.domain.empty()) {
    b.Node("RotaryEmbedding", {x.name, c.name, t.name, positions.name},
           attributes);
  } else {
    b.Node("RotaryEmbedding", {x.name, positions.name, c.name, t.name},
           attributes, "com.microsoft");
  }
  return true;
}

bool MultiHead(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), heads = b.random().Between(1, 3),
                d = b.random().Between(1, 6), q = b.random().Between(1, 6),
                k = b.random().Between(1, 6);
  const auto operand = [&](int64_t s) {
    return b.Operand(TensorProto::FLOAT, {n, s, heads * d}).name;
  };
  Names inputs = {operand(q), operand(k), operand(k)};
  if (b.random().Chance(0.4))
    inputs.push_back(b.Operand(TensorProto::FLOAT, {3 * heads * d}).name);
  Attributes attributes = {{"num_heads", static_cast<int>(heads)}};
  if (b.random().Chance(0.3)) attributes.emplace_back("scale", 0.4);
  b.Node("MultiHeadAttention", inputs, attributes, "com.microsoft");
  return true;
}

bool PackedAttention(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), heads = b.random().Between(1, 3),
                d = b.random().Between(1, 6), s = b.random().Between(1, 6),
                c = b.random().Between(1, 12);
  const Value x = b.Operand(TensorProto::FLOAT, {n, s, c});
  Names inputs = {x.name,
                  b.Operand(TensorProto::FLOAT, {c, 3 * heads * d}).name,
                  b.Operand(TensorProto::FLOAT, {3 * heads * d}).name};
  if (b.random().Chance(0.3))
    inputs.push_back(b.Operand(TensorProto::INT32, {n, s}, {1, 1, false}).name);
  Attributes attributes = {{"num_heads", static_cast<int>(heads)}};
  if (b.random().Chance(0.3)) attributes.emplace_back("unidirectional", 1);
  b.Node("Attention", inputs, attributes, "com.microsoft");
  return true;
}

bool GroupQuery(Builder& b, const Recipe& recipe) {
  const int64_t n = 1, shared = b.random().Between(1, 2),
                heads = shared * b.random().Between(1, 2),
                d = 8 * b.random().Between(1, 2), s = b.random().Between(1, 5);
  const auto operand = [&](int64_t h) {
    return b.Operand(TensorProto::FLOAT, {n, s, h * d}).name;
  };
  const Value past = b.Operand(TensorProto::FLOAT, {n, shared, 0, d});
  const Names inputs = {operand(heads),
                        operand(shared),
                        operand(shared),
                        past.name,
                        past.name,
                        b.Integers({s - 1}, TensorProto::INT32),
                        b.Integer(s, TensorProto::INT32)};
  b.Nodes("GroupQueryAttention", inputs, 3,
          {{"num_heads", static_cast<int>(heads)},
           {"kv_num_heads", static_cast<int>(shared)}},
          "com.microsoft");
  return true;
}

bool EmbedLayerNorm(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), s = b.random().Between(1, 5),
                c = b.random().Between(1, 9), words = b.random().Between(2, 9);
  const Value ids = b.Operand(TensorProto::INT32, {n, s},
                              {0, static_cast<double>(words - 1), false});
  const bool has_segments = b.random().Chance(0.6);
  Names inputs = {
      ids.name,
      has_segments ? b.Operand(TensorProto::INT32, {n, s}, {0, 1, false}).name
                   : "",
      b.Operand(TensorProto::FLOAT, {words, c}).name,
      b.Operand(TensorProto::FLOAT, {s + 2, c}).name,
      has_segments ? b.Operand(TensorProto::FLOAT, {2, c}).name : "",
      b.Operand(TensorProto::FLOAT, {c}).name,
      b.Operand(TensorProto::FLOAT, {c}).name};
  b.Nodes("EmbedLayerNormalization", inputs, 2, {}, "com.microsoft");
  return true;
}

bool LinearAttention(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), heads = b.random().Between(1, 2),
                d = b.random().Between(2, 5), s = b.random().Between(1, 5);
  const auto operand = [&] {
    return b.Operand(TensorProto::FLOAT, {n, s, heads * d}).name;
  };
  const Names inputs = {operand(), operand(), operand()};
  b.Nodes("LinearAttention", inputs, 2,
          {{"q_num_heads", static_cast<int>(heads)},
           {"kv_num_heads", static_cast<int>(heads)},
           {"update_rule", "linear"}},
          std::string(recipe.domain));
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "Attention", Attention, 23},
    {"", "LinearAttention", LinearAttention, 27},
    {"", "RotaryEmbedding", Rotary, 23},
    {"ai.onnx.preview", "FlexAttention", "f",
     "T[n,h,q,d] T[n,h,k,d] T[n,h,k,d]", 1, 26},
    {"com.microsoft", "Attention", PackedAttention},
    {"com.microsoft", "EmbedLayerNormalization", EmbedLayerNorm},
    {"com.microsoft", "GroupQueryAttention", GroupQuery},
    {"com.microsoft", "LinearAttention", LinearAttention},
    {"com.microsoft", "MultiHeadAttention", MultiHead},
    {"com.microsoft", "RotaryEmbedding", Rotary},
};

}  // namespace

std::span<const Recipe> AttentionRecipes() { return kRows; }

}  // namespace ember::tests

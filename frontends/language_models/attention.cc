#include "frontends/language_models/attention.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using ops::DimScalar;
using ops::Reshape;
using ops::SliceAxis;
using ops::Transpose;

struct Heads {
  Tensor q, k, v;  // Queries, keys and values: [batch, sequence, heads, size].
};

Tensor SplitHeads(Tensor x, int64_t heads, int64_t size) {
  return Reshape(x, {x.dim(0), x.dim(1), Dim(heads), Dim(size)});
}

// Projects x to queries, keys and values, by one weight or by three.
Heads Project(const LayerContext& c, const LayerOptions& layer, Tensor x) {
  const ModelOptions& o = c.options;
  const int64_t q_size = layer.heads * o.key_size;
  const int64_t k_size = layer.kv_heads * o.key_size;
  const int64_t v_size = layer.kv_heads * o.value_size;
  Tensor q, k, v;
  if (c.tensors.Has(c.Name("attn_qkv.weight"))) {
    Tensor all = c.Linear(x, "attn_qkv", q_size + k_size + v_size, o.width);
    q = SliceAxis(all, 2, Dim(0), Dim(q_size));
    k = SliceAxis(all, 2, Dim(q_size), Dim(k_size));
    v = SliceAxis(all, 2, Dim(q_size + k_size), Dim(v_size));
  } else {
    q = c.Linear(x, "attn_q", q_size, o.width);
    k = c.Linear(x, "attn_k", k_size, o.width);
    v = c.Linear(x, "attn_v", v_size, o.width);
  }
  return {SplitHeads(q, layer.heads, o.key_size),
          SplitHeads(k, layer.kv_heads, o.key_size),
          SplitHeads(v, layer.kv_heads, o.value_size)};
}

// Normalises each head, by one weight for all heads, or by one for each head.
Tensor NormalizeHeads(const LayerContext& c, Tensor x, const std::string& name,
                      int64_t heads) {
  const std::string full = c.Name(name) + ".weight";
  if (!c.tensors.Has(full)) return x;
  const int64_t size = c.options.key_size;
  const Weight weight = c.tensors.HasRank(full, 2)
                            ? c.tensors.Required(full, {heads, size})
                            : c.tensors.Required(full, {size});
  return Standardize(x, c.architecture().norm, c.options.epsilon) *
         weight.Values();
}

// The keys that some query of the run sees: the positions begin … end - 1.
struct KeyRange {
  Dim begin, end;
  Dim size() const { return end - begin; }
};

KeyRange KeysOf(const LayerContext& c, const LayerOptions& layer,
                const Sequence& sequence) {
  const Dim end = sequence.end();
  if (layer.window == 0 || !c.architecture().is_causal) return {Dim(0), end};
  // If the layer has a sliding window, the run's first query sees the last
  // window - 1 positions before its own; no query sees earlier keys.
  return {Maximum(sequence.past - Dim(layer.window - 1), Dim(0)), end};
}

// Keys or values as the state holds them. i8 rows (one position of one head)
// have a factor each.
struct Rows {
  Tensor values;  // keys or values [batch, heads, positions, size]
  // factors of i8 rows, f32 [batch, heads, positions, 1]; else absent
  Tensor scales;
};

// Rounds rows of f32 to the state's type. A row of 8 bits has one factor, by
// which its largest element becomes 127.
Rows RoundRows(Tensor fresh, DType type) {
  if (type != DType::kI8) return {ops::Cast(fresh, type), {}};
  Tensor scale = ops::Reduce(ops::Absolute(fresh), "maximum", {3}, true) / 127;
  // A row of zeros is divided by 1 instead of its scale 0, so that it stays
  // zeros.
  Tensor divisor = ops::Select(ops::Equal(scale, 0), scale.Like(1), scale);
  return {ops::Cast(ops::Round(fresh / divisor), type), scale};
}

// Returns the state with the rows of `fresh` in the positions past, past + 1, …
// of dim 2. Each part of the result is either copied from its own position or
// fresh, so that a runtime that gives the result the memory of the state needs
// to write the fresh part only.
Tensor ReplaceRows(LayerContext& c, std::string_view name,
                   const Sequence& sequence, Tensor fresh) {
  Tensor state = c.OldState(name, sequence);
  const Dim end = sequence.end();
  Tensor next = ops::Concat({SliceAxis(state, 2, Dim(0), sequence.past), fresh,
                             SliceAxis(state, 2, end, c.context - end)},
                            2);
  c.SetState(name, sequence, next);
  return next;
}

// Writes the rows of `fresh`[batch, heads, count, size] to the sequence's
// state, and returns the state's rows in `range`.
Rows KeepInState(LayerContext& c, std::string_view name,
                 const Sequence& sequence, Tensor fresh,
                 const KeyRange& range) {
  const auto keep = [&](std::string_view of, Tensor rows) {
    return SliceAxis(ReplaceRows(c, of, sequence, rows), 2, range.begin,
                     range.size());
  };
  const Rows rows = RoundRows(fresh, c.OldState(name, sequence).dtype());
  return {keep(name, rows.values),
          rows.scales ? keep(ScaleState(name), rows.scales) : Tensor()};
}

// Multiplies x[batch, heads, groups, sequence, keys] by the factors of the
// keys' rows. They are factors of whole rows, so the products of 8-bit rows
// need not be scaled one by one.
Tensor TimesScales(Tensor x, const Rows& rows) {
  if (!rows.scales) return x;
  Tensor scales = Transpose(rows.scales, {0, 1, 3, 2});
  return x * ops::Unsqueeze(scales, {2});
}

// Returns true for the keys of the range that each query sees, [count, keys].
Tensor SeenKeys(const LayerContext& c, const LayerOptions& layer,
                const Sequence& sequence, const KeyRange& keys) {
  graph::GraphBuilder& builder = c.builder();
  Tensor key =
      ops::AlongAxis(ops::IotaVector(builder, keys.size(), DType::kI64), 1, 2);
  Tensor query =
      ops::AlongAxis(ops::IotaVector(builder, sequence.count, DType::kI64), 0,
                     2) +
      DimScalar(builder, sequence.past - keys.begin);
  Tensor seen = ops::LessEqual(key, query);
  if (layer.window == 0) return seen;
  const auto window = static_cast<double>(layer.window);
  return ops::And(seen, ops::Less(query - window, key));
}

// Returns the attention of a sequence, [batch, count, heads * size].
Tensor AttendSequence(LayerContext& c, const LayerOptions& layer,
                      const Sequence& sequence, const Heads& all) {
  const ModelOptions& o = c.options;
  const Heads h{c.TokensOf(sequence, all.q), c.TokensOf(sequence, all.k),
                c.TokensOf(sequence, all.v)};
  const int64_t groups = layer.heads / layer.kv_heads;
  const double scale = o.attention_scale != 0
                           ? o.attention_scale
                           : 1 / std::sqrt(static_cast<double>(o.key_size));
  Tensor q = Reshape(h.q * scale, {c.batch, sequence.count, Dim(layer.kv_heads),
                                   Dim(groups), Dim(o.key_size)});
  q = Transpose(q, {0, 2, 3, 1, 4});
  Rows k{Transpose(h.k, {0, 2, 1, 3}), {}};
  Rows v{Transpose(h.v, {0, 2, 1, 3}), {}};
  const bool is_causal = c.architecture().is_causal;
  const KeyRange keys = KeysOf(c, layer, sequence);
  if (is_causal) {
    k = KeepInState(c, kKeyState, sequence, k.values, keys);
    v = KeepInState(c, kValueState, sequence, v.values, keys);
    k.values = ops::Cast(k.values, DType::kF32);
    v.values = ops::Cast(v.values, DType::kF32);
  }
  Tensor scores =
      TimesScales(ops::Contract(q, k.values, "bhgqs,bhks->bhgqk"), k);
  if (o.score_cap > 0) scores = ops::Tanh(scores / o.score_cap) * o.score_cap;
  if (is_causal) {
    scores = ops::Select(SeenKeys(c, layer, sequence, keys), scores,
                         scores.Like(-std::numeric_limits<double>::infinity()));
  }
  Tensor y = ops::Contract(TimesScales(ops::Softmax(scores, 4), v), v.values,
                           "bhgqk,bhks->bhgqs");
  return Reshape(Transpose(y, {0, 3, 1, 2, 4}),
                 {c.batch, sequence.count, Dim(layer.heads * o.value_size)});
}

}  // namespace

Tensor Attend(LayerContext& c, const LayerOptions& layer,
              const RotaryTables* tables, Tensor x) {
  Heads h = Project(c, layer, x);
  if (!c.ok()) return x;
  h.q = NormalizeHeads(c, h.q, "attn_q_norm", layer.heads);
  h.k = NormalizeHeads(c, h.k, "attn_k_norm", layer.kv_heads);
  if (tables != nullptr) {
    h.q = Rotate(h.q, *tables, c.options.positions);
    h.k = Rotate(h.k, *tables, c.options.positions);
  }
  std::vector<Tensor> parts;
  for (const Sequence& sequence : c.sequences)
    parts.push_back(AttendSequence(c, layer, sequence, h));
  return c.Linear(JoinTokens(parts), "attn_output", c.options.width,
                  layer.heads * c.options.value_size);
}

}  // namespace ember::language_models

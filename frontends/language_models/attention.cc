#include "frontends/language_models/attention.h"

#include <cmath>
#include <limits>
#include <string>

#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using ops::DimScalar;
using ops::Reshape;
using ops::SliceAxis;
using ops::Transpose;

struct Heads {
  Tensor q, k, v;  // [batch, sequence, heads, size]
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

KeyRange KeysOf(const LayerContext& c, const LayerOptions& layer) {
  const Dim end = c.past + c.sequence;
  if (layer.window == 0 || !c.architecture().is_causal) return {Dim(0), end};
  // The first query sees window - 1 positions before its own.
  return {Maximum(c.past - Dim(layer.window - 1), Dim(0)), end};
}

// Returns the state with the rows of `fresh`[batch, heads, sequence, size] in
// the positions past, past + 1, … of dim 2. Each part of the result is either
// copied from its own position or fresh, so that a runtime that gives the
// result the memory of the state needs to write the fresh part only. The state
// may have fewer bits than f32: the new rows are rounded like the old ones.
Tensor KeepInState(LayerContext& c, std::string_view name, Tensor fresh) {
  Tensor state = c.OldState(name);
  fresh = ops::Cast(fresh, state.dtype());
  const Dim end = c.past + c.sequence;
  Tensor next = ops::Concat({SliceAxis(state, 2, Dim(0), c.past), fresh,
                             SliceAxis(state, 2, end, c.context - end)},
                            2);
  c.SetState(name, next);
  return next;
}

// Returns true for the keys of the range that each query sees, [sequence,
// keys].
Tensor SeenKeys(const LayerContext& c, const LayerOptions& layer,
                const KeyRange& keys) {
  graph::GraphBuilder& builder = c.builder();
  Tensor key =
      ops::AlongAxis(ops::IotaVector(builder, keys.size(), DType::kI64), 1, 2);
  Tensor query =
      ops::AlongAxis(ops::IotaVector(builder, c.sequence, DType::kI64), 0, 2) +
      DimScalar(builder, c.past - keys.begin);
  Tensor seen = ops::LessEqual(key, query);
  if (layer.window == 0) return seen;
  const auto window = static_cast<double>(layer.window);
  return ops::And(seen, ops::Less(query - window, key));
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
  const ModelOptions& o = c.options;
  const int64_t groups = layer.heads / layer.kv_heads;
  const double scale = o.attention_scale != 0
                           ? o.attention_scale
                           : 1 / std::sqrt(static_cast<double>(o.key_size));
  Tensor q = Reshape(h.q * scale, {c.batch, c.sequence, Dim(layer.kv_heads),
                                   Dim(groups), Dim(o.key_size)});
  q = Transpose(q, {0, 2, 3, 1, 4});
  Tensor k = Transpose(h.k, {0, 2, 1, 3});
  Tensor v = Transpose(h.v, {0, 2, 1, 3});
  const bool is_causal = c.architecture().is_causal;
  const KeyRange keys = KeysOf(c, layer);
  if (is_causal) {
    k = SliceAxis(KeepInState(c, kKeyState, k), 2, keys.begin, keys.size());
    v = SliceAxis(KeepInState(c, kValueState, v), 2, keys.begin, keys.size());
    k = ops::Cast(k, DType::kF32);
    v = ops::Cast(v, DType::kF32);
  }
  Tensor scores = ops::Contract(q, k, "bhgqs,bhks->bhgqk");
  if (o.score_cap > 0) scores = ops::Tanh(scores / o.score_cap) * o.score_cap;
  if (is_causal) {
    scores = ops::Select(SeenKeys(c, layer, keys), scores,
                         scores.Like(-std::numeric_limits<double>::infinity()));
  }
  Tensor y = ops::Contract(ops::Softmax(scores, 4), v, "bhgqk,bhks->bhgqs");
  y = Reshape(Transpose(y, {0, 3, 1, 2, 4}),
              {c.batch, c.sequence, Dim(layer.heads * o.value_size)});
  return c.Linear(y, "attn_output", o.width, layer.heads * o.value_size);
}

}  // namespace ember::language_models

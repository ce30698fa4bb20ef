// Attention layers. Scores of narrow floats are computed in their own type, as
// Keras does.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Returns the large negative number that is added to masked scores.
double Minus(DType type) { return type == DType::kF16 ? -6.5e4 : -1e9; }

// Returns the steps that each query may attend to, which are those up to its
// own position: true in bool [1, T, S].
Tensor CausalMask(LayerContext& c, const Dim& queries, const Dim& keys) {
  const Tensor q = IotaVector(c.builder(), queries, DType::kI64);
  const Tensor k = IotaVector(c.builder(), keys, DType::kI64);
  return LessEqual(AlongAxis(k, 2, 3), AlongAxis(q, 1, 3));
}

Tensor Both(Tensor a, Tensor b) { return !a ? b : !b ? a : And(a, b); }

bool NamedFlag(LayerContext& c, std::string_view name) {
  const Given* given = c.Named(name);
  return given != nullptr && given->constant && given->constant->AsFlag();
}

bool WantsScores(LayerContext& c) {
  return NamedFlag(c, "return_attention_scores") ||
         c.config().Flag("return_attention_scores", false);
}

// The operands of the attention layers whose input is a list (query, value,
// key). If the key is left out, the value is used as the key.
struct Operands {
  Tensor query, value, key;
  Tensor query_mask, value_mask;
};

bool ReadOperands(LayerContext& c, Operands& o) {
  if (c.input_count() < 2 || c.input_count() > 3) {
    c.FailInvalid("expected a query, a value and perhaps a key, found " +
                  std::to_string(c.input_count()) + " inputs");
    return false;
  }
  for (int i = 0; i < c.input_count(); ++i)
    if (!c.CheckRank(i, 3, 3)) return false;
  o = {c.Input(0), c.Input(1), c.input_count() > 2 ? c.Input(2) : c.Input(1),
       c.Mask(0), c.Mask(1)};
  return true;
}

// Sets the layer's result: the mean of the values, weighted by the softmax of
// the scores [batch, T, S].
void SetAttention(LayerContext& c, const Operands& o, Tensor scores) {
  Tensor mask;
  if (o.value_mask) mask = Unsqueeze(o.value_mask, {1});
  if (NamedFlag(c, "use_causal_mask") || c.config().Flag("causal", false))
    mask = Both(mask, CausalMask(c, o.query.dim(1), o.key.dim(1)));
  if (mask) {
    scores =
        scores + (1.0 - Cast(mask, scores.dtype())) * Minus(scores.dtype());
  }
  const Tensor weights = Softmax(scores, 2);
  Tensor y = Contract(weights, o.value, "bts,bsd->btd");
  if (o.query_mask) y = y * Unsqueeze(Cast(o.query_mask, y.dtype()), {2});
  c.SetOutput(0, y);
  if (WantsScores(c)) c.SetOutput(1, weights);
  if (o.query_mask) c.SetMask(0, o.query_mask);
}

// A dense layer whose kernel has separate dims for the heads and for their
// width.
struct Projection {
  Tensor kernel, bias;
};

Projection ProjectionOf(LayerContext& c, const std::string& name) {
  Projection p;
  p.kernel = c.Weight(name + "/kernel", 3);
  if (c.config().Flag("use_bias", true)) p.bias = c.Weight(name + "/bias");
  return p;
}

Tensor Project(Tensor x, const Projection& p) {
  const Tensor y = Contract(x, p.kernel, "bti,ihd->bthd");
  return p.bias ? y + p.bias : y;
}

// Returns the mask of scores [batch, heads, T, S]: the conjunction of the
// argument attention_mask, the causal mask, and the masks that query, key and
// value carry.
Tensor ScoresMask(LayerContext& c, Tensor query, Tensor key, Tensor query_mask,
                  Tensor value_mask, Tensor key_mask) {
  Tensor mask;
  if (query_mask) mask = Both(mask, Unsqueeze(query_mask, {2}));
  if (value_mask) mask = Both(mask, Unsqueeze(value_mask, {1}));
  if (key_mask) mask = Both(mask, Unsqueeze(key_mask, {1}));
  if (NamedFlag(c, "use_causal_mask"))
    mask = Both(mask, CausalMask(c, query.dim(1), key.dim(1)));
  if (const Tensor given = c.NamedTensor("attention_mask")) {
    const Tensor as_bool = NotEqual(given, 0);
    if (given.rank() == 4) {
      return Both(mask ? Unsqueeze(mask, {1}) : mask, as_bool);
    }
    mask = Both(mask, given.rank() == 2 ? Unsqueeze(as_bool, {0}) : as_bool);
  }
  return mask ? Unsqueeze(mask, {1}) : mask;
}

// Imports multi-head and grouped-query attention. width: name of the config
// entry with the width of a head's keys.
void MultiHead(LayerContext& c, std::string_view width) {
  if (c.config().Has("attention_axes")) {
    const std::vector<int64_t> axes = c.config().IntegerList("attention_axes");
    if (axes != std::vector<int64_t>{1})
      return c.FailUnsupported("attention_axes: expected 1, found others");
  }
  if (c.config().Has("sliding_window_size") ||
      (c.config().Has("use_gate") && c.config().Flag("use_gate", false)))
    return c.FailUnsupported("sliding windows and gates of attention");
  // Returns query, value or key: an argument by position if there are that
  // many, else by name.
  const auto signal = [&](int position, std::string_view name) -> Signal {
    if (position < c.input_count())
      return c.inputs[static_cast<size_t>(position)];
    const Given* given = c.Named(name);
    if (given == nullptr || given->signals.empty()) return {};
    return given->signals[0];
  };
  const Signal query = signal(0, "query");
  const Signal value = signal(1, "value");
  Signal key = signal(2, "key");
  if (!query.value || !value.value)
    return c.FailInvalid("expected a query and a value, found one of them");
  const bool own_key = key.value.present();
  if (!own_key) key = value;
  for (const Tensor& x : {query.value, value.value, key.value}) {
    if (x.rank() != 3 && c.ok())
      return c.FailUnsupported("expected sequences of rank 3, found " +
                               graph::ShapeToString(x.shape()));
  }
  const Tensor q = Project(query.value, ProjectionOf(c, "query_dense"));
  Tensor k = Project(key.value, ProjectionOf(c, "key_dense"));
  Tensor v = Project(value.value, ProjectionOf(c, "value_dense"));
  if (!c.ok()) return;
  // Grouped queries: several heads of queries share one head of keys and
  // values.
  if (q.dim(2) != k.dim(2)) {
    const auto groups = ops::DivideElementCounts({q.dim(2)}, {k.dim(2)});
    if (!groups)
      return c.FailInvalid("expected heads that keys' divide, found " +
                           q.dim(2).ToString() + " and " + k.dim(2).ToString());
    k = ops::RepeatEach(k, 2, *groups);
    v = ops::RepeatEach(v, 2, *groups);
  }
  const double scale =
      1 / std::sqrt(static_cast<double>(c.config().Integer(width)));
  Tensor scores = Contract(q * scale, k, "bthd,bshd->bhts");
  const Tensor mask = ScoresMask(c, query.value, key.value, query.mask,
                                 value.mask, own_key ? key.mask : Tensor());
  if (mask) {
    scores =
        scores + (1.0 - Cast(mask, scores.dtype())) * Minus(scores.dtype());
  }
  const Tensor weights = Softmax(scores, 3);
  const Tensor mixed = Contract(weights, v, "bhts,bshd->bthd");
  Tensor y =
      Contract(mixed, c.Weight("output_dense/kernel", 3), "bthd,hdo->bto");
  if (c.config().Flag("use_bias", true))
    y = y + c.Weight("output_dense/bias", 1);
  c.SetOutput(0, y);
  if (WantsScores(c)) c.SetOutput(1, weights);
  if (query.mask) c.SetMask(0, query.mask);
}

}  // namespace

void ImportAttention(LayerContext& c) {
  Operands o;
  if (!ReadOperands(c, o)) return;
  const bool use_scale = c.config().Flag("use_scale", false);
  const std::string mode = c.config().Text("score_mode", "dot");
  Tensor scores;
  if (mode == "dot") {
    scores = Contract(o.query, o.key, "btd,bsd->bts");
    if (use_scale) scores = scores * c.Weight("scale", 0);
  } else if (mode == "concat") {
    Tensor sum = Unsqueeze(o.query, {2}) + Unsqueeze(o.key, {1});
    if (use_scale) sum = sum * c.Weight("scale", 0);
    scores = Reduce(Tanh(sum), "sum", {3}, /*keep=*/false) *
             c.Weight("concat_score_weight", 0);
  } else {
    return c.FailInvalid("score_mode: expected dot or concat, found '" +
                         OnOneLine(mode) + "'");
  }
  SetAttention(c, o, scores);
}

void ImportAdditiveAttention(LayerContext& c) {
  Operands o;
  if (!ReadOperands(c, o)) return;
  Tensor sum = Tanh(Unsqueeze(o.query, {2}) + Unsqueeze(o.key, {1}));
  if (c.config().Flag("use_scale", true)) sum = sum * c.Weight("scale", 1);
  SetAttention(c, o, Reduce(sum, "sum", {3}, /*keep=*/false));
}

void ImportMultiHeadAttention(LayerContext& c) { MultiHead(c, "key_dim"); }
void ImportGroupQueryAttention(LayerContext& c) { MultiHead(c, "head_dim"); }

}  // namespace ember::keras

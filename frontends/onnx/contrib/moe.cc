// com.microsoft: mixtures of experts. Each token goes through the k experts
// that its router's logits choose, and their results are weighted.
//
// The experts are a loop (frontends/ops/experts.h), in which quantized weights
// are widened for one expert at a time.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/experts.h"

namespace ember::onnx {
namespace {

// The tensors of a linear layer. The shapes below are those of one expert;
// tensors for all experts have the experts as a further dim in front.
struct Layer {
  // The weights, [results, operands]; several in a byte if quantized.
  Tensor weights;
  Tensor bias;  // [results]
  // Scales of quantized weights, [results] or [results, blocks]; absent if the
  // weights are not quantized.
  Tensor scales;
  // Zero points, of the shape of the scales; several in a byte along the last
  // dim.
  Tensor zeros;
  static constexpr int kParts = 4;
  std::array<Tensor*, kParts> parts() {
    return {&weights, &bias, &scales, &zeros};
  }
};

struct Mixture {
  // The layers of all experts. The third layer computes the values that the
  // gates multiply. It is absent if nothing is gated, and if the first layer
  // computes the gates and the values.
  std::array<Layer, 3> layers;
  // The tokens, [tokens, hidden], in the type of the computation.
  Tensor x;
  // Weight of each expert for each token, f32 [experts, tokens]; 0 where the
  // expert is not chosen.
  Tensor gates;
  // Bits of a quantized weight; 0 if the weights are not quantized.
  int64_t bits = 0;
  // Number of weights that share a scale; 0 if there is one scale per result.
  int64_t block = 0;
  std::string activation;
  // Order of a swiglu's gates and values in one result: 1 for alternating, 2
  // for two halves, 0 if the third layer computes the values.
  int64_t fusion = 0;
  double alpha = 1, beta = 0, limit = 0;
  Dim inner;  // Number of results of the first layer after the activation.
};

int64_t PackedCount(const Mixture& m) { return m.bits == 0 ? 1 : 8 / m.bits; }

// Returns weights as [experts, results, operands]. Older files swap the last
// two dims in the stated shape only: their elements already have this order, so
// a reshape suffices.
Tensor WithResultsFirst(const Mixture& m, Tensor weights, const Dim& operands) {
  const Dim packed(PackedCount(m));
  if (weights.dim(2) * packed == operands) return weights;
  return Reshape(weights, {weights.dim(0), weights.dim(2) * packed,
                           FloorDivide(weights.dim(1), packed)});
}

// Returns the weights of one expert as floats, [results, operands].
Tensor Widened(const Mixture& m, const Layer& layer, const Dim& operands) {
  if (m.bits == 0) return Cast(layer.weights, m.x.dtype());
  Tensor values = Cast(UnpackBits(layer.weights, m.bits), DType::kF32);
  const Dim results = values.dim(0);
  Tensor scales = Cast(layer.scales, DType::kF32);
  Tensor zeros = layer.zeros
                     ? Cast(UnpackBits(layer.zeros, m.bits), DType::kF32)
                     : scales.Like(static_cast<double>(1 << (m.bits - 1)));
  if (layer.zeros)
    zeros = SliceAxis(zeros, zeros.rank() - 1, Dim(0), scales.dim(-1));
  const auto spread = [&](Tensor x) {
    if (x.rank() == 0) return x;
    if (x.rank() == 1) return Unsqueeze(x, {1});
    const Tensor each = RepeatEach(x, 1, Dim(m.block));
    return each.dim(1) == operands ? each
                                   : SliceAxis(each, 1, Dim(0), operands);
  };
  values = SliceAxis(values, 1, Dim(0), operands);
  return Reshape((values - spread(zeros)) * spread(scales),
                 {results, operands});
}

Tensor Linear(const Mixture& m, const Layer& layer, Tensor x) {
  const Tensor weights = Cast(Widened(m, layer, x.dim(1)), x.dtype());
  const Tensor y = Contract(x, weights, "nk,mk->nm");
  return layer.bias ? y + Cast(layer.bias, y.dtype()) : y;
}

// The operands of a swiglu: the gate, which is activated, and the value that it
// multiplies.
struct Gated {
  Tensor gate, value;
};

Gated SplitGated(const Mixture& m, Tensor h, Tensor third) {
  if (third) return {h, third};
  if (m.fusion == 2)
    return {SliceAxis(h, 1, Dim(0), m.inner),
            SliceAxis(h, 1, m.inner, m.inner)};
  const Tensor pairs = Reshape(h, {h.dim(0), m.inner, Dim(2)});
  return {Squeeze(SliceAxis(pairs, 2, Dim(0), Dim(1)), {2}),
          Squeeze(SliceAxis(pairs, 2, Dim(1), Dim(1)), {2})};
}

Tensor Activated(const Mixture& m, Tensor h, Tensor third) {
  if (m.activation == "swiglu") {
    auto [gate, value] = SplitGated(m, h, third);
    if (m.limit > 0) {
      gate = Minimum(gate, m.limit);
      value = Maximum(Minimum(value, m.limit), -m.limit);
    }
    return Swish(gate, m.alpha) * (value + m.beta);
  }
  if (m.activation == "relu") h = Relu(h);
  if (m.activation == "gelu") h = TanhGelu(h);
  if (m.activation == "silu") h = Silu(h);
  return third ? h * third : h;
}

// Returns the weights by which the results of the k best experts of each token
// are multiplied, [experts, tokens]; 0 for other experts.
Tensor Gates(NodeContext& c, Tensor logits, Tensor weights, int64_t k) {
  const bool is_quantized = c.node().op_type() == "QMoE";
  const bool normalize = c.Integer("normalize_routing_weights", 0) != 0;
  // QMoE computes the softmax of the chosen logits only, MoE the softmax of all
  // logits.
  const Tensor scores = is_quantized ? logits : Softmax(logits, 1);
  const std::vector<Tensor> best = ApplyAll(
      "top_k", {scores},
      {{"axis", int64_t{1}}, {"k", Shape{Dim(k)}}, {"largest", int64_t{1}}});
  if (!c.ok()) return c.Wrap(nullptr);
  Tensor chosen = best[0];
  const Tensor expert = best[1];
  if (weights) {
    chosen =
        Apply("gather_elements", {weights, expert}, {{"axis", int64_t{1}}});
  } else if (is_quantized) {
    chosen = Softmax(chosen, 1);
  }
  if (normalize && (weights || !is_quantized))
    chosen = chosen / Reduce(chosen, "sum", {1}, true);
  const Dim experts = logits.dim(1);
  Tensor is_expert =
      Equal(Unsqueeze(expert, {0}),
            AlongAxis(IotaVector(c.builder(), experts, DType::kI64), 0, 3));
  return Reduce(Select(is_expert, Unsqueeze(chosen, {0}), chosen.Like(0)),
                "sum", {2}, false);
}

// Returns the results of one expert for the tokens x. `parts` are those of its
// layers, in their order.
Tensor OneExpert(Mixture m, Tensor x, std::span<const Tensor> parts) {
  for (Layer& layer : m.layers)
    for (Tensor* part : layer.parts()) {
      *part = parts.front();
      parts = parts.subspan(1);
    }
  const Tensor third =
      m.layers[2].weights ? Linear(m, m.layers[2], x) : Tensor();
  return Linear(m, m.layers[1], Activated(m, Linear(m, m.layers[0], x), third));
}

Tensor AllExperts(Mixture& m) {
  ops::ExpertMixture mixture{.x = m.x, .gates = m.gates};
  for (Layer& layer : m.layers)
    for (const Tensor* part : layer.parts()) mixture.weights.push_back(*part);
  return ops::SumOfExperts(mixture,
                           [&](Tensor x, std::span<const Tensor> parts) {
                             return OneExpert(m, x, parts);
                           });
}

bool ReadActivation(NodeContext& c, Mixture& m) {
  m.activation = c.String("activation_type", "relu");
  m.fusion = c.Integer("swiglu_fusion", 0);
  m.alpha = c.Float("activation_alpha", 1);
  m.beta = c.Float("activation_beta", 0);
  m.limit = c.Float("swiglu_limit", 0);
  for (const char* name : {"relu", "gelu", "silu", "swiglu", "identity"}) {
    if (m.activation != name) continue;
    const bool is_gated = m.activation == "swiglu";
    if (is_gated && !m.layers[2].weights && m.fusion != 1 && m.fusion != 2) {
      c.FailUnsupported(
          "attribute 'swiglu_fusion': expected 1 or 2, or a third layer, "
          "found " +
          std::to_string(m.fusion));
    }
    return c.ok();
  }
  c.FailInvalid(
      "attribute 'activation_type': expected relu, gelu, silu, swiglu or "
      "identity, found '" +
      m.activation + "'");
  return false;
}

bool ReadQuantization(NodeContext& c, Mixture& m) {
  m.bits = c.Integer("expert_weight_bits", 4);
  m.block = std::max<int64_t>(c.Integer("block_size", 0), 0);
  if (const std::string type = c.String("quant_type", "int"); type != "int") {
    c.FailUnsupported("attribute 'quant_type': only int is supported, found '" +
                      type + "'");
  } else if (m.bits != 2 && m.bits != 4 && m.bits != 8) {
    c.FailUnsupported(
        "attribute 'expert_weight_bits': expected 2, 4 or 8, found " +
        std::to_string(m.bits));
  }
  for (const Layer& layer : m.layers) {
    if (!layer.weights || !c.ok()) continue;
    if (!layer.scales) {
      c.FailInvalid("scales of quantized weights are missing");
    } else if (layer.scales.rank() != (m.block > 0 ? 3 : 2)) {
      c.FailInvalid("scales: expected rank " +
                    std::string(m.block > 0 ? "3" : "2") + ", found " +
                    graph::ShapeToString(layer.scales.shape()));
    }
  }
  return c.ok();
}

// Reads the tokens, layers and attributes of a MoE or QMoE node, but not yet
// the gates; nullopt after an error.
std::optional<Mixture> ReadMixture(NodeContext& c) {
  const bool is_quantized = c.node().op_type() == "QMoE";
  const auto at = [&](int index) { return c.Input(index); };
  Mixture m;
  if (is_quantized) {
    m.layers = {Layer{at(2), at(4), at(3), at(11)},
                Layer{at(5), at(7), at(6), at(12)},
                Layer{at(8), at(10), at(9), at(13)}};
  } else {
    m.layers = {Layer{at(2), at(3)}, Layer{at(4), at(5)}, Layer{at(6), at(7)}};
  }
  if (!c.CheckRank(0, 2, 3) || !c.CheckRank(1, 2, 2) ||
      !CheckPresent(c, {2, is_quantized ? 5 : 4}))
    return std::nullopt;
  if (is_quantized && !ReadQuantization(c, m)) return std::nullopt;
  for (const Layer& layer : m.layers) {
    if (layer.weights &&
        !c.ImportContext::CheckRank(layer.weights, "weights", 3, 3))
      return std::nullopt;
  }
  if (c.Integer("use_sparse_mixer", 0) != 0)
    c.FailUnsupported("attribute 'use_sparse_mixer' is not supported");
  if (!ReadActivation(c, m)) return std::nullopt;
  Tensor x = Cast(c.Input(0), ComputeType(c.Input(0).dtype()));
  if (!x.dim(-1).is_constant()) {
    x = WithDim(x, x.rank() - 1,
                m.layers[0].weights.dim(2) * Dim(PackedCount(m)));
  }
  const Dim hidden = x.dim(-1);
  m.x = x.rank() == 3 ? Reshape(x, {x.dim(0) * x.dim(1), hidden}) : x;
  for (const int layer : {0, 2}) {
    Tensor& weights = m.layers[layer].weights;
    if (weights) weights = WithResultsFirst(m, weights, hidden);
  }
  const Dim results = m.layers[0].weights.dim(1);
  const bool is_fused = m.activation == "swiglu" && !m.layers[2].weights;
  m.inner = is_fused ? FloorDivide(results, Dim(2)) : results;
  m.layers[1].weights = WithResultsFirst(m, m.layers[1].weights, m.inner);
  return m;
}

}  // namespace

void ImportMixtureOfExperts(NodeContext& c) {
  std::optional<Mixture> m = ReadMixture(c);
  if (!m) return;
  const int64_t k = c.Integer("k", 1);
  const Tensor logits = Cast(c.Input(1), DType::kF32);
  const int64_t most =
      logits.dim(1).AsConstant().value_or(std::numeric_limits<int64_t>::max());
  if (k < 1 || k > most) {
    return c.FailInvalid("attribute 'k': expected 1 to the number of experts " +
                         logits.dim(1).ToString() + ", found " +
                         std::to_string(k));
  }
  const Tensor weights =
      c.Input(14) ? Cast(c.Input(14), DType::kF32) : Tensor();
  m->gates = Gates(c, WithDim(logits, 0, m->x.dim(0)), weights, k);
  if (!c.ok()) return;
  const Tensor y = AllExperts(*m);
  if (!c.ok()) return;
  const Tensor x = c.Input(0);
  c.SetOutput(0, Cast(Reshape(y, x.shape()), x.dtype()));
}

}  // namespace ember::onnx

// Activations: functions by name, and the layers that apply one.
#include "frontends/keras/activation.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772;
constexpr double kSeluScale = 1.0507009873554805;

Tensor Clip(Tensor x, double low, double high) {
  return Minimum(Maximum(x, low), high);
}

Tensor Elu(Tensor x, double alpha) {
  // The exponential is computed of min(x, 0) only, so that it stays finite.
  return Select(Less(0, x), x, Expm1(Minimum(x, 0)) * alpha);
}

Tensor LeakyRelu(Tensor x, double slope) {
  return Select(Less(x, 0), x * slope, x);
}

// Returns Keras' hard sigmoid. Keras 3 uses JAX's definition, Keras 2 another
// one.
Tensor HardSigmoid(LayerContext& c, Tensor x) {
  if (c.major_version() >= 3) return Clip(x / 6.0 + 0.5, 0, 1);
  return Clip(x * 0.2 + 0.5, 0, 1);
}

Tensor Squareplus(Tensor x, double b) { return (x + Sqrt(x * x + b)) / 2.0; }

// HardShrink returns x where its magnitude exceeds 0.5, else 0. SoftShrink also
// moves x by 0.5 towards 0.
Tensor HardShrink(Tensor x) {
  return Select(Less(0.5, Absolute(x)), x, x.Like(0));
}
Tensor SoftShrink(Tensor x) {
  return Select(Less(0.5, x), x - 0.5,
                Select(Less(x, -0.5), x + 0.5, x.Like(0)));
}

Tensor Glu(LayerContext& c, Tensor x) {
  const auto half = ops::DivideElementCounts({x.dim(-1)}, {Dim(2)});
  if (!half) {
    c.FailInvalid("glu: expected an even last dim, found " +
                  graph::ShapeToString(x.shape()));
    return x;
  }
  const int last = x.rank() - 1;
  return SliceAxis(x, last, Dim(0), *half) *
         ops::Sigmoid(SliceAxis(x, last, *half, *half));
}

Tensor SparsePlus(Tensor x) {
  return Select(LessEqual(x, -1), x.Like(0),
                Select(Less(x, 1), (x + 1.0) * (x + 1.0) * 0.25, x));
}

// Returns ReLU with Keras' three parameters.
Tensor ReluWith(Tensor x, double slope, double threshold,
                std::optional<double> maximum) {
  Tensor y = slope == 0 && threshold == 0 ? Maximum(x, 0)
             : threshold == 0             ? LeakyRelu(x, slope)
                              : Select(LessEqual(x.Like(threshold), x), x,
                                       (x - threshold) * slope);
  return maximum ? Minimum(y, *maximum) : y;
}

std::optional<double> OptionalNumber(const Config& config,
                                     std::string_view key) {
  if (!config.Has(key)) return std::nullopt;
  return config.Number(key);
}

double SlopeOf(LayerContext& c, double otherwise) {
  // Keras 3 calls the slope "negative_slope", Keras 2 "alpha".
  return c.config().Number("negative_slope",
                           c.config().Number("alpha", otherwise));
}

}  // namespace

Tensor ActivatedBy(LayerContext& c, Tensor x, std::string_view name) {
  if (!c.ok()) return x;
  if (name == "linear" || name.empty()) return x;
  if (name == "relu") return ops::Relu(x);
  if (name == "relu6") return Clip(x, 0, 6);
  if (name == "sigmoid") return ops::Sigmoid(x);
  if (name == "tanh") return Tanh(x);
  if (name == "softmax") return Softmax(x, x.rank() - 1);
  if (name == "log_softmax") return ops::LogSoftmax(x, x.rank() - 1);
  if (name == "elu") return Elu(x, 1);
  if (name == "celu") return Maximum(x, 0) + Expm1(Minimum(x, 0));
  if (name == "selu") return Elu(x, kSeluAlpha) * kSeluScale;
  if (name == "softplus") return ops::Softplus(x);
  if (name == "softsign") return x / (Absolute(x) + 1.0);
  if (name == "swish" || name == "silu") return x * ops::Sigmoid(x);
  if (name == "gelu") return ops::Gelu(x);
  if (name == "exponential") return Exp(x);
  if (name == "hard_sigmoid") return HardSigmoid(c, x);
  if (name == "hard_silu" || name == "hard_swish")
    return x * Clip(x / 6.0 + 0.5, 0, 1);
  if (name == "leaky_relu") return LeakyRelu(x, 0.2);
  if (name == "mish") return x * Tanh(ops::Softplus(x));
  if (name == "log_sigmoid") return -ops::Softplus(-x);
  if (name == "hard_tanh") return Clip(x, -1, 1);
  if (name == "tanh_shrink") return x - Tanh(x);
  if (name == "hard_shrink") return HardShrink(x);
  if (name == "soft_shrink") return SoftShrink(x);
  if (name == "squareplus") return Squareplus(x, 4);
  if (name == "sparse_plus") return SparsePlus(x);
  if (name == "sparse_sigmoid") return Clip((x + 1.0) / 2.0, 0, 1);
  if (name == "glu") return Glu(c, x);
  if (name == "threshold") return Select(Less(0, x), x, x.Like(0));
  c.FailUnsupported("activation '" + OnOneLine(name) + "'");
  return x;
}

Tensor Activated(LayerContext& c, Tensor x, const Config& activation) {
  if (activation.json() == nullptr || !c.ok()) return x;
  if (const auto name = activation.AsText()) return ActivatedBy(c, x, *name);
  // The activation is {"class_name": "function", "config": "relu"}, or a layer.
  const Config config = activation.Entry("config");
  if (const auto name = config.AsText()) return ActivatedBy(c, x, *name);
  StatusOr<Layer> layer = ReadLayer(activation);
  if (!layer.ok()) {
    c.FailInvalid(std::string(layer.status().message()));
    return x;
  }
  const LayerRow* row = FindRow(*layer);
  if (row == nullptr || row->import == nullptr || row->weights != nullptr) {
    c.FailUnsupported("activation '" + OnOneLine(layer->class_name) + "'");
    return x;
  }
  LayerContext inner(c.host(), c.builder(), *layer, c.path(), c.depth() + 1);
  inner.set_compute_type(c.compute_type());
  inner.inputs = {{x, Tensor()}};
  if (inner.depth() > kMaxNesting) {
    c.FailInvalid("activation: nested too deeply");
    return x;
  }
  row->import(inner);
  return inner.outputs().empty() ? x : inner.outputs()[0].value;
}

void ImportActivation(LayerContext& c) {
  c.SetOutput(Activated(c, c.Input(0)));
}

void ImportReLU(LayerContext& c) {
  c.SetOutput(ReluWith(c.Input(0), c.config().Number("negative_slope", 0.0),
                       c.config().Number("threshold", 0.0),
                       OptionalNumber(c.config(), "max_value")));
}

void ImportLeakyReLU(LayerContext& c) {
  c.SetOutput(LeakyRelu(c.Input(0), SlopeOf(c, 0.3)));
}

void ImportELU(LayerContext& c) {
  c.SetOutput(Elu(c.Input(0), c.config().Number("alpha", 1.0)));
}

void ImportThresholdedReLU(LayerContext& c) {
  const Tensor x = c.Input(0);
  const double theta = c.config().Number("theta", 1.0);
  c.SetOutput(Select(Less(theta, x), x, x.Like(0)));
}

// Imports PReLU. There is one slope per element of a sample; the shared axes
// have dim 1.
void ImportPReLU(LayerContext& c) {
  const Tensor x = c.Input(0), alpha = c.Weight("alpha");
  if (!c.ok()) return;
  c.SetOutput(Select(Less(x, 0), x * alpha, x));
}

void ImportSoftmax(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const std::vector<int64_t> given = c.config().IntegerList("axis");
  const std::vector<int64_t> axes =
      c.Axes(given.empty() ? std::vector<int64_t>{-1} : given, x.rank());
  if (!c.ok()) return;
  Tensor mask = c.NamedTensor("mask");
  if (!mask) mask = c.Input(1);
  if (mask)
    x = x + (1.0 - Cast(mask, x.dtype())) *
                (x.dtype() == DType::kF16 ? -3e4 : -1e9);
  if (axes.size() == 1)
    return c.SetOutput(Softmax(x, static_cast<int>(axes[0])));
  const DType wide = ComputeType(x.dtype());
  const Tensor shifted =
      Cast(x, wide) - Reduce(Cast(x, wide), "maximum", axes, /*keep=*/true);
  const Tensor powers = Exp(shifted);
  c.SetOutput(
      Cast(powers / Reduce(powers, "sum", axes, /*keep=*/true), x.dtype()));
}

}  // namespace ember::keras

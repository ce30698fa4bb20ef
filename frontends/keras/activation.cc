// Activations: functions by name, and the layers that apply one.
#include "frontends/keras/activation.h"

#include <string>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Returns Keras' hard sigmoid. Keras 3 uses JAX's definition, Keras 2 another
// one.
Tensor HardSigmoid(LayerContext& c, Tensor x) {
  return c.major_version() >= 3 ? HardSigmoid6(x)
                                : ops::HardSigmoid(x, 0.2, 0.5);
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
         Sigmoid(SliceAxis(x, last, *half, *half));
}

Tensor SparsePlus(Tensor x) {
  return Select(LessEqual(x, -1), x.Like(0),
                Select(Less(x, 1), (x + 1.0) * (x + 1.0) * 0.25, x));
}

// An elementwise activation and its name in Keras. Its parameters have the
// defaults of keras.activations.
struct Activation {
  std::string_view name;
  Tensor (*function)(Tensor x);
};
constexpr Activation kActivations[] = {
    {"", [](Tensor x) { return x; }},
    {"celu", [](Tensor x) { return Celu(x, 1); }},
    {"elu", [](Tensor x) { return Elu(x, 1); }},
    {"exponential", ops::Exp},
    {"gelu", ops::Gelu},
    {"hard_shrink", [](Tensor x) { return HardShrink(x, 0.5); }},
    {"hard_silu", ops::HardSwish},
    {"hard_swish", ops::HardSwish},
    {"hard_tanh", [](Tensor x) { return Clip(x, -1, 1); }},
    {"leaky_relu", [](Tensor x) { return LeakyRelu(x, 0.2); }},
    {"linear", [](Tensor x) { return x; }},
    {"log_sigmoid", ops::LogSigmoid},
    {"mish", ops::Mish},
    {"relu", ops::Relu},
    {"relu6", ops::Relu6},
    {"selu", ops::Selu},
    {"sigmoid", ops::Sigmoid},
    {"silu", ops::Silu},
    {"soft_shrink", [](Tensor x) { return Shrink(x, 0.5, 0.5); }},
    {"softplus", ops::Softplus},
    {"softsign", ops::Softsign},
    {"sparse_plus", SparsePlus},
    {"sparse_sigmoid", [](Tensor x) { return ops::HardSigmoid(x, 0.5, 0.5); }},
    {"squareplus", [](Tensor x) { return Squareplus(x, 4); }},
    {"swish", ops::Silu},
    {"tanh", ops::Tanh},
    {"tanh_shrink", ops::TanhShrink},
    {"threshold", [](Tensor x) { return ThresholdedRelu(x, 0); }},
};

// Returns Keras' ReLU with a slope for x < threshold, a threshold, and
// optionally a largest value.
Tensor ReluWith(Tensor x, double slope, double threshold,
                std::optional<double> maximum) {
  Tensor y = slope == 0 && threshold == 0 ? Relu(x)
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
  for (const Activation& row : kActivations)
    if (name == row.name) return row.function(x);
  if (name == "softmax") return Softmax(x, x.rank() - 1);
  if (name == "log_softmax") return ops::LogSoftmax(x, x.rank() - 1);
  if (name == "hard_sigmoid") return HardSigmoid(c, x);
  if (name == "glu") return Glu(c, x);
  c.FailUnsupported("activation '" + OnOneLine(name) + "'");
  return x;
}

Tensor Activated(LayerContext& c, Tensor x, const Config& activation) {
  if (activation.json() == nullptr || !c.ok()) return x;
  if (const auto name = activation.AsText()) return ActivatedBy(c, x, *name);
  // Here `activation` is an object: {"class_name": "function", "config":
  // "relu"}, or an activation layer.
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
  c.SetOutput(ThresholdedRelu(c.Input(0), c.config().Number("theta", 1.0)));
}

// Imports PReLU. There is one slope per element of a sample; the shared axes
// have dim 1.
void ImportPReLU(LayerContext& c) {
  const Tensor x = c.Input(0), alpha = c.Weight("alpha");
  if (!c.ok()) return;
  c.SetOutput(LeakyRelu(x, alpha));
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

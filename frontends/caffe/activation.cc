// Imports Caffe's elementwise layers: activations, powers, exponentials,
// logarithms and Dropout.
#include <cmath>
#include <string>

#include "frontends/caffe/layer_table.h"

namespace ember::caffe {
namespace {

// Returns ln(base) for the parameter `base` of a layer, where -1 means the base
// e; nullopt, with an error, unless base is -1 or above 0.
std::optional<double> LogOfBase(LayerContext& c, double base) {
  if (base == -1) return 1.0;
  if (base > 0) return std::log(base);
  c.FailInvalid("base: expected -1 or a value above 0, found " +
                std::to_string(base));
  return std::nullopt;
}

}  // namespace

void ImportClip(LayerContext& c) {
  const ClipParameter& p = c.layer().clip_param();
  c.SetOutput(0, Clip(c.Input(0), p.min(), p.max()));
}

// Imports Dropout, which multiplies its input by 1 - dropout_ratio. If training
// used scale_train, its outputs were scaled then, so the layer only copies its
// input.
void ImportDropout(LayerContext& c) {
  const DropoutParameter& p = c.layer().dropout_param();
  const Tensor x = c.Input(0);
  c.SetOutput(0, p.scale_train()
                     ? x
                     : x * (1 - static_cast<double>(p.dropout_ratio())));
}

void ImportElu(LayerContext& c) {
  c.SetOutput(0, Elu(c.Input(0), c.layer().elu_param().alpha()));
}

void ImportExp(LayerContext& c) {
  const ExpParameter& p = c.layer().exp_param();
  const std::optional<double> log = LogOfBase(c, p.base());
  if (!log) return;
  c.SetOutput(0, Exp(c.Input(0) * (p.scale() * *log) + p.shift() * *log));
}

void ImportLog(LayerContext& c) {
  const LogParameter& p = c.layer().log_param();
  const std::optional<double> log = LogOfBase(c, p.base());
  if (!log) return;
  c.SetOutput(0, Log(c.Input(0) * p.scale() + p.shift()) * (1 / *log));
}

// Imports Power: (shift + scale * x)^power.
void ImportPower(LayerContext& c) {
  const PowerParameter& p = c.layer().power_param();
  Tensor x = c.Input(0);
  if (p.scale() != 1) x = x * p.scale();
  if (p.shift() != 0) x = x + p.shift();
  if (p.power() == 2) x = Square(x);
  if (p.power() != 1 && p.power() != 2) x = Power(x, p.power());
  c.SetOutput(0, x);
}

// Imports PReLU, which has one slope per channel, or one in all.
void ImportPRelu(LayerContext& c) {
  const PReLUParameter& p = c.layer().prelu_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const std::optional<int64_t> channels = c.Extent(x, 1);
  if (!channels) return;
  const FillerParameter* filler = p.has_filler() ? &p.filler() : nullptr;
  const Tensor slope =
      p.channel_shared()
          ? c.Weight(0, {}, filler)
          : ops::AlongAxis(c.Weight(0, {*channels}, filler), 1, x.rank());
  c.SetOutput(0, LeakyRelu(x, slope));
}

void ImportRelu(LayerContext& c) {
  const double slope = c.layer().relu_param().negative_slope();
  const Tensor x = c.Input(0);
  c.SetOutput(0, slope == 0 ? Relu(x) : LeakyRelu(x, slope));
}

void ImportRelu6(LayerContext& c) {
  c.SetOutput(0, Clip(c.Input(0), 0, c.layer().relu6_param().threshold()));
}

void ImportSwish(LayerContext& c) {
  c.SetOutput(0, Swish(c.Input(0), c.layer().swish_param().beta()));
}

void ImportThreshold(LayerContext& c) {
  c.SetOutput(0, Cast(Less(c.layer().threshold_param().threshold(), c.Input(0)),
                      DType::kF32));
}

}  // namespace ember::caffe

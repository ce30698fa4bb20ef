#include "frontends/keras/layer_context.h"

#include <algorithm>

#include "base/one_line.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/ranks.h"
#include "frontends/ops/windows.h"

namespace ember::keras {

void LayerContext::FailInvalid(std::string message) {
  ops::FailInvalid(builder_, std::move(message));
}
void LayerContext::FailUnsupported(std::string message) {
  ops::FailUnsupported(builder_, std::move(message));
}

const Given* LayerContext::Named(std::string_view name) const {
  for (const auto& [key, given] : named)
    if (key == name) return &given;
  return nullptr;
}

Tensor LayerContext::NamedTensor(std::string_view name) const {
  const Given* given = Named(name);
  return given == nullptr || given->signals.empty() ? Tensor()
                                                    : given->signals[0].value;
}

Tensor LayerContext::Weight(std::string_view name, int rank) {
  const std::string path = path_ + std::string(name);
  const Tensor weight = host_.FindWeight(path, builder_);
  if (!weight) {
    FailInvalid("weights: expected '" + std::string(name) +
                "', found none in the file");
    return Wrap(nullptr);
  }
  if (rank >= 0 && ok() && weight.rank() != rank) {
    FailInvalid("weights: expected '" + std::string(name) + "' of rank " +
                std::to_string(rank) + ", found " +
                graph::ShapeToString(weight.shape()));
    return Wrap(nullptr);
  }
  return weight.is_float() ? Cast(weight, compute_type_) : weight;
}

bool LayerContext::HasWeight(std::string_view name) {
  return host_.FindWeight(path_ + std::string(name), builder_).present();
}

void LayerContext::SetOutput(int index, Tensor value) {
  const auto at = static_cast<size_t>(index);
  if (outputs_.size() <= at) outputs_.resize(at + 1);
  outputs_[at].value = value;
}

void LayerContext::SetMask(int index, Tensor mask) {
  const auto at = static_cast<size_t>(index);
  if (outputs_.size() <= at) outputs_.resize(at + 1);
  outputs_[at].mask = mask;
  mask_is_set_ = true;
}

bool LayerContext::CheckRank(int input, int minimum, int maximum) {
  if (!ok()) return false;
  if (!Input(input)) {
    FailInvalid("expected input " + std::to_string(input) + ", found none");
    return false;
  }
  const std::string fault = ops::FindRankFault(Input(input), minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid("input " + std::to_string(input) + ": " + fault);
  return false;
}

int LayerContext::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank)
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  FailInvalid("axis: expected a value in [" + std::to_string(-rank) + ", " +
              std::to_string(rank - 1) + "], found " + std::to_string(axis));
  return 0;
}

std::vector<int64_t> LayerContext::Axes(const std::vector<int64_t>& axes,
                                        int rank) {
  std::vector<int64_t> normalized;
  for (const int64_t axis : axes) {
    const int64_t value = Axis(axis, rank);
    if (!ok()) return {};
    if (std::find(normalized.begin(), normalized.end(), value) ==
        normalized.end())
      normalized.push_back(value);
  }
  std::sort(normalized.begin(), normalized.end());
  return normalized;
}

bool LayerContext::CheckPositive(std::string_view what, int64_t value) {
  if (value >= 1 && value <= ops::kMaximumWindow) return ok();
  FailInvalid(std::string(what) + ": expected a value in [1, " +
              std::to_string(ops::kMaximumWindow) + "], found " +
              std::to_string(value));
  return false;
}

bool LayerContext::is_channels_first() {
  const std::string format = config().Text("data_format", "channels_last");
  if (format != "channels_last" && format != "channels_first") {
    FailInvalid(
        "data_format: expected channels_last or channels_first, found '" +
        OnOneLine(format) + "'");
  }
  return format == "channels_first";
}

Tensor LayerContext::Vector(const std::vector<double>& values) {
  const std::vector<float> narrow(values.begin(), values.end());
  const auto* bytes = reinterpret_cast<const uint8_t*>(narrow.data());
  return Wrap(builder_.Constant(
      DType::kF32, {static_cast<int64_t>(values.size())},
      graph::ConstantData::Copy({bytes, narrow.size() * sizeof(float)})));
}

Tensor AsChannelsLast(LayerContext& c, Tensor x) {
  return c.is_channels_first() ? ops::ToChannelsLast(x) : x;
}

Tensor FromChannelsLast(LayerContext& c, Tensor y) {
  return c.is_channels_first() ? ops::ToChannelsFirst(y) : y;
}

}  // namespace ember::keras

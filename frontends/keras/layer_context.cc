#include "frontends/keras/layer_context.h"

#include "base/one_line.h"
#include "frontends/ops/convolution.h"

namespace ember::keras {

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
  const Tensor weight = host_.FindWeight(path, builder());
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
  return host_.FindWeight(path_ + std::string(name), builder()).present();
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
  return ImportContext::Vector(
      DType::kF32, std::vector<float>(values.begin(), values.end()));
}

Tensor AsChannelsLast(LayerContext& c, Tensor x) {
  return c.is_channels_first() ? ops::ToChannelsLast(x) : x;
}

Tensor FromChannelsLast(LayerContext& c, Tensor y) {
  return c.is_channels_first() ? ops::ToChannelsFirst(y) : y;
}

}  // namespace ember::keras

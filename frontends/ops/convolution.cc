#include "frontends/ops/convolution.h"

#include <utility>

#include "frontends/ops/compositions.h"

namespace ember::ops {
namespace {

// One element per channel, which are the last dim.
Tensor AddBias(Tensor y, Tensor bias) {
  if (!bias) return y;
  return y + (bias.rank() == 1 ? WithDim(bias, 0, y.dim(-1)) : bias);
}

}  // namespace

Tensor ToChannelsLast(Tensor x) {
  std::vector<int64_t> permutation{0};
  for (int i = 2; i < x.rank(); ++i) permutation.push_back(i);
  permutation.push_back(1);
  return Transpose(x, std::move(permutation));
}

Tensor ToChannelsFirst(Tensor x) {
  std::vector<int64_t> permutation{0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) permutation.push_back(i);
  return Transpose(x, std::move(permutation));
}

Tensor Conv(Tensor x, Tensor w, Tensor bias, const ConvSpec& spec) {
  const DType type = x.dtype();
  Tensor y =
      Apply("conv", {Cast(x, ComputeType(type)), Cast(w, ComputeType(type))},
            {{"strides", spec.window.strides},
             {"dilations", spec.window.dilations},
             {"low", spec.window.low},
             {"high", spec.window.high},
             {"groups", spec.groups}});
  return AddBias(Cast(y, type), bias);
}

Tensor ConvTranspose(Tensor x, Tensor w, Tensor bias,
                     const ConvTransposeSpec& spec) {
  const DType type = x.dtype();
  Tensor y = Apply("conv_transpose",
                   {Cast(x, ComputeType(type)), Cast(w, ComputeType(type))},
                   {{"strides", spec.window.strides},
                    {"dilations", spec.window.dilations},
                    {"low", spec.window.low},
                    {"high", spec.window.high},
                    {"output_padding", spec.output_padding},
                    {"groups", spec.groups}});
  return AddBias(Cast(y, type), bias);
}

}  // namespace ember::ops

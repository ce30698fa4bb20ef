#include "frontends/ops/convolution.h"

#include <utility>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/one_type.h"

namespace ember::ops {
namespace {

// Adds a bias with one element per channel to y, whose channels are the last
// dim.
Tensor AddBias(Tensor y, Tensor bias) {
  if (!bias) return y;
  return y + (bias.rank() == 1 ? WithDim(bias, 0, y.dim(-1)) : bias);
}

// Appends appended[i] zeros at the end of spatial dim i of y[N, spatial…, C].
Tensor AppendZeros(Tensor y, const Shape& appended) {
  Shape high(static_cast<size_t>(y.rank()), Dim(0));
  bool is_needed = false;
  for (size_t i = 0; i < appended.size(); ++i) {
    high[i + 1] = appended[i];
    is_needed = is_needed || appended[i] != Dim(0);
  }
  if (!is_needed) return y;
  const Shape low(static_cast<size_t>(y.rank()), Dim(0));
  return Pad(y, low, high, "constant", y.Like(0));
}

}  // namespace

void AppendIfShort(int dim, const Dim& excess, ConvTransposeSpec& spec) {
  spec.appended.resize(static_cast<size_t>(spec.window.rank()), Dim(0));
  spec.appended[static_cast<size_t>(dim)] = LargerOf(Dim(0) - excess, Dim(0));
}

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
  if (!HaveOneType({x, w})) return {&x.builder(), nullptr};
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

bool PadTransposed(graph::GraphBuilder& builder, const Shape& spatial,
                   const Shape& outputs, bool same, ConvTransposeSpec& spec) {
  Window& window = spec.window;
  spec.output_padding.assign(spatial.size(), 0);
  for (int i = 0; i < window.rank(); ++i) {
    const Dim stride(window.strides[i]);
    const Dim full = (spatial[i] - Dim(1)) * stride + Dim(window.Reach(i));
    const Dim excess = full - outputs[i];
    if (excess.is_constant() && excess.constant() < 0) {
      if (-excess.constant() > kMaxWindow) {
        FailInvalid(builder, "output_shape: found an extent of " +
                                 outputs[i].ToString() + " for an input of " +
                                 spatial[i].ToString());
        return false;
      }
      spec.output_padding[i] = -excess.constant();
    } else if (!excess.is_constant() &&
               (!same || window.Reach(i) < window.strides[i])) {
      // The result may be shorter than `outputs`, so that elements must be
      // appended. For SAME and windows that leave no gaps it never is.
      AppendIfShort(i, excess, spec);
    }
    const Dim total = LargerOf(excess, Dim(0));
    window.low[i] = same ? FloorDivide(total, Dim(2)) : Dim(0);
    window.high[i] = total - window.low[i];
  }
  return true;
}

Tensor ConvTranspose(Tensor x, Tensor w, Tensor bias,
                     const ConvTransposeSpec& spec) {
  if (!HaveOneType({x, w})) return {&x.builder(), nullptr};
  const DType type = x.dtype();
  Tensor y = Apply("conv_transpose",
                   {Cast(x, ComputeType(type)), Cast(w, ComputeType(type))},
                   {{"strides", spec.window.strides},
                    {"dilations", spec.window.dilations},
                    {"low", spec.window.low},
                    {"high", spec.window.high},
                    {"output_padding", spec.output_padding},
                    {"groups", spec.groups}});
  return AddBias(AppendZeros(Cast(y, type), spec.appended), bias);
}

}  // namespace ember::ops

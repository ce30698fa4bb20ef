#include "frontends/language_models/short_convolution.h"

namespace ember::language_models {

using ops::SliceAxis;

Tensor ShortConvolution(LayerContext& c, Tensor x) {
  const int64_t width = c.options.width;
  const int64_t taps = c.options.convolution;
  Tensor all = c.Linear(x, "shortconv.in_proj", 3 * width, width);
  auto part = [&](int64_t i) {
    return SliceAxis(all, 2, Dim(i * width), Dim(width));
  };
  Tensor values =
      ops::Concat({c.OldState(kConvolutionState), part(0) * part(2)}, 1);
  c.SetState(kConvolutionState,
             SliceAxis(values, 1, c.sequence, Dim(taps - 1)));
  Tensor weights =
      c.tensors.Required(c.Name("shortconv.conv.weight"), {width, taps})
          .Values();
  if (!c.ok()) return x;
  // A sum of a few products by hand: the convolution has one filter per
  // channel.
  Tensor sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Tensor product =
        SliceAxis(values, 1, Dim(tap), c.sequence) *
        ops::Reshape(SliceAxis(weights, 1, Dim(tap), Dim(1)), {Dim(width)});
    sum = sum ? sum + product : product;
  }
  return c.Linear(part(1) * sum, "shortconv.out_proj", width, width);
}

}  // namespace ember::language_models

#include "frontends/language_models/short_convolution.h"

#include <vector>

namespace ember::language_models {

using ops::SliceAxis;

namespace {

// Returns the convolution of a sequence's new tokens x [batch, count, width],
// and keeps the values of the last tokens, which the next run needs, as the
// sequence's state.
Tensor Convolve(LayerContext& c, const Sequence& sequence, Tensor x,
                Tensor weights) {
  const int64_t width = c.options.width;
  const int64_t taps = c.options.convolution;
  Tensor values = ops::Concat({c.OldState(kConvolutionState, sequence), x}, 1);
  c.SetState(kConvolutionState, sequence,
             SliceAxis(values, 1, sequence.count, Dim(taps - 1)));
  // Computes the convolution as a sum of shifted products, because each channel
  // has its own filter of few taps.
  Tensor sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Tensor product =
        SliceAxis(values, 1, Dim(tap), sequence.count) *
        ops::Reshape(SliceAxis(weights, 1, Dim(tap), Dim(1)), {Dim(width)});
    sum = sum ? sum + product : product;
  }
  return sum;
}

}  // namespace

Tensor ShortConvolution(LayerContext& c, Tensor x) {
  const int64_t width = c.options.width;
  Tensor all = c.Linear(x, "shortconv.in_proj", 3 * width, width);
  auto part = [&](int64_t i) {
    return SliceAxis(all, 2, Dim(i * width), Dim(width));
  };
  Tensor weights = c.tensors
                       .Required(c.Name("shortconv.conv.weight"),
                                 {width, c.options.convolution})
                       .Values();
  if (!c.ok()) return x;
  Tensor product = part(0) * part(2);
  std::vector<Tensor> sums;
  for (const Sequence& sequence : c.sequences) {
    sums.push_back(
        Convolve(c, sequence, c.TokensOf(sequence, product), weights));
  }
  return c.Linear(part(1) * JoinTokens(sums), "shortconv.out_proj", width,
                  width);
}

}  // namespace ember::language_models

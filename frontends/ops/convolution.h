// Convolutions of channels-last operands, which are the graph's layout.
//
//   ConvSpec spec{.window = WindowOf({3, 3}), .groups = 1};
//   Tensor y = Conv(x, w, bias, spec);   // [N, H, W, C] by [3, 3, C, O]
//
// f16 and bf16 are summed in f32. Operands that do not fit are an error of the
// graph builder.
#ifndef EMBER_FRONTENDS_OPS_CONVOLUTION_H_
#define EMBER_FRONTENDS_OPS_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

// ToChannelsLast transposes [N, C, spatial…] to [N, spatial…, C];
// ToChannelsFirst transposes back.
Tensor ToChannelsLast(Tensor x);
Tensor ToChannelsFirst(Tensor x);

struct ConvSpec {
  Window window;
  int64_t groups = 1;
};
// Convolves x[N, spatial…, C] with w[window…, C / groups, O], and adds bias[O],
// which may be absent.
Tensor Conv(Tensor x, Tensor w, Tensor bias, const ConvSpec& spec);

struct ConvTransposeSpec {
  // The window. Its padding is the number of elements that are cut off at the
  // ends of each dim of the result.
  Window window;
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
  // Number of zeros that are appended to each spatial dim after output_padding.
  // It is for numbers that depend on open dims. Empty: none.
  Shape appended = {};
};
// Sets the padding, output_padding and `appended` for which the result has the
// spatial extents `outputs`: those of the input of a convolution with padding
// SAME (if `same`) or VALID, which this operator reverses. Returns false after
// an error.
bool PadTransposed(graph::GraphBuilder& builder, const Shape& spatial,
                   const Shape& outputs, bool same, ConvTransposeSpec& spec);
// Sets spec.appended for a spatial dim. `excess`: its extent without padding
// minus the wanted extent. If it is negative, elements are missing at run time,
// and so many are appended.
void AppendIfShort(int dim, const Dim& excess, ConvTransposeSpec& spec);
// Returns the transposed convolution of x[N, spatial…, C] with w[window…, C, O
// / groups], plus bias[O].
Tensor ConvTranspose(Tensor x, Tensor w, Tensor bias,
                     const ConvTransposeSpec& spec);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_CONVOLUTION_H_

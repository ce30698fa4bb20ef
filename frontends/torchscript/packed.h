// Layers whose weights PyTorch has packed for one of its libraries: objects of
// classes that have no code in the archive ("torch.classes.quantized…",
// "torch.classes.xnnpack…"), with a state that describes the layer.
//
//   const std::optional<PackedLinear> layer = ReadPackedLinear(c, "W_prepack");
//
// Errors stick in the machine, and say what the argument was. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/torchscript/call.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// The attribute in which an object of such a class has its state.
inline constexpr std::string_view kPackedState = "__state__";

struct PackedLinear {
  Value weight, bias;  // bias: a tensor or None
  Value least, most;   // bounds of results, or None
};
std::optional<PackedLinear> ReadPackedLinear(Call& c, std::string_view name);

struct PackedConvolution {
  Value weight, bias;
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
  bool is_transposed = false;
  Value least, most;

  static Value List(Machine& machine, const std::vector<int64_t>& numbers);
};
std::optional<PackedConvolution> ReadPackedConvolution(Call& c,
                                                       std::string_view name);

#define EMBER_TORCH_PREPACK                                     \
  "(Tensor weight, Tensor? bias, int[] stride, int[] padding, " \
  "int[] dilation, int groups, Scalar? output_min=None, "       \
  "Scalar? output_max=None)"
#define EMBER_TORCH_PREPACK_TRANSPOSED                          \
  "(Tensor weight, Tensor? bias, int[] stride, int[] padding, " \
  "int[] output_padding, int[] dilation, int groups, "          \
  "Scalar? output_min=None, Scalar? output_max=None)"

// Operators that pack a layer, and operators that return a layer's weight and
// bias.
Value PackLinear(Call& c);
Value PackConvolution(Call& c);
Value PackTransposedConvolution(Call& c);
Value UnpackLayer(Call& c);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_

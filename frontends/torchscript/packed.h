// Layers whose weights PyTorch has packed for one of its libraries: objects of
// classes that have no code in the archive ("torch.classes.quantized…",
// "torch.classes.xnnpack…"), with a state that describes the layer.
//
//   const std::optional<PackedLinear> layer = ReadPackedLinear(c, "W_prepack");
//
// Errors stay in the machine, and describe the argument that was found. Not
// thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/torchscript/call.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Name of the attribute in which a packed layer, an object of a class without
// code, keeps its state.
inline constexpr std::string_view kPackedState = "__state__";

struct PackedLinear {
  // The weight of the layer, a tensor, and its bias, a tensor or None.
  Value weight, bias;
  // Lower and upper bound to which results are clamped; None means no bound.
  Value least, most;
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

// Import the operators that pack a layer into an object (Pack…), and those that
// return its weight and bias (UnpackLayer).
Value PackLinear(Call& c);
Value PackConvolution(Call& c);
Value PackTransposedConvolution(Call& c);
Value UnpackLayer(Call& c);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_PACKED_H_

// Helpers that the families of the com.microsoft domain share.
#ifndef EMBER_FRONTENDS_ONNX_CONTRIB_CONTRIB_H_
#define EMBER_FRONTENDS_ONNX_CONTRIB_CONTRIB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Returns a number of heads or groups: an attribute that must be at least 1. On
// failure it returns 1.
int64_t PositiveAttribute(NodeContext& c, std::string_view name);

// Applies the activation that a fused operator names ("Relu", "LeakyRelu", …).
// Its parameters have the order of ONNX Runtime; "" is no activation.
Tensor FusedActivation(NodeContext& c, Tensor y, const std::string& activation,
                       const std::vector<std::optional<double>>& parameters);

// Unpacks numbers of `bits` bits from bytes: u8[…, n] becomes u8[…, n * 8 /
// bits]. The first number of a byte is in its low bits if `low_first`, else in
// its high bits.
Tensor UnpackBits(Tensor packed, int64_t bits, bool low_first = true);

// Imports MoE and QMoE (moe.cc).
void ImportMixtureOfExperts(NodeContext& c);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CONTRIB_CONTRIB_H_

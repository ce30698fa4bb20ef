// Pads with negative amounts (which cut) and between elements.
//
//   PadAll(c, x, zero, {.low = {1}, .high = {-1}, .interior = {2}})
//
// Amounts that do not fit are an error of the graph builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_PADDING_H_
#define EMBER_FRONTENDS_STABLEHLO_PADDING_H_

#include <cstdint>
#include <vector>

#include "frontends/stablehlo/operation_context.h"

namespace ember::stablehlo {

// The amounts of padding of each dim, in elements.
struct PaddingSpec {
  std::vector<int64_t> low, high, interior;
};

// Pads x with `value`, a scalar of x's type.
Tensor PadAll(const OperationContext& c, Tensor x, Tensor value,
              const PaddingSpec& spec);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PADDING_H_

// Reads the bytes of constants, and makes constants of numbers picked from
// them, for MIL's compressed constants.
//
//   const auto table = DataOf(o, "lut");
//   SetPicked(o, 0, result, *table, dtype, [&](int64_t i) { return places[i]; });
//
// Errors stay in the graph builder and name the operation, as those of
// MilOperation do.
#ifndef EMBER_FRONTENDS_COREML_MIL_PACKED_H_
#define EMBER_FRONTENDS_COREML_MIL_PACKED_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {

using Bytes = std::span<const uint8_t>;

// Returns the bytes of a constant input. If the input is not a constant, fails
// and returns nullopt.
std::optional<Bytes> DataOf(MilOperation& o, std::string_view name);

// The shape of a decompressed constant, and its number of elements.
struct Result {
  std::vector<int64_t> shape;
  int64_t count = 1;
};

// Sets an output whose element i is element find(i) of the source, or 0 if
// find(i) is -1.
template <typename Find>
void SetPicked(MilOperation& o, int output, const Result& result, Bytes source,
               DType dtype, const Find& find) {
  const auto size = static_cast<size_t>(DTypeByteSize(dtype));
  const auto picked = std::make_shared<std::vector<uint8_t>>(
      static_cast<size_t>(result.count) * size, 0);
  for (int64_t i = 0; i < result.count; ++i) {
    const int64_t from = find(i);
    if (from < 0) continue;
    std::memcpy(picked->data() + static_cast<size_t>(i) * size,
                source.data() + static_cast<size_t>(from) * size, size);
  }
  const Bytes bytes(*picked);
  o.SetOutput(output, o.Wrap(o.builder().Constant(dtype, result.shape,
                                                  {picked, bytes})));
}

// These operations decompress constants whose packed data states its own shape.
// They are defined in mil_blockwise.cc.
void BlockwiseLookUp(MilOperation& o);
void MaskedToDense(MilOperation& o);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_MIL_PACKED_H_

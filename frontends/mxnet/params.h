// Reads MXNet's .params files: a list of arrays with names.
//
//   EMBER_ASSIGN_OR_RETURN(Params params, ReadParams(mapped->bytes(), mapped));
//   params.at("conv1_weight").dims;   // {64, 3, 7, 7}
//
// It reads the list format of all versions since 0.5, with arrays of the first
// format (no version, dims of 32 bits), V1, V2 and V3. The prefixes "arg:" and
// "aux:" are removed. Sparse arrays are refused by name.
//
// Arrays stay in the file's memory, which `owner` keeps alive; elements need
// not be aligned in it. Every size is checked before it is used. Errors are one
// line. Thread-safe.
//
// Source: MXNet 1.9.1, src/ndarray/ndarray.cc.
#ifndef EMBER_FRONTENDS_MXNET_PARAMS_H_
#define EMBER_FRONTENDS_MXNET_PARAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::mxnet {

struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
};

using Params = std::map<std::string, Array, std::less<>>;

StatusOr<Params> ReadParams(std::span<const uint8_t> bytes,
                            const std::shared_ptr<const void>& owner);

// True if the contents begin with the list's magic number.
bool IsParams(std::string_view contents);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_PARAMS_H_

// Marks the parameters that a specialised kernel takes with any value.
//
//   std::vector<int64_t> shape = {1, kOpenParameter};   // 1 token, any past
//
// Such a list has one item for each parameter of a dispatch. Kernels are made
// for it (vm::KernelRequest) and keep it as their guard (vm::KernelImage).
#ifndef EMBER_TENSOR_OPEN_PARAMETER_H_
#define EMBER_TENSOR_OPEN_PARAMETER_H_

#include <cstdint>

namespace ember::tensor {

// This number in a list of parameter values says that the parameter is open. It
// cannot be a real value, because extents are not negative.
inline constexpr int64_t kOpenParameter = INT64_MIN;

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_OPEN_PARAMETER_H_

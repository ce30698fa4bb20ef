// Prints a tensor for people.
//
//   DescribeTensor(x)   "2x3xf32, from -1 to 2.5, mean 0.4: 1 -1 2.5 …"
//   PrintTensor(x)      every element, rows in brackets
#ifndef EMBER_TOOLS_LIB_TENSORS_PRINT_H_
#define EMBER_TOOLS_LIB_TENSORS_PRINT_H_

#include <string>

#include "vm/runtime/tensor.h"

namespace ember::tools {

// Returns one line: type, range, mean, the first elements, and the number of
// elements that are not finite.
std::string DescribeTensor(const vm::Tensor& tensor);
// Returns all elements, such as "2x2xf32 = [[1, 2],\n [3, 4]]".
std::string PrintTensor(const vm::Tensor& tensor);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_PRINT_H_

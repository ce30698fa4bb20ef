// Accesses one element of a tensor of any type by its flat index: for code
// where clarity matters more than speed.
//
//   double x = FloatElement(tensor, i);   // integers and bools too, rounded if
//                                         // they must be
//   std::string text = ElementText(tensor, i);
#ifndef EMBER_TOOLS_LIB_TENSORS_ELEMENTS_H_
#define EMBER_TOOLS_LIB_TENSORS_ELEMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

double FloatElement(const vm::Tensor& tensor, int64_t index);
// Returns an element of an integer or bool tensor. An element of type u64 is
// returned as an int64_t with the same bits.
int64_t IntegerElement(const vm::Tensor& tensor, int64_t index);
// Sets an element of a float tensor. The value is rounded to the tensor's type.
void SetFloatElement(vm::Tensor& tensor, int64_t index, double value);
// Sets an element of an integer or bool tensor. The value is truncated to the
// tensor's type.
void SetIntegerElement(vm::Tensor& tensor, int64_t index, int64_t value);

// Returns a text that reads back as the same element ("0.1", "-3", "true").
// Numbers are as short as possible, except that floats narrower than f32 are
// written like an f32. Strings are in quotes.
std::string ElementText(const vm::Tensor& tensor, int64_t index);
// Parses an element and stores it in the tensor. Errors: the text is not a
// number, or out of the type's range.
Status ParseElement(std::string_view text, vm::Tensor& tensor, int64_t index);

// Returns the index of an element as text, such as "[0, 3, 1]"; "[]" for a
// scalar.
std::string IndexText(std::span<const int64_t> dims, int64_t flat_index);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_ELEMENTS_H_

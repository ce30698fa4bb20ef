#include "tools/lib/tensors/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

std::string Short(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.6g", value);
  return buffer;
}

std::string RangeText(const vm::Tensor& tensor) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t finite = 0;
  const int64_t count = tensor.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const double value = FloatElement(tensor, i);
    if (!std::isfinite(value)) continue;
    ++finite;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  std::string text;
  if (finite > 0) {
    text = ", from " + Short(low) + " to " + Short(high) + ", mean " +
           Short(sum / static_cast<double>(finite));
  }
  if (finite < count) {
    text += ", " + std::to_string(count - finite) + " of " +
            std::to_string(count) + " not finite";
  }
  return text;
}

void PrintDims(const vm::Tensor& tensor, size_t dim, int64_t& index,
               std::string& text) {
  if (dim == tensor.dims.size()) {
    text += ElementText(tensor, index++);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < tensor.dims[dim]; ++i) {
    const bool row = dim + 1 == tensor.dims.size();
    if (i > 0) text += row ? ", " : ",\n" + std::string(dim + 1, ' ');
    PrintDims(tensor, dim + 1, index, text);
  }
  text += "]";
}

}  // namespace

std::string DescribeTensor(const vm::Tensor& tensor) {
  constexpr int64_t kShown = 6;
  const int64_t count = tensor.element_count();
  std::string text = tensor.TypeText();
  if (count > kShown && tensor.strings == nullptr) text += RangeText(tensor);
  text += ":";
  for (int64_t i = 0; i < std::min(count, kShown); ++i)
    text += " " + ElementText(tensor, i);
  if (count > kShown) text += " …";
  return text;
}

std::string PrintTensor(const vm::Tensor& tensor) {
  std::string text = tensor.TypeText() + " = ";
  int64_t index = 0;
  PrintDims(tensor, 0, index, text);
  return text;
}

}  // namespace ember::tools

#include "vm/format/kernel_image.h"

#include <algorithm>

#include "tensor/open_parameter.h"

namespace ember::vm {

int OpenParameters(std::span<const int64_t> shape) {
  return static_cast<int>(std::ranges::count(shape, tensor::kOpenParameter));
}

bool ShapeAccepts(std::span<const int64_t> shape,
                  std::span<const int64_t> parameters) {
  const auto accepts = [](int64_t fixed, int64_t value) {
    return fixed == tensor::kOpenParameter || fixed == value;
  };
  return shape.empty() || std::ranges::equal(shape, parameters, accepts);
}

bool operator==(const KernelCode& a, const KernelCode& b) {
  return a.format == b.format && a.alignment == b.alignment &&
         a.entries == b.entries && a.device == b.device &&
         std::ranges::equal(a.bytes, b.bytes);
}

bool operator==(const KernelImage& a, const KernelImage& b) {
  return a.dispatch == b.dispatch && a.target == b.target && a.tier == b.tier &&
         a.error_growth == b.error_growth &&
         a.parameter_count == b.parameter_count && a.shape == b.shape &&
         a.formulas == b.formulas && a.buffers == b.buffers &&
         a.phases == b.phases && a.prologue_count == b.prologue_count &&
         a.iterations == b.iterations && a.code == b.code;
}

}  // namespace ember::vm

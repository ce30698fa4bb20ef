#include "jit/gpu/constant_elements.h"

#include <optional>

namespace ember::jit::gpu {
namespace {

// Largest number of elements that is returned. A larger buffer fits no
// workgroup, so its size counts as not constant.
constexpr int64_t kLargestArray = int64_t{1} << 20;

}  // namespace

int64_t ConstantElements(const loops::LoopNest& nest,
                         const loops::Buffer& buffer) {
  int64_t elements = 1;
  for (const loops::NodeId extent : buffer.extents) {
    const std::optional<int64_t> known = nest.pool.IntegerConstant(extent);
    if (!known || *known <= 0 || *known > kLargestArray) return 0;
    elements *= *known;
    if (elements > kLargestArray) return 0;
  }
  return elements;
}

}  // namespace ember::jit::gpu

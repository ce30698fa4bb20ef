#include "jit/gpu/kernel_abi.h"

#include <cstdio>

#include "base/concat.h"

namespace ember::jit::gpu {

std::string PhaseCode::Figures() const {
  std::string text = Concat(
      {entry_point, ": ", invocations, " invocations, ", shared_bytes,
       " B shared, ", register_bytes, " B of registers, ", barriers,
       " barriers, ", loads, " loads, ", multiply_adds, " multiply-adds"});
  if (multiply_adds == 0) return text;
  char ratio[40];
  std::snprintf(
      ratio, sizeof ratio, " (%.2f loads each)",
      static_cast<double>(loads) / static_cast<double>(multiply_adds));
  return text + ratio;
}

std::string TooManyIterations(int64_t found, int64_t limit) {
  return Concat({"up to ", found,
                 " iterations of an invocation's loops, where the driver ends "
                 "them after ",
                 limit});
}

}  // namespace ember::jit::gpu

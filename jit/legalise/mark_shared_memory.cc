#include "jit/legalise/mark_shared_memory.h"

#include <cstdint>
#include <vector>

#include "jit/loops/analysis/may_share_memory.h"

namespace ember::jit::legalise {

void MarkSharedMemory(loops::LoopNest& nest) {
  const auto count = static_cast<uint32_t>(nest.buffers.size());
  for (uint32_t output = 0; output < count; ++output) {
    std::vector<uint32_t>& shares = nest.buffers[output].shares;
    shares.clear();
    if (nest.buffers[output].scope != loops::MemoryScope::kOutput) continue;
    for (uint32_t input = 0; input < output; ++input) {
      if (nest.buffers[input].scope == loops::MemoryScope::kInput &&
          loops::MayShareMemory(nest, input, output)) {
        shares.push_back(input);
      }
    }
  }
}

}  // namespace ember::jit::legalise

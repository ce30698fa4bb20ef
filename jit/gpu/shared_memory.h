// Describes the memory that invocations of a phase share: the facts about its
// buffers on which barriers (jit/gpu/barriers.h), products in flight and roles
// of warps depend.
//
//   const SharedMemory memory = SharedMemoryOf(nest, phase.workgroup, device);
//   memory.ranges[a].Overlaps(memory.ranges[b]);
//
// Values; thread-safe.
#ifndef EMBER_JIT_GPU_SHARED_MEMORY_H_
#define EMBER_JIT_GPU_SHARED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"

namespace ember::jit::gpu {

// A range of bytes of a workgroup's memory: from `begin` to the byte before
// `end`.
struct MemoryRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool Overlaps(const MemoryRange& other) const {
    return begin < other.end && other.begin < end;
  }
};

struct SharedMemory {
  // For each buffer: true if several invocations may access the same element.
  std::vector<bool> is_of_many;
  // For each buffer: true if its layout is panels, from which products of
  // warpgroups read it (jit/target/shared_panels.h). Empty in the result of
  // SharedMemoryApart. Barriers do not depend on this list.
  std::vector<bool> has_panels;
  // For each buffer: its bytes in the workgroup's memory; an empty range if it
  // is elsewhere. Buffers whose ranges overlap count as the same memory. If the
  // whole list is empty, no two buffers overlap.
  std::vector<MemoryRange> ranges;
};

// Returns the memory of a phase whose buffers are placed
// (jit/gpu/place_buffers.h).
SharedMemory SharedMemoryOf(const loops::LoopNest& nest,
                            const loops::Workgroup& workgroup,
                            const DeviceTraits& device);

// Returns the memory of a phase as if no two of its buffers shared bytes.
SharedMemory SharedMemoryApart(const loops::Workgroup& workgroup);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_SHARED_MEMORY_H_

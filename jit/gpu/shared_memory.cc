#include "jit/gpu/shared_memory.h"

#include <cstddef>

#include "base/dtype.h"
#include "jit/gpu/constant_elements.h"

namespace ember::jit::gpu {

using loops::BufferStorage;
using loops::StorageKind;
using loops::Workgroup;

namespace {

bool IsOfMany(const BufferStorage& storage) {
  return storage.kind == StorageKind::kMemory ||
         storage.kind == StorageKind::kSlices ||
         storage.kind == StorageKind::kShared;
}

// Returns the bytes of the workgroup's memory that the buffer takes. The range
// is empty if the buffer has no offset.
MemoryRange RangeOf(const loops::LoopNest& nest, size_t buffer,
                    const BufferStorage& storage) {
  if (!storage.offset) return {};
  const loops::Buffer& found = nest.buffers[buffer];
  return {*storage.offset, *storage.offset + ConstantElements(nest, found) *
                                                 DTypeByteSize(found.type)};
}

}  // namespace

SharedMemory SharedMemoryOf(const loops::LoopNest& nest,
                            const Workgroup& workgroup,
                            const DeviceTraits& device) {
  SharedMemory memory = SharedMemoryApart(workgroup);
  for (size_t i = 0; i < workgroup.storage.size(); ++i) {
    const BufferStorage& storage = workgroup.storage[i];
    if (device.keeps_elements)
      memory.ranges.push_back(RangeOf(nest, i, storage));
    memory.has_panels.push_back(storage.panels.Any());
  }
  return memory;
}

SharedMemory SharedMemoryApart(const Workgroup& workgroup) {
  SharedMemory memory;
  for (const BufferStorage& storage : workgroup.storage)
    memory.is_of_many.push_back(IsOfMany(storage));
  return memory;
}

}  // namespace ember::jit::gpu

// Models the memory of a workgroup for the evaluator. Buffers of a phase may
// overlap in it (jit/loops/workgroup.h). A store to one of them overwrites the
// others, and counts as an access to their elements.
//
//   EMBER_RETURN_IF_ERROR(shared.Bind(nest, phase.workgroup, extents, memory));
//   shared.Note(log, tile, position, agent, stores)   // -1
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_WORKGROUP_MEMORY_H_
#define EMBER_JIT_LOOPS_EVALUATOR_WORKGROUP_MEMORY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/loops/evaluator/access_log.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

class WorkgroupMemory {
 public:
  // Begins a phase. Allocates the workgroup's memory, and sets `memory` of each
  // buffer that is at an offset in it. `extents`: the extents of each buffer.
  // The memory belongs to this object and lives until the next call. Errors:
  // kInternal if a buffer exceeds the workgroup's memory; kResourceExhausted if
  // that is larger than 1 GiB.
  Status Bind(const LoopNest& nest, const Workgroup& workgroup,
              std::span<const std::vector<int64_t>> extents,
              std::span<void*> memory);

  // True if the buffer has an offset in the current phase.
  bool Has(uint32_t buffer) const { return ranges_[buffer].units != 0; }
  // Notes an access to an element of a buffer for which Has returns true.
  // Operands and result are those of AccessLog::Note.
  int64_t Note(AccessLog& log, uint32_t buffer, int64_t position, int64_t agent,
               bool stores) const;

 private:
  // The position of a buffer in the memory: where it begins, and the size of
  // its elements. Both are in units of the phase's smallest element.
  struct Range {
    int64_t begin = 0;
    int64_t units = 0;
  };
  std::vector<uint8_t> bytes_;
  int64_t unit_ = 1;  // bytes
  std::vector<Range> ranges_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_WORKGROUP_MEMORY_H_

// What a call of a nest needs, for given parameters: sizes of buffers, numbers
// of tasks, room for temporaries. Shared by kernels of all back ends.
//
//   NestHeader header(nest);
//   EMBER_ASSIGN_OR_RETURN(NestLayout layout, header.LayoutFor(parameters));
//   layout.bytes[buffer];
//
// Thread-safe after construction.
#ifndef EMBER_JIT_KERNEL_NEST_LAYOUT_H_
#define EMBER_JIT_KERNEL_NEST_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/kernel/header_values.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

struct NestLayout {
  std::vector<int64_t> bytes;                 // of each buffer
  std::vector<std::vector<int64_t>> extents;  // of each buffer
  // Of kCall and kTask buffers, in the memory of all of that kind.
  std::vector<int64_t> offsets;
  std::vector<int64_t> phase_tasks;  // of prologue phases, then of phases
  int64_t call_bytes = 0;
  int64_t task_bytes = 0;  // for one task at a time
};

class NestHeader {
 public:
  // Of the nest only its layout is used later, and by LayoutFor only.
  // alignment: of offsets.
  explicit NestHeader(const loops::LoopNest& nest, int64_t alignment = 64);

  // kResourceExhausted for what is out of all proportion.
  StatusOr<NestLayout> LayoutFor(std::span<const int64_t> parameters) const;

 private:
  const loops::LoopNest& nest_;
  HeaderValues values_;
  int64_t alignment_;
};

// "dispatch @name: buffer %x: expected index 0 in 0..4, found 7"
Status FailedCheck(const loops::LoopNest& nest, uint32_t buffer, uint32_t dim,
                   int64_t index, int64_t extent);

// The bytes of constant inputs (empty: of others) are as many as the layout
// says.
Status CheckConstants(const loops::LoopNest& nest, const NestLayout& layout,
                      std::span<const std::span<const uint8_t>> constants);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_NEST_LAYOUT_H_

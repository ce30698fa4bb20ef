// Finds copies that a device can do as boxes of a tensor (TMA of CUDA, compute
// capability 9.0). Such a copy is an invocation loop that copies elements
// asynchronously to a slot of a ring whose layout is panels
// (jit/target/shared_panels.h). Each element of the slot lies at the same
// distance from its element of the source:
//
//   invocation i < 256 {
//     unroll r < 4 { vector v < 8 {
//       async %a.slice[mod(k, 4), floordiv(i, 8) + r * 32, mod(i, 8) * 8 + v] =
//           %a[t * 128 + floordiv(i, 8) + r * 32, k * 64 + mod(i, 8) * 8 + v]
//     } }
//   }
//
// copies the box of %a that begins at [t * 128, k * 64]. The box may contain
// elements that a condition in the loop leaves out. Where it reaches beyond the
// tensor, it contains zeros. The caller makes sure that nothing else stores to
// the slots. The dims of a slot may have another order than those of the
// source, except for the last dim, along which elements are neighbours.
//
// This file only finds such copies; emitters emit them. Thread-safe.
#ifndef EMBER_JIT_GPU_BOX_COPIES_H_
#define EMBER_JIT_GPU_BOX_COPIES_H_

#include <optional>
#include <vector>

#include "jit/loops/copied_box.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"

namespace ember::jit::gpu {

struct BoxCopy : loops::CopiedBox {
  const loops::Store* store = nullptr;
  // Variables of the invocation loop and of the loops in it. The box begins at
  // the element for which all of them are 0. The begin is that element's
  // indices in the tensor `from`, less its indices in the slot.
  std::vector<loops::NodeId> variables;
};

// Returns the box copy that the statement is equivalent to; nothing if it is
// not a loop of this form or the device cannot copy the box. panels: the panels
// of the buffer that the loop stores to. Devices require that a row of the
// tensor has a number of bytes that is a multiple of 16 and the same in all
// calls, and that dims and box are within the limits of vm/format/device_abi.h.
std::optional<BoxCopy> BoxCopyOf(const loops::LoopNest& nest,
                                 const loops::Statement& statement,
                                 const loops::Panels& panels);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_BOX_COPIES_H_

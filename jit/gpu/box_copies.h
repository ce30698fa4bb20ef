// Copies that a device does as boxes of a tensor (TMA of CUDA, compute
// capability 9.0): an invocation loop that copies elements asynchronously to a
// slot of a ring in panels, in which each element of the slot is that of the
// source at one distance:
//
//   invocation i < 256 {
//     unroll r < 4 { vector v < 8 {
//       async %a.slice[mod(k, 4), floordiv(i, 8) + r * 32, mod(i, 8) * 8 + v] =
//           %a[t * 128 + floordiv(i, 8) + r * 32, k * 64 + mod(i, 8) * 8 + v]
//     } }
//   }
//
// copies the box of %a that begins at [t * 128, k * 64]. It may bring elements
// that the loop leaves out, and zeros for those that the source does not have:
// whoever uses it makes sure that nothing else stores to the slots. Dims of a
// slot may have another order than those of the source, but for the last one,
// along which elements are neighbours.
//
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_BOX_COPIES_H_
#define EMBER_JIT_GPU_BOX_COPIES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/gpu/shared_panels.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct BoxCopy {
  uint32_t from = 0, to = 0;  // buffers
  const loops::Store* store = nullptr;
  // The variables of the invocation loop and of the loops in it. The element
  // that is copied where all of them are 0 tells where the box begins: at the
  // element's indices in `from`, less its indices in the slot.
  std::vector<loops::NodeId> variables;
  // By dim of `from`: the dim of `to` that moves with it; nothing where the box
  // has one element.
  std::vector<std::optional<size_t>> dims;
  // Dims of `from` in the order in which the slot has them, the outermost
  // first: 0, 1, … where that is their own. Those that move with none keep
  // their places.
  std::vector<uint32_t> order;
  // Elements, by dim of `from`: of each of the pieces.
  std::vector<uint32_t> box;
  // The slot is copied piece by piece, a panel each.
  struct Piece {
    std::vector<int64_t> offsets;  // by dim of `from`, from where the first is
    int64_t place = 0;             // in the slot, in bytes
  };
  std::vector<Piece> pieces;
  int64_t slot_bytes = 0;
};

// panels: of the buffer that the loop stores to. Nothing where the statement is
// no such loop, or the tensor, the box or its place is not as devices want it:
// rows of the tensor are of whole pieces of 16 bytes, of a length that does not
// depend on the call, and dims and box within vm/format/device_abi.h's limits.
std::optional<BoxCopy> BoxCopyOf(const loops::LoopNest& nest,
                                 const loops::Statement& statement,
                                 const SharedPanels& panels);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_BOX_COPIES_H_

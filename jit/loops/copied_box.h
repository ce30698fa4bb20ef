// Describes a box (a rectangular part of a tensor) that a device copies to a
// slot of a ring buffer by its copy engine, in one piece or several
// (jit/gpu/warp_roles.h). A statement of a device nest is marked with the box
// that replaces it; Statement::Kind::kSlot says when a slot is filled, awaited
// and released.
//
//   // copies [64, 64] elements of %a to a slot of 8192 bytes, of ring 0
//   box 0 bytes 8192 of 64 64 dims 1 2 order 0 1 piece 0 at 0 0
//   invocation i < 256 { … async %slots[mod(k, 4), …] = %a[…] … }
//
// Values; thread-safe.
#ifndef EMBER_JIT_LOOPS_COPIED_BOX_H_
#define EMBER_JIT_LOOPS_COPIED_BOX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/builder/expression_pool.h"

namespace ember::loops {

struct CopiedBox {
  uint32_t ring = 0;  // number of the ring in Workgroup::rings
  // from: number of the source buffer; to: number of the ring's buffer, whose
  // first dim is the slot
  uint32_t from = 0, to = 0;
  // For each dim of `from`: the dim of `to` that runs over the same elements;
  // nullopt if the box has one element along the dim of `from`.
  std::vector<std::optional<size_t>> dims;
  // The dims of `from`, sorted by their order in the slot, outermost first: 0,
  // 1, … if the order is the same. Dims along which the box has one element
  // keep their positions.
  std::vector<uint32_t> order;
  // number of elements of a piece along each dim of `from`
  std::vector<uint32_t> box;
  // A part of the box that one instruction copies. If the slot's layout has
  // several panels, each piece fills one.
  struct Piece {
    // start of the piece relative to the first piece, in elements along each
    // dim of `from`
    std::vector<int64_t> offsets;
    int64_t position = 0;  // the byte of the slot at which the piece begins
  };
  std::vector<Piece> pieces;
  int64_t ring_slot_bytes = 0;
};

// Names a slot: the number of its ring, and an expression for the index of the
// slot.
struct SlotUse {
  uint32_t ring = 0;
  tensor::NodeId slot = 0;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_COPIED_BOX_H_

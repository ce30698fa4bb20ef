// A box of a tensor that a device copies to a slot of a ring in one piece or
// several, and what reads slots (jit/gpu/warp_roles.h). Marks of statements of
// device nests. Statement::Kind::kSlot has the steps of a slot.
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
  // numbers of the source buffer and of the ring's buffer
  uint32_t from = 0, to = 0;
  // For each dim of `from`: the dim of `to` that moves with it; empty if the
  // box has one element along the dim of `from`.
  std::vector<std::optional<size_t>> dims;
  // Dims of `from` in the order in which the slot has them, outermost first: 0,
  // 1, … if the order is the same. Dims that match none of the slot keep their
  // places.
  std::vector<uint32_t> order;
  // Elements of each piece, by dim of `from`.
  std::vector<uint32_t> box;
  // One piece of the slot. A slot is copied piece by piece, and each piece is a
  // panel.
  struct Piece {
    // the piece's begin relative to the first piece, in elements along each dim
    // of `from`
    std::vector<int64_t> offsets;
    int64_t position = 0;  // the begin of the piece in the slot, in bytes
  };
  std::vector<Piece> pieces;
  int64_t ring_slot_bytes = 0;
};

// A slot of a ring: the number of the ring, and the index of the slot.
struct SlotUse {
  uint32_t ring = 0;
  tensor::NodeId slot = 0;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_COPIED_BOX_H_

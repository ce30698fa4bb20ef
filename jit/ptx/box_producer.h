// What the producer of rings does for one copy of a box (jit/gpu/warp_roles.h):
// waits until the slot is empty, where the copy begins a fill, and begins to
// copy.
//
//   EmitBoxes(nest, roles.copies.at(&statement), slots, arguments, expressions,
//             builder);   // in code of one thread, in the order of the nest
//
// Emits code; not thread-safe.
#ifndef EMBER_JIT_PTX_BOX_PRODUCER_H_
#define EMBER_JIT_PTX_BOX_PRODUCER_H_

#include "jit/gpu/warp_roles.h"
#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"
#include "jit/ptx/ptx_arguments.h"
#include "jit/ptx/slot_barriers.h"

namespace ember::jit::ptx {

void EmitBoxes(const loops::LoopNest& nest, const gpu::WarpRoles::Copy& of_ring,
               SlotBarriers& slots, PtxArguments& arguments,
               ExpressionEmitter& expressions, Builder& builder);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_PRODUCER_H_

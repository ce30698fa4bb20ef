// Emits the code by which the producer (the thread that copies for the other
// warps; jit/gpu/warp_roles.h) begins to copy one box to an empty slot of a
// ring.
//
//   EmitBoxes(nest, loop, barriers, arguments, expressions, builder);
//     // in code of one thread, in the order of the nest
//
// Emits code; not thread-safe.
#ifndef EMBER_JIT_PTX_BOX_PRODUCER_H_
#define EMBER_JIT_PTX_BOX_PRODUCER_H_

#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"
#include "jit/ptx/arguments.h"
#include "jit/ptx/ring_barriers.h"

namespace ember::jit::ptx {

// Emits the copy of the box that is marked on `loop`, an invocation loop
// (Statement::box).
void EmitBoxes(const loops::LoopNest& nest, const loops::Statement& loop,
               RingBarriers& barriers, PtxArguments& arguments,
               llvm_ir::ExpressionEmitter& expressions,
               llvm_ir::Builder& builder);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_PRODUCER_H_

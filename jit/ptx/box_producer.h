// Emits the code with which the producer (jit/gpu/warp_roles.h) begins to copy
// one box to a ring's slot, which is empty.
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

// loop: the invocation loop with the mark of a box (Statement::box).
void EmitBoxes(const loops::LoopNest& nest, const loops::Statement& loop,
               RingBarriers& barriers, PtxArguments& arguments,
               llvm_ir::ExpressionEmitter& expressions,
               llvm_ir::Builder& builder);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_PRODUCER_H_

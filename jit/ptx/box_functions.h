// Emits instructions as calls of placeholder functions in LLVM IR, like
// device_functions.h: copies of boxes, the barriers that signal their end, and
// barriers of some of a block's threads. The functions take generic pointers.
// After LLVM's passes their calls are replaced in one of two ways:
//
//   ReplaceBoxCalls(module);            // assembly
//   BoxCall call = BoxCallOf(instruction);   // the emulated grid's
//
// Source: PTX ISA 8.5, "mbarrier", "cp.async.bulk.tensor" and "bar"; sm_90. Not
// thread-safe: only one thread at a time may use a module.
#ifndef EMBER_JIT_PTX_BOX_FUNCTIONS_H_
#define EMBER_JIT_PTX_BOX_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// mbarrier.init: makes 8 bytes of shared memory a barrier, each of whose phases
// ends after `arrivals` arrivals.
void EmitMakeCopyBarrier(llvm_ir::Builder& builder, llvm::Value* barrier,
                         int64_t arrivals);
// fence.mbarrier_init and fence.proxy.async: makes barriers that this thread
// has initialised visible to asynchronous copies, and, after the next barrier
// of the block, to other threads.
void EmitPublishCopyBarriers(llvm_ir::Builder& builder);
// mbarrier.arrive: counts one arrival. If `bytes` is not 0 (.expect_tx), the
// barrier's current phase also waits until copies have brought so many bytes.
void EmitArrive(llvm_ir::Builder& builder, llvm::Value* barrier, int64_t bytes);
// mbarrier.try_wait.parity: waits until the barrier's phase with this parity
// (an i32, 0 or 1) has ended. The first phase has parity 0. Before it ends,
// waiting for parity 1 returns at once, as if there had been an earlier phase.
void EmitAwaitPhase(llvm_ir::Builder& builder, llvm::Value* barrier,
                    llvm::Value* parity);
// cp.async.bulk.tensor: begins to copy a box of the tensor at these coordinates
// (i32, innermost first) to shared memory; one thread executes it. The copied
// bytes count for the barrier's current phase. map: the address of the tensor
// map, 128 bytes that the driver has encoded.
void EmitCopyBox(llvm_ir::Builder& builder, llvm::Value* map,
                 const std::vector<llvm::Value*>& coordinates, llvm::Value* to,
                 llvm::Value* barrier);
// bar.sync: synchronises `threads` of the block's threads, which are whole
// warps, at barrier number 1 to 15.
void EmitSynchronize(llvm_ir::Builder& builder, int64_t barrier,
                     int64_t threads);

struct BoxCall {
  enum class Kind : uint8_t {
    kNone,
    kMakeCopyBarrier,      // operands: barrier, arrivals
    kPublishCopyBarriers,  // no operands
    kArrive,               // operands: barrier, bytes
    kAwaitPhase,           // operands: barrier, parity
    kCopyBox,              // operands: map, to, barrier, coordinates
    kSynchronize           // operands: barrier, threads
  };
  Kind kind = Kind::kNone;
  unsigned rank = 0;  // kCopyBox: number of coordinates, one per dim of the box
};

// Returns which function of this file the instruction calls, and the properties
// of the call; a BoxCall of kind kNone if it calls none of them.
BoxCall BoxCallOf(const llvm::CallBase& call);

void ReplaceBoxCalls(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_FUNCTIONS_H_

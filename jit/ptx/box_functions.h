// Copies of boxes, the barriers that signal their end, and barriers of some of
// a block's threads, as functions of LLVM IR like those of device_functions.h.
// The functions take generic pointers. In the end their calls are replaced in
// one of two ways:
//
//   ReplaceBoxCalls(module);            // assembly
//   BoxCall call = BoxCallOf(instruction);   // the emulated grid's
//
// Source: PTX ISA 8.5, "mbarrier", "cp.async.bulk.tensor" and "bar"; sm_90. Not
// thread-safe: a module is one thread's.
#ifndef EMBER_JIT_PTX_BOX_FUNCTIONS_H_
#define EMBER_JIT_PTX_BOX_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// mbarrier.init: makes the 8 bytes in shared memory a barrier. Each of its
// phases ends after `arrivals` arrivals.
void EmitMakeCopyBarrier(llvm_ir::Builder& builder, llvm::Value* barrier,
                         int64_t arrivals);
// fence.mbarrier_init and fence.proxy.async: makes the barriers that the thread
// has made visible to other threads and copies, after the next barrier of the
// block.
void EmitPublishCopyBarriers(llvm_ir::Builder& builder);
// mbarrier.arrive. If `bytes` is not 0, also .expect_tx: the phase does not end
// before copies have brought this number of further bytes.
void EmitArrive(llvm_ir::Builder& builder, llvm::Value* barrier, int64_t bytes);
// mbarrier.try_wait.parity: waits until the phase of the parity (an i32, 0 or
// 1) has ended. The first phase has parity 0. Until the first phase ends,
// waiting for parity 1 returns at once, as if a phase before it had ended.
void EmitAwaitPhase(llvm_ir::Builder& builder, llvm::Value* barrier,
                    llvm::Value* parity);
// cp.async.bulk.tensor: one thread begins to copy the box of the tensor at the
// coordinates (i32, innermost first) to shared memory. The bytes count for the
// barrier's phase. map: 128 bytes, as the driver made them.
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
  unsigned rank = 0;  // kCopyBox: number of coordinates
};

// Returns which function of this file the call calls, and the properties of the
// call; a default BoxCall if it calls none of them.
BoxCall BoxCallOf(const llvm::CallBase& call);

void ReplaceBoxCalls(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_FUNCTIONS_H_

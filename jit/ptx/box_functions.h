// Copies of boxes, the barriers that tell when they are there, and meetings of
// some of a block's threads, as functions of LLVM IR: as device_functions.h has
// others. Their pointers are generic; what they are made of at the end is one
// of two things:
//
//   ReplaceBoxCalls(module);            // assembly
//   BoxCall call = BoxCallOf(instruction);   // the emulated grid's
//
// Source: PTX ISA 8.5, "mbarrier", "cp.async.bulk.tensor" and "bar"; sm_90.
// Not thread-safe: a module is one thread's.
#ifndef EMBER_JIT_PTX_BOX_FUNCTIONS_H_
#define EMBER_JIT_PTX_BOX_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "jit/llvm/ir.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// mbarrier.init: the 8 bytes in shared memory are a barrier whose phases have
// so many arrivals.
void EmitMakeCopyBarrier(Builder& builder, llvm::Value* barrier,
                         int64_t arrivals);
// fence.mbarrier_init and fence.proxy.async: behind the next meeting, other
// threads and copies find the barriers that the thread has made.
void EmitPublishCopyBarriers(Builder& builder);
// mbarrier.arrive; with bytes, which is not 0, also .expect_tx: the phase does
// not end before copies have brought so many more.
void EmitArrive(Builder& builder, llvm::Value* barrier, int64_t bytes);
// mbarrier.try_wait.parity, until the phase of the parity (an i32, 0 or 1) is
// over. The first phase has parity 0; before it is over, the one before it,
// which never was, is.
void EmitAwaitPhase(Builder& builder, llvm::Value* barrier,
                    llvm::Value* parity);
// cp.async.bulk.tensor: one thread begins to copy the box of the tensor that is
// at the coordinates (i32, innermost first) to shared memory; the barrier's
// phase gets its bytes. map: 128 bytes, as the driver made them.
void EmitCopyBox(Builder& builder, llvm::Value* map,
                 const std::vector<llvm::Value*>& coordinates, llvm::Value* to,
                 llvm::Value* barrier);
// bar.sync: so many threads of the block, whole warps, meet at barrier 1 to 15.
void EmitMeet(Builder& builder, int64_t barrier, int64_t threads);

struct BoxCall {
  enum class Kind : uint8_t {
    kNone,
    kMakeCopyBarrier,      // barrier, arrivals
    kPublishCopyBarriers,  //
    kArrive,               // barrier, bytes
    kAwaitPhase,           // barrier, parity
    kCopyBox,              // map, to, barrier, coordinates
    kMeet                  // barrier, threads
  };
  Kind kind = Kind::kNone;
  unsigned rank = 0;  // kCopyBox
};

// What the call is one of.
BoxCall BoxCallOf(const llvm::CallBase& call);

void ReplaceBoxCalls(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_BOX_FUNCTIONS_H_

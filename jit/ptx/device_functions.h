// Emits instructions, mostly for memory and matrices, as calls of placeholder
// functions in LLVM IR, because LLVM has no operation for them that both its
// passes and the emulated grid can handle. The functions take generic pointers.
// After the passes their calls are replaced in one of two ways:
//
//   ReplaceByIntrinsics(module);   // NVVM's, of addresses of shared memory,
//                                  // or assembly
//   DeviceCall call = DeviceCallOf(instruction);   // the emulated grid's
//
// Not thread-safe: only one thread at a time may use a module.
#ifndef EMBER_JIT_PTX_DEVICE_FUNCTIONS_H_
#define EMBER_JIT_PTX_DEVICE_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// ldmatrix.sync: loads `count` (1, 2 or 4) matrices of 8 rows of 16 bytes from
// shared memory. Lane l passes the address of row l mod 8 of matrix l / 8. Each
// lane receives one register of every matrix: bytes 4 * (l mod 4) of row l / 4,
// or, if transposed, elements 2 * (l mod 4) and the next of column l / 4, of 16
// bits each. Returns an i32, or a struct of `count`.
llvm::Value* EmitLoadMatrices(llvm_ir::Builder& builder, int count,
                              bool is_transposed, llvm::Value* row);

// mma.sync, for instructions for which LLVM 19 has no intrinsic: adds the
// product of the warp's factors a and b (registers of i32) to its sums. Returns
// a struct of the new sums. `row`: the instruction.
llvm::Value* EmitMultiply(llvm_ir::Builder& builder,
                          const MatrixInstruction& row,
                          const std::vector<llvm::Value*>& a,
                          const std::vector<llvm::Value*>& b,
                          const std::vector<llvm::Value*>& sums);

// cp.async: begins a copy of `bytes` (4, 8 or 16) from global to shared memory.
// The first `read` bytes (an i32: 0 or all of them) are copied, the rest are
// zeros. Both addresses are aligned to `bytes`.
void EmitCopyAsync(llvm_ir::Builder& builder, int bytes, llvm::Value* to,
                   llvm::Value* from, llvm::Value* read);
// A factor of wgmma in shared memory, stored in panels
// (jit/target/shared_panels.h).
struct WideFactor {
  llvm::Value* begin = nullptr;
  int64_t panel_bytes = 0;  // number of bytes from one panel to the next
  // True if a panel is contiguous along the dim that the factor shares with the
  // result (a's rows or b's columns) instead of along the sum.
  bool is_transposed = false;
};

// wgmma: begins to add a product to the warp's sums: that of the warp's rows of
// a with b. The four warps of a warpgroup share b.
//   row   the instruction
//   a     the warp's registers of a, i32 each; or all the four warps' rows in
//         shared memory
//   sums  the warp's registers of the sums
// Returns a struct of the new sums. Until EmitAwaitProducts the hardware still
// computes them, and only further products may use them.
llvm::Value* EmitMultiplyWide(llvm_ir::Builder& builder,
                              const MatrixInstruction& row,
                              const std::vector<llvm::Value*>& a,
                              const WideFactor& b,
                              const std::vector<llvm::Value*>& sums);
llvm::Value* EmitMultiplyWide(llvm_ir::Builder& builder,
                              const MatrixInstruction& row, const WideFactor& a,
                              const WideFactor& b,
                              const std::vector<llvm::Value*>& sums);
// wgmma.commit_group and wait_group: waits for all products of the warp.
// Returns a struct of the sums, which may be used after the call.
llvm::Value* EmitAwaitProducts(llvm_ir::Builder& builder,
                               const std::vector<llvm::Value*>& sums);
// EmitCommitProducts (wgmma.commit_group) makes one group of the warp's
// products since the last group. EmitAwaitGroupsBefore (wait_group) waits for
// all groups but the last one; it does not make sums usable.
void EmitCommitProducts(llvm_ir::Builder& builder);
void EmitAwaitGroupsBefore(llvm_ir::Builder& builder);
// fence.proxy.async: after the next barrier, wgmma sees the stores to shared
// memory that this thread has made before the fence.
void EmitOrderStores(llvm_ir::Builder& builder);

// dp4a: adds the products of four pairs of bytes to `sum`. The bytes are those
// of the words a and b, each signed or not; all operands are i32.
llvm::Value* EmitDotOfWords(llvm_ir::Builder& builder, bool a_signed,
                            bool b_signed, llvm::Value* a, llvm::Value* b,
                            llvm::Value* sum);

// ex2.approx.ftz: returns 2^x of an f32, with an error of up to 2 units in the
// last place. A result that would be subnormal is 0.
llvm::Value* EmitPowerOfTwo(llvm_ir::Builder& builder, llvm::Value* x);

// cp.async.commit_group and cp.async.wait_group: makes a group of the thread's
// copies since the last group, and waits for all groups but the last `groups`.
void EmitAwaitCopies(llvm_ir::Builder& builder, int64_t groups);

struct DeviceCall {
  enum class Kind : uint8_t {
    kNone,
    kLoadMatrices,
    kCopyAsync,
    // kMultiply: the operands are the registers of a, the registers of b, and
    // the sums.
    kMultiply,
    // kMultiplyWide: the operands are, in order: b's descriptor without its
    // address; a's descriptor if a is in shared memory; registers of a, or a's
    // address; b's address; the sums.
    kMultiplyWide,
    kAwaitProducts,
    kCommitProducts,
    kAwaitGroupsBefore,
    kOrderStores,
    kDotOfWords,
    kPowerOfTwo
  };
  Kind kind = Kind::kNone;
  // kLoadMatrices: number of matrices that are loaded; kCopyAsync: number of
  // bytes that are copied.
  int count = 0;
  bool is_transposed = false;  // kMultiplyWide: true if factor b is transposed
  // kMultiply, kMultiplyWide: the matrix instruction
  const MatrixInstruction* row = nullptr;
  // kMultiplyWide: has_shared_a: true if factor a is in shared memory;
  // is_a_transposed: true if it is transposed there.
  bool has_shared_a = false;
  bool is_a_transposed = false;
  // kDotOfWords: a_signed: true if the bytes of factor a are signed; b_signed:
  // the same for factor b.
  bool a_signed = false, b_signed = false;

  unsigned Descriptors() const { return has_shared_a ? 2 : 1; }
  // Returns how many operands of kMultiplyWide pass factor a. They follow the
  // descriptors.
  unsigned OperandsOfA() const;
};

// Returns which function of this file is called, and the properties of the
// call; a DeviceCall of kind kNone if it is none of them.
DeviceCall DeviceCallOf(const llvm::CallBase& call);

void ReplaceByIntrinsics(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DEVICE_FUNCTIONS_H_

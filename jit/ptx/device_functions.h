// Instructions, mostly for memory and matrices, as functions of LLVM IR: LLVM
// has no operation for them that both passes and the emulated grid could work
// with. The functions take generic pointers. In the end their calls are
// replaced in one of two ways:
//
//   ReplaceByIntrinsics(module);   // NVVM's, of addresses of shared memory,
//                                  // or assembly
//   DeviceCall call = DeviceCallOf(instruction);   // the emulated grid's
//
// Not thread-safe: a module is one thread's.
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
// lane gets a register of every matrix: bytes 4 * (l mod 4) of row l / 4, or,
// if transposed, elements 2 * (l mod 4) and the next of column l / 4, of 16
// bits each. Returns an i32, or a struct of `count`.
llvm::Value* EmitLoadMatrices(llvm_ir::Builder& builder, int count,
                              bool is_transposed, llvm::Value* row);

// mma.sync, where LLVM 19 has no intrinsic for the row: adds the product of
// this warp's a and b, registers of i32 each, to its sums. Returns a struct of
// the new sums.
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
// A factor of wgmma that is in shared memory, in panels
// (jit/target/shared_panels.h).
struct WideFactor {
  llvm::Value* begin = nullptr;
  int64_t panel_bytes = 0;  // number of bytes from one panel to the next
  // True if, in a panel, the contiguous dim is not the depth but the dim that
  // the results have, too: a's rows, or b's columns.
  bool is_transposed = false;
};

// wgmma: begins to add the product of this warp's rows of a with b to the
// warp's sums. All warps of the warpgroup share the matrix b.
//   row   the instruction
//   a     the warp's registers of a, i32 each; or all the four warps' rows in
//         shared memory
//   sums  the warp's registers of the sums
// Returns a struct of the new sums. Only further products may use them before
// EmitAwaitProducts: until then the hardware still computes them.
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
// EmitCommitProducts (wgmma.commit_group) makes a group of the warp's products
// since its last call, or since EmitAwaitProducts. EmitAwaitGroupsBefore
// (wait_group) waits for all groups but the last one. Sums may not be used yet.
void EmitCommitProducts(llvm_ir::Builder& builder);
void EmitAwaitGroupsBefore(llvm_ir::Builder& builder);
// fence.proxy.async: makes the thread's stores to shared memory so far visible
// to wide products after the next barrier.
void EmitOrderStores(llvm_ir::Builder& builder);

// dp4a: adds four products of the bytes of two words, each signed or not, to
// `sum`; all are i32.
llvm::Value* EmitDotOfWords(llvm_ir::Builder& builder, bool a_signed,
                            bool b_signed, llvm::Value* a, llvm::Value* b,
                            llvm::Value* sum);

// ex2.approx.ftz: returns 2^x of an f32, with an error of up to 2 units in the
// last place. The result is 0 where it would be subnormal.
llvm::Value* EmitPowerOfTwo(llvm_ir::Builder& builder, llvm::Value* x);

// cp.async.commit_group and cp.async.wait_group: ends a group of copies, and
// waits for all groups but the last `groups`.
void EmitAwaitCopies(llvm_ir::Builder& builder, int64_t groups);

struct DeviceCall {
  enum class Kind : uint8_t {
    kNone,
    kLoadMatrices,
    kCopyAsync,
    kMultiply,  // operands: registers of a, registers of b, sums
    // The operands are, in order: for each factor in shared memory, first b,
    // its descriptor without the address; then registers of a, or the address
    // of a; the address of b; the sums.
    kMultiplyWide,
    kAwaitProducts,
    kCommitProducts,
    kAwaitGroupsBefore,
    kOrderStores,
    kDotOfWords,
    kPowerOfTwo
  };
  Kind kind = Kind::kNone;
  // number of matrices that are loaded, or of bytes that are copied
  int count = 0;
  bool is_transposed = false;  // kMultiplyWide: true if factor b is transposed
  // kMultiply, kMultiplyWide: the instruction
  const MatrixInstruction* row = nullptr;
  // For kMultiplyWide: true if factor a is in shared memory; and true if that
  // factor is also transposed.
  bool has_shared_a = false;
  bool is_a_transposed = false;
  // kDotOfWords: signs of the bytes of a and of b
  bool a_signed = false, b_signed = false;

  unsigned Descriptors() const { return has_shared_a ? 2 : 1; }
  // Returns the number of operands that are factor a. They follow the
  // descriptors.
  unsigned OperandsOfA() const;
};

// Returns which function of this file the call calls, and the properties of the
// call; a default DeviceCall if it calls none of them.
DeviceCall DeviceCallOf(const llvm::CallBase& call);

void ReplaceByIntrinsics(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DEVICE_FUNCTIONS_H_

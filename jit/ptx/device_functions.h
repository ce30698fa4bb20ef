// Instructions, most of them of memory and matrices, for which LLVM has no
// operation that passes and the emulated grid could both work with, as
// functions of LLVM IR. Their pointers are generic; what they are made of at
// the end is one of two things:
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

#include "jit/llvm/ir.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// ldmatrix.sync: `count` (1, 2 or 4) matrices of 8 rows of 16 bytes in shared
// memory; lane l gives where row l mod 8 of matrix l / 8 is. Each lane gets a
// register of every matrix: bytes 4 * (l mod 4) of row l / 4, or, transposed,
// elements 2 * (l mod 4) and the next of column l / 4, of 16 bits each. Gives
// an i32, or a struct of `count`.
llvm::Value* EmitLoadMatrices(Builder& builder, int count, bool is_transposed,
                              llvm::Value* row);

// mma.sync, where LLVM 19 has no intrinsic for the row: the product of this
// warp's a and b, registers of i32 each, added to its sums. Gives a struct of
// the new sums.
llvm::Value* EmitMultiply(Builder& builder, const MatrixInstruction& row,
                          const std::vector<llvm::Value*>& a,
                          const std::vector<llvm::Value*>& b,
                          const std::vector<llvm::Value*>& sums);

// cp.async: begins a copy of `bytes` (4, 8 or 16) from global to shared memory,
// the first `read` (an i32: 0 or all of them) from there, zeros else. Both are
// aligned to as many bytes.
void EmitCopyAsync(Builder& builder, int bytes, llvm::Value* to,
                   llvm::Value* from, llvm::Value* read);
// A factor of wgmma in shared memory, in panels (jit/gpu/shared_panels.h).
struct WideFactor {
  llvm::Value* begin = nullptr;
  int64_t panel_bytes = 0;  // from one panel to the next
  // Not depth lies together in a panel, but what the results have: a's rows, or
  // b's columns.
  bool is_transposed = false;
};

// wgmma: begins to add the product of this warp's rows of a with b, a matrix
// that all warps of the warpgroup have in common, to the warp's sums.
//   row   the instruction
//   a     the warp's registers of a, i32 each; or all the four warps' rows in
//         shared memory
//   sums  the warp's registers of the sums
// Gives a struct of the new sums. Only further products may use them before
// EmitAwaitProducts: until then the hardware is still at work on them.
llvm::Value* EmitMultiplyWide(Builder& builder, const MatrixInstruction& row,
                              const std::vector<llvm::Value*>& a,
                              const WideFactor& b,
                              const std::vector<llvm::Value*>& sums);
llvm::Value* EmitMultiplyWide(Builder& builder, const MatrixInstruction& row,
                              const WideFactor& a, const WideFactor& b,
                              const std::vector<llvm::Value*>& sums);
// wgmma.commit_group and wait_group: waits for all products of the warp. Gives
// a struct of the sums, which may be used from there on.
llvm::Value* EmitAwaitProducts(Builder& builder,
                               const std::vector<llvm::Value*>& sums);
// wgmma.commit_group: the warp's products since the last such call, or since
// EmitAwaitProducts, are a group; and wait_group: waits for all groups but the
// last one. Sums may not be used yet.
void EmitCommitProducts(Builder& builder);
void EmitAwaitGroupsBefore(Builder& builder);
// fence.proxy.async: wide products behind the next barrier read what the thread
// stored to shared memory before.
void EmitOrderStores(Builder& builder);

// dp4a: `sum` and four products of the bytes of two words, signed or not; all
// i32.
llvm::Value* EmitDotOfWords(Builder& builder, bool a_signed, bool b_signed,
                            llvm::Value* a, llvm::Value* b, llvm::Value* sum);

// ex2.approx.ftz: 2^x of an f32, off by up to 2 units in the last place; 0
// where that is subnormal.
llvm::Value* EmitPowerOfTwo(Builder& builder, llvm::Value* x);

// cp.async.commit_group, and cp.async.wait_group.
void EmitAwaitCopies(Builder& builder, int64_t groups);

struct DeviceCall {
  enum class Kind : uint8_t {
    kNone,
    kLoadMatrices,
    kCopyAsync,
    kMultiply,  // operands: registers of a, of b, sums
    // Operands: of each factor in shared memory, first b, what its descriptor
    // has beside an address; then registers of a, or a; b; sums.
    kMultiplyWide,
    kAwaitProducts,
    kCommitProducts,
    kAwaitGroupsBefore,
    kOrderStores,
    kDotOfWords,
    kPowerOfTwo
  };
  Kind kind = Kind::kNone;
  int count = 0;                           // of matrices, or bytes
  bool is_transposed = false;              // of kMultiplyWide: b is
  const MatrixInstruction* row = nullptr;  // kMultiply, kMultiplyWide
  // Of kMultiplyWide.
  bool has_shared_a = false;
  bool is_a_transposed = false;
  bool a_signed = false, b_signed = false;  // kDotOfWords

  unsigned Descriptors() const { return has_shared_a ? 2 : 1; }
  // Operands for a, behind the descriptors.
  unsigned OperandsOfA() const;
};

// What the call is one of.
DeviceCall DeviceCallOf(const llvm::CallBase& call);

void ReplaceByIntrinsics(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DEVICE_FUNCTIONS_H_

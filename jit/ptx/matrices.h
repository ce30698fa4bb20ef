// Emits matrix loops (jit/loops/analysis/matrix_operation.h) as matrix
// instructions: mma.sync of one warp, whose fragments
// jit/target/matrix_instructions.h describes, with ldmatrix for factors in
// shared memory; or wgmma of four warps (a wide product), which reads factors
// from panels in shared memory (jit/target/shared_panels.h).
//
//   Matrices matrices(nest, workgroup, target, builder, function, expressions, error);
//   matrices.SetInvocation(invocation);   // at the function's entry
//   matrices.Emit(loop, subgroup_variable);
//   matrices.Await();   // before a barrier, and at the end
//   matrices.LetGoOn();     // after an iteration's products: across barriers
//   matrices.AwaitAll();    // after the loop (jit/gpu/products_in_flight.h)
//
// A lane holds its part of an accumulator (its fragment) in one variable per
// register. The code must be emitted where whole warps execute it. Not
// thread-safe.
#ifndef EMBER_JIT_PTX_MATRICES_H_
#define EMBER_JIT_PTX_MATRICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/ptx/target.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::ptx {

class Matrices {
 public:
  Matrices(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
           const Target& target, llvm_ir::Builder& builder,
           llvm::Function& function, llvm_ir::ExpressionEmitter& expressions,
           llvm_ir::FirstError& error)
      : nest_(nest),
        workgroup_(workgroup),
        target_(target),
        b_(builder),
        function_(function),
        expressions_(expressions),
        error_(error) {}

  // Sets the number of the thread in its block (an i64), which must be computed
  // at the function's entry.
  void SetInvocation(llvm::Value* invocation);
  // Returns the number of the warp in its block, an i64.
  llvm::Value* warp() const { return warp_; }
  // Returns the number of the thread in its warp, an i64.
  llvm::Value* lane() const { return lane_; }

  // Emits a fill, product or store. `loop`: the outermost of the matrix loops.
  // `subgroup`: the variable of the surrounding subgroup loop.
  void Emit(const loops::Statement& loop, loops::NodeId subgroup);

  // Emits the wait for wide products in flight, so that other warps may
  // overwrite their factors. Called before each barrier and at the end of the
  // phase. Does nothing for products that LetGoOn keeps in flight.
  void Await();
  // LetGoOn keeps the products since its last call in flight during the next
  // iteration of the surrounding loop; at the end of the current iteration,
  // LeaveBody waits for the products of the iteration before. AwaitAll waits
  // for all products after the loop.
  void LetGoOn();
  void AwaitAll();
  // Waits for the products of earlier iterations if LetGoOn keeps products in
  // flight; otherwise for all products.
  void AwaitEarlier();
  // EnterBody and LeaveBody are called before and after the bodies of loops and
  // branches. Products that begin in a body end before the body does, except
  // those that LetGoOn keeps in flight.
  void EnterBody() { begun_before_.push_back(products_); }
  void LeaveBody();

  // Returns the number of matrix multiply instructions that were emitted so
  // far.
  int64_t products() const { return products_; }

 private:
  using Operation = loops::MatrixOperation;
  // The variables that hold the registers of an accumulator's fragment.
  using Registers = std::vector<llvm::AllocaInst*>;

  void EmitFill(const Operation& operation);
  void EmitProduct(const Operation& operation);
  // Emits mma.sync by an NVVM intrinsic, for factors of this type. Returns a
  // struct of the new sums.
  llvm::Value* Multiply(llvm::Intrinsic::ID id, DType type,
                        const std::vector<llvm::Value*>& a,
                        const std::vector<llvm::Value*>& b,
                        const std::vector<llvm::Value*>& sums);
  // Emits a wide product (wgmma), which stays in flight. Its factor a is in
  // registers or in panels.
  void BeginProduct(const Operation& operation, const MatrixInstruction& row);
  void EmitStore(const Operation& operation);

  Registers& Accumulator(const Operation& operation);
  // Returns the type of a register that holds sums: a float, an i32, or two
  // halves.
  llvm::Type* SumType(DType sum);
  // Loads this lane's registers of a factor, each as an i32.
  std::vector<llvm::Value*> LoadFactor(const loops::MatrixInMemory& matrix,
                                       const MatrixFragment& fragment);
  std::vector<llvm::Value*> LoadFromShared(const loops::MatrixInMemory& matrix,
                                           const MatrixFragment& fragment,
                                           llvm::Value* begin);
  llvm::Value* LoadRegister(const loops::MatrixInMemory& matrix,
                            const MatrixFragment& fragment, size_t number,
                            llvm::Value* begin);
  // Returns the address of the matrix's first element.
  llvm::Value* BeginOf(const loops::MatrixInMemory& matrix);
  // Returns the pointer advanced by `elements` (i64) elements of the matrix.
  llvm::Value* Behind(llvm::Value* pointer, const loops::MatrixInMemory& matrix,
                      llvm::Value* elements);
  llvm::Value* Behind(llvm::Value* pointer, const loops::MatrixInMemory& matrix,
                      int64_t elements);
  // Returns the distance in elements from the matrix's first element to the
  // first element of this lane's register 0.
  llvm::Value* LaneOffset(const loops::MatrixInMemory& matrix,
                          const MatrixFragment& fragment);
  llvm::Value* Long(int64_t value) {
    return b_.getInt64(static_cast<uint64_t>(value));
  }

  const loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  const Target& target_;
  llvm_ir::Builder& b_;
  llvm::Function& function_;
  llvm_ir::ExpressionEmitter& expressions_;
  llvm_ir::FirstError& error_;
  // Numbers of the thread, each an i64. warp_: of its warp in the block; lane_:
  // of the thread in its warp.
  llvm::Value* warp_ = nullptr;
  llvm::Value* lane_ = nullptr;
  // Number of the thread in its warp, divided by 4.
  llvm::Value* group_ = nullptr;
  llvm::Value* thread_ = nullptr;  // number of the thread in its warp, modulo 4
  // The variables of each accumulator. Key: the buffer's number, and the number
  // of the matrix in the buffer.
  std::map<std::pair<uint32_t, uint64_t>, Registers> accumulators_;
  // The accumulators of products in flight, for which a wait must be emitted.
  // All of these products began in the block `begun_in_`, inside of
  // `begun_depth_` bodies.
  std::vector<const Registers*> awaited_;
  llvm::BasicBlock* begun_in_ = nullptr;
  size_t begun_depth_ = 0;
  // The number of loop and branch bodies around the call of LetGoOn, if it
  // keeps products in flight; otherwise nullopt.
  std::optional<size_t> go_on_in_;
  // for each surrounding body: the value of `products_` when the body began
  std::vector<int64_t> begun_before_;
  int64_t products_ = 0;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_MATRICES_H_

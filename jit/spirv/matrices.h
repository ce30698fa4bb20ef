// Emits matrix loops (jit/loops/analysis/matrix_operation.h) as cooperative
// matrices: each accumulator is a variable, a product is two loads and one
// instruction.
//
//   Matrices matrices(nest, workgroup, code, memory, expressions, phase, error);
//   matrices.Emit(loop, subgroup_variable);
//
// The code must be emitted where all invocations of a subgroup execute it. The
// signedness of integer matrices follows the products that devices list: a sum
// is unsigned if both factors are (loops::BufferStorage::is_unsigned). Not
// thread-safe.
#ifndef EMBER_JIT_SPIRV_MATRICES_H_
#define EMBER_JIT_SPIRV_MATRICES_H_

#include <cstdint>
#include <map>
#include <utility>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/cooperative_matrix.h"
#include "jit/spirv/expression_emitter.h"
#include "jit/spirv/memory.h"

namespace ember::jit::spirv {

class Matrices {
 public:
  Matrices(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
           CodeBuilder& code, Memory& memory, ExpressionEmitter& expressions,
           gpu::PhaseCode& phase, Status& error)
      : nest_(nest),
        workgroup_(workgroup),
        c_(code),
        memory_(memory),
        expressions_(expressions),
        phase_(phase),
        error_(error) {}

  // Emits a fill, product or store. `loop`: the outermost of the matrix loops.
  // `subgroup`: the variable of the surrounding subgroup loop.
  void Emit(const loops::Statement& loop, tensor::NodeId subgroup);

 private:
  using Operation = loops::MatrixOperation;

  void EmitFill(const Operation& operation);
  void EmitProduct(const Operation& operation);
  void EmitStore(const Operation& operation);
  // Returns the type of a cooperative matrix with elements of `type`.
  Id TypeOf(DType type, bool is_unsigned, int64_t rows, int64_t columns,
            MatrixUse use);
  Id AccumulatorType(const Operation& operation);
  // Returns the id of the variable that holds the accumulator. Declares the
  // variable when it is first used.
  Id Accumulator(const Operation& operation);
  Id Load(const loops::MatrixInMemory& matrix, int64_t rows, int64_t columns,
          MatrixUse use);

  const loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  CodeBuilder& c_;
  Memory& memory_;
  ExpressionEmitter& expressions_;
  gpu::PhaseCode& phase_;
  Status& error_;
  // The variable of each accumulator. Key: the buffer's number, and the number
  // of the matrix in the buffer.
  std::map<std::pair<uint32_t, uint64_t>, Id> accumulators_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MATRICES_H_

// Selects the kernels that carry out an instruction, on the instruction set of
// this machine.
#ifndef EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_
#define EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_

#include "base/dtype.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/kernel_types.h"

namespace ember::vm {

// Returns the kernels of the best instruction set that this CPU has.
// EMBER_ISA=baseline|avx2|avx512 in the environment selects a lower one (tests,
// bug reports).
const TileKernelTable& HostKernels();

ComputeType ComputeTypeOf(DType type);
// Returns the number of bytes of one element of a tile.
int TileElementSize(ComputeType type);
inline int TileElementSize(DType type) {
  return TileElementSize(ComputeTypeOf(type));
}
// True if memory of this type can be used as a tile where it lies.
bool IsUsableInPlace(DType type);

// A kernel and its immediates. The first step of a list computes the
// destination from the operands; each further step rewrites the destination in
// place.
struct KernelStep {
  TileKernel kernel = nullptr;
  int64_t immediate[2] = {0, 0};
};
struct KernelSteps {
  KernelStep steps[3];
  int count = 0;
  void Add(TileKernel kernel, int64_t first = 0, int64_t second = 0) {
    steps[count++] = {kernel, {first, second}};
  }
};

// Selects kernels for arithmetic, Select, Cast and Bitcast; `operand` is the
// type of operand a (of b for Select).
KernelSteps SelectKernels(const tensor::Instruction& instruction,
                          DType operand);

// Returns the kernel that brings an accumulator (kept in the compute type) into
// `type`, in place; may be null.
TileKernel NarrowingKernel(DType type);

// Returns the kernel of combine(a, b) of a reduction, on tiles.
TileKernel CombineKernel(tensor::Combiner combiner, DType type);

// Returns the result of an empty reduction as a tile element.
uint64_t ReductionIdentity(tensor::Combiner combiner, DType type);
uint64_t ConstantTile(uint64_t bits, DType type);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_

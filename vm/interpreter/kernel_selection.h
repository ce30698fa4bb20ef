// Selects the tile kernels that execute an instruction, for the instruction set
// of this machine.
#ifndef EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_
#define EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_

#include "base/dtype.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/kernel_types.h"

namespace ember::vm {

// Returns the kernels of the best instruction set that this CPU has. The
// environment variable EMBER_ISA (baseline, avx2 or avx512) selects a lower
// one, for tests and bug reports.
const TileKernelTable& HostKernels();

ComputeType ComputeTypeOf(DType type);
// Returns the number of bytes of one element of the type in a tile, where it
// has its compute type.
int TileElementSize(ComputeType type);
inline int TileElementSize(DType type) {
  return TileElementSize(ComputeTypeOf(type));
}
// True if memory with elements of this type can be used directly as a tile,
// without a copy.
bool IsUsableInPlace(DType type);

// A kernel and its immediate operands. An instruction is executed by a list of
// steps: the first step computes the destination from the operands, and each
// further step changes the destination in place.
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

// Selects the kernels for an arithmetic instruction, Select, Cast or Bitcast.
// `operand` is the type of operand a (for a Select, of b).
KernelSteps SelectKernels(const tensor::Instruction& instruction,
                          DType operand);

// Returns the kernel that rounds or wraps an accumulator (which has the compute
// type) to `type`, in place. Returns null if that is not necessary.
TileKernel NarrowingKernel(DType type);

// Returns the kernel that combines two tiles element by element with the
// combiner.
TileKernel CombineKernel(tensor::Combiner combiner, DType type);

// Returns the result of a reduction over no points (such as 0 for a sum), as an
// element of a tile.
uint64_t ReductionIdentity(tensor::Combiner combiner, DType type);
uint64_t ConstantTile(uint64_t bits, DType type);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_KERNEL_SELECTION_H_

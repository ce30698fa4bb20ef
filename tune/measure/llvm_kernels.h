// Makes kernels of this machine's processor with LLVM, for a bench.
//
//   Bench bench(tasks, MakeLlvmKernels(), {});
//
// LLVM is initialised with the first kernel. Callers of this link LLVM.
#ifndef EMBER_TUNE_MEASURE_LLVM_KERNELS_H_
#define EMBER_TUNE_MEASURE_LLVM_KERNELS_H_

#include "tune/measure/bench.h"

namespace ember::tune {

MakeKernel MakeLlvmKernels();

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_LLVM_KERNELS_H_

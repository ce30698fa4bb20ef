// Compiles kernels for this machine's processor with LLVM, to be measured by a
// bench.
//
//   Bench bench(tasks, MakeLlvmKernels(), {});
//
// LLVM is initialised when the first kernel is compiled. This is a library of
// its own because its users link LLVM.
#ifndef EMBER_TUNE_MEASURE_LLVM_KERNELS_H_
#define EMBER_TUNE_MEASURE_LLVM_KERNELS_H_

#include "tune/measure/bench.h"

namespace ember::tune {

MakeKernel MakeLlvmKernels();

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_LLVM_KERNELS_H_

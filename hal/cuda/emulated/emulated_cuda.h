// CUDA's driver library, emulated in this process: its devices use host memory
// and run kernels on the emulated grid (grid.h). A wrong call returns CUDA's
// error for it.
//
//   Functions cu = EmulatedFunctions();
//   cu.Init(0);
//
// The calling thread performs all work at once when it is put on a stream. A
// kernel that fails prints the reason on stderr; its context is lost then, as
// CUDA's is. Objects of a context that still exist when it ends are counted as
// leaked.
//
// For tests the same code is a shared library (//hal/cuda/emulated:
// libfake_cuda.so), opened through EMBER_CUDA_LIBRARY.
//
// Environment, read by each cuInit:
//   EMBER_CUDA_EMULATE=sm_90a:2          two devices of that kind; default: one
//                                        sm_80
//   EMBER_CUDA_FAULT=cuMemAlloc_v2:2:2   its second call returns CUresult 2;
//                                        "*:17:2": the 17th call of all. Calls are
//                                        counted from 1 since cuInit, which counts
//                                        too
// Thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_
#define EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_

#include <cstdint>

#include "hal/cuda/api/functions.h"

namespace ember::hal::cuda {

// A symbol that only the emulated library has.
inline constexpr char kEmulatedMark[] = "EmberEmulatedCalls";

Functions EmulatedFunctions();

}  // namespace ember::hal::cuda

// Functions for tests; in the shared library dlsym finds them.
extern "C" {
// Returns the names of the calls since the last cuInit, one after another, each
// ended by a zero; `bytes` is set to their size. Valid until the next call of
// CUDA.
const char* EmberEmulatedCalls(uint64_t* bytes);
// Returns the number of calls since the last cuInit that returned
// EMBER_CUDA_FAULT's result.
int64_t EmberEmulatedFaults();
// Returns a number since the process began: objects that existed when their
// context ended, plus contexts that have not ended.
int64_t EmberEmulatedLeaks();
// Returns the message of the last kernel that failed, or "".
const char* EmberEmulatedProblem();
}

#endif  // EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_

// CUDA's driver library, emulated in this process: its devices use host memory
// and run kernels on the emulated grid (grid.h). A wrong call returns the error
// that CUDA returns for it.
//
//   Functions cu = EmulatedFunctions();
//   cu.Init(0);
//
// The calling thread performs all work at once when it is put on a stream. If a
// kernel fails, the reason is printed on stderr and the context is lost, as
// with CUDA. Objects that still exist when their context ends are counted as
// leaked.
//
// For tests the same code is also a shared library (//hal/cuda/emulated:
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

// Name of a function that exists in the emulated library only; it shows that a
// library is the emulated one.
inline constexpr char kEmulatedMark[] = "EmberEmulatedCalls";

Functions EmulatedFunctions();

}  // namespace ember::hal::cuda

// Tests call these functions; if the library is a shared one, they find them
// with dlsym.
extern "C" {
// Returns the names of the calls since the last cuInit, one after another, each
// followed by a zero byte. `bytes` is set to their total size. The result is
// valid until the next call of a CUDA function.
const char* EmberEmulatedCalls(uint64_t* bytes);
// Returns how many calls since the last cuInit returned the error that
// EMBER_CUDA_FAULT requests.
int64_t EmberEmulatedFaults();
// Returns the number of leaked objects since the process began: objects that
// existed when their context ended, plus contexts that have not ended.
int64_t EmberEmulatedLeaks();
// Returns the message of the last kernel that failed; "" if none has failed.
const char* EmberEmulatedProblem();
}

#endif  // EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_

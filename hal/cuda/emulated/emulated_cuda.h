// CUDA's driver library, emulated in this process: its devices have memory of
// the host, and run kernels on the emulated grid (grid.h). What is wrong with a
// call gets the error that CUDA has for it.
//
//   Functions cu = EmulatedFunctions();
//   cu.Init(0);
//
// All work is done when it is put on a stream, by the calling thread. A kernel
// that goes wrong says how on stderr; its context is lost then, as CUDA's is.
// Objects of a context that are there when it ends are counted as leaked.
//
// For tests the same is a shared library (//hal/cuda/emulated:
// libfake_cuda.so), opened through EMBER_CUDA_LIBRARY.
//
// Environment, read by each cuInit:
//   EMBER_CUDA_EMULATE=sm_90a:2          two devices of that kind; else one
//                                        sm_80
//   EMBER_CUDA_FAULT=cuMemAlloc_v2:2:2   the second call of it gives
//                                        CUresult 2; "*:17:2": the 17th of all.
//                                        Counted from 1 since cuInit, which
//                                        counts, too
// Thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_
#define EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_

#include <cstdint>

#include "hal/cuda/functions.h"

namespace ember::hal::cuda {

// A symbol that only the emulated library has.
inline constexpr char kEmulatedMark[] = "EmberEmulatedCalls";

Functions EmulatedFunctions();

}  // namespace ember::hal::cuda

// What tests ask; by dlsym of the shared library.
extern "C" {
// The names of the calls since the last cuInit, one after another, each ended
// by a zero; `bytes` gets how many that are. Good until the next call of CUDA.
const char* EmberEmulatedCalls(uint64_t* bytes);
// Calls that were given EMBER_CUDA_FAULT's result since the last cuInit.
int64_t EmberEmulatedFaults();
// Objects that were there when their context ended, and contexts that have not
// ended, since the process began.
int64_t EmberEmulatedLeaks();
// What the last kernel that went wrong said, or "".
const char* EmberEmulatedProblem();
}

#endif  // EMBER_HAL_CUDA_EMULATED_EMULATED_CUDA_H_

// The part of the emulated grid's threads (hal/cuda/emulated/grid.h) that
// kernels of MSL use, declared again without the standard library, so that a
// kernel compiles in milliseconds. msl_program.cc compares both declarations.
#ifndef EMBER_HAL_METAL_TESTING_SHIM_GRID_THREAD_H_
#define EMBER_HAL_METAL_TESTING_SHIM_GRID_THREAD_H_

namespace ember_shim {

struct GridThread;

struct GridFunctions {
  void (*barrier)(GridThread* thread);
};

struct GridThread {
  unsigned thread[3];
  unsigned threads[3];
  unsigned block[3];
  unsigned blocks[3];
  unsigned char* shared;
  const GridFunctions* functions;
  void* emulator;
};

}  // namespace ember_shim

#endif  // EMBER_HAL_METAL_TESTING_SHIM_GRID_THREAD_H_

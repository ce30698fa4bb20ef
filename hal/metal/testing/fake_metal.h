// Functions of Metal for tests, which run on every machine that has a C++
// compiler. Programs of MSL are compiled as C++ (msl_program.h) and run thread
// by thread. It is a shared library, which EMBER_METAL_LIBRARY selects, so any
// tool can be run with it.
//
//   EMBER_METAL_LIBRARY=…/libfake_metal.so
//   EMBER_METAL_FAULT=NewBuffer:2     # the second call fails; "*": any call
//   EMBER_METAL_FAULT=Commit:1:3      # the first commands end with error 3
//   EMBER_METAL_FAKE=discrete         # see below
//
// EMBER_METAL_FAKE is one of: no_device; discrete (memory of its own);
// two (a second device, which comes first and has low power); old_language;
// misaligned (contents of buffers at a multiple of 16 bytes only).
//
// The functions do as little as the documentation allows: commands run when a
// caller waits for them or asks for their status twice; those of an encoder
// that no barrier separates run in reverse order. They count calls and live
// objects, let a call fail, and note misuse: dead objects, open encoders,
// ranges outside of buffers, arguments that are not set, sizes that are not the
// multiples that macOS wants.
//
// The functions below are exported, for tests that open the library. They are
// thread-safe. The variables are read at the first call after EmberFakeReset,
// and whenever devices are listed while no object exists.
#ifndef EMBER_HAL_METAL_TESTING_FAKE_METAL_H_
#define EMBER_HAL_METAL_TESTING_FAKE_METAL_H_

#include <cstdint>

#include "hal/metal/api/functions.h"

extern "C" {
const ember::hal::metal::Functions* EmberMetalFunctions();
// Sets all counts to 0.
void EmberFakeReset();
// Returns the number of objects that exist now.
int64_t EmberFakeObjects();
// Returns the number of calls that failed because of EMBER_METAL_FAULT.
int64_t EmberFakeFaults();
// Returns the names of all calls that can fail, each ended by a zero byte.
const char* EmberFakeCalls(uint64_t* bytes);
// Returns the number of calls of NewLibrary.
int64_t EmberFakeBuilds();
// Returns a text about the first misuse; empty if there was none.
const char* EmberFakeMisuse();
}

#endif  // EMBER_HAL_METAL_TESTING_FAKE_METAL_H_

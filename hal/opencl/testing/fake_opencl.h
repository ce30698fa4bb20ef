// An OpenCL library for tests, which runs on every machine. It has one device,
// whose memory is its own, and two kernels: those of hal/conformance/kernels.h,
// which it knows by their names. It counts calls and live objects, makes one
// call fail, and notes misuse: dead objects, and commands on mapped memory. It
// is a shared library, which EMBER_OPENCL_LIBRARY selects, so any tool can be
// run with it.
//
//   EMBER_OPENCL_LIBRARY=…/libfake_opencl.so
//   EMBER_OPENCL_FAULT=clWaitForEvents:2:-14   # FUNCTION:CALL:RESULT; "*": any
//   EMBER_OPENCL_FAKE=no_platform              # see below
//
// EMBER_OPENCL_FAKE is one of: no_platform; no_device; version1.1; embedded;
// no_compiler; driver2 (another version of the driver, which refuses the
// binaries of the first). The variables are read when a driver asks for
// platforms for the first time after EmberFakeReset, or after the last context
// ended.
//
// The functions below are exported, for tests that open the library. Not
// thread-safe while variables are read.
#ifndef EMBER_HAL_OPENCL_TESTING_FAKE_OPENCL_H_
#define EMBER_HAL_OPENCL_TESTING_FAKE_OPENCL_H_

#include <cstdint>

extern "C" {
// Sets all counts of calls, builds and faults to 0, forgets calls and misuse,
// and lets the environment variables be read again.
void EmberFakeReset();
// Returns the number of objects and allocations that exist now.
int64_t EmberFakeObjects();
// Returns the number of calls that failed because of EMBER_OPENCL_FAULT.
int64_t EmberFakeFaults();
// Returns the names of all calls since the last reset, each ended by a zero
// byte. `bytes` is set to their total size.
const char* EmberFakeCalls(uint64_t* bytes);
// Returns the number of programs that were built from their source.
int64_t EmberFakeBuilds();
// Returns a text about the first misuse of the API; empty if there was none.
const char* EmberFakeMisuse();
}

#endif  // EMBER_HAL_OPENCL_TESTING_FAKE_OPENCL_H_

// The state of the fake OpenCL library: live objects, counted calls, the fault
// to inject, and misuse of the API.
//
//   if (const cl_int fault = Begin("clFlush")) return fault;
//   if (!IsLive(queue, "clFlush")) return kInvalidCommandQueue;
//
// Thread-safe, except for reading the environment.
#ifndef EMBER_HAL_OPENCL_TESTING_FAKE_STATE_H_
#define EMBER_HAL_OPENCL_TESTING_FAKE_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hal/opencl/api/functions.h"

namespace ember::hal::opencl::fake {

struct State {
  std::recursive_mutex mutex;  // guards all members
  std::set<const void*> live;
  std::string calls;
  std::map<std::string, int64_t, std::less<>> count_of;
  int64_t call_count = 0;
  int64_t faults = 0;
  int64_t builds = 0;
  std::string misuse;
  // The values of the environment variables that fake_opencl.h describes.
  bool is_read = false;
  std::string variant;
  std::string fault_function;
  int64_t fault_call = 0;
  cl_int fault_result = 0;
};

State& TheState();

// Counts a call of an OpenCL function. Returns 0, or the result with which the
// call must fail.
cl_int Begin(std::string_view function);
// Adds an object to the live ones and returns it.
template <typename Object>
Object* Born(Object* object) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.live.insert(object);
  return object;
}
// Removes an object from the live ones. If it is not among them, notes the
// misuse and returns false.
bool Dies(const void* object, std::string_view function);
// True if the object is live. If it is not, notes that the function misused it.
bool IsLive(const void* object, std::string_view function);
void NoteMisuse(std::string_view function, std::string_view what);
bool IsVariant(std::string_view name);

}  // namespace ember::hal::opencl::fake

#endif  // EMBER_HAL_OPENCL_TESTING_FAKE_STATE_H_

// The functions that the runtime for WebAssembly exports, and those that it
// imports from the page. ember.js is the only caller: it keeps handles, copies
// tensors and turns errors into exceptions.
//
//   const at = ember_allocate(bytes.length);      // JavaScript
//   new Uint8Array(memory.buffer).set(bytes, at);
//   const module = ember_module_load(at, bytes.length);
//   if (module === 0) throw new Error(text(ember_error()));
//
// Pointers and sizes are 32-bit numbers. Texts are UTF-8 and terminated by a
// zero byte.
// Ownership: a handle is released by the function for its type. A module takes
// the memory of its bytes, and sessions keep their module alive.
// Threads: there is one. Errors: a function that can fail returns 0 (a null
// handle, or false). ember_error then returns one line, which begins with the
// name of the status code and is valid until the next call that fails.
#ifndef EMBER_VM_WEB_EXPORTS_H_
#define EMBER_VM_WEB_EXPORTS_H_

#include <cstddef>
#include <cstdint>

#define EMBER_WEB_EXPORT(name) __attribute__((export_name(#name)))

namespace ember::web {

struct WebModule;
struct WebSession;

// A tensor in the memory of the runtime, as JavaScript reads and writes it: the
// dims are `rank` 64-bit integers. `type` is a DType (base/dtype.h).
struct WebTensor {
  uint32_t type = 0;
  uint32_t rank = 0;
  int64_t* dims = nullptr;
  void* data = nullptr;
  uint32_t byte_size = 0;
};

struct WebSessionOptions {
  double memory_limit = 0;    // largest number of bytes that the model may use;
                              // 0: 4 GiB
  double max_seconds = 0;     // time limit of each run; 0: no limit
  uint32_t uses_kernels = 0;  // not 0: native code of the module may run
  uint32_t profile = 0;       // not 0: the time of every dispatch is measured
};

extern "C" {

// Allocates memory that is aligned to 64 bytes. Returns null if there is none.
EMBER_WEB_EXPORT(ember_allocate) void* ember_allocate(size_t bytes);
EMBER_WEB_EXPORT(ember_free) void ember_free(void* memory);
EMBER_WEB_EXPORT(ember_error) const char* ember_error();

// Loads and verifies a module. `bytes` is memory from ember_allocate, which the
// function takes over, also if it fails.
EMBER_WEB_EXPORT(ember_module_load)
WebModule* ember_module_load(uint8_t* bytes, size_t size);
EMBER_WEB_EXPORT(ember_module_release)
void ember_module_release(WebModule* module);
// Returns JSON that describes inputs, results, metadata and targets of native
// code (vm/web/description.h). The text is valid as long as the module.
EMBER_WEB_EXPORT(ember_module_text)
const char* ember_module_text(WebModule* module);
// Calls ember_host.load_code for the code of each native kernel that fits this
// runtime, so that the page can compile it before it creates a session.
EMBER_WEB_EXPORT(ember_module_find_kernels)
void ember_module_find_kernels(WebModule* module);

EMBER_WEB_EXPORT(ember_session_create)
WebSession* ember_session_create(WebModule* module,
                                 const WebSessionOptions* options);
EMBER_WEB_EXPORT(ember_session_release)
void ember_session_release(WebSession* session);
// Sets the data of an input for the next runs. The data is not copied; its
// memory must stay as it is until the runs that use it have ended.
EMBER_WEB_EXPORT(ember_session_set_input)
uint32_t ember_session_set_input(WebSession* session, uint32_t index,
                                 const WebTensor* tensor);
EMBER_WEB_EXPORT(ember_session_run)
uint32_t ember_session_run(WebSession* session);
// Describes a result of the last run, which succeeded. The tensor's memory is
// valid until the next run or until the session is released.
EMBER_WEB_EXPORT(ember_session_result)
uint32_t ember_session_result(WebSession* session, uint32_t index,
                              WebTensor* tensor);
// Returns JSON that describes kernels, memory and, with `profile`, the
// dispatches of the runs so far. It is valid until the next call.
EMBER_WEB_EXPORT(ember_session_text)
const char* ember_session_text(WebSession* session);

}  // extern "C"

}  // namespace ember::web

#endif  // EMBER_VM_WEB_EXPORTS_H_

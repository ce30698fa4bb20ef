/* The C API of the runtime: load a module, run it, read the results.
 *
 *   const EmberApi* ember = ember_get_api(EMBER_API_VERSION);
 *   EmberModule* module;
 *   if (ember->module_load_file("model.vmfb", &module) != EMBER_OK) {
 *     puts(ember->error_message());
 *   }
 *
 * The functions are reached through one table, to which later versions only
 * append: a program built for version N runs with every library of version N or
 * later. Structs that the caller fills begin with their size for the same
 * reason.
 *
 * Ownership: each create and load has its release; releasing NULL does nothing.
 * A module may be released while sessions use it. Threads: modules may be
 * shared; a session is for one thread at a time. Errors: every function that
 * can fail returns a status; error_message() then tells what was wrong, in one
 * line, for the calling thread, until its next failing call.
 */
#ifndef EMBER_VM_API_EMBER_H_
#define EMBER_VM_API_EMBER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_API_VERSION 2

#if defined(_WIN32)
#define EMBER_EXPORT __declspec(dllexport)
#else
#define EMBER_EXPORT __attribute__((visibility("default")))
#endif

typedef struct EmberModule EmberModule;
typedef struct EmberSession EmberSession;

typedef enum EmberStatus {
  EMBER_OK = 0,
  EMBER_INVALID_ARGUMENT = 1,   /* the caller's input is wrong */
  EMBER_NOT_FOUND = 2,          /* no such file, input or result */
  EMBER_UNIMPLEMENTED = 3,      /* valid, but not supported */
  EMBER_DATA_LOSS = 4,          /* a file is truncated or corrupt */
  EMBER_RESOURCE_EXHAUSTED = 5, /* a limit or memory */
  EMBER_FAILED_PRECONDITION = 6,
  EMBER_INTERNAL = 7
} EmberStatus;

typedef enum EmberType {
  EMBER_BOOL = 0,
  EMBER_I8 = 1,
  EMBER_I16 = 2,
  EMBER_I32 = 3,
  EMBER_I64 = 4,
  EMBER_U8 = 5,
  EMBER_U16 = 6,
  EMBER_U32 = 7,
  EMBER_U64 = 8,
  EMBER_F16 = 9,
  EMBER_BF16 = 10,
  EMBER_F32 = 11,
  EMBER_F64 = 12
} EmberType;

/* What a module declares about an input or result. Lives as long as the module.
 */
typedef struct EmberTensorInfo {
  const char* name;
  EmberType type;
  int32_t rank;
  const int64_t* dims; /* -1: any extent */
} EmberTensorInfo;

/* Elements in memory: row-major, contiguous. */
typedef struct EmberTensor {
  EmberType type;
  int32_t rank;
  const int64_t* dims;
  const void* data;
  size_t byte_size;
} EmberTensor;

typedef struct EmberSessionOptions {
  size_t struct_size; /* sizeof(EmberSessionOptions) */
  int32_t threads;    /* that compute, the caller's included; 0: one per core */
  int64_t memory_limit; /* bytes; 0: none */
} EmberSessionOptions;

typedef struct EmberApi {
  size_t
      struct_size;  /* of the library's table: entries beyond it do not exist */
  uint32_t version; /* of the library */

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* The file is mapped, not copied: it must not change while the module lives.
   */
  EmberStatus (*module_load_file)(const char* path, EmberModule** module);
  /* data must stay while the module, its sessions and their results live;
   * 64-byte aligned data is used in place, other data is copied. */
  EmberStatus (*module_load_memory)(const void* data, size_t size,
                                    EmberModule** module);
  void (*module_release)(EmberModule* module);
  int32_t (*module_input_count)(const EmberModule* module);
  int32_t (*module_result_count)(const EmberModule* module);
  EmberStatus (*module_input_info)(const EmberModule* module, int32_t index,
                                   EmberTensorInfo* info);
  EmberStatus (*module_result_info)(const EmberModule* module, int32_t index,
                                    EmberTensorInfo* info);

  /* options may be NULL. */
  EmberStatus (*session_create)(EmberModule* module,
                                const EmberSessionOptions* options,
                                EmberSession** session);
  void (*session_release)(EmberSession* session);
  /* The data is not copied: it must stay until the runs that use it are over.
   */
  EmberStatus (*session_set_input)(EmberSession* session, int32_t index,
                                   const EmberTensor* tensor);
  EmberStatus (*session_run)(EmberSession* session);
  /* Of the last run; valid until the next run, or until the session is
   * released. */
  EmberStatus (*session_result)(EmberSession* session, int32_t index,
                                EmberTensor* tensor);

  /* --- version 2 --- */
  /* What the elements stand for where their type is only how they are stored,
   * such as "i4" or "f8e4m3fn", one in a byte; "" if they are what their type
   * says; NULL for an index out of range. Modules with "string" cannot be run
   * through this API. Lives as long as the module. */
  const char* (*module_input_logical_type)(const EmberModule* module,
                                           int32_t index);
  const char* (*module_result_logical_type)(const EmberModule* module,
                                            int32_t index);
} EmberApi;

/* NULL if the library is older than the version asked for. */
EMBER_EXPORT const EmberApi* ember_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_VM_API_EMBER_H_ */

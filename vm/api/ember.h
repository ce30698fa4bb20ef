/* The C API of the runtime: load a module, run it, read the results.
 *
 *   const EmberApi* ember = ember_get_api(EMBER_API_VERSION);
 *   EmberModule* module;
 *   if (ember->module_load_file("model.vmfb", &module) != EMBER_OK) {
 *     puts(ember->error_message());
 *   }
 *
 * All functions are entries of one table. Later versions only append to the
 * table, so a program built for version N runs with every library of version N
 * or later. Structs that the caller fills begin with their size for the same
 * reason.
 *
 * Ownership: every create and load function has a release function. Releasing
 * NULL does nothing. A module may be released while sessions use it.
 *
 * Threads: any number of threads may share a module. Only one thread at a time
 * may use a session, except for functions that say "on any thread". Starting a
 * run while another run of the session is in progress is
 * EMBER_FAILED_PRECONDITION.
 *
 * Trust: modules need not be trusted. The session's options bound what a module
 * may take; exceeding a limit is EMBER_RESOURCE_EXHAUSTED. It is the same error
 * if the system has no memory for tensors (copied constants, arenas, results,
 * packed operands, scratch); the session can be used again afterwards.
 * Bookkeeping grows with a module's instructions but not with its tensors. It
 * comes from operator new. If that fails, the process ends by std::terminate,
 * because the library is built without exceptions.
 *
 * Errors: every function that can fail returns a status. error_message() then
 * returns what was wrong, in one line. The line is the calling thread's and
 * valid until its next failing call. */
#ifndef EMBER_VM_API_EMBER_H_
#define EMBER_VM_API_EMBER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_API_VERSION 7
/* The version of Ember, for people: "0", the version of the API, a count. */
#define EMBER_VERSION "0.7.0"

#if defined(_WIN32)
#define EMBER_EXPORT __declspec(dllexport)
#else
#define EMBER_EXPORT __attribute__((visibility("default")))
#endif

typedef struct EmberModule EmberModule;
typedef struct EmberSession EmberSession;
typedef struct EmberFence EmberFence; /* since version 4 */
/* Since version 5: kernels that are linked into the program or come from a
 * shared library. It is the type of the symbol in a file that vm-prejit
 * --emit=static, --emit=shared or --emit=c wrote. */
typedef struct EmberKernels EmberKernels;

typedef enum EmberStatus {
  EMBER_OK = 0,
  EMBER_INVALID_ARGUMENT = 1,   /* the caller's input is wrong */
  EMBER_NOT_FOUND = 2,          /* no such file, input or result */
  EMBER_UNIMPLEMENTED = 3,      /* valid, but not supported */
  EMBER_DATA_LOSS = 4,          /* a file is truncated or corrupt */
  EMBER_RESOURCE_EXHAUSTED = 5, /* a limit was reached, or there is no memory */
  EMBER_FAILED_PRECONDITION = 6,
  EMBER_INTERNAL = 7,
  EMBER_CANCELLED = 8, /* session_cancel or EmberProgress::report ended it */
  EMBER_NOT_READY = 9  /* fence_wait: the time is over, the run is not */
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
  EMBER_F64 = 12,
  /* The 8-bit formats E4M3 and E5M2 of the OCP 8-bit Floating Point
   * Specification, one element per byte. */
  EMBER_F8E4M3FN = 13,
  EMBER_F8E5M2 = 14
} EmberType;

/* An input or result as the module declares it. Lives as long as the module. */
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

/* --- what sessions take since version 4 --- */

/* The code that runs a dispatch. Kernels come from the optional library
 * libember_jit.so. It is looked for in the folder `library_folder` of the
 * session's options. If that is NULL, it is looked for in the folder of the
 * file that contains ember_get_api, in its subfolder "ember", and in "../ember"
 * and "../lib/ember" relative to that folder. The library is loaded when it is
 * first needed, and stays loaded. */
typedef enum EmberTier {
  EMBER_TIER_INTERPRETER = 0, /* tier 0: needs nothing, runs at once */
  /* Each dispatch is compiled before it first runs, once for all shapes. A run
   * that is cancelled while a kernel is compiled does not wait for the kernel.
   * If one run waits for a kernel, other runs do not: they interpret the
   * dispatch until the kernel is there. */
  EMBER_TIER_BASELINE = 1,
  /* Like BASELINE, but each dispatch is compiled for the shape that it runs
   * with. After 64 shapes one more kernel serves all other shapes. */
  EMBER_TIER_OPTIMIZED = 2,
  /* The interpreter runs dispatches while another thread compiles those that
   * run often. Without a JIT it is the interpreter alone, and the logger gets a
   * warning. On devices other than the host it is the same as OPTIMIZED. */
  EMBER_TIER_AUTO = 3
} EmberTier;

/* Since version 6: where kernels are compiled. A worker is a process of its
 * own, ember-compile-worker, found in the folder of libember_jit.so. The
 * library starts it when the first kernel is wanted. One worker serves all
 * processes of this user, and it ends when it has been idle for a minute.
 * Signal handlers and priorities of this process stay as they are. If the
 * compiler crashes, only the kernel is lost. */
typedef enum EmberCompileIn {
  /* In the worker. In a thread if the worker cannot be started, and for tiers
   * whose callers wait for their kernels. */
  EMBER_COMPILE_IN_WORKER_IF_THERE = 0,
  EMBER_COMPILE_IN_THREAD = 1, /* the caller's thread, or one of low priority */
  /* if it cannot be started, there are no kernels */
  EMBER_COMPILE_IN_WORKER = 2
} EmberCompileIn;

/* The source of memory for tensors: the arena, results, what the program
 * allocates, and what the interpreter packs, pads and works with. malloc still
 * provides the small memory that describes modules and sessions, and the memory
 * that kernels and drivers of devices take. Both functions may be called on any
 * thread, also concurrently. context must stay valid while the session and the
 * memory of its results live. */
typedef struct EmberAllocator {
  size_t struct_size; /* sizeof(EmberAllocator) */
  void* context;
  /* Returns size bytes, aligned to alignment, which is a power of two. The
   * contents do not matter. NULL: there is no memory; the call that needed it
   * fails with EMBER_RESOURCE_EXHAUSTED. */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* Releases memory that allocate returned for that size. */
  void (*release)(void* context, void* memory, size_t size);
} EmberAllocator;

/* Computes one piece of a parallel computation. */
typedef void (*EmberChunk)(void* work, int64_t chunk, int32_t worker);

/* Threads of the caller, used instead of the session's own. context must stay
 * valid while the session lives. */
typedef struct EmberThreadPool {
  size_t struct_size; /* sizeof(EmberThreadPool) */
  void* context;
  /* number of threads that run chunks at once; 1 to 1024 */
  int32_t worker_count;
  /* Calls chunk(work, i, worker) once for each i in [0, chunk_count), and
   * returns when all calls have returned. The calls may come in any order, on
   * any threads, including the caller's. worker is in [0, worker_count); two
   * concurrent calls never have the same worker. The session calls run on the
   * thread that runs the session, never from within a chunk. */
  void (*run)(void* context, int64_t chunk_count, EmberChunk chunk, void* work);
} EmberThreadPool;

typedef enum EmberLogLevel {
  EMBER_LOG_INFO = 0,
  EMBER_LOG_WARNING = 1, /* the call continues, but not as was requested */
  EMBER_LOG_ERROR = 2    /* the text of error_message() */
} EmberLogLevel;

/* Receives what a session does, one line at a time. A line has no line feed and
 * is valid during the call. log may be called on any thread, also concurrently.
 * It must not call functions for the same module or session. context must stay
 * valid while the session lives. */
typedef struct EmberLogger {
  size_t struct_size; /* sizeof(EmberLogger) */
  void* context;
  void (*log)(void* context, EmberLogLevel level, const char* line);
} EmberLogger;

/* Since version 7: a step of long work, reported before it begins. Strings are
 * valid during the call. */
typedef struct EmberProgressEvent {
  size_t struct_size; /* size of the library's struct */
  /* "read": bytes are read from an EmberReader; "load": dispatches and programs
   * of the module are read and verified; "kernels": native code of the module
   * is checked and installed. */
  const char* stage;
  const char* item; /* subject of the step: a name in the module */
  int64_t done;     /* steps of the stage that are finished */
  int64_t total;    /* steps of the stage in all; 0: not known */
} EmberProgressEvent;

/* Receives the progress of a call, on the thread of that call. report must not
 * call functions for the same module. */
typedef struct EmberProgress {
  size_t struct_size; /* sizeof(EmberProgress) */
  void* context;
  /* Returns 0 to stop the call. The call then returns EMBER_CANCELLED and has
   * no effect. */
  int32_t (*report)(void* context, const EmberProgressEvent* event);
} EmberProgress;

typedef struct EmberSessionOptions {
  size_t struct_size; /* sizeof(EmberSessionOptions) */
  int32_t threads; /* computing threads, with the caller's; 0: one per core */
  /* Largest number of bytes that the module may make the session take. 0: the
   * memory of the machine or of its control group; negative: no limit. */
  int64_t memory_limit;
  /* Since version 3. Limits of each run: work_limit is the number of points
   * that the run may evaluate (each term of a sum counts), step_limit the
   * number of backward jumps and calls in its program. 0: 2^48 and 2^32;
   * negative: no limit. */
  int64_t work_limit;
  int64_t step_limit;
  double max_seconds; /* limit of each run; 0: no limit */
  /* The fields below exist since version 4. session_create copies what pointers
   * point to, or uses it only during the call. What a context points to is not
   * copied. */
  int32_t tier;    /* an EmberTier */
  int32_t profile; /* not 0: times every dispatch, for session_profile */
  int32_t trace;   /* not 0: keeps an event per dispatch; implies profile */
  /* Not 0: machine code that vm-prejit wrote into the module may run, if there
   * is some for this processor or for the session's device. Dispatches without
   * such code run as `tier` says. Native code can do whatever this process can:
   * allow it only for modules whose maker is trusted. */
  int32_t allow_native;
  /* A device name of device_info, such as "cpu" or "vulkan:1"; NULL: "cpu".
   * Other devices than "cpu" need tier OPTIMIZED or AUTO. There AUTO needs no
   * JIT if kernels of files are allowed: dispatches that have none run on the
   * CPU. */
  const char* device;
  /* folder of optional libraries; NULL: see EmberTier */
  const char* library_folder;
  /* Folder in which kernels are kept for later processes. NULL: they are not
   * kept. */
  const char* kernel_cache_folder;
  const EmberAllocator* allocator;    /* NULL: malloc's memory */
  const EmberThreadPool* thread_pool; /* NULL: own threads, see threads */
  const EmberLogger* logger;          /* NULL: there is no log */
  /* Used if allow_native is 0: a public key of 32 bytes. Native code may run if
   * the module is signed by this key (vm-sign). NULL: no native code may run.
   */
  const uint8_t* native_key;
  int32_t compile_in; /* since version 6: an EmberCompileIn */
  /* Since version 7; used during session_create. NULL: no progress is
   * reported. */
  const EmberProgress* progress;
} EmberSessionOptions;

/* Source that a module is read from, in file order, each byte once. */
typedef struct EmberReader {
  size_t struct_size; /* sizeof(EmberReader) */
  void* context;
  uint64_t size; /* bytes of the module */
  /* Reads up to size bytes at offset into buffer and returns how many it read.
   * It is called again for the missing bytes. 0: there is no more data;
   * negative: an error. */
  int64_t (*read)(void* context, uint64_t offset, void* buffer, size_t size);
} EmberReader;

/* Since version 7: where a module comes from, and who receives the progress of
 * loading it. Set exactly one of path, data and reader; the rest may be 0. */
typedef struct EmberModuleOptions {
  size_t struct_size;        /* sizeof(EmberModuleOptions) */
  const char* path;          /* see module_load_file */
  const void* data;          /* see module_load_memory */
  size_t data_size;          /* bytes of data */
  const EmberReader* reader; /* see module_load_reader */
  /* Not 0: compares the bytes of every constant with their checksum, which
   * reads the whole file. A mismatch is EMBER_DATA_LOSS. */
  int32_t verify_constants;
  const EmberProgress* progress; /* used during the call; may be NULL */
} EmberModuleOptions;

/* Extents of a tensor. */
typedef struct EmberShape {
  int32_t rank;
  const int64_t* dims;
} EmberShape;

/* A string of an input or result. It is UTF-8 if the model says so, may contain
 * zero bytes, and is not terminated. */
typedef struct EmberString {
  const char* data;
  size_t size;
} EmberString;

/* A tensor of strings, row-major. */
typedef struct EmberStringTensor {
  int32_t rank;
  const int64_t* dims;
  const EmberString* strings;
  size_t count; /* the product of dims */
} EmberStringTensor;

/* Called when a run that session_run_async began has ended. message is the text
 * of the error, or "" if there was none; it is valid during the call. */
typedef void (*EmberRunDone)(void* context, EmberStatus status,
                             const char* message);

/* The library fills the structs below. The caller sets struct_size; the library
 * writes only fields within that size. */

/* Counters of one dispatch instruction of a program, since the session was
 * created or session_profile_reset was called. */
typedef struct EmberProfileRow {
  size_t struct_size;   /* sizeof(EmberProfileRow) */
  const char* dispatch; /* name of the dispatch */
  const char* origin;   /* the model's node names */
  const char* program;
  const char* plan; /* execution of the last call, as text */
  int64_t calls;
  int64_t total_ns;
  int64_t tier_calls[3]; /* calls by tier */
  int32_t tier;          /* tier of the last call */
} EmberProfileRow;

/* One call of a dispatch. Times are in nanoseconds of the steady clock. */
typedef struct EmberTraceEvent {
  size_t struct_size;   /* sizeof(EmberTraceEvent) */
  const char* dispatch; /* name of the dispatch */
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t thread;
} EmberTraceEvent;

typedef struct EmberSessionInfo {
  size_t struct_size; /* sizeof(EmberSessionInfo) */
  const char* device; /* the driver's name, such as "cpu" */
  const char* target; /* target that kernels are compiled for */
  EmberTier tier;     /* INTERPRETER if AUTO found no JIT */
  int64_t arena_bytes;
  int64_t pool_bytes; /* allocations, results, and plans of tier 0 */
  int64_t peak_bytes; /* largest sum of both */
} EmberSessionInfo;

typedef struct EmberDeviceInfo {
  size_t struct_size;   /* sizeof(EmberDeviceInfo) */
  const char* name;     /* for EmberSessionOptions::device */
  const char* text;     /* for display */
  const char* target;   /* triple and features */
  int64_t memory_bytes; /* its own, or shared with the host; 0: not known */
} EmberDeviceInfo;

typedef struct EmberApi {
  size_t
      /* size of the library's table: entries beyond it do not exist */
      struct_size;
  uint32_t version; /* version of the library */

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* Loads a module from a file. The file is mapped, not copied, and must not
   * change while the module lives. If another program truncates it, using the
   * module raises SIGBUS, as with every mapping. Replacing the file by renaming
   * is safe. module_load_memory with a copy has no such limits. */
  EmberStatus (*module_load_file)(const char* path, EmberModule** module);
  /* Loads a module from memory. data must stay valid while the module, its
   * sessions and their results live. Data that is 64-byte aligned is used in
   * place, other data is copied. */
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
  /* The data is not copied: it must stay valid until the runs that use it have
   * ended. */
  EmberStatus (*session_set_input)(EmberSession* session, int32_t index,
                                   const EmberTensor* tensor);
  EmberStatus (*session_run)(EmberSession* session);
  /* A result of the last run. It is valid until the next run or until the
   * session is released. */
  EmberStatus (*session_result)(EmberSession* session, int32_t index,
                                EmberTensor* tensor);

  /* --- version 2 --- */
  /* The meaning of the elements if their type is only how they are stored, such
   * as "i4" or "f8e4m3fn" with one element per byte. "" if the elements are of
   * their declared type; NULL for an index out of range. "string": use
   * session_set_input_strings and session_result_strings. The text lives as
   * long as the module. */
  const char* (*module_input_logical_type)(const EmberModule* module,
                                           int32_t index);
  const char* (*module_result_logical_type)(const EmberModule* module,
                                            int32_t index);

  /* --- version 3 --- */
  /* Ends the run that is in progress, if there is one. The run returns
   * EMBER_CANCELLED; the interpreter stops within milliseconds. The session can
   * be used again. May be called on any thread while the session lives. */
  void (*session_cancel)(EmberSession* session);

  /* --- version 4 --- */
  /* The functions of this version that return a status return
   * EMBER_INVALID_ARGUMENT for a NULL where a pointer is required, and
   * EMBER_NOT_FOUND for an index out of range. */

  /* Reads a module once into memory of its own, for example from an asset, an
   * archive or a socket. The reader is not used after the call. */
  EmberStatus (*module_load_reader)(const EmberReader* reader,
                                    EmberModule** module);

  /* A dim of an input or result as text: a number such as "224", a symbol's
   * name such as "N" (equal names are equal extents), or for results a formula
   * such as "2*N+1". "?" if the extent is not known before the run; NULL for an
   * index out of range. Lives as long as the module. May be called on any
   * thread. */
  const char* (*module_input_dim)(const EmberModule* module, int32_t index,
                                  int32_t dim);
  const char* (*module_result_dim)(const EmberModule* module, int32_t index,
                                   int32_t dim);
  /* Computes the shape of result `index` for inputs of these shapes, without a
   * run. Writes as many dims as the result's rank; -1 is an extent that depends
   * on the data. If the shapes do not fit, the call returns
   * EMBER_INVALID_ARGUMENT with the message that a run would give. May be
   * called on any thread. */
  EmberStatus (*module_result_shape)(const EmberModule* module,
                                     const EmberShape* inputs,
                                     int32_t input_count, int32_t index,
                                     int64_t* dims);

  /* Describes device number `index`, from 0 on, of those that a session could
   * use. EMBER_NOT_FOUND after the last one. Strings are valid until this
   * thread calls device_info again. */
  EmberStatus (*device_info)(int32_t index, EmberDeviceInfo* info);
  /* Strings live as long as the session. */
  EmberStatus (*session_info)(EmberSession* session, EmberSessionInfo* info);

  /* The strings are copied. */
  EmberStatus (*session_set_input_strings)(EmberSession* session, int32_t index,
                                           const EmberStringTensor* tensor);
  /* A result of the last run. It is valid until the next run or until the
   * session is released. */
  EmberStatus (*session_result_strings)(EmberSession* session, int32_t index,
                                        EmberStringTensor* tensor);
  /* Makes runs write the result to `data`, of byte_size bytes, from the next
   * run on. session_result then returns that memory. A run fails with
   * EMBER_INVALID_ARGUMENT if the result does not fit, or if the memory is not
   * aligned for the elements or overlaps an input or another result. The memory
   * must stay valid while runs use it. If data is NULL, the session uses its
   * own memory again. Without this call results stay where the run wrote them,
   * so session_result copies nothing. */
  EmberStatus (*session_set_output)(EmberSession* session, int32_t index,
                                    void* data, size_t byte_size);

  /* Runs the session on a thread of its own, which the first call creates.
   * Until the run has ended, all functions of the session except
   * session_cancel, session_progress and session_release return
   * EMBER_FAILED_PRECONDITION (counts are 0). EMBER_RESOURCE_EXHAUSTED: the
   * thread could not be created.
   *
   * `done` may be NULL. It is called on that thread when the session can be
   * used again. It may read results and begin the next run, but must not
   * release the session.
   *
   * fence may be NULL. Otherwise *fence becomes a new fence that the caller
   * owns; it is signalled after `done` has returned. */
  EmberStatus (*session_run_async)(EmberSession* session, EmberRunDone done,
                                   void* context, EmberFence** fence);
  /* Waits for the run, at most that many seconds; negative: without limit.
   * Returns EMBER_NOT_READY if the time is over, else the run's status.
   * error_message() on this thread is then the run's message. May be called on
   * several threads at once. */
  EmberStatus (*fence_wait)(EmberFence* fence, double seconds);
  /* 1 if the run has ended, so that fence_wait would return at once, else 0.
   * May be called on any thread. */
  int32_t (*fence_is_signalled)(const EmberFence* fence);
  /* Releases the fence; the run may still be in progress. No other thread may
   * be waiting for the fence. A fence may outlive its session: releasing the
   * session ends the run. */
  void (*fence_release)(EmberFence* fence);

  /* Number of dispatches that the current or last run has begun, and the number
   * that is expected: that of the last successful run, or, before there is one,
   * the number of dispatch instructions in the module. Either pointer may be
   * NULL. May be called on any thread while the session lives. */
  EmberStatus (*session_progress)(const EmberSession* session, int64_t* begun,
                                  int64_t* expected);
  /* Replaces EmberSessionOptions::max_seconds from the next run on. */
  EmberStatus (*session_set_max_seconds)(EmberSession* session, double seconds);

  /* Takes a snapshot of the profile and returns its number of rows; 0 without
   * EmberSessionOptions::profile. Rows and their strings are valid until the
   * next call of session_profile. */
  int32_t (*session_profile)(EmberSession* session);
  EmberStatus (*session_profile_row)(const EmberSession* session, int32_t index,
                                     EmberProfileRow* row);
  /* The number of events so far; 0 without EmberSessionOptions::trace. */
  int64_t (*session_trace)(EmberSession* session);
  EmberStatus (*session_trace_event)(EmberSession* session, int64_t index,
                                     EmberTraceEvent* event);
  /* Clears the profile and the trace. */
  EmberStatus (*session_profile_reset)(EmberSession* session);

  /* One line for display: how many dispatches run native code of the module and
   * for which processors that code is, or why no dispatch does. If the module
   * has native code, the logger gets the line, too. Lives as long as the
   * session. May be called on any thread. */
  const char* (*session_native_kernels)(const EmberSession* session);

  /* --- version 5 --- */
  /* Adds kernels that the program has linked or loaded itself. Sessions on the
   * host run them whatever allow_native says: loading them was the permission.
   * If several files are added, each dispatch gets the kernel that fits this
   * processor best.
   *
   *   #include "model.h"
   *   ember->module_add_kernels(module, &ember_kernels_model);
   *
   *   void* library = dlopen("libmodel.so", RTLD_NOW);
   *   ember->module_add_kernels(module, dlsym(library, "ember_kernels"));
   *
   * The memory must stay valid while the module and its sessions live.
   * EMBER_FAILED_PRECONDITION: the module already has had a session.
   * EMBER_INVALID_ARGUMENT: the kernels are of another module, or are no
   * kernels. EMBER_UNIMPLEMENTED: they are of another version, or this
   * processor lacks a feature that they all need. After an error the module
   * runs without them. */
  EmberStatus (*module_add_kernels)(EmberModule* module,
                                    const EmberKernels* kernels);
  /* Adds an overlay file (vm-prejit --overlay): kernels of the module in a file
   * of their own. They need the same permission as kernels in the module,
   * allow_native or native_key. The file is mapped, as the module's is.
   * session_native_kernels says if this processor can run the kernels, and if
   * they are signed. EMBER_FAILED_PRECONDITION: the module already has had a
   * session. EMBER_INVALID_ARGUMENT: the overlay is of another module. */
  EmberStatus (*module_add_overlay)(EmberModule* module, const char* path);

  /* --- version 6 --- */
  /* Metadata of the model: what its maker stored in it, such as labels and the
   * author, and what the compiler added. These are texts by key, in ascending
   * order of the keys (docs/formats.md lists the keys). Texts are UTF-8,
   * terminated, and live as long as the module. May be called on any thread. */
  int32_t (*module_metadata_count)(const EmberModule* module);
  /* NULL for an index out of range. */
  const char* (*module_metadata_key)(const EmberModule* module, int32_t index);
  const char* (*module_metadata_value)(const EmberModule* module,
                                       int32_t index);
  /* The value of a key; NULL if the module does not have the key. */
  const char* (*module_metadata)(const EmberModule* module, const char* key);

  /* --- version 7 --- */
  /* Does what the module_load_* functions do, and reports progress, which can
   * stop it. */
  EmberStatus (*module_load)(const EmberModuleOptions* options,
                             EmberModule** module);
} EmberApi;

/* Returns the table of functions, or NULL if the library is older than the
 * requested version. */
EMBER_EXPORT const EmberApi* ember_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_VM_API_EMBER_H_ */

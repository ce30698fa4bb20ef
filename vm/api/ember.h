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
 * Ownership: an object that a create or load function returns is released with
 * the release function for its type. Releasing NULL does nothing. A module may
 * be released while sessions use it.
 *
 * Threads: any number of threads may share a module. Only one thread at a time
 * may use a session, except for functions that say "on any thread". Starting a
 * run while another run of the session is in progress is
 * EMBER_FAILED_PRECONDITION.
 *
 * Trust: modules need not be trusted. The session's options limit the memory
 * and time that a module may use; a call that exceeds a limit returns
 * EMBER_RESOURCE_EXHAUSTED. The same error is returned if the system has no
 * memory for tensors (copied constants, arenas, results, packed operands,
 * scratch); the session can be used again afterwards. Memory for bookkeeping,
 * whose size depends on a module's instructions but not on its tensors, comes
 * from operator new. If operator new fails, the process ends by std::terminate,
 * because the library is built without exceptions.
 *
 * Errors: every function that can fail returns a status. error_message() then
 * returns one line that says what was wrong. Each thread has its own line,
 * which is valid until the next failing call on this thread. */
#ifndef EMBER_VM_API_EMBER_H_
#define EMBER_VM_API_EMBER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_API_VERSION 7
/* The version of Ember for display: "0", EMBER_API_VERSION and a number that
 * counts releases with this API. */
#define EMBER_VERSION "0.7.0"

#if defined(_WIN32)
#define EMBER_EXPORT __declspec(dllexport)
#else
#define EMBER_EXPORT __attribute__((visibility("default")))
#endif

typedef struct EmberModule EmberModule;
typedef struct EmberSession EmberSession;
typedef struct EmberFence EmberFence; /* since version 4 */
/* Since version 5: the type of kernels that are linked into the program or come
 * from a shared library. A file that vm-prejit --emit=static, --emit=shared or
 * --emit=c wrote has one symbol of this type. */
typedef struct EmberKernels EmberKernels;

typedef enum EmberStatus {
  EMBER_OK = 0,
  EMBER_INVALID_ARGUMENT = 1, /* An argument, a tensor or a module is wrong. */
  EMBER_NOT_FOUND = 2,        /* There is no such file, input or result. */
  EMBER_UNIMPLEMENTED = 3,    /* The input is valid, but not supported. */
  EMBER_DATA_LOSS = 4,        /* A file is truncated or corrupt. */
  /* A limit was exceeded, or there is no memory. */
  EMBER_RESOURCE_EXHAUSTED = 5,
  EMBER_FAILED_PRECONDITION = 6,
  EMBER_INTERNAL = 7,
  /* session_cancel or EmberProgress::report stopped the call. */
  EMBER_CANCELLED = 8,
  /* The time that was passed to fence_wait is over, but the run has not ended.
   */
  EMBER_NOT_READY = 9
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
  /* The 8-bit floats E4M3 and E5M2 of the OCP 8-bit Floating Point
   * Specification. An element is one byte. */
  EMBER_F8E4M3FN = 13,
  EMBER_F8E5M2 = 14
} EmberType;

/* Describes an input or result as the module declares it. The pointers in it
 * are valid as long as the module exists. */
typedef struct EmberTensorInfo {
  const char* name;
  EmberType type;
  int32_t rank;
  const int64_t* dims; /* -1: any extent */
} EmberTensorInfo;

/* A tensor whose elements are in memory in row-major order, without gaps. */
typedef struct EmberTensor {
  EmberType type;
  int32_t rank;
  const int64_t* dims;
  const void* data;
  size_t byte_size;
} EmberTensor;

/* --- options of sessions since version 4 --- */

/* Selects the code that runs dispatches. Kernels come from the optional library
 * libember_jit.so. The library is looked for in the folder `library_folder` of
 * the session's options. If that is NULL, it is looked for in the folder of the
 * file that contains ember_get_api, in its subfolder "ember", and in "../ember"
 * and "../lib/ember" relative to that folder. The library is loaded when it is
 * first needed, and stays loaded. */
typedef enum EmberTier {
  /* The interpreter (tier 0) runs all dispatches. It needs no library and no
   * compilation, so it runs at once. */
  EMBER_TIER_INTERPRETER = 0,
  /* Each dispatch is compiled before it first runs, once for all shapes. A run
   * that is cancelled while a kernel is compiled does not wait for the kernel.
   * While one run waits for a kernel, other runs do not wait: they interpret
   * the dispatch until the kernel is made. */
  EMBER_TIER_BASELINE = 1,
  /* Like BASELINE, but each dispatch is compiled for the shape that it runs
   * with. After 64 shapes one more kernel is compiled, which runs all other
   * shapes. */
  EMBER_TIER_OPTIMIZED = 2,
  /* The interpreter runs dispatches while another thread compiles those that
   * run often. Without libember_jit.so only the interpreter runs, and the
   * logger gets a warning. On devices other than the host this tier is the same
   * as OPTIMIZED. */
  EMBER_TIER_AUTO = 3
} EmberTier;

/* Since version 6: selects where kernels are compiled. The worker is a separate
 * process, ember-compile-worker, whose program is in the folder of
 * libember_jit.so. The library starts it when the first kernel is requested.
 * One worker serves all processes of this user, and it ends when it has been
 * idle for a minute. Signal handlers and priorities of this process stay as
 * they are. If the compiler crashes, only the kernel is lost. */
typedef enum EmberCompileIn {
  /* Compiles in the worker. Compiles in a thread of this process if the worker
   * cannot be started, and for tiers whose callers wait for their kernels. */
  EMBER_COMPILE_IN_WORKER_IF_THERE = 0,
  /* Compiles in this process: in the caller's thread, or in a thread of low
   * priority. */
  EMBER_COMPILE_IN_THREAD = 1,
  /* Compiles in the worker. If the worker cannot be started, there are no
   * kernels. */
  EMBER_COMPILE_IN_WORKER = 2
} EmberCompileIn;

/* Functions that allocate the memory for tensors: the arena, results, memory
 * that the program allocates, and the interpreter's packed and padded copies
 * and scratch memory. malloc still provides the small memory that describes
 * modules and sessions, and the memory that kernels and drivers of devices
 * take. Both functions may be called on any thread, also concurrently. context
 * must stay valid while the session and the memory of its results live. */
typedef struct EmberAllocator {
  size_t struct_size; /* sizeof(EmberAllocator) */
  void* context;
  /* Returns size bytes, aligned to alignment, which is a power of two. The
   * contents do not matter. Returns NULL if there is no memory; the call of the
   * API that needs the memory then fails with EMBER_RESOURCE_EXHAUSTED. */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* Releases memory that allocate returned for this size. */
  void (*release)(void* context, void* memory, size_t size);
} EmberAllocator;

/* The type of a function that computes one piece of a parallel computation. */
typedef void (*EmberChunk)(void* work, int64_t chunk, int32_t worker);

/* The caller's threads, which are used instead of threads of the session.
 * context must stay valid while the session exists. */
typedef struct EmberThreadPool {
  size_t struct_size; /* sizeof(EmberThreadPool) */
  void* context;
  /* number of threads that run chunks at once; 1 to 1024 */
  int32_t worker_count;
  /* Calls chunk(work, i, worker) once for each i in [0, chunk_count), and
   * returns when all calls have returned. The calls may come in any order, on
   * any threads, including the caller's. worker is in [0, worker_count); two
   * concurrent calls never have the same worker. The session calls this
   * function on the thread that runs the session, never from within a chunk. */
  void (*run)(void* context, int64_t chunk_count, EmberChunk chunk, void* work);
} EmberThreadPool;

typedef enum EmberLogLevel {
  EMBER_LOG_INFO = 0,
  EMBER_LOG_WARNING = 1, /* A call does something else than was requested. */
  EMBER_LOG_ERROR = 2    /* A call failed; the line is its error_message(). */
} EmberLogLevel;

/* Receives lines that describe the actions of a session, one at a time. A line
 * has no line feed and is valid during the call. log may be called on any
 * thread, also concurrently. It must not call functions for the same module or
 * session. context must stay valid while the session exists. */
typedef struct EmberLogger {
  size_t struct_size; /* sizeof(EmberLogger) */
  void* context;
  void (*log)(void* context, EmberLogLevel level, const char* line);
} EmberLogger;

/* Since version 7: describes a step of long work. The event is reported before
 * the step begins. Its strings are valid during the call of report. */
typedef struct EmberProgressEvent {
  /* set by the library: size of this struct in its version */
  size_t struct_size;
  /* Name of the stage. "read": bytes are read from an EmberReader. "load":
   * dispatches and programs of the module are read and verified. "kernels":
   * native code of the module is checked and installed. */
  const char* stage;
  /* name of the object in the module that is read, checked or installed */
  const char* item;
  int64_t done;  /* number of steps of the stage that are finished */
  int64_t total; /* number of all steps of the stage; 0: not known */
} EmberProgressEvent;

/* Receives the progress of a call. report runs on the thread of that call. It
 * must not call functions for the same module. */
typedef struct EmberProgress {
  size_t struct_size; /* sizeof(EmberProgress) */
  void* context;
  /* Returns 0 to stop the call. The call then returns EMBER_CANCELLED and has
   * no other effect. */
  int32_t (*report)(void* context, const EmberProgressEvent* event);
} EmberProgress;

typedef struct EmberSessionOptions {
  size_t struct_size; /* sizeof(EmberSessionOptions) */
  /* number of threads that compute, including the caller's; 0: one per core */
  int32_t threads;
  /* Largest number of bytes of memory that the session may use for the module.
   * 0: the memory of the machine or of its control group; negative: no limit.
   */
  int64_t memory_limit;
  /* Since version 3. Limits of each run: work_limit is the number of points
   * that the run may evaluate (each term of a sum counts), step_limit the
   * number of backward jumps and calls in its program. 0 means 2^48 for
   * work_limit and 2^32 for step_limit; negative: no limit. */
  int64_t work_limit;
  int64_t step_limit;
  double max_seconds; /* time limit of each run; 0: no limit */
  /* The fields below exist since version 4. session_create copies the texts,
   * keys and structs to which pointers point, or uses them only during the
   * call. The objects to which a `context` points are not copied. */
  int32_t tier; /* an EmberTier */
  /* not 0: the time of every dispatch is measured, for session_profile */
  int32_t profile;
  int32_t trace; /* not 0: an event per dispatch is stored; implies profile */
  /* Not 0: native code that vm-prejit wrote into the module may run, if the
   * module has code for this processor or for the session's device. Dispatches
   * without such code run as `tier` says. Native code can do whatever this
   * process can: allow it only for modules whose maker is trusted. */
  int32_t allow_native;
  /* Name of a device as device_info gives it, such as "cpu" or "vulkan:1";
   * NULL: "cpu". Devices other than "cpu" need the tier OPTIMIZED or AUTO. AUTO
   * needs no libember_jit.so on such a device if native code is allowed:
   * dispatches without a kernel in the module then run on the CPU. */
  const char* device;
  /* folder of the optional libraries; NULL: the folders that EmberTier lists */
  const char* library_folder;
  /* Folder in which compiled kernels are stored for later processes. NULL: they
   * are not stored. */
  const char* kernel_cache_folder;
  const EmberAllocator* allocator; /* NULL: malloc's memory */
  /* threads of the application; NULL: threads of the session (`threads`) */
  const EmberThreadPool* thread_pool;
  /* receives lines that describe actions; NULL: no lines are logged */
  const EmberLogger* logger;
  /* A public key of 32 bytes, which is used if allow_native is 0. Native code
   * may then run if the module was signed (by vm-sign) with the secret of this
   * key. NULL: no native code may run. */
  const uint8_t* native_key;
  /* since version 6: where kernels are compiled, an EmberCompileIn */
  int32_t compile_in;
  /* Since version 7: receives the progress of session_create. NULL: no progress
   * is reported. */
  const EmberProgress* progress;
} EmberSessionOptions;

/* A source from which a module is read: in file order, each byte once. */
typedef struct EmberReader {
  size_t struct_size; /* sizeof(EmberReader) */
  void* context;
  uint64_t size; /* size of the module in bytes */
  /* Reads up to size bytes at offset into buffer and returns the number of
   * bytes that it read. If that is less than size, read is called again for the
   * missing bytes. 0: there is no more data; negative: an error. */
  int64_t (*read)(void* context, uint64_t offset, void* buffer, size_t size);
} EmberReader;

/* Since version 7: says where a module comes from and who receives the progress
 * of loading it. Set exactly one of path, data and reader; the other two must
 * be NULL, and all other fields may be 0. */
typedef struct EmberModuleOptions {
  size_t struct_size;        /* sizeof(EmberModuleOptions) */
  const char* path;          /* see module_load_file */
  const void* data;          /* see module_load_memory */
  size_t data_size;          /* bytes of data */
  const EmberReader* reader; /* see module_load_reader */
  /* Not 0: compares the bytes of every constant with their checksum, which
   * reads the whole file. A mismatch is EMBER_DATA_LOSS. */
  int32_t verify_constants;
  /* receives the progress of loading, during the call only; may be NULL */
  const EmberProgress* progress;
} EmberModuleOptions;

/* The shape of a tensor: the extents of its dims. */
typedef struct EmberShape {
  int32_t rank;
  const int64_t* dims;
} EmberShape;

/* One element of an input or result whose elements are strings. It is UTF-8 if
 * the model requires that, may contain zero bytes, and has no terminating zero.
 */
typedef struct EmberString {
  const char* data;
  size_t size;
} EmberString;

/* A tensor whose elements are strings, in row-major order. */
typedef struct EmberStringTensor {
  int32_t rank;
  const int64_t* dims;
  const EmberString* strings;
  size_t count; /* number of strings: the product of dims */
} EmberStringTensor;

/* The type of a function that is called when a run that session_run_async began
 * has ended. message is the text of the error, or "" if there was none; it is
 * valid during the call. */
typedef void (*EmberRunDone)(void* context, EmberStatus status,
                             const char* message);

/* The library fills the structs below. The caller sets struct_size before the
 * call; the library writes only the fields that fit into this size. */

/* Counters of one dispatch instruction of a program. They count calls since the
 * session was created or session_profile_reset was called. */
typedef struct EmberProfileRow {
  size_t struct_size;   /* sizeof(EmberProfileRow) */
  const char* dispatch; /* name of the dispatch that the instruction calls */
  const char* origin;   /* names of the model's nodes in the dispatch */
  const char* program;
  const char* plan; /* text that says how the last call was executed */
  int64_t calls;
  int64_t total_ns;
  int64_t tier_calls[3]; /* calls by tier */
  int32_t tier;          /* tier (0, 1 or 2) that ran the last call */
} EmberProfileRow;

/* Describes one call of a dispatch. Times are in nanoseconds of the steady
 * clock. */
typedef struct EmberTraceEvent {
  size_t struct_size;   /* sizeof(EmberTraceEvent) */
  const char* dispatch; /* name of the dispatch */
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t thread;
} EmberTraceEvent;

typedef struct EmberSessionInfo {
  size_t struct_size; /* sizeof(EmberSessionInfo) */
  const char* device; /* name of the driver, such as "cpu" */
  const char* target; /* target for which kernels are compiled */
  /* tier of the session; INTERPRETER if AUTO found no libember_jit.so */
  EmberTier tier;
  int64_t arena_bytes;
  /* bytes of the program's allocations, results and plans of tier 0 */
  int64_t pool_bytes;
  int64_t peak_bytes; /* largest sum of arena_bytes and pool_bytes */
} EmberSessionInfo;

typedef struct EmberDeviceInfo {
  size_t struct_size; /* sizeof(EmberDeviceInfo) */
  const char* name;   /* for EmberSessionOptions::device */
  const char* text;   /* for display */
  const char* target; /* triple and features */
  /* number of bytes of memory of the device, or shared with the host; 0: not
   * known */
  int64_t memory_bytes;
} EmberDeviceInfo;

typedef struct EmberApi {
  size_t
      /* Size of the library's table in bytes. Functions beyond this size do not
       * exist in this library. */
      struct_size;
  /* version of the API that the library provides, which may be higher than the
   * program's */
  uint32_t version;

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* Loads a module from a file. The file is mapped, not copied, and must not
   * change while the module lives. If another program truncates it, using the
   * module raises SIGBUS, as with every mapping. Replacing the file by renaming
   * is safe. Loading a copy of the file with module_load_memory avoids these
   * restrictions. */
  EmberStatus (*module_load_file)(const char* path, EmberModule** module);
  /* Loads a module from memory. data must stay valid while the module, its
   * sessions and their results live. Data that is 64-byte aligned is used in
   * place; otherwise the function copies it. */
  EmberStatus (*module_load_memory)(const void* data, size_t size,
                                    EmberModule** module);
  void (*module_release)(EmberModule* module);
  int32_t (*module_input_count)(const EmberModule* module);
  int32_t (*module_result_count)(const EmberModule* module);
  EmberStatus (*module_input_info)(const EmberModule* module, int32_t index,
                                   EmberTensorInfo* info);
  EmberStatus (*module_result_info)(const EmberModule* module, int32_t index,
                                    EmberTensorInfo* info);

  /* Creates a session of the module. options may be NULL, which means the
   * defaults. */
  EmberStatus (*session_create)(EmberModule* module,
                                const EmberSessionOptions* options,
                                EmberSession** session);
  void (*session_release)(EmberSession* session);
  /* Sets the data of an input for the next runs. The data is not copied: it
   * must stay valid until the runs that use it have ended. */
  EmberStatus (*session_set_input)(EmberSession* session, int32_t index,
                                   const EmberTensor* tensor);
  EmberStatus (*session_run)(EmberSession* session);
  /* Returns a result of the last run. The tensor's data is valid until the next
   * run or until the session is released. */
  EmberStatus (*session_result)(EmberSession* session, int32_t index,
                                EmberTensor* tensor);

  /* --- version 2 --- */
  /* Returns the meaning of the elements of an input or result if `type` only
   * says how they are stored: for example "i4" or "f8e4m3fn" with one element
   * per byte. Returns "" if the elements have their declared type, and NULL for
   * an index out of range. If the text is "string", use
   * session_set_input_strings and session_result_strings. The text is valid as
   * long as the module exists. */
  const char* (*module_input_logical_type)(const EmberModule* module,
                                           int32_t index);
  const char* (*module_result_logical_type)(const EmberModule* module,
                                            int32_t index);

  /* --- version 3 --- */
  /* Stops the run that is in progress, if there is one. The run returns
   * EMBER_CANCELLED; the interpreter stops within milliseconds. The session can
   * be used again. May be called on any thread while the session lives. */
  void (*session_cancel)(EmberSession* session);

  /* --- version 4 --- */
  /* The rules for errors of this version's functions: if a required pointer is
   * NULL, those that return a status return EMBER_INVALID_ARGUMENT. If an index
   * is out of range, they return EMBER_NOT_FOUND. */

  /* Loads a module by reading it once into memory that the module owns. The
   * source may for example be an asset, an archive or a socket. The reader is
   * not used after the call. */
  EmberStatus (*module_load_reader)(const EmberReader* reader,
                                    EmberModule** module);

  /* Returns a dim of an input or result as text: a number such as "224", a
   * symbol's name such as "N" (equal names are equal extents), or for results a
   * formula such as "2*N+1". The text is "?" if the extent is not known before
   * the run. Returns NULL for an index out of range. The text is valid as long
   * as the module exists. May be called on any thread. */
  const char* (*module_input_dim)(const EmberModule* module, int32_t index,
                                  int32_t dim);
  const char* (*module_result_dim)(const EmberModule* module, int32_t index,
                                   int32_t dim);
  /* Computes the shape of result `index` for inputs of these shapes, without a
   * run. Writes as many dims as the result's rank; an extent that depends on
   * data is -1. If the shapes of the inputs do not match the module, the call
   * returns EMBER_INVALID_ARGUMENT with the message that a run would give. May
   * be called on any thread. */
  EmberStatus (*module_result_shape)(const EmberModule* module,
                                     const EmberShape* inputs,
                                     int32_t input_count, int32_t index,
                                     int64_t* dims);

  /* Describes the device with the number `index`, counted from 0, among the
   * devices that a session could use. Returns EMBER_NOT_FOUND after the last
   * device. Strings are valid until this thread calls device_info again. */
  EmberStatus (*device_info)(int32_t index, EmberDeviceInfo* info);
  /* Describes the session's device, tier and memory. The strings in `info` are
   * valid as long as the session exists. */
  EmberStatus (*session_info)(EmberSession* session, EmberSessionInfo* info);

  /* Sets the strings of an input whose elements are strings, for the next runs.
   * The strings are copied. */
  EmberStatus (*session_set_input_strings)(EmberSession* session, int32_t index,
                                           const EmberStringTensor* tensor);
  /* Returns a result of the last run whose elements are strings. The strings
   * are valid until the next run or until the session is released. */
  EmberStatus (*session_result_strings)(EmberSession* session, int32_t index,
                                        EmberStringTensor* tensor);
  /* Makes runs write the result to `data`, of byte_size bytes, from the next
   * run on. session_result then returns that memory. A run fails with
   * EMBER_INVALID_ARGUMENT if the result does not fit, or if the memory is not
   * aligned for the elements or overlaps an input or another result. The memory
   * must stay valid while runs use it. If data is NULL, the session uses its
   * own memory again. Results in the session's own memory are not copied
   * either: session_result returns the memory to which the run wrote them. */
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
  /* Waits until the run has ended, at most `seconds` seconds; a negative value
   * means no limit. Returns EMBER_NOT_READY if the run has not ended in this
   * time, otherwise the run's status. error_message() on this thread then
   * returns the run's message. May be called on several threads at once. */
  EmberStatus (*fence_wait)(EmberFence* fence, double seconds);
  /* Returns 1 if the run has ended, so that fence_wait would return at once;
   * otherwise 0. May be called on any thread. */
  int32_t (*fence_is_signalled)(const EmberFence* fence);
  /* Releases the fence; the run may still be in progress. No other thread may
   * be waiting for the fence. A fence may outlive its session: releasing the
   * session ends the run and signals the fence. */
  void (*fence_release)(EmberFence* fence);

  /* Sets *begun to the number of dispatches that the current or last run has
   * begun, and *expected to the number that is expected for a whole run: that
   * of the last successful run. Before a run has succeeded, it is the number of
   * dispatch instructions in the module. Either pointer may be NULL. May be
   * called on any thread while the session lives. */
  EmberStatus (*session_progress)(const EmberSession* session, int64_t* begun,
                                  int64_t* expected);
  /* Sets a new value of EmberSessionOptions::max_seconds, which applies from
   * the next run on. */
  EmberStatus (*session_set_max_seconds)(EmberSession* session, double seconds);

  /* Takes a snapshot of the profile and returns its number of rows; 0 without
   * EmberSessionOptions::profile. Rows and their strings are valid until the
   * next call of session_profile. */
  int32_t (*session_profile)(EmberSession* session);
  EmberStatus (*session_profile_row)(const EmberSession* session, int32_t index,
                                     EmberProfileRow* row);
  /* Returns the number of trace events so far; 0 without
   * EmberSessionOptions::trace. */
  int64_t (*session_trace)(EmberSession* session);
  EmberStatus (*session_trace_event)(EmberSession* session, int64_t index,
                                     EmberTraceEvent* event);
  /* Sets the counters of the profile to 0 and removes the events of the trace.
   */
  EmberStatus (*session_profile_reset)(EmberSession* session);

  /* Returns one line for display. It says how many dispatches run native code
   * of the module and for which processors this code was made, or why no
   * dispatch runs native code. If the module has native code, the logger gets
   * the line, too. The line is valid as long as the session exists. May be
   * called on any thread. */
  const char* (*session_native_kernels)(const EmberSession* session);

  /* --- version 5 --- */
  /* Adds kernels that the program has linked or loaded itself. Sessions on the
   * host run them whatever the value of allow_native, because a program that
   * loads kernels has thereby allowed them. If several files are added, each
   * dispatch gets the kernel that fits this processor best.
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
  /* Adds an overlay file (vm-prejit --overlay): a file with kernels for the
   * module. These kernels need the same permission as kernels in the module's
   * file: allow_native or native_key. The overlay file is mapped, as the
   * module's file is. session_native_kernels says if this processor can run the
   * kernels, and if they are signed. EMBER_FAILED_PRECONDITION: the module
   * already has had a session. EMBER_INVALID_ARGUMENT: the overlay is of
   * another module. */
  EmberStatus (*module_add_overlay)(EmberModule* module, const char* path);

  /* --- version 6 --- */
  /* These functions return metadata of the model: texts that its maker stored
   * in it, such as labels and the author, and texts that the compiler added.
   * Each text has a key; they are sorted by key (docs/formats.md lists the
   * keys). Texts are UTF-8, terminated, and live as long as the module. May be
   * called on any thread. */
  int32_t (*module_metadata_count)(const EmberModule* module);
  /* Returns the key of the metadata entry with this number;
   * module_metadata_value returns the entry's text. NULL: the index is out of
   * range. */
  const char* (*module_metadata_key)(const EmberModule* module, int32_t index);
  const char* (*module_metadata_value)(const EmberModule* module,
                                       int32_t index);
  /* Returns the value of the entry with this key; NULL if the module does not
   * have the key. */
  const char* (*module_metadata)(const EmberModule* module, const char* key);

  /* --- version 7 --- */
  /* Loads a module like the functions module_load_*, and reports progress to
   * options->progress, which can stop the loading. */
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

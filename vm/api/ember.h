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
 * shared; a session is for one thread at a time, but for session_cancel. While
 * a run goes on, another one of its session is EMBER_FAILED_PRECONDITION.
 * Modules need not be trusted: what one takes is bounded by the session's
 * options, and what is over a limit is EMBER_RESOURCE_EXHAUSTED. So is memory
 * of tensors (copied constants, arenas, results, packed operands, scratch) that
 * the system does not give; the session can be used again then. Bookkeeping,
 * which grows with a module's instructions but not with its tensors, comes from
 * operator new: where that fails the process ends by std::terminate, as the
 * library is built without exceptions. Errors: every
 * function that can fail returns a status; error_message() then tells what was
 * wrong, in one line, for the calling thread, until its next failing call.
 */
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
/* Since version 5: kernels that are linked into the program, or in a shared
 * library. What the symbol of a file is that vm-prejit --emit=static,
 * --emit=shared or --emit=c wrote. */
typedef struct EmberKernels EmberKernels;

typedef enum EmberStatus {
  EMBER_OK = 0,
  EMBER_INVALID_ARGUMENT = 1,   /* the caller's input is wrong */
  EMBER_NOT_FOUND = 2,          /* no such file, input or result */
  EMBER_UNIMPLEMENTED = 3,      /* valid, but not supported */
  EMBER_DATA_LOSS = 4,          /* a file is truncated or corrupt */
  EMBER_RESOURCE_EXHAUSTED = 5, /* a limit or memory */
  EMBER_FAILED_PRECONDITION = 6,
  EMBER_INTERNAL = 7,
  EMBER_CANCELLED = 8, /* session_cancel, or EmberProgress::report said so */
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
  /* Bytes of the OCP 8-bit Floating Point Specification, E4M3 and E5M2. */
  EMBER_F8E4M3FN = 13,
  EMBER_F8E5M2 = 14
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

/* --- what sessions take since version 4 --- */

/* Which code runs a dispatch. Kernels come from the optional library
 * libember_jit.so, which is looked for in the folder `library_folder` of the
 * session's options; without one, in the folder of the file that has
 * ember_get_api, in "ember" in it, and in "../ember" and "../lib/ember" from
 * it. It is loaded when it is first needed, and stays loaded. */
typedef enum EmberTier {
  EMBER_TIER_INTERPRETER = 0, /* tier 0: needs nothing, runs at once */
  EMBER_TIER_BASELINE = 1,    /* each dispatch is compiled before it first runs,
                               * once for all shapes; a run that is stopped
                               * meanwhile does not wait, nor do others for what
                               * one waits for: they interpret it until then */
  EMBER_TIER_OPTIMIZED = 2,   /* ... for the shape that it has; once for all
                               * others, after 64 shapes */
  /* The interpreter, while a thread beside it compiles what is hot; where there
   * is no JIT the interpreter alone, and a warning for the logger. On devices
   * that are not the host the same as OPTIMIZED. */
  EMBER_TIER_AUTO = 3
} EmberTier;

/* Since version 6: where kernels are compiled. A worker is a process of its
 * own, ember-compile-worker beside libember_jit.so, which the library starts
 * when a first kernel is wanted, which serves all processes of this user, and
 * which ends when nobody needed it for a minute. Neither signals nor priorities
 * of this process are touched, and what goes wrong in a compiler costs a
 * kernel. */
typedef enum EmberCompileIn {
  /* Else, and for tiers whose callers wait for their kernels, in a thread */
  EMBER_COMPILE_IN_WORKER_IF_THERE = 0,
  EMBER_COMPILE_IN_THREAD = 1, /* the caller's, or one of low priority */
  EMBER_COMPILE_IN_WORKER = 2  /* if it cannot be started, nowhere */
} EmberCompileIn;

/* Where memory for tensors comes from: the arena, results, what the program
 * allocates, and what the interpreter packs, pads and works with. Not the small
 * memory that describes modules and sessions, nor what kernels and drivers of
 * devices take: that comes from malloc.
 * Both functions may be called on any thread, at once. context must stay while
 * the session and the memory of its results live. */
typedef struct EmberAllocator {
  size_t struct_size; /* sizeof(EmberAllocator) */
  void* context;
  /* size bytes, aligned to alignment, a power of two; contents do not matter.
   * NULL: there is no memory, and what needed it is EMBER_RESOURCE_EXHAUSTED.
   */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* What allocate gave for that size. */
  void (*release)(void* context, void* memory, size_t size);
} EmberAllocator;

/* One piece of a parallel computation. */
typedef void (*EmberChunk)(void* work, int64_t chunk, int32_t worker);

/* The caller's threads instead of the session's own. context must stay while
 * the session lives. */
typedef struct EmberThreadPool {
  size_t struct_size; /* sizeof(EmberThreadPool) */
  void* context;
  int32_t worker_count; /* threads that run chunks at once; 1 to 1024 */
  /* Calls chunk(work, i, worker) once for each i in [0, chunk_count), in any
   * order, on any threads, the caller's among them or not, and returns when all
   * have returned. worker is in [0, worker_count), no two calls at once have
   * the same. Called on the thread that runs the session, never from within a
   * chunk. */
  void (*run)(void* context, int64_t chunk_count, EmberChunk chunk, void* work);
} EmberThreadPool;

typedef enum EmberLogLevel {
  EMBER_LOG_INFO = 0,
  EMBER_LOG_WARNING = 1, /* it goes on, but not as was asked for */
  EMBER_LOG_ERROR = 2    /* what error_message() says */
} EmberLogLevel;

/* Told what a session does, one line at a time, without line feed, which is
 * valid during the call. May be called on any thread, at once; it calls no
 * function for the same module or session. context must stay while the session
 * lives. */
typedef struct EmberLogger {
  size_t struct_size; /* sizeof(EmberLogger) */
  void* context;
  void (*log)(void* context, EmberLogLevel level, const char* line);
} EmberLogger;

/* Since version 7: a step of long work, told before it begins. Strings are
 * valid during the call. */
typedef struct EmberProgressEvent {
  size_t struct_size; /* of the library's struct */
  /* "read": from an EmberReader, steps are bytes; "load": dispatches and
   * programs of the module are read and verified; "kernels": native code of
   * the module is checked and put in place. */
  const char* stage;
  const char* item; /* what the step is about: a name in the module */
  int64_t done;     /* steps of the stage that are over */
  int64_t total;    /* that there will be; 0: not known */
} EmberProgressEvent;

/* Told of the work that a call does, on the thread of the call, from within it:
 * do not call functions of the same module. */
typedef struct EmberProgress {
  size_t struct_size; /* sizeof(EmberProgress) */
  void* context;
  /* 0: stop. The call is then EMBER_CANCELLED, and as if it had not been. */
  int32_t (*report)(void* context, const EmberProgressEvent* event);
} EmberProgress;

typedef struct EmberSessionOptions {
  size_t struct_size; /* sizeof(EmberSessionOptions) */
  int32_t threads;    /* that compute, the caller's included; 0: one per core */
  /* Bytes that the module may make the session take; 0: what the machine or its
   * control group has; negative: no limit. */
  int64_t memory_limit;
  /* Since version 3. Of each run: points that it may evaluate (of a sum, its
   * terms), and jumps back and calls in its program. 0: 2^48, and 2^32;
   * negative: no limit. */
  int64_t work_limit;
  int64_t step_limit;
  double max_seconds; /* of each run; 0: as long as it likes */
  /* Since version 4. What pointers point to is copied, or not needed any more,
   * when session_create returns; what contexts point to is not. */
  int32_t tier;    /* an EmberTier */
  int32_t profile; /* not 0: times every dispatch, for session_profile */
  int32_t trace;   /* not 0: keeps an event per dispatch; implies profile */
  /* Not 0: machine code that vm-prejit wrote into the module may run, where
   * there is some for this processor, or for the session's device; what has
   * none runs as `tier` says. It can do whatever this process can: only for
   * modules whose maker is trusted. */
  int32_t allow_native;
  /* As device_info names it: "cpu", "vulkan:1"; NULL: "cpu". Others than "cpu"
   * need tier OPTIMIZED or AUTO. AUTO needs no JIT there where kernels of files
   * are allowed: what they are not for runs on the CPU. */
  const char* device;
  const char* library_folder; /* of optional libraries; NULL: see EmberTier */
  const char* kernel_cache_folder;    /* kernels are kept there for later
                                       * processes; NULL: they are not */
  const EmberAllocator* allocator;    /* NULL: malloc's memory */
  const EmberThreadPool* thread_pool; /* NULL: threads of its own, see threads
                                       */
  const EmberLogger* logger;          /* NULL: nobody is told */
  /* Where allow_native is 0: a public key of 32 bytes; native code may run if
   * the module is signed by it (vm-sign). NULL: none may. */
  const uint8_t* native_key;
  int32_t compile_in; /* since version 6: an EmberCompileIn */
  /* Since version 7; used during session_create. NULL: nobody is told. */
  const EmberProgress* progress;
} EmberSessionOptions;

/* Where a module is read from, in order of the file, each byte once. */
typedef struct EmberReader {
  size_t struct_size; /* sizeof(EmberReader) */
  void* context;
  uint64_t size; /* of the module in bytes */
  /* Up to size bytes at offset, to buffer; returns how many it read. Asked
   * again for what is missing; 0: there is nothing more, negative: an error. */
  int64_t (*read)(void* context, uint64_t offset, void* buffer, size_t size);
} EmberReader;

/* Since version 7: where a module comes from, and who is told meanwhile. Set
 * exactly one of path, data and reader; the rest may be 0. */
typedef struct EmberModuleOptions {
  size_t struct_size;        /* sizeof(EmberModuleOptions) */
  const char* path;          /* as for module_load_file */
  const void* data;          /* as for module_load_memory */
  size_t data_size;          /* of data, in bytes */
  const EmberReader* reader; /* as for module_load_reader */
  /* Not 0: compares the bytes of every constant with their checksum, which
   * reads the whole file: EMBER_DATA_LOSS where they differ. */
  int32_t verify_constants;
  const EmberProgress* progress; /* used during the call; NULL: nobody */
} EmberModuleOptions;

/* Extents of a tensor. */
typedef struct EmberShape {
  int32_t rank;
  const int64_t* dims;
} EmberShape;

/* A string of an input or result: UTF-8 where the model says so, with zero
 * bytes or without; not terminated. */
typedef struct EmberString {
  const char* data;
  size_t size;
} EmberString;

/* Strings, row-major. */
typedef struct EmberStringTensor {
  int32_t rank;
  const int64_t* dims;
  const EmberString* strings;
  size_t count; /* the product of dims */
} EmberStringTensor;

/* A run that was begun with session_run_async has ended. message: of the error;
 * "" if there was none; valid during the call. */
typedef void (*EmberRunDone)(void* context, EmberStatus status,
                             const char* message);

/* The structs below are filled by the library, as far as struct_size, which the
 * caller sets, says that they go. */

/* One dispatch instruction of a program, since the session was made or
 * session_profile_reset. */
typedef struct EmberProfileRow {
  size_t struct_size;   /* sizeof(EmberProfileRow) */
  const char* dispatch; /* its name */
  const char* origin;   /* the model's node names */
  const char* program;
  const char* plan; /* how the last call was executed */
  int64_t calls;
  int64_t total_ns;
  int64_t tier_calls[3]; /* how many of the calls each tier ran */
  int32_t tier;          /* of the last call */
} EmberProfileRow;

/* One call of a dispatch. Times are nanoseconds of the steady clock. */
typedef struct EmberTraceEvent {
  size_t struct_size;   /* sizeof(EmberTraceEvent) */
  const char* dispatch; /* its name */
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t thread;
} EmberTraceEvent;

typedef struct EmberSessionInfo {
  size_t struct_size; /* sizeof(EmberSessionInfo) */
  const char* device; /* "cpu": the driver's name */
  const char* target; /* what kernels are compiled for */
  EmberTier tier;     /* INTERPRETER where AUTO found no JIT */
  int64_t arena_bytes;
  int64_t pool_bytes; /* allocations, results, and plans of tier 0 */
  int64_t peak_bytes; /* of the sum of both */
} EmberSessionInfo;

typedef struct EmberDeviceInfo {
  size_t struct_size;   /* sizeof(EmberDeviceInfo) */
  const char* name;     /* for EmberSessionOptions::device */
  const char* text;     /* for people */
  const char* target;   /* triple and features */
  int64_t memory_bytes; /* its own, or shared with the host; 0: not known */
} EmberDeviceInfo;

typedef struct EmberApi {
  size_t
      struct_size;  /* of the library's table: entries beyond it do not exist */
  uint32_t version; /* of the library */

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* The file is mapped, not copied: it must not change while the module lives,
   * and where another program cuts it off, using the module raises SIGBUS, as
   * with every mapping. Replacing it by renaming is safe. module_load_memory
   * with a copy has no such limits. */
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

  /* --- version 3 --- */
  /* On any thread, while the session lives. Ends the run that goes on, if there
   * is one, with EMBER_CANCELLED, within milliseconds of the interpreter's. The
   * session can be used again. */
  void (*session_cancel)(EmberSession* session);

  /* --- version 4 --- */
  /* All of these say EMBER_INVALID_ARGUMENT of a NULL where a pointer must be,
   * and EMBER_NOT_FOUND of an index out of range. */

  /* Reads a module from an asset, an archive, a socket: into memory of its own,
   * once. The reader is not used after the call. */
  EmberStatus (*module_load_reader)(const EmberReader* reader,
                                    EmberModule** module);

  /* A dim of an input or result: "224", a symbol's name, "N" (equal names are
   * equal extents), of results what is computed from those, "2*N+1", or "?"
   * where nobody knows before the run. NULL for an index out of range. Lives
   * as long as the module. On any thread. */
  const char* (*module_input_dim)(const EmberModule* module, int32_t index,
                                  int32_t dim);
  const char* (*module_result_dim)(const EmberModule* module, int32_t index,
                                   int32_t dim);
  /* The shape that result `index` will have for inputs of these shapes, without
   * a run: writes as many dims as the result's rank; -1: depends on the data.
   * EMBER_INVALID_ARGUMENT with the message that a run would give where shapes
   * do not fit. On any thread. */
  EmberStatus (*module_result_shape)(const EmberModule* module,
                                     const EmberShape* inputs,
                                     int32_t input_count, int32_t index,
                                     int64_t* dims);

  /* Device number `index` of those that a session could use, from 0 on, until
   * EMBER_NOT_FOUND. Strings are valid until the thread's next call of this. */
  EmberStatus (*device_info)(int32_t index, EmberDeviceInfo* info);
  /* Strings live as long as the session. */
  EmberStatus (*session_info)(EmberSession* session, EmberSessionInfo* info);

  /* The strings are copied. */
  EmberStatus (*session_set_input_strings)(EmberSession* session, int32_t index,
                                           const EmberStringTensor* tensor);
  /* Of the last run; valid until the next run, or until the session is
   * released. */
  EmberStatus (*session_result_strings)(EmberSession* session, int32_t index,
                                        EmberStringTensor* tensor);
  /* From the next run on the result is written to `data`, of byte_size bytes,
   * and session_result gives that memory; if it does not fit, the run fails
   * with EMBER_INVALID_ARGUMENT. The memory must stay while runs use it, be
   * aligned for the elements, and share nothing with inputs and other results,
   * which a run refuses. data NULL: the session's own memory again. Without it
   * results are where the run left them: reading them with session_result
   * copies nothing. */
  EmberStatus (*session_set_output)(EmberSession* session, int32_t index,
                                    void* data, size_t byte_size);

  /* Runs on a thread of the session's own, made by the first call. Until the
   * run is over, all functions of the session but session_cancel,
   * session_progress and session_release are EMBER_FAILED_PRECONDITION (counts
   * are 0). `done` may be NULL; it is called on that thread when the session
   * can be used again, may read results and begin the next run, and must not
   * release the session. fence may be NULL; else it is the caller's, and is
   * signalled after `done` has returned. EMBER_RESOURCE_EXHAUSTED: there is no
   * thread. */
  EmberStatus (*session_run_async)(EmberSession* session, EmberRunDone done,
                                   void* context, EmberFence** fence);
  /* Waits for the run, up to that many seconds; negative: as long as it takes.
   * The run's status, whose error_message() is then this thread's, or
   * EMBER_NOT_READY. On any threads at once. */
  EmberStatus (*fence_wait)(EmberFence* fence, double seconds);
  /* Whether fence_wait would return at once with the run's status. On any
   * thread. */
  int32_t (*fence_is_signalled)(const EmberFence* fence);
  /* Before the run is over, too; not while another thread waits. A fence may
   * outlive its session, whose release ends the run. */
  void (*fence_release)(EmberFence* fence);

  /* On any thread, while the session lives: how many dispatches the run that
   * goes on, or the last one, has begun; and how many are expected: as many as
   * the last successful run had, before it the number of dispatch instructions
   * in the module. Either pointer may be NULL. */
  EmberStatus (*session_progress)(const EmberSession* session, int64_t* begun,
                                  int64_t* expected);
  /* From the next run on instead of EmberSessionOptions::max_seconds. */
  EmberStatus (*session_set_max_seconds)(EmberSession* session, double seconds);

  /* Takes the profile; returns the number of rows, 0 without
   * EmberSessionOptions::profile. Rows, and their strings, are valid until the
   * next call of this. */
  int32_t (*session_profile)(EmberSession* session);
  EmberStatus (*session_profile_row)(const EmberSession* session, int32_t index,
                                     EmberProfileRow* row);
  /* The number of events so far; 0 without EmberSessionOptions::trace. */
  int64_t (*session_trace)(EmberSession* session);
  EmberStatus (*session_trace_event)(EmberSession* session, int64_t index,
                                     EmberTraceEvent* event);
  /* Forgets profile and trace. */
  EmberStatus (*session_profile_reset)(EmberSession* session);

  /* One line, for people: how many dispatches run native code of the module,
   * for which processors it is, or why none does. Lives as long as the session.
   * Also for the logger, where the module has native code. On any thread. */
  const char* (*session_native_kernels)(const EmberSession* session);

  /* --- version 5 --- */
  /* Kernels that the program has loaded itself, which is their permission:
   * sessions on the host run them whatever allow_native says. Of several files
   * those that fit this processor best are taken, for each dispatch.
   *
   *   #include "model.h"
   *   ember->module_add_kernels(module, &ember_kernels_model);
   *
   *   void* library = dlopen("libmodel.so", RTLD_NOW);
   *   ember->module_add_kernels(module, dlsym(library, "ember_kernels"));
   *
   * The memory must stay while the module and its sessions live. Before the
   * module's first session, else EMBER_FAILED_PRECONDITION.
   * EMBER_INVALID_ARGUMENT: they are of another module, or no kernels;
   * EMBER_UNIMPLEMENTED: they are of another version, or this processor lacks
   * something that they all need. Then the module runs without them. */
  EmberStatus (*module_add_kernels)(EmberModule* module,
                                    const EmberKernels* kernels);
  /* An overlay file (vm-prejit --overlay): kernels of the module in a file of
   * their own, for which allow_native or native_key is the permission as it is
   * for those in the module. The file is mapped, as the module's is. Before the
   * module's first session, else EMBER_FAILED_PRECONDITION.
   * EMBER_INVALID_ARGUMENT: it is of another module; whether this processor can
   * run it, and whether it is signed, session_native_kernels tells. */
  EmberStatus (*module_add_overlay)(EmberModule* module, const char* path);

  /* --- version 6 --- */
  /* What the model's maker wrote beside it, such as labels and the author, and
   * what was added when it was compiled: texts by their keys, in ascending
   * order of the keys (docs/formats.md says which there are). UTF-8,
   * terminated; they live as long as the module. On any thread. */
  int32_t (*module_metadata_count)(const EmberModule* module);
  /* NULL for an index out of range. */
  const char* (*module_metadata_key)(const EmberModule* module, int32_t index);
  const char* (*module_metadata_value)(const EmberModule* module,
                                       int32_t index);
  /* The value of a key; NULL where the module has none of it. */
  const char* (*module_metadata)(const EmberModule* module, const char* key);

  /* --- version 7 --- */
  /* The functions module_load_* in one, with a progress that can stop it. */
  EmberStatus (*module_load)(const EmberModuleOptions* options,
                             EmberModule** module);
} EmberApi;

/* NULL if the library is older than the version asked for. */
EMBER_EXPORT const EmberApi* ember_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_VM_API_EMBER_H_ */

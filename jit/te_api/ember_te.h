/* The C API to write kernels: tensor expressions, schedules, compiled code.
 *
 *   const EmberTeApi* te = ember_get_te_api(EMBER_TE_API_VERSION);
 *   EmberTeParseOptions options = {sizeof(options)};
 *   options.text = "a: f32[64, 512]  b: f32[512, 32]"
 *                  "y[i, j] = sum(k) a[i, k] * b[k, j]";
 *   options.text_size = strlen(options.text);
 *   te->dispatch_parse(&options, &dispatch);
 *   te->schedule_create(dispatch, NULL, &schedule);
 *   te->schedule_apply(schedule, "split %y j 16 -> jo ji");
 *   te->schedule_apply(schedule, "reorder %y k ji");
 *   te->schedule_apply(schedule, "vectorize %y ji");
 *   te->kernel_compile(schedule, NULL, &kernel);
 *   te->kernel_run(kernel, &call);
 *
 * All functions are entries of one table. Later versions only append to the
 * table and to structs, so a program built for version N runs with every
 * library of version N or later. Structs begin with their size for the same
 * reason. The library is libember_jit.so; compiling for this machine also needs
 * libember_llvm.so, which is beside it and is loaded by the first compilation.
 *
 * Ownership: an object that a function returns is released with the release
 * function for its type. Releasing NULL does nothing. A schedule may outlive
 * its dispatch, and a kernel its schedule. Strings are valid as long as their
 * object, if nothing else is said.
 *
 * Threads: any number of threads may use different objects. Dispatches and
 * kernels are constant, so threads may share them. A schedule may be used by
 * one thread at a time.
 *
 * Trust: texts need not be trusted: they give an error or an object. A kernel
 * accesses only the buffers of its call and its own memory, which is proved
 * before it is compiled. A text may ask for a long computation or for much
 * memory. If memory is exhausted, the process ends.
 *
 * Errors: every function that can fail returns a status. error_message() then
 * returns one line that says what was wrong. Each thread has its own line,
 * which is valid until the next failing call on this thread. */
#ifndef EMBER_JIT_TE_API_EMBER_TE_H_
#define EMBER_JIT_TE_API_EMBER_TE_H_

#include <stddef.h>
#include <stdint.h>

/* ember.h is in the same folder in an installed package. */
#include "ember.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_TE_API_VERSION 1

/* A computation on tensors: its stages are tensor expressions. */
typedef struct EmberTeDispatch EmberTeDispatch;
/* A list of steps that say how the stages of a dispatch become loops. */
typedef struct EmberTeSchedule EmberTeSchedule;
/* The code that a schedule makes of a dispatch for a target. */
typedef struct EmberTeKernel EmberTeKernel;
/* A flag by which another thread stops calls. */
typedef struct EmberTeStop EmberTeStop;

/* A form in which the text of a dispatch is written. */
typedef enum EmberTeForm {
  /* A short notation: y[i, j] = sum(k) a[i, k] * b[k, j]; see
   * tensor/notation/README.md. */
  EMBER_TE_NOTATION = 0,
  /* The complete form: dispatch @y(...) -> (...) { ... }; see
   * tensor/GRAMMAR.md. */
  EMBER_TE_DISPATCH = 1
} EmberTeForm;

/* A dim of an input: a number, or the name of an extent whose value each call
 * gives. EmberTeDim and EmberTeInput never grow in later versions, because
 * callers put them in arrays. */
typedef struct EmberTeDim {
  int64_t extent; /* number of elements along the dim; used if name is NULL */
  /* name of the extent; dims with equal names have equal extents */
  const char* name;
} EmberTeDim;

/* An input of the dispatch that the text does not declare. */
typedef struct EmberTeInput {
  const char* name;
  EmberType type;
  int32_t rank;
  const EmberTeDim* dims;
} EmberTeInput;

typedef struct EmberTeParseOptions {
  size_t struct_size; /* sizeof(EmberTeParseOptions) */
  const char* text;
  size_t text_size;
  EmberTeForm form;
  /* Name of the dispatch; NULL: the name of its first result. `name` and
   * `inputs` are used for EMBER_TE_NOTATION only. */
  const char* name;
  const EmberTeInput* inputs;
  size_t input_count;
} EmberTeParseOptions;

typedef enum EmberTeRole {
  EMBER_TE_INPUT = 0,
  EMBER_TE_OUTPUT = 1,
  EMBER_TE_TEMPORARY = 2
} EmberTeRole;

/* The caller sets struct_size in each struct whose name ends with Info. The
 * library writes only the fields that fit into this size. */

typedef struct EmberTeBufferInfo {
  size_t struct_size;
  const char* name;
  EmberType type;
  EmberTeRole role;
  int32_t rank;
  /* number of elements along each dim; -1 if each call gives it */
  const int64_t* dims;
} EmberTeBufferInfo;

/* A stage of a schedule. Its strings are valid until the schedule changes. */
typedef struct EmberTeStageInfo {
  size_t struct_size;
  const char* name; /* name of the buffer that the stage stores */
  int32_t loop_count;
  /* The stage and the loop inside which this stage is computed (compute_at); ""
   * if it is not attached. */
  const char* attached_stage;
  const char* attached_loop;
} EmberTeStageInfo;

/* A loop of a stage. Its strings are valid until the schedule changes. */
typedef struct EmberTeLoopInfo {
  size_t struct_size;
  const char* name;
  int64_t extent; /* number of iterations; -1 if each call gives it */
  /* execution of the loop: "serial", "parallel", "unrolled", "vector", ... */
  const char* mark;
  int32_t is_reduction;
} EmberTeLoopInfo;

/* A primitive: a transformation of loops that a step of a schedule applies. Its
 * strings are valid forever. */
typedef struct EmberTePrimitiveInfo {
  size_t struct_size;
  const char* name; /* "split" */
  /* the operands and results: "%stage loop factor -> outer inner" */
  const char* usage;
  const char* doc;
  int32_t operand_count;
  int32_t result_count;
  int32_t keeps_rounding;
} EmberTePrimitiveInfo;

/* An operand or a result of a primitive. It is one word of a step's line, or
 * several if is_repeated. Its strings are valid forever. */
typedef struct EmberTeOperandInfo {
  size_t struct_size;
  const char* name;
  /* Kind of the operand, by a name of jit/schedule/core/operands.h: "stage",
   * "loop", "number", ... A result is a new "loop" or "stage". */
  const char* kind;
  int32_t is_optional;
  int32_t is_repeated;
} EmberTeOperandInfo;

typedef struct EmberTeCompileOptions {
  size_t struct_size; /* sizeof(EmberTeCompileOptions) */
  /* The target, as vm-prejit --target names it: "c11",
   * "vulkan1.3+subgroup32+shared49152", "sm_90a+subgroup32+shared232448". NULL:
   * this machine. Only a kernel for this machine can run. */
  const char* target;
  /* Number of threads that run a kernel's parallel loops, including the thread
   * that calls kernel_run; 0: one. Only for kernels for this machine. */
  int32_t threads;
} EmberTeCompileOptions;

/* The buffers of a call, in the dispatch's order. Inputs and outputs must not
 * overlap. */
typedef struct EmberTeCall {
  size_t struct_size; /* sizeof(EmberTeCall) */
  const EmberTensor* inputs;
  int32_t input_count;
  void* const* outputs;
  const size_t* output_sizes; /* in bytes */
  int32_t output_count;
  /* The flag that may stop the call; NULL: none. After stop_request the call
   * ends with EMBER_CANCELLED, and the contents of the outputs are undefined. A
   * kernel stops between two iterations of its parallel loops. */
  EmberTeStop* stop;
} EmberTeCall;

typedef struct EmberTeTimeOptions {
  size_t struct_size; /* sizeof(EmberTeTimeOptions) */
  /* seconds for measuring all kernels together, at most 3600; 0: 1 */
  double seconds;
} EmberTeTimeOptions;

typedef struct EmberTeApi {
  /* Size in bytes of this table in the library. A caller must not use functions
   * beyond this size. */
  size_t struct_size;
  uint32_t version; /* EMBER_TE_API_VERSION of the library */

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* Creates a flag. Any number of calls may use the same flag. */
  EmberStatus (*stop_create)(EmberTeStop** stop);
  /* Stops the calls that use the flag, current and later ones. May be called on
   * any thread and in a signal handler. */
  void (*stop_request)(EmberTeStop* stop);
  void (*stop_release)(EmberTeStop* stop);

  /* --- dispatches --- */

  /* Parses the text of a dispatch, which is written in the form options->form.
   * The message of an error contains the line and the column, counted from 1.
   * */
  EmberStatus (*dispatch_parse)(const EmberTeParseOptions* options,
                                EmberTeDispatch** dispatch);
  void (*dispatch_release)(EmberTeDispatch* dispatch);
  const char* (*dispatch_name)(const EmberTeDispatch* dispatch);
  /* Returns the text of the dispatch in the form EMBER_TE_DISPATCH. */
  const char* (*dispatch_text)(const EmberTeDispatch* dispatch);
  /* Describes the buffer with the number `index`, counted from 0: inputs, then
   * outputs, then temporaries. Returns EMBER_NOT_FOUND after the last one. */
  EmberStatus (*dispatch_buffer)(const EmberTeDispatch* dispatch, int32_t index,
                                 EmberTeBufferInfo* info);
  /* Computes the dims of output number `output` from the inputs of the call,
   * and writes them to `dims`, which has room for the output's rank. The call's
   * outputs are not used. Errors: an input has another type or other dims than
   * declared. */
  EmberStatus (*dispatch_output_dims)(const EmberTeDispatch* dispatch,
                                      const EmberTeCall* call, int32_t output,
                                      int64_t* dims);
  /* Computes the outputs with the scalar evaluator, which is slow; it defines
   * the results that kernels must give. in_f64: if it is not 0, sums of f32 are
   * accumulated in f64, as a reference for comparisons within a tolerance. */
  EmberStatus (*dispatch_evaluate)(const EmberTeDispatch* dispatch,
                                   const EmberTeCall* call, int32_t in_f64);

  /* --- schedules --- */

  /* Makes a schedule of the dispatch. If default_target is NULL, it has no
   * steps, and its loops are the axes as the dispatch has them. Otherwise
   * default_target is "host" or a target as in EmberTeCompileOptions, and the
   * schedule has the steps that the JIT chooses for this target; before those,
   * adjacent axes may have been joined. */
  EmberStatus (*schedule_create)(const EmberTeDispatch* dispatch,
                                 const char* default_target,
                                 EmberTeSchedule** schedule);
  EmberStatus (*schedule_copy)(const EmberTeSchedule* schedule,
                               EmberTeSchedule** copy);
  void (*schedule_release)(EmberTeSchedule* schedule);
  /* Applies one step, such as "split %y i 16 -> io ii". Errors:
   * EMBER_INVALID_ARGUMENT if the line is no step or an operand is wrong;
   * EMBER_FAILED_PRECONDITION, with the reason, if the primitive is refused.
   * After an error the schedule is as it was. */
  EmberStatus (*schedule_apply)(EmberTeSchedule* schedule, const char* line);
  /* Applies several steps, one per line, such as those that schedule_text
   * returned. Stops at the first error, which names the line; the steps before
   * it stay applied. */
  EmberStatus (*schedule_replay)(EmberTeSchedule* schedule, const char* text);
  /* Returns the steps that were applied, one per line. The text is valid until
   * the next call for the schedule. */
  const char* (*schedule_text)(EmberTeSchedule* schedule);
  /* Lowers the schedule to its loop nest, and sets *text to the nest's text.
   * That text is valid until the next call for the schedule. */
  EmberStatus (*schedule_nest)(EmberTeSchedule* schedule, const char** text);
  /* Describes stage number `index`, counted in the order in which stages run.
   * Returns EMBER_NOT_FOUND after the last one. */
  EmberStatus (*schedule_stage)(EmberTeSchedule* schedule, int32_t index,
                                EmberTeStageInfo* info);
  /* Describes loop number `index` of a stage, counted from the outermost.
   * Returns EMBER_NOT_FOUND after the last one. */
  EmberStatus (*schedule_loop)(EmberTeSchedule* schedule, int32_t stage,
                               int32_t index, EmberTeLoopInfo* info);
  /* primitive_info describes primitive number `index`. primitive_operand
   * describes its operand or result number `operand`: operands are counted
   * first, then results. Both return EMBER_NOT_FOUND after the last one. */
  EmberStatus (*primitive_info)(int32_t index, EmberTePrimitiveInfo* info);
  EmberStatus (*primitive_operand)(int32_t index, int32_t operand,
                                   EmberTeOperandInfo* info);

  /* --- kernels --- */

  /* Compiles the present steps of the schedule. options may be NULL. Errors:
   * EMBER_UNIMPLEMENTED or EMBER_FAILED_PRECONDITION, with the reason, if the
   * schedule cannot be compiled for the target; EMBER_NOT_FOUND if LLVM is
   * needed and its library is missing. */
  EmberStatus (*kernel_compile)(const EmberTeSchedule* schedule,
                                const EmberTeCompileOptions* options,
                                EmberTeKernel** kernel);
  void (*kernel_release)(EmberTeKernel* kernel);
  /* Returns the target that the kernel was compiled for, as text. */
  const char* (*kernel_target)(const EmberTeKernel* kernel);
  /* Returns one textual form of the kernel's code, with the number `index`.
   * *extension says which form: ".ll", ".s", ".ptx", ".spvasm", ".device.loops"
   * or ".c". Returns EMBER_NOT_FOUND after the last one. */
  EmberStatus (*kernel_code)(const EmberTeKernel* kernel, int32_t index,
                             const char** extension, const char** text);
  /* Runs the kernel. Errors: a buffer does not fit the dispatch; an index that
   * was read from a buffer is out of range; EMBER_FAILED_PRECONDITION if the
   * kernel is not for this machine. */
  EmberStatus (*kernel_run)(const EmberTeKernel* kernel,
                            const EmberTeCall* call);
  /* Measures kernels in rounds of one call of each, so that changes of the
   * machine's speed affect all alike. calls: one for each kernel. Writes the
   * median and the least time of a call of each kernel, in nanoseconds; either
   * pointer may be NULL. A short call is repeated, and its time is the mean. */
  EmberStatus (*kernels_time)(const EmberTeKernel* const* kernels,
                              const EmberTeCall* const* calls, int32_t count,
                              const EmberTeTimeOptions* options, double* median,
                              double* least);
  /* Measures the highest rate at which this machine executes multiply-adds of
   * f32, in 10^9 operations per second; a multiply-add counts as two
   * operations. seconds: 0 to 60. */
  EmberStatus (*machine_peak)(int32_t threads, double seconds, double* gflops);
} EmberTeApi;

/* Returns the table of functions, or NULL if the library is older than the
 * requested version. */
EMBER_EXPORT const EmberTeApi* ember_get_te_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_JIT_TE_API_EMBER_TE_H_ */

/* The C API of the compiler: turn a model into a module, in the program.
 *
 *   const EmberCompilerApi* compiler =
 *       ember_get_compiler_api(EMBER_COMPILER_API_VERSION);
 *   EmberCompileOptions options = {sizeof(options)};
 *   EmberCompilation* compilation;
 *   options.path = "resnet50.onnx";
 *   if (compiler->compile(&options, &compilation) != EMBER_OK ||
 *       compiler->compilation_write(compilation, "resnet50.vmfb") != EMBER_OK) {
 *     puts(compiler->error_message());
 *   }
 *   compiler->compilation_release(compilation);
 *
 * All functions are entries of one table. Later versions only append to the
 * table and to structs, so a program built for version N runs with every
 * library of version N or later. Structs begin with their size for the same
 * reason. The library is libember_compiler.so; it runs no models.
 *
 * Ownership: an object that a function returns is released with the release
 * function for its type. Releasing NULL does nothing.
 *
 * Threads: any number of threads may compile at once. Any number of threads may
 * read one compilation at once. compile needs a stack of 8 MB, which threads
 * have by default on Linux with glibc.
 *
 * Trust: models need not be trusted. Their structure, types and sizes are
 * checked. Files beside a model are read only from the model's folder. The
 * options limit the time and memory of a compilation; see memory_limit for what
 * it cannot limit.
 *
 * Errors: every function that can fail returns a status. error_message() then
 * returns one line that says what was wrong. Each thread has its own line,
 * which is valid until the next failing call on this thread. No exception
 * leaves the library. */
#ifndef EMBER_TOOLS_COMPILER_API_EMBER_COMPILER_H_
#define EMBER_TOOLS_COMPILER_API_EMBER_COMPILER_H_

#include <stddef.h>
#include <stdint.h>

/* ember.h is in the same folder in an installed package. */
#include "ember.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_COMPILER_API_VERSION 1

/* The result of a compilation: a module, and diagnostics. */
typedef struct EmberCompilation EmberCompilation;
/* A token by which any thread can stop compilations. */
typedef struct EmberCancelToken EmberCancelToken;

/* A named value, by which an input of the model is replaced. */
typedef struct EmberNamedTensor {
  const char* name; /* name of the input */
  EmberTensor tensor;
} EmberNamedTensor;

/* An entry of the module's metadata. Both texts are UTF-8. */
typedef struct EmberMetadata {
  const char* key;
  const char* value;
} EmberMetadata;

/* Says which model is compiled, and how. Set exactly one of path and data. All
 * other fields may be 0. compile uses all pointers during the call only, except
 * data. */
typedef struct EmberCompileOptions {
  size_t struct_size; /* sizeof(EmberCompileOptions) */
  /* Path of the model's file, or of its folder (a SavedModel, an .mlpackage).
   */
  const char* path;
  /* The model as bytes. They must stay valid until the compilation is released,
   * because constants of the module may refer to them. Bytes that are not
   * aligned to 64 are copied. */
  const void* data;
  size_t data_size;
  /* Name of the model in messages if it is given as bytes, without a slash;
   * NULL: "model". A file extension helps to recognise the format of damaged
   * bytes. */
  const char* name;
  /* Folder of the files to which the bytes refer, such as external weights.
   * NULL: the bytes may not refer to files. */
  const char* folder;
  /* Name of the model's format as format_info gives it; NULL: it is recognised
   * by the contents. */
  const char* format;
  /* Shapes of inputs whose dims the model leaves open: "x=1x3x224x224", where
   * "?" leaves a dim open. "x=5xi64" also gives the type, if the model does
   * not. */
  const char* const* shapes;
  size_t shape_count;
  /* Sizes of open dims, given by the dims' names: "batch=8". */
  const char* const* symbols;
  size_t symbol_count;
  /* Inputs that become constants of the module; not for inputs of strings. */
  const EmberNamedTensor* constants;
  size_t constant_count;
  /* Entries that are added to the module's metadata, or replace the model's. */
  const EmberMetadata* metadata;
  size_t metadata_count;
  /* Name of the function to compile, if the model has several; NULL: its main
   * function. */
  const char* entry;
  /* Not 0: inputs' open dims that have the same name in the model may differ
   * from each other. */
  int32_t separate_dims;
  /* Names of compiler passes to leave out, as vm-compile --print-pipeline lists
   * them. */
  const char* const* disabled_passes;
  size_t disabled_pass_count;
  /* Largest number of bytes by which the writable memory of this process may
   * grow during the call; 0 or negative: no limit. Memory that other threads
   * take counts, too. The limit is checked before each step that
   * EmberProgress::report would see, so that a single step can exceed it. A
   * program that compiles models of strangers should do so in a process whose
   * memory the system limits. */
  int64_t memory_limit;
  /* Time limit of the call, checked before each step; 0: no limit. */
  double max_seconds;
  /* Receives the operators of the model (stage "import") and the passes of the
   * compiler (stage "compile"). May be NULL. */
  const EmberProgress* progress;
  /* Stops the call at the next step after cancel_token_cancel. May be NULL. The
   * token must stay valid during the call. */
  const EmberCancelToken* cancel;
} EmberCompileOptions;

typedef enum EmberSeverity {
  EMBER_NOTE = 0, /* a remark; the compilation succeeded */
  EMBER_ERROR = 1
} EmberSeverity;

/* The library fills the structs below. The caller sets struct_size before the
 * call; the library writes only the fields that fit into this size. */

typedef struct EmberDiagnostic {
  size_t struct_size; /* sizeof(EmberDiagnostic) */
  EmberSeverity severity;
  EmberStatus code;    /* error code; EMBER_OK for a note */
  const char* message; /* one line of text, without the file and node below */
  const char* file;    /* path of the model, or name of its bytes */
  /* The step that was in progress. `stage` is "import", "compile", or "" before
   * the first step. `step` is the type of the model's operator or the name of
   * the pass, or "". */
  const char* stage;
  const char* step;
  /* The node of the model that the message is about, for example "conv1
   * (Conv)"; "" if there is none. */
  const char* node;
} EmberDiagnostic;

typedef struct EmberFormatInfo {
  size_t struct_size;     /* sizeof(EmberFormatInfo) */
  const char* name;       /* for EmberCompileOptions::format */
  const char* title;      /* for display */
  const char* extensions; /* file extensions, separated by spaces: ".pt .pth" */
} EmberFormatInfo;

typedef struct EmberCompilerApi {
  /* Size of the library's table in bytes. The library has no function beyond
   * it. */
  size_t struct_size;
  uint32_t version; /* the library's EMBER_COMPILER_API_VERSION */

  /* --- version 1 --- */
  const char* (*error_message)(void);

  /* Describes the format with the number `index`, counted from 0. Returns
   * EMBER_NOT_FOUND after the last one. Strings are valid forever. */
  EmberStatus (*format_info)(int32_t index, EmberFormatInfo* info);

  /* Creates a token. One token may stop any number of compilations. */
  EmberStatus (*cancel_token_create)(EmberCancelToken** token);
  /* Stops the compilations that have the token, now and later: they return
   * EMBER_CANCELLED. May be called on any thread and in a signal handler. */
  void (*cancel_token_cancel)(EmberCancelToken* token);
  void (*cancel_token_release)(EmberCancelToken* token);

  /* Compiles a model. *compilation becomes a new object, also if the call
   * fails: the object then has the diagnostics, but no module. It becomes NULL
   * only if there is no memory, or if an argument that must not be NULL is
   * NULL. */
  EmberStatus (*compile)(const EmberCompileOptions* options,
                         EmberCompilation** compilation);
  void (*compilation_release)(EmberCompilation* compilation);
  /* Returns the module as bytes, which are aligned to 64, so that
   * module_load_memory uses them in place. They are valid until the compilation
   * is released. The first call makes them. EMBER_FAILED_PRECONDITION: the
   * compilation has failed. */
  EmberStatus (*compilation_module)(EmberCompilation* compilation,
                                    const void** data, size_t* size);
  /* Writes the module to a file. Readers of the file see the old or the new
   * contents, never a part. Takes less memory than compilation_module. */
  EmberStatus (*compilation_write)(EmberCompilation* compilation,
                                   const char* path);
  int32_t (*compilation_diagnostic_count)(const EmberCompilation* compilation);
  /* Returns a diagnostic. Its strings are valid until the compilation is
   * released. */
  EmberStatus (*compilation_diagnostic)(const EmberCompilation* compilation,
                                        int32_t index,
                                        EmberDiagnostic* diagnostic);
} EmberCompilerApi;

/* Returns the table of functions, or NULL if the library is older than the
 * requested version. */
EMBER_EXPORT const EmberCompilerApi* ember_get_compiler_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_TOOLS_COMPILER_API_EMBER_COMPILER_H_ */

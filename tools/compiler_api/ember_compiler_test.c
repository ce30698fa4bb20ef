/* Tests the compiler's C API by using it as an application does, compiled as C.
 * The modules are run by the C API of the runtime. */
#include "tools/compiler_api/ember_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, \
             #condition, compiler->error_message());                     \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

static const EmberCompilerApi* compiler;

/* A model in StableHLO's text form that computes y = x + x, where x has an open
 * dim. */
static const char kModel[] =
    "module @double {\n"
    "  func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\n"
    "    %0 = stablehlo.add %x, %x : tensor<?x3xf32>\n"
    "    return %0 : tensor<?x3xf32>\n"
    "  }\n"
    "}\n";
static const char kWrongModel[] =
    "module @wrong {\n"
    "  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
    "    %0 = stablehlo.frobnicate %x : tensor<2xf32>\n"
    "    return %0 : tensor<2xf32>\n"
    "  }\n"
    "}\n";

static EmberCompileOptions OptionsOf(const char* model) {
  EmberCompileOptions options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.data = model;
  options.data_size = strlen(model);
  options.name = "test.mlir";
  return options;
}

static int HasError(const char* text) {
  return strstr(compiler->error_message(), text) != NULL;
}

static void TestArguments(void) {
  EmberCompilation* compilation = (EmberCompilation*)1;
  EmberCompileOptions options = OptionsOf(kModel);
  EXPECT(compiler->compile(NULL, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(compilation == NULL);
  EXPECT(compiler->compile(&options, NULL) == EMBER_INVALID_ARGUMENT);
  options.struct_size = 8;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("options: expected a struct_size of "));
  compiler->compilation_release(compilation);
  options = OptionsOf(kModel);
  options.path = "model.onnx";
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("options: expected one of path and data, found both"));
  compiler->compilation_release(compilation);
  options = OptionsOf(kModel);
  options.format = "onxx";
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("found 'onxx'"));
  compiler->compilation_release(compilation);
  options = OptionsOf(kModel);
  options.shape_count = 1;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("shapes: expected 1 items, found NULL"));
  compiler->compilation_release(compilation);
  compiler->compilation_release(NULL);
  compiler->cancel_token_cancel(NULL);
  compiler->cancel_token_release(NULL);
}

static void TestFormats(void) {
  EmberFormatInfo info = {sizeof(info), NULL, NULL, NULL};
  int count = 0;
  int has_onnx = 0;
  while (compiler->format_info(count, &info) == EMBER_OK) {
    has_onnx |=
        strcmp(info.name, "onnx") == 0 && strcmp(info.extensions, ".onnx") == 0;
    ++count;
  }
  EXPECT(has_onnx);
  EXPECT(compiler->format_info(count, &info) == EMBER_NOT_FOUND);
  EXPECT(compiler->format_info(-1, &info) == EMBER_NOT_FOUND);
  /* struct_size ends before `title`, so the library must not write `title`. */
  info.struct_size = offsetof(EmberFormatInfo, title);
  info.title = "kept";
  EXPECT(compiler->format_info(0, &info) == EMBER_OK);
  EXPECT(strcmp(info.title, "kept") == 0);
}

/* Runs the module for x = 1, 2, 3 and checks the result. */
static void Run(const void* data, size_t size) {
  const EmberApi* ember = ember_get_api(1);
  static const float x[3] = {1, 2, 3};
  const int64_t dims[2] = {1, 3};
  EmberTensor tensor = {EMBER_F32, 2, dims, x, sizeof(x)};
  EmberModule* module = NULL;
  EmberSession* session = NULL;
  EXPECT(ember->module_load_memory(data, size, &module) == EMBER_OK);
  if (module == NULL) return;
  EXPECT(ember->session_create(module, NULL, &session) == EMBER_OK);
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  EXPECT(ember->session_run(session) == EMBER_OK);
  EXPECT(ember->session_result(session, 0, &tensor) == EMBER_OK);
  EXPECT(((const float*)tensor.data)[2] == 6);
  ember->session_release(session);
  ember->module_release(module);
}

static void TestModule(const char* folder) {
  const char* shapes[1] = {"x=1x3"};
  const EmberMetadata metadata[1] = {{"author", "Ada"}};
  EmberCompileOptions options = OptionsOf(kModel);
  EmberCompilation* compilation = NULL;
  const void* data = NULL;
  const void* again = NULL;
  size_t size = 0;
  char path[1024];
  options.metadata = metadata;
  options.metadata_count = 1;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  EXPECT(compiler->compilation_module(compilation, &data, &size) == EMBER_OK);
  EXPECT((uintptr_t)data % 64 == 0);
  EXPECT(size > 64 && memcmp(data, "EMBR", 4) == 0);
  EXPECT(compiler->compilation_module(compilation, &again, &size) == EMBER_OK);
  EXPECT(again == data);
  Run(data, size);
  compiler->compilation_release(compilation);

  snprintf(path, sizeof(path), "%s/ember_compiler_test.vmfb", folder);
  options.shapes = shapes;
  options.shape_count = 1;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  EXPECT(compiler->compilation_write(compilation, path) == EMBER_OK);
  EXPECT(compiler->compilation_write(compilation, "/nonexistent/a.vmfb") !=
         EMBER_OK);
  EXPECT(HasError("/nonexistent"));
  compiler->compilation_release(compilation);
  remove(path);
  shapes[0] = "x";
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("shapes: 'x': expected NAME=1x3x224x224"));
  compiler->compilation_release(compilation);
}

static void TestSymbols(void) {
  const char* symbols[1] = {"batch"};
  EmberCompileOptions options = OptionsOf(kModel);
  EmberCompilation* compilation = NULL;
  options.symbols = symbols;
  options.symbol_count = 1;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("symbols: expected NAME=EXTENT, found 'batch'"));
  compiler->compilation_release(compilation);
  symbols[0] = "batch=8";
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  compiler->compilation_release(compilation);
}

static void TestPath(const char* folder) {
  EmberCompileOptions options = OptionsOf(kModel);
  EmberCompilation* compilation = NULL;
  char path[1024];
  FILE* file;
  snprintf(path, sizeof(path), "%s/ember_compiler_test.mlir", folder);
  file = fopen(path, "w");
  EXPECT(file != NULL);
  if (file == NULL) return;
  fputs(kModel, file);
  fclose(file);
  options.data = NULL;
  options.path = path;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  compiler->compilation_release(compilation);
  remove(path);
  EXPECT(compiler->compile(&options, &compilation) == EMBER_NOT_FOUND);
  EXPECT(HasError("No such file"));
  compiler->compilation_release(compilation);
}

static void TestDiagnostics(void) {
  EmberCompileOptions options = OptionsOf(kWrongModel);
  EmberCompilation* compilation = NULL;
  EmberDiagnostic diagnostic;
  const void* data = NULL;
  size_t size = 0;
  memset(&diagnostic, 0, sizeof(diagnostic));
  diagnostic.struct_size = sizeof(diagnostic);
  EXPECT(compiler->compile(&options, &compilation) == EMBER_UNIMPLEMENTED);
  EXPECT(HasError("test.mlir: ") && HasError("frobnicate"));
  EXPECT(compiler->compilation_diagnostic_count(compilation) == 1);
  EXPECT(compiler->compilation_diagnostic(compilation, 0, &diagnostic) ==
         EMBER_OK);
  EXPECT(diagnostic.severity == EMBER_ERROR);
  EXPECT(diagnostic.code == EMBER_UNIMPLEMENTED);
  EXPECT(strcmp(diagnostic.file, "test.mlir") == 0);
  EXPECT(strstr(diagnostic.message, "frobnicate") != NULL);
  EXPECT(strstr(diagnostic.message, "test.mlir") == NULL);
  EXPECT(compiler->compilation_diagnostic(compilation, 1, &diagnostic) ==
         EMBER_NOT_FOUND);
  EXPECT(compiler->compilation_module(compilation, &data, &size) ==
         EMBER_FAILED_PRECONDITION);
  EXPECT(data == NULL);
  EXPECT(compiler->compilation_write(compilation, "a.vmfb") ==
         EMBER_FAILED_PRECONDITION);
  compiler->compilation_release(compilation);
  EXPECT(compiler->compilation_diagnostic_count(NULL) == 0);
}

/* A progress callback that counts the events, and stops the compilation at
 * event number `last`. */
struct Steps {
  int count;
  int last;
};
static int32_t CountStep(void* context, const EmberProgressEvent* event) {
  struct Steps* steps = (struct Steps*)context;
  EXPECT(event->stage[0] != 0 && event->item[0] != 0);
  return ++steps->count != steps->last;
}

static void TestStopping(void) {
  struct Steps steps = {0, -1};
  const EmberProgress progress = {sizeof(progress), &steps, CountStep};
  EmberCompileOptions options = OptionsOf(kModel);
  EmberCompilation* compilation = NULL;
  EmberCancelToken* token = NULL;
  options.progress = &progress;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  EXPECT(steps.count > 3);
  compiler->compilation_release(compilation);
  steps.last = steps.count - 1;
  steps.count = 0;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_CANCELLED);
  EXPECT(steps.count == steps.last);
  compiler->compilation_release(compilation);

  options = OptionsOf(kModel);
  EXPECT(compiler->cancel_token_create(&token) == EMBER_OK);
  options.cancel = token;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  compiler->compilation_release(compilation);
  compiler->cancel_token_cancel(token);
  EXPECT(compiler->compile(&options, &compilation) == EMBER_CANCELLED);
  compiler->compilation_release(compilation);
  compiler->cancel_token_release(token);

  options = OptionsOf(kModel);
  options.max_seconds = 1e-9;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_RESOURCE_EXHAUSTED);
  EXPECT(HasError("(max_seconds)"));
  compiler->compilation_release(compilation);
}

static void TestConstants(void) {
  static const float x[3] = {1, 2, 3};
  const int64_t dims[2] = {1, 3};
  EmberNamedTensor constant = {"x", {EMBER_F32, 2, dims, x, sizeof(x)}};
  EmberCompileOptions options = OptionsOf(kModel);
  EmberCompilation* compilation = NULL;
  options.constants = &constant;
  options.constant_count = 1;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_OK);
  compiler->compilation_release(compilation);
  constant.tensor.byte_size = 11;
  EXPECT(compiler->compile(&options, &compilation) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("constant 'x': expected 12 bytes for 1x3xf32, found 11"));
  compiler->compilation_release(compilation);
}

int main(void) {
  const char* folder = getenv("TEST_TMPDIR");
  if (folder == NULL) folder = "/tmp";
  compiler = ember_get_compiler_api(EMBER_COMPILER_API_VERSION);
  if (compiler == NULL ||
      ember_get_compiler_api(EMBER_COMPILER_API_VERSION + 1) != NULL ||
      ember_get_compiler_api(0) != NULL)
    return 1;
  EXPECT(compiler->struct_size == sizeof(EmberCompilerApi));
  EXPECT(compiler->version == EMBER_COMPILER_API_VERSION);
  TestArguments();
  TestFormats();
  TestModule(folder);
  TestPath(folder);
  TestSymbols();
  TestDiagnostics();
  TestStopping();
  TestConstants();
  if (failures == 0) puts("PASSED");
  return failures == 0 ? 0 : 1;
}

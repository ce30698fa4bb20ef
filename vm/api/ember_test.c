/* Tests the C API by using it as an application does, compiled as C. The
 * argument is a file with the module "static" of
 * vm/isa/testing/sample_modules.cc. */
#include "vm/api/ember.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, \
             #condition, ember->error_message());                        \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

static const EmberApi* ember;

static void TestErrors(void) {
  EmberModule* module = (EmberModule*)1;
  EXPECT(ember->module_load_file("/nonexistent.vmfb", &module) ==
         EMBER_NOT_FOUND);
  EXPECT(module == NULL);
  EXPECT(
      strcmp(
          ember->error_message(),
          "cannot open file '/nonexistent.vmfb': No such file or directory") ==
      0);
  EXPECT(ember->module_load_memory("EMBR", 4, &module) == EMBER_DATA_LOSS);
  EXPECT(strcmp(ember->error_message(),
                "module file: expected at least 64 bytes, found 4") == 0);
  EXPECT(ember->module_load_file(NULL, &module) == EMBER_INVALID_ARGUMENT);
  ember->module_release(NULL);
  ember->session_release(NULL);
}

static void TestInfo(const EmberModule* module) {
  EmberTensorInfo info;
  EXPECT(ember->module_input_count(module) == 1);
  EXPECT(ember->module_result_count(module) == 1);
  EXPECT(ember->module_input_info(module, 0, &info) == EMBER_OK);
  EXPECT(strcmp(info.name, "x:0") == 0);
  EXPECT(info.type == EMBER_F32 && info.rank == 2 && info.dims[0] == 2 &&
         info.dims[1] == 3);
  EXPECT(ember->module_input_info(module, 1, &info) == EMBER_NOT_FOUND);
  EXPECT(strcmp(ember->error_message(),
                "input: expected an index below 1, found 1") == 0);
  EXPECT(ember->module_result_info(module, 0, &info) == EMBER_OK);
  EXPECT(strcmp(info.name, "z:0") == 0);
  EXPECT(strcmp(ember->module_input_logical_type(module, 0), "") == 0);
  EXPECT(ember->module_input_logical_type(module, 1) == NULL);
  EXPECT(ember->module_result_logical_type(module, -1) == NULL);
}

static void TestRun(EmberSession* session) {
  /* Deliberately unaligned. */
  static char memory[64];
  const float x[6] = {1, 2, 3, -1, 0, 1};
  const float expected[4] = {0, 6.25f, 0, 1.75f};
  const int64_t dims[2] = {2, 3};
  const int64_t wrong_dims[2] = {3, 2};
  EmberTensor tensor = {EMBER_F32, 2, dims, memory + 1, sizeof(x)};
  int i;
  memcpy(memory + 1, x, sizeof(x));
  EXPECT(ember->session_result(session, 0, &tensor) ==
         EMBER_FAILED_PRECONDITION);
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  EXPECT(ember->session_run(session) == EMBER_OK);
  EXPECT(ember->session_result(session, 0, &tensor) == EMBER_OK);
  EXPECT(tensor.type == EMBER_F32 && tensor.rank == 2 &&
         tensor.byte_size == sizeof(expected));
  for (i = 0; i < 4; ++i) EXPECT(((const float*)tensor.data)[i] == expected[i]);

  tensor.dims = wrong_dims;
  tensor.rank = 2;
  tensor.data = memory;
  tensor.byte_size = 23;
  EXPECT(ember->session_set_input(session, 0, &tensor) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(strcmp(ember->error_message(),
                "input 0: expected 24 bytes for 3x2xf32, found 23") == 0);
  tensor.byte_size = 24;
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  EXPECT(ember->session_run(session) == EMBER_INVALID_ARGUMENT);
  EXPECT(strcmp(ember->error_message(),
                "input 'x:0': expected 2x3xf32, found 3x2xf32") == 0);
  EXPECT(ember->session_result(session, 0, &tensor) ==
         EMBER_FAILED_PRECONDITION);
  EXPECT(ember->session_set_input(session, 1, &tensor) == EMBER_NOT_FOUND);
}

/* Tests the logical types of a module whose first input holds f8e4m3fn numbers
 * in bytes, and whose first result holds strings. No session can be made for
 * the module, because this program is linked without support for strings. */
static void TestLogicalTypes(const char* path) {
  EmberModule* module = NULL;
  EmberSession* session = NULL;
  EXPECT(ember->module_load_file(path, &module) == EMBER_OK);
  if (module == NULL) return;
  EXPECT(strcmp(ember->module_input_logical_type(module, 0), "f8e4m3fn") == 0);
  EXPECT(strcmp(ember->module_result_logical_type(module, 0), "string") == 0);
  EXPECT(ember->session_create(module, NULL, &session) == EMBER_UNIMPLEMENTED);
  EXPECT(session == NULL);
  ember->module_release(module);
}

static EmberStatus RunOnce(EmberSession* session) {
  static const float x[6] = {1, 2, 3, -1, 0, 1};
  const int64_t dims[2] = {2, 3};
  const EmberTensor tensor = {EMBER_F32, 2, dims, x, sizeof(x)};
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  return ember->session_run(session);
}

static void TestMetadata(const EmberModule* module) {
  EXPECT(ember->module_metadata_count(module) == 2);
  EXPECT(ember->module_metadata_count(NULL) == 0);
  EXPECT(strcmp(ember->module_metadata_key(module, 0), "author") == 0);
  EXPECT(strcmp(ember->module_metadata_value(module, 0), "nobody") == 0);
  EXPECT(strcmp(ember->module_metadata_key(module, 1), "labels") == 0);
  EXPECT(ember->module_metadata_key(module, 2) == NULL);
  EXPECT(ember->module_metadata_value(module, -1) == NULL);
  EXPECT(strcmp(ember->module_metadata(module, "labels"), "cat\ndog") == 0);
  EXPECT(ember->module_metadata(module, "label") == NULL);
  EXPECT(ember->module_metadata(module, NULL) == NULL);
}

static void TestLimits(EmberModule* module) {
  EmberSession* session = NULL;
  EmberSessionOptions options = {sizeof(options), 1, 0, 0, 0, 0};
  options.work_limit = 1;
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  EXPECT(RunOnce(session) == EMBER_RESOURCE_EXHAUSTED);
  EXPECT(strstr(ember->error_message(), "(--max-work)") != NULL);
  ember->session_release(session);
  options.work_limit = -1;
  options.max_seconds = 1e-9;
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  EXPECT(RunOnce(session) == EMBER_RESOURCE_EXHAUSTED);
  EXPECT(strstr(ember->error_message(), "(--max-seconds)") != NULL);
  ember->session_release(session);
  /* The caller's struct has the size that it had in version 2, so its fields
   * after that size may have any contents and must be ignored. */
  options.struct_size = offsetof(EmberSessionOptions, work_limit);
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  ember->session_cancel(session); /* nothing runs */
  ember->session_cancel(NULL);
  EXPECT(RunOnce(session) == EMBER_OK);
  ember->session_release(session);
}

int main(int argc, char** argv) {
  EmberModule* module = NULL;
  EmberSession* session = NULL;
  EmberSessionOptions options = {sizeof(options), 2, 0, 0, 0, 0};
  if (argc != 3) return 2;
  ember = ember_get_api(EMBER_API_VERSION);
  if (ember == NULL || ember_get_api(EMBER_API_VERSION + 1) != NULL) return 1;
  EXPECT(ember->struct_size == sizeof(EmberApi));
  EXPECT(ember_get_api(1) == ember);
  TestErrors();
  TestLogicalTypes(argv[2]);
  EXPECT(ember->module_load_file(argv[1], &module) == EMBER_OK);
  if (module == NULL) return 1;
  TestInfo(module);
  TestMetadata(module);
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  if (session == NULL) return 1;
  TestRun(session);
  ember->session_release(session);
  TestLimits(module);
  /* The limit is too small, because the arena alone takes 128 bytes. */
  options.memory_limit = 100;
  EXPECT(ember->session_create(module, &options, &session) ==
         EMBER_RESOURCE_EXHAUSTED);
  EXPECT(session == NULL);
  EXPECT(ember->session_create(module, NULL, &session) == EMBER_OK);
  /* The module may be released, because the session keeps the parts that it
   * needs alive. */
  ember->module_release(module);
  TestRun(session);
  ember->session_release(session);
  if (failures == 0) puts("PASSED");
  return failures == 0 ? 0 : 1;
}

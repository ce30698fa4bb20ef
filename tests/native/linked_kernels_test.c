/* Tests kernels that are linked into a C program, which loads no library. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/native/digits_kernels.h"
#include "vm/api/ember.h"

static int failures = 0;
#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "%s:%d: expected %s (%s)\n", __FILE__, __LINE__, \
              #condition, ember->error_message());                     \
      ++failures;                                                      \
    }                                                                  \
  } while (0)

static const EmberApi* ember;
enum { kPixels = 28 * 28, kDigits = 10 };

static void RunOnce(EmberModule* module, const char* expected, float* scores) {
  static float image[kPixels];
  const int64_t dims[4] = {1, 1, 28, 28};
  const EmberTensor tensor = {EMBER_F32, 4, dims, image, sizeof(image)};
  EmberSession* session = NULL;
  EmberTensor result;
  int i;
  for (i = 0; i < kPixels; ++i) image[i] = (float)(i % 17) / 16;
  EXPECT(ember->session_create(module, NULL, &session) == EMBER_OK);
  if (session == NULL) return;
  puts(ember->session_native_kernels(session));
  EXPECT(strncmp(ember->session_native_kernels(session), expected,
                 strlen(expected)) == 0);
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  EXPECT(ember->session_run(session) == EMBER_OK);
  EXPECT(ember->session_result(session, 0, &result) == EMBER_OK);
  EXPECT(result.byte_size == kDigits * sizeof(float));
  memcpy(scores, result.data, kDigits * sizeof(float));
  ember->session_release(session);
}

int main(int argc, char** argv) {
  EmberModule* module = NULL;
  float portable[kDigits], native[kDigits];
  static const char kNone[64] = "this is no table of kernels, but a text";
  int i;
  if (argc != 3) return 2;
  ember = ember_get_api(5);
  if (ember == NULL) return 1;
  EXPECT(ember->module_load_file(argv[1], &module) == EMBER_OK);
  if (module == NULL) return 1;
  RunOnce(module, "the module has no native kernels", portable);
  EXPECT(ember->module_add_kernels(module, &ember_kernels_digits_kernels) ==
         EMBER_FAILED_PRECONDITION);
  ember->module_release(module);

  EXPECT(ember->module_load_file(argv[1], &module) == EMBER_OK);
  EXPECT(ember->module_add_kernels(module, NULL) == EMBER_INVALID_ARGUMENT);
  EXPECT(ember->module_add_kernels(NULL, &ember_kernels_digits_kernels) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(ember->module_add_kernels(module, (const EmberKernels*)kNone) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(strstr(ember->error_message(), "expected a table that vm-prejit") !=
         NULL);
  EXPECT(ember->module_add_kernels(module, &ember_kernels_digits_kernels) ==
         EMBER_OK);
  EXPECT(ember->module_add_overlay(module, argv[1]) == EMBER_DATA_LOSS);
  EXPECT(ember->module_add_overlay(module, "none") == EMBER_NOT_FOUND);
  RunOnce(module, "native kernels for ", native);
  for (i = 0; i < kDigits; ++i) EXPECT(fabsf(native[i] - portable[i]) <= 1e-5f);
  ember->module_release(module);

  /* Kernels of another model are refused. */
  EXPECT(ember->module_load_file(argv[2], &module) == EMBER_OK);
  EXPECT(ember->module_add_kernels(module, &ember_kernels_digits_kernels) ==
         EMBER_INVALID_ARGUMENT);
  puts(ember->error_message());
  EXPECT(strstr(ember->error_message(), "found those of another one (") !=
         NULL);
  ember->module_release(module);
  return failures == 0 ? 0 : 1;
}

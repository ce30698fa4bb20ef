/* Tests the C API's permission for native kernels: it is off unless asked for,
 * in the struct of version 4. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

static void RunOnce(EmberSession* session, float* scores) {
  static float image[kPixels];
  const int64_t dims[4] = {1, 1, 28, 28};
  const EmberTensor tensor = {EMBER_F32, 4, dims, image, sizeof(image)};
  EmberTensor result;
  for (int i = 0; i < kPixels; ++i) image[i] = (float)(i % 17) / 16;
  EXPECT(ember->session_set_input(session, 0, &tensor) == EMBER_OK);
  EXPECT(ember->session_run(session) == EMBER_OK);
  EXPECT(ember->session_result(session, 0, &result) == EMBER_OK);
  EXPECT(result.byte_size == kDigits * sizeof(float));
  memcpy(scores, result.data, kDigits * sizeof(float));
}

int main(int argc, char** argv) {
  EmberModule* module = NULL;
  EmberSession* session = NULL;
  EmberSession* another = NULL;
  EmberSessionOptions options;
  float portable[kDigits], native[kDigits];
  if (argc != 2) return 2;
  ember = ember_get_api(4);
  if (ember == NULL) return 1;
  EXPECT(ember->module_load_file(argv[1], &module) == EMBER_OK);
  if (module == NULL) return 1;
  EXPECT(ember->session_create(module, NULL, &session) == EMBER_OK);
  EXPECT(strcmp(ember->session_native_kernels(session),
                "native kernels are not allowed") == 0);
  RunOnce(session, portable);
  ember->session_release(session);

  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = 1;
  options.allow_native = 1;
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  EXPECT(ember->session_create(module, &options, &another) == EMBER_OK);
  puts(ember->session_native_kernels(session));
  EXPECT(strncmp(ember->session_native_kernels(session), "native kernels for ",
                 19) == 0);
  EXPECT(strcmp(ember->session_native_kernels(session),
                ember->session_native_kernels(another)) == 0);
  for (int s = 0; s < 2; ++s) {
    RunOnce(s == 0 ? session : another, native);
    for (int i = 0; i < kDigits; ++i)
      EXPECT(fabsf(native[i] - portable[i]) <= 1e-5f);
  }
  ember->session_release(session);
  ember->session_release(another);

  /* A program of version 3 passes a shorter struct, and the bytes after it may
   * have any value. */
  options.struct_size = offsetof(EmberSessionOptions, tier);
  EXPECT(ember->session_create(module, &options, &session) == EMBER_OK);
  EXPECT(strcmp(ember->session_native_kernels(session),
                "native kernels are not allowed") == 0);
  ember->session_release(session);
  ember->module_release(module);
  return failures == 0 ? 0 : 1;
}

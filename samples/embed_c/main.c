/* main MODEL.vmfb runs a model once. It uses ember.h and the standard C library
 * only.
 *
 * Inputs of f32 are filled with numbers from 0 to 1, other inputs with zeros,
 * and open dims are 1. The first elements of each result of f32 or i64 are
 * printed. */
#include <ember.h>
#include <stdio.h>
#include <stdlib.h>

static const EmberApi* ember;

static int Fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, ember->error_message());
  return 1;
}

static size_t ElementBytes(EmberType type) {
  switch (type) {
    case EMBER_BOOL:
    case EMBER_I8:
    case EMBER_U8:
    case EMBER_F8E4M3FN:
    case EMBER_F8E5M2:
      return 1;
    case EMBER_I16:
    case EMBER_U16:
    case EMBER_F16:
    case EMBER_BF16:
      return 2;
    case EMBER_I32:
    case EMBER_U32:
    case EMBER_F32:
      return 4;
    default:
      return 8;
  }
}

/* Fills input `index` and returns its memory, which the session reads in place
 * and the caller frees after the runs. After an error, prints the error and
 * returns NULL. */
static void* SetInput(EmberSession* session, const EmberModule* module,
                      int32_t index) {
  enum { kMaxDims = 8 };
  int64_t dims[kMaxDims];
  EmberTensorInfo info;
  EmberTensor tensor;
  size_t count = 1;
  void* data;
  int32_t d;
  size_t i;
  if (ember->module_input_info(module, index, &info) != EMBER_OK ||
      info.rank > kMaxDims) {
    Fail("input");
    return NULL;
  }
  printf("input  %s [", info.name);
  for (d = 0; d < info.rank; ++d) {
    dims[d] = info.dims[d] < 0 ? 1 : info.dims[d];
    count *= (size_t)dims[d];
    printf("%s%s", d == 0 ? "" : ", ",
           ember->module_input_dim(module, index, d));
  }
  printf("]\n");
  tensor.type = info.type;
  tensor.rank = info.rank;
  tensor.dims = dims;
  tensor.byte_size = count * ElementBytes(info.type);
  tensor.data = data = calloc(count + 1, ElementBytes(info.type));
  if (data == NULL) return NULL;
  for (i = 0; info.type == EMBER_F32 && i < count; ++i)
    ((float*)data)[i] = (float)(i % 16) / 15;
  if (ember->session_set_input(session, index, &tensor) == EMBER_OK)
    return data;
  Fail("session_set_input");
  free(data);
  return NULL;
}

static int PrintResult(EmberSession* session, const EmberModule* module,
                       int32_t index) {
  enum { kShown = 10 };
  EmberTensorInfo info;
  EmberTensor tensor;
  size_t i;
  if (ember->module_result_info(module, index, &info) != EMBER_OK ||
      ember->session_result(session, index, &tensor) != EMBER_OK) {
    return Fail("session_result");
  }
  printf("result %s:", info.name);
  for (i = 0; i < tensor.byte_size / ElementBytes(tensor.type) && i < kShown;
       ++i) {
    if (tensor.type == EMBER_F32)
      printf(" %g", ((const float*)tensor.data)[i]);
    else if (tensor.type == EMBER_I64)
      printf(" %lld", (long long)((const int64_t*)tensor.data)[i]);
  }
  printf("\n");
  return 0;
}

static int Run(EmberModule* module, EmberSession* session) {
  const int32_t inputs = ember->module_input_count(module);
  void** memory = calloc((size_t)inputs + 1, sizeof(void*));
  int failed = memory == NULL;
  int32_t i;
  for (i = 0; !failed && i < inputs; ++i) {
    memory[i] = SetInput(session, module, i);
    failed = memory[i] == NULL;
  }
  if (!failed && ember->session_run(session) != EMBER_OK)
    failed = Fail("session_run");
  for (i = 0; !failed && i < ember->module_result_count(module); ++i)
    failed = PrintResult(session, module, i);
  for (i = 0; memory != NULL && i < inputs; ++i) free(memory[i]);
  free(memory);
  return failed;
}

int main(int argc, char** argv) {
  EmberModule* module;
  EmberSession* session;
  int failed;
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL.vmfb\n", argv[0]);
    return 2;
  }
  /* This file was written for version 4 of the API, which newer libraries
   * provide, too. */
  ember = ember_get_api(4);
  if (ember == NULL) {
    fprintf(stderr, "this library is older than version 4 of its API\n");
    return 1;
  }
  if (ember->module_load_file(argv[1], &module) != EMBER_OK)
    return Fail("module_load_file");
  if (ember->session_create(module, NULL, &session) != EMBER_OK) {
    failed = Fail("session_create");
  } else {
    failed = Run(module, session);
    ember->session_release(session);
  }
  ember->module_release(module);
  /* Flushes the results and checks stdout: a write may have failed, for example
   * because the disk is full. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "cannot write to stdout\n");
    failed = 1;
  }
  return failed;
}

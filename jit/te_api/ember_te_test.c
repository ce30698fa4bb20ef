/* Uses the C API for kernels as a program does: it loads libember_jit.so, whose
 * path is the argument. */
#include "jit/te_api/ember_te.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, \
             #condition, te->error_message());                           \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

static const EmberTeApi* te;

static int HasError(const char* text) {
  return strstr(te->error_message(), text) != NULL;
}

static EmberTeParseOptions OptionsOf(const char* text) {
  EmberTeParseOptions options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.text = text;
  options.text_size = strlen(text);
  return options;
}

static EmberTeDispatch* Parse(const char* text) {
  const EmberTeParseOptions options = OptionsOf(text);
  EmberTeDispatch* dispatch = NULL;
  EXPECT(te->dispatch_parse(&options, &dispatch) == EMBER_OK);
  return dispatch;
}

static void TestArguments(void) {
  EmberTeParseOptions options = OptionsOf("y[i] = x[i]");
  EmberTeDispatch* dispatch = (EmberTeDispatch*)1;
  EmberTeSchedule* schedule = (EmberTeSchedule*)1;
  EmberTePrimitiveInfo info;
  EXPECT(te->dispatch_parse(&options, &dispatch) == EMBER_INVALID_ARGUMENT);
  EXPECT(dispatch == NULL && HasError("1:8: expected a tensor"));
  options.struct_size = 8;
  EXPECT(te->dispatch_parse(&options, &dispatch) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("options: expected a struct_size of "));
  EXPECT(te->dispatch_parse(NULL, &dispatch) == EMBER_INVALID_ARGUMENT);
  EXPECT(te->schedule_create(NULL, NULL, &schedule) == EMBER_INVALID_ARGUMENT);
  EXPECT(schedule == NULL);
  info.struct_size = sizeof(info);
  EXPECT(te->primitive_info(-1, &info) == EMBER_NOT_FOUND);
  EXPECT(te->primitive_info(0, &info) == EMBER_OK);
  EXPECT(strcmp(info.name, "split") == 0 && info.operand_count == 3 &&
         info.result_count == 2);
  /* The library must not write beyond the struct_size that the caller set: this
   * struct is smaller than the library's. */
  info.struct_size = sizeof(size_t) + sizeof(char*);
  info.usage = NULL;
  EXPECT(te->primitive_info(0, &info) == EMBER_OK && info.usage == NULL);
  te->dispatch_release(NULL);
  te->schedule_release(NULL);
  te->kernel_release(NULL);
}

/* The buffers of y[i, j] = sum(k) a[i, k] * b[k, j] for 4 rows, 8 columns and K
 * terms. */
typedef struct Product {
  float a[4 * 3], b[3 * 8], y[4 * 8];
  int64_t a_dims[2], b_dims[2];
  EmberTensor inputs[2];
  void* outputs[1];
  size_t output_sizes[1];
  EmberTeCall call;
} Product;

static void Fill(Product* product) {
  int i;
  memset(product, 0, sizeof(*product));
  for (i = 0; i < 12; ++i) product->a[i] = (float)i;
  for (i = 0; i < 24; ++i) product->b[i] = (float)(i % 5);
  product->a_dims[0] = 4;
  product->a_dims[1] = product->b_dims[0] = 3;
  product->b_dims[1] = 8;
  product->inputs[0].type = product->inputs[1].type = EMBER_F32;
  product->inputs[0].rank = product->inputs[1].rank = 2;
  product->inputs[0].dims = product->a_dims;
  product->inputs[1].dims = product->b_dims;
  product->inputs[0].data = product->a;
  product->inputs[1].data = product->b;
  product->inputs[0].byte_size = sizeof(product->a);
  product->inputs[1].byte_size = sizeof(product->b);
  product->outputs[0] = product->y;
  product->output_sizes[0] = sizeof(product->y);
  product->call.struct_size = sizeof(product->call);
  product->call.inputs = product->inputs;
  product->call.input_count = 2;
  product->call.outputs = product->outputs;
  product->call.output_sizes = product->output_sizes;
  product->call.output_count = 1;
}

static const char kProduct[] =
    "a: f32[4, K]  b: f32[K, 8]\n"
    "y[i, j] = sum(k) a[i, k] * b[k, j]";

static void TestCalls(void) {
  static Product product;
  EmberTeDispatch* const dispatch = Parse(kProduct);
  int64_t dims[2] = {0, 0};
  Fill(&product);
  EXPECT(te->dispatch_output_dims(dispatch, &product.call, 0, dims) ==
         EMBER_OK);
  EXPECT(dims[0] == 4 && dims[1] == 8);
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) == EMBER_OK);
  EXPECT(product.y[1] == 0 * 1 + 1 * 4 + 2 * 2);
  product.b_dims[0] = 2;
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("input b: expected [3, 8], found [2, 8]"));
  product.b_dims[0] = 3;
  product.output_sizes[0] = 4;
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("output y: expected 128 bytes, found 4"));
  Fill(&product);
  product.inputs[0].type = EMBER_F64;
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("input a: expected f32, found f64"));
  Fill(&product);
  product.outputs[0] = product.a;
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("output y: expected memory of its own, found that of a"));
  te->dispatch_release(dispatch);
}

static void TestStop(void) {
  static Product product;
  EmberTeDispatch* const dispatch = Parse(kProduct);
  EmberTeSchedule* schedule = NULL;
  EmberTeKernel* kernel = NULL;
  EmberTeStop* stop = NULL;
  Fill(&product);
  EXPECT(te->schedule_create(dispatch, NULL, &schedule) == EMBER_OK);
  EXPECT(te->kernel_compile(schedule, NULL, &kernel) == EMBER_OK);
  EXPECT(te->stop_create(&stop) == EMBER_OK);
  product.call.stop = stop;
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) == EMBER_OK);
  EXPECT(te->kernel_run(kernel, &product.call) == EMBER_OK);
  te->stop_request(stop);
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) == EMBER_CANCELLED);
  EXPECT(te->kernel_run(kernel, &product.call) == EMBER_CANCELLED);
  te->stop_release(stop);
  te->stop_release(NULL);
  te->kernel_release(kernel);
  te->schedule_release(schedule);
  te->dispatch_release(dispatch);
}

static void TestSchedule(void) {
  EmberTeDispatch* const dispatch = Parse(kProduct);
  EmberTeSchedule *schedule = NULL, *copy = NULL;
  EmberTeLoopInfo loop;
  EmberTeStageInfo stage;
  const char* nest = NULL;
  EXPECT(te->schedule_create(dispatch, NULL, &schedule) == EMBER_OK);
  te->dispatch_release(dispatch);
  EXPECT(te->schedule_apply(schedule, "split %y j 4 -> jo ji") == EMBER_OK);
  EXPECT(te->schedule_copy(schedule, &copy) == EMBER_OK);
  EXPECT(te->schedule_apply(schedule, "vectorize %y jo") ==
         EMBER_FAILED_PRECONDITION);
  EXPECT(te->schedule_apply(schedule, "split %y q 4 -> qo qi") ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(te->schedule_apply(schedule, "paint %y") == EMBER_INVALID_ARGUMENT);
  EXPECT(te->schedule_replay(schedule, "reorder %y jo k ji\nvectorize %y ji") ==
         EMBER_OK);
  EXPECT(strcmp(te->schedule_text(schedule),
                "schedule @y {\n"
                "  split %y j 4 -> jo ji\n"
                "  reorder %y jo k ji\n"
                "  vectorize %y ji\n"
                "}\n") == 0);
  EXPECT(strstr(te->schedule_text(copy), "reorder") == NULL);
  EXPECT(te->schedule_nest(schedule, &nest) == EMBER_OK);
  EXPECT(nest != NULL && strstr(nest, "vector") != NULL);
  stage.struct_size = sizeof(stage);
  EXPECT(te->schedule_stage(schedule, 0, &stage) == EMBER_OK);
  EXPECT(strcmp(stage.name, "y") == 0 && stage.loop_count == 4);
  EXPECT(te->schedule_stage(schedule, 1, &stage) == EMBER_NOT_FOUND);
  loop.struct_size = sizeof(loop);
  EXPECT(te->schedule_loop(schedule, 0, 3, &loop) == EMBER_OK);
  EXPECT(strcmp(loop.name, "ji") == 0 && loop.extent == 4 &&
         strcmp(loop.mark, "vector") == 0 && !loop.is_reduction);
  EXPECT(te->schedule_loop(schedule, 0, 2, &loop) == EMBER_OK);
  EXPECT(loop.extent == -1 && loop.is_reduction);
  te->schedule_release(copy);
  te->schedule_release(schedule);
}

static void TestKernel(void) {
  static Product product;
  float wanted[4 * 8];
  EmberTeDispatch* const dispatch = Parse(kProduct);
  EmberTeSchedule* schedule = NULL;
  EmberTeKernel *kernel = NULL, *c = NULL;
  EmberTeCompileOptions options = {sizeof(options), "c11", 0};
  const char *extension = NULL, *text = NULL;
  Fill(&product);
  EXPECT(te->dispatch_evaluate(dispatch, &product.call, 0) == EMBER_OK);
  memcpy(wanted, product.y, sizeof(wanted));
  memset(product.y, 0, sizeof(product.y));
  EXPECT(te->schedule_create(dispatch, "host", &schedule) == EMBER_OK);
  EXPECT(te->kernel_compile(schedule, NULL, &kernel) == EMBER_OK);
  if (kernel != NULL) {
    const EmberTeKernel* kernels[2];
    const EmberTeCall* calls[2];
    EmberTeTimeOptions time = {sizeof(time), 0.001};
    double median[2] = {0, 0}, least[2] = {0, 0};
    EXPECT(te->kernel_run(kernel, &product.call) == EMBER_OK);
    EXPECT(memcmp(wanted, product.y, sizeof(wanted)) == 0);
    EXPECT(te->kernel_code(kernel, 1, &extension, &text) == EMBER_OK);
    EXPECT(strcmp(extension, ".s") == 0 && text[0] != '\0');
    EXPECT(te->kernel_code(kernel, 2, &extension, &text) == EMBER_NOT_FOUND);
    kernels[0] = kernels[1] = kernel;
    calls[0] = calls[1] = &product.call;
    EXPECT(te->kernels_time(kernels, calls, 2, &time, median, least) ==
           EMBER_OK);
    EXPECT(median[1] >= least[1] && least[1] > 0);
  }
  EXPECT(te->kernel_compile(schedule, &options, &c) == EMBER_OK);
  EXPECT(te->kernel_run(c, &product.call) == EMBER_FAILED_PRECONDITION);
  EXPECT(te->kernel_code(c, 0, &extension, &text) == EMBER_OK);
  EXPECT(strcmp(extension, ".c") == 0);
  options.target = "x86-64-v4";
  te->kernel_release(c);
  EXPECT(te->kernel_compile(schedule, &options, &c) == EMBER_UNIMPLEMENTED);
  te->kernel_release(kernel);
  te->schedule_release(schedule);
  te->dispatch_release(dispatch);
}

int main(int argc, char** argv) {
  const EmberTeApi* (*get_api)(uint32_t);
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    printf("expected a library, found: %s\n", argc == 2 ? dlerror() : "none");
    return 1;
  }
  *(void**)&get_api = dlsym(library, "ember_get_te_api");
  if (get_api == NULL) {
    printf("expected ember_get_te_api, found none\n");
    return 1;
  }
  te = get_api(EMBER_TE_API_VERSION);
  if (te == NULL || te->version != EMBER_TE_API_VERSION ||
      te->struct_size != sizeof(*te) || get_api(0) != NULL ||
      get_api(EMBER_TE_API_VERSION + 1) != NULL) {
    printf("expected the table of this version, found another\n");
    return 1;
  }
  TestArguments();
  TestCalls();
  TestStop();
  TestSchedule();
  TestKernel();
  return failures != 0;
}

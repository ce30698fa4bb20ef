/* classify MODEL.vmfb IMAGE.ppm: prints the classes that an image classifier
 * finds in an image.
 *
 * The model has one input of four dims, images in the order NCHW or NHWC with
 * one or three channels, of f32 or u8, and a result with a score per class. */
#include <ember.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image.h"

enum { kMaxClasses = 1 << 20, kMaxSide = 1 << 12 };

typedef struct Arguments {
  const char* model;
  const char* image;
  const char* labels; /* path of the file of class names, one a line; or NULL */
  int top;
  int threads;  /* number of threads; 0 means one per core */
  int expected; /* index of the expected class; -1: any */
  int softmax;  /* true if scores are logits, which need a softmax */
  float mean[3];
  float deviation[3];
} Arguments;

static const char kUsage[] =
    "usage: classify MODEL.vmfb IMAGE.ppm [--labels=FILE] [--top=N]\n"
    "         [--threads=N] [--softmax] [--mean=R,G,B] [--std=R,G,B] "
    "[--expect=N]\n"
    "\n"
    "  IMAGE      a binary PPM or PGM; it is scaled to what the model takes\n"
    "  --labels   a line of text per class\n"
    "  --top      how many classes are printed (5)\n"
    "  --threads  that compute (one per core)\n"
    "  --softmax  the model's scores are not probabilities yet\n"
    "  --mean, --std\n"
    "             an f32 model takes (pixel - mean) / std, pixels from 0 to 1\n"
    "             (0,0,0 and 1,1,1); a u8 model takes 0 to 255\n"
    "  --expect   a class; if the best one is another, that is a failure\n";

static const EmberApi* ember;

/* Prints an error and returns the program's exit status for it. */
static int Fail(const char* what, const char* why) {
  fprintf(stderr, "classify: %s: %s\n", what, why);
  return 1;
}

static int ParseTriple(const char* text, float* triple) {
  char end;
  return sscanf(text, "%f,%f,%f%c", &triple[0], &triple[1], &triple[2], &end) ==
         3;
}

static int ParseNumber(const char* text, int low, int high, int* number) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < low || value > high) return 0;
  *number = (int)value;
  return 1;
}

static int ParseArguments(int argc, char** argv, Arguments* arguments) {
  int i, c, ok = 1;
  memset(arguments, 0, sizeof(*arguments));
  arguments->top = 5;
  arguments->expected = -1;
  for (c = 0; c < 3; ++c) arguments->deviation[c] = 1;
  for (i = 1; i < argc && ok; ++i) {
    const char* a = argv[i];
    if (strncmp(a, "--labels=", 9) == 0) {
      arguments->labels = a + 9;
    } else if (strncmp(a, "--top=", 6) == 0) {
      ok = ParseNumber(a + 6, 1, kMaxClasses, &arguments->top);
    } else if (strncmp(a, "--threads=", 10) == 0) {
      ok = ParseNumber(a + 10, 1, 1024, &arguments->threads);
    } else if (strncmp(a, "--expect=", 9) == 0) {
      ok = ParseNumber(a + 9, 0, kMaxClasses, &arguments->expected);
    } else if (strcmp(a, "--softmax") == 0) {
      arguments->softmax = 1;
    } else if (strncmp(a, "--mean=", 7) == 0) {
      ok = ParseTriple(a + 7, arguments->mean);
    } else if (strncmp(a, "--std=", 6) == 0) {
      ok = ParseTriple(a + 6, arguments->deviation);
    } else if (a[0] == '-') {
      ok = 0;
    } else if (arguments->model == NULL) {
      arguments->model = a;
    } else if (arguments->image == NULL) {
      arguments->image = a;
    } else {
      ok = 0;
    }
  }
  for (c = 0; c < 3; ++c) ok = ok && arguments->deviation[c] != 0;
  return ok && arguments->image != NULL;
}

/* The dims of the model's input, and the order of its channels in memory. */
typedef struct Layout {
  int64_t dims[4];
  int channels;
  int height;
  int width;
  int channels_last;
} Layout;

/* Finds the layout of the model's input. Returns NULL, or the reason why the
 * model is not for images. */
static const char* FindLayout(const EmberTensorInfo* info, Layout* layout) {
  int64_t channels, height, width;
  int d;
  if (info->rank != 4) return "expected an input of four dims";
  if (info->type != EMBER_F32 && info->type != EMBER_U8)
    return "expected an input of f32 or u8";
  for (d = 0; d < 4; ++d) layout->dims[d] = info->dims[d];
  /* If the batch is an open dim it becomes 1; a constant batch must be 1. */
  if (layout->dims[0] == -1) layout->dims[0] = 1;
  layout->channels_last = layout->dims[1] != 1 && layout->dims[1] != 3;
  channels = layout->dims[layout->channels_last ? 3 : 1];
  height = layout->dims[layout->channels_last ? 1 : 2];
  width = layout->dims[layout->channels_last ? 2 : 3];
  if (layout->dims[0] != 1 || (channels != 1 && channels != 3))
    return "expected an input for one image of one or three channels";
  if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide)
    return "expected a fixed height and width of 1 to 4096";
  layout->channels = (int)channels;
  layout->height = (int)height;
  layout->width = (int)width;
  return NULL;
}

/* Returns the image's pixels in the model's layout and type. The caller frees
 * the memory. */
static void* MakeInput(const Arguments* arguments, const Image* image,
                       EmberType type, const Layout* layout,
                       size_t* byte_size) {
  const size_t width = (size_t)layout->width, height = (size_t)layout->height;
  const size_t channels = (size_t)layout->channels;
  const size_t element = type == EMBER_F32 ? sizeof(float) : 1;
  size_t y, x, c;
  void* data;
  *byte_size = width * height * channels * element;
  data = malloc(*byte_size);
  if (data == NULL) return NULL;
  for (c = 0; c < channels; ++c) {
    for (y = 0; y < height; ++y) {
      for (x = 0; x < width; ++x) {
        const float pixel =
            SampleImage(image, layout->width, layout->height, (int)y, (int)x,
                        channels == 1 ? -1 : (int)c);
        const size_t at = layout->channels_last ? (y * width + x) * channels + c
                                                : (c * height + y) * width + x;
        if (type == EMBER_F32) {
          ((float*)data)[at] =
              (pixel - arguments->mean[c]) / arguments->deviation[c];
        } else {
          ((unsigned char*)data)[at] = (unsigned char)(pixel * 255 + 0.5f);
        }
      }
    }
  }
  return data;
}

/* Prints class `index`, its score, and its name, which is line `index` of the
 * file of labels. */
static void PrintClass(FILE* labels, int index, float score) {
  char line[256] = "";
  int i;
  if (labels != NULL) {
    rewind(labels);
    for (i = 0; i <= index; ++i) {
      int next = '\n';
      if (fgets(line, sizeof(line), labels) == NULL) {
        line[0] = '\0';
        break;
      }
      /* The rest of a line that is longer than the buffer is skipped. */
      if (strchr(line, '\n') == NULL) {
        do next = fgetc(labels);
        while (next != '\n' && next != EOF);
      }
    }
    line[strcspn(line, "\r\n")] = '\0';
  }
  printf("%8.4f  %d  %s\n", score, index, line);
}

static int PrintTop(const Arguments* arguments, const EmberTensor* result) {
  const int classes = (int)(result->byte_size / sizeof(float));
  FILE* labels = NULL;
  float* scores;
  float largest, sum = 0;
  int i, n, failed = 0;
  if (result->type != EMBER_F32 || result->byte_size == 0 ||
      result->byte_size / sizeof(float) > kMaxClasses) {
    return Fail(arguments->model, "expected a result of f32 scores");
  }
  if (arguments->labels != NULL) {
    labels = fopen(arguments->labels, "r");
    if (labels == NULL) return Fail(arguments->labels, "it cannot be opened");
  }
  scores = malloc(result->byte_size);
  if (scores == NULL) {
    if (labels != NULL) fclose(labels);
    return Fail("scores", "there is no memory");
  }
  memcpy(scores, result->data, result->byte_size);
  if (arguments->softmax) {
    for (largest = scores[0], i = 1; i < classes; ++i)
      if (scores[i] > largest) largest = scores[i];
    for (i = 0; i < classes; ++i) sum += scores[i] = expf(scores[i] - largest);
    for (i = 0; i < classes; ++i) scores[i] /= sum;
  }
  for (n = 0; n < arguments->top && n < classes; ++n) {
    int best = 0;
    for (i = 1; i < classes; ++i)
      if (scores[i] > scores[best]) best = i;
    PrintClass(labels, best, scores[best]);
    if (n == 0 && arguments->expected >= 0 && best != arguments->expected)
      failed = Fail(arguments->image, "expected another class");
    scores[best] = -INFINITY;
  }
  free(scores);
  if (labels != NULL) fclose(labels);
  return failed;
}

static double Milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int Classify(const Arguments* arguments, const EmberModule* module,
                    EmberSession* session, const Image* image) {
  EmberTensorInfo info;
  EmberTensor input, result;
  Layout layout;
  const char* error;
  void* data;
  double begin;
  int failed;
  if (ember->module_input_count(module) != 1 ||
      ember->module_input_info(module, 0, &info) != EMBER_OK) {
    return Fail(arguments->model, "expected a model of one input");
  }
  error = FindLayout(&info, &layout);
  if (error != NULL) return Fail(arguments->model, error);
  input.type = info.type;
  input.rank = 4;
  input.dims = layout.dims;
  input.data = data =
      MakeInput(arguments, image, info.type, &layout, &input.byte_size);
  if (data == NULL) return Fail("input", "there is no memory");
  begin = Milliseconds();
  /* The session reads the input in place, so it is freed after the run. */
  failed = ember->session_set_input(session, 0, &input) != EMBER_OK ||
           ember->session_run(session) != EMBER_OK ||
           ember->session_result(session, 0, &result) != EMBER_OK;
  if (failed) {
    Fail("run", ember->error_message());
  } else {
    printf("%dx%d image, %.1f ms\n", image->width, image->height,
           Milliseconds() - begin);
    failed = PrintTop(arguments, &result);
  }
  free(data);
  return failed;
}

int main(int argc, char** argv) {
  Arguments arguments;
  EmberSessionOptions options;
  EmberModule* module = NULL;
  EmberSession* session = NULL;
  Image image;
  const char* error;
  int failed;
  if (!ParseArguments(argc, argv, &arguments)) {
    fputs(kUsage, stderr);
    return 2;
  }
  /* This file was written for version 4 of the API, which newer libraries
   * provide, too. */
  ember = ember_get_api(4);
  if (ember == NULL)
    return Fail("libember", "expected version 4 or later of its API");
  error = ReadImage(arguments.image, &image);
  if (error != NULL) return Fail(arguments.image, error);
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = arguments.threads;
  if (ember->module_load_file(arguments.model, &module) != EMBER_OK ||
      ember->session_create(module, &options, &session) != EMBER_OK) {
    failed = Fail("model", ember->error_message());
  } else {
    failed = Classify(&arguments, module, session, &image);
  }
  ember->session_release(session);
  ember->module_release(module);
  FreeImage(&image);
  /* Flushes the results and checks stdout: a write may have failed, for example
   * because the disk is full. */
  if (!failed && (fflush(stdout) != 0 || ferror(stdout)))
    failed = Fail("stdout", "cannot be written");
  return failed;
}

#include "jit/c/prelude.h"

namespace ember::jit::c {
namespace {

// The first lines of a file. They make compilers compute floats as written and
// round each step: no fused multiply-adds and no wider types. GCC does not know
// the pragma FP_CONTRACT, so it gets its own.
constexpr std::string_view kBegin =
    R"(/* Written by Ember. C11; floats have to be those of IEEE 754. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "expected floats that are computed as they are written: no -ffast-math"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "expected floats that are rounded to their type: no x87 arithmetic"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

/* Of a failed check: index number `dim` of an access of `buffer` was not in
   0..extent-1. */
struct EmberIndexFailure {
  uint32_t buffer;
  uint32_t dim;
  int64_t index;
  int64_t extent;
};
)";

struct Helper {
  std::string_view name;
  std::string_view text;
};
constexpr Helper kHelpers[] = {
    {"ember_failed(", R"(
static inline int32_t ember_failed(struct EmberIndexFailure *failure,
    uint32_t buffer, uint32_t dim, int64_t index, int64_t extent) {
  failure->buffer = buffer;
  failure->dim = dim;
  failure->index = index;
  failure->extent = extent;
  return 1;
}
)"},
    {"ember_f32_of_u32(", R"(
static inline float ember_f32_of_u32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
)"},
    {"ember_f64_of_u64(", R"(
static inline double ember_f64_of_u64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
)"},
    {"ember_u32_of_f32(", R"(
static inline uint32_t ember_u32_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
)"},
    {"ember_u64_of_f64(", R"(
static inline uint64_t ember_u64_of_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
)"},
};

}  // namespace

std::string CompleteFile(std::string_view functions) {
  std::string file(kBegin);
  for (const Helper& helper : kHelpers) {
    if (functions.find(helper.name) != std::string_view::npos)
      file += helper.text;
  }
  file += "\n";
  file += functions;
  return file;
}

}  // namespace ember::jit::c

#include "vm/isa/testing/sample_modules.h"

#include "base/check.h"
#include "vm/format/verifier.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

// This sample computes y = x + bias three times in a loop, which allocates
// memory.
constexpr std::string_view kLoop = R"(
module "by hand" from "loop"
constant bias: f32[4] = [1, 2, 3, 4]
origin "Add_0"
dispatch @add_bias<N>(%x: f32[N, 4], %b: f32[4]) -> (%y: f32[N, 4]) {
  %y[i, j] = %x[i, j] + %b[j]
}
program main<N>(x: f32[N, 4]) -> (y: f32[N, 4]) {
  message "x: expected at least one row"
  i0 = input_dim x, 0
  check i0, 0
  i1 = integer 16
  i2 = mul i0, i1
  i3 = integer 4
  b0 = input x
  b1 = constant 0 (bias)
  b2 = allocate i2
  i4 = integer 3
L9:
  dispatch @add_bias(i0; b0, b1 -> b2)
  b0 = move_buffer b2
  b2 = allocate i2
  i5 = integer 1
  i4 = sub i4, i5
  branch_if i4, L9
  result y = b0 [i0, i3]
  return
}
)";

// This sample computes z = relu(x * w + b) without control flow, in an arena,
// like a compiled model.
constexpr std::string_view kStatic = R"(
module "by hand" from "static"
constant w: f32[3, 2] = [1, -2, 0.5, 4, -1, 0.25]
constant "b:0" : f32[2] = [0.125, -0.5]
metadata author = "nobody"
metadata "labels" = "cat\x0adog"
origin "Gemm_0 + Relu_1"
dispatch @gemm(%x: f32[2, 3], %w: f32[3, 2]) -> (%y: f32[2, 2]) {
  %y[i, j] = sum(k<3) %x[i, k] * %w[k, j]
}
dispatch @bias_relu(%x: f32[2, 2], %b: f32[2]) -> (%y: f32[2, 2]) {
  %y[i, j] = max(%x[i, j] + %b[j], 0.0)
}
program main("x:0": f32[2, 3]) -> ("z:0": f32[2, 2]) {
  b0 = input "x:0"
  b1 = arena 128
  i0 = integer 16
  b2 = view b1, i0, 0
  b3 = view b1, i0, 64
  b4 = constant 0 (w)
  b5 = constant 1 ("b:0")
  dispatch @gemm(b0, b4 -> b2)
  dispatch @bias_relu(b2, b5 -> b3)
  i1 = integer 2
  result "z:0" = b3 [i1, i1]
  return
}
)";

// This sample uses every integer instruction, calls of library functions,
// results whose shapes the program computes, and control flow.
constexpr std::string_view kShapes = R"(
module "by hand" from "shapes"
constant k: i64[2] = [2, 7]
dispatch @gather<M, N>(%x: f32[N], %p: i64[M]) -> (%y: f32[M]) {
  %y[i] = %x[%p[i]] * 2.0
}
program main<N, "?", "?">(x: f32[N], n: i64[1]) -> (positive: f32[$1], top: f32[$2], i: i64[$2], s: i64[]) integers 30 {
  message "n: expected what the constant says"
  message "never"
  i0 = input_dim x, 0
  b0 = input x
  i1 = integer 11
  call non_zero(i1, i0, b0, b1, i2)
  i3 = integer 4
  i4 = mul i2, i3
  b2 = allocate i4
  dispatch @gather(i2, i0; b0, b1 -> b2)
  release b1
  b3 = constant 0 (k)
  i5 = load_integer b3, i64, 0
  i6 = min i5, i0
  i7 = integer 1
  i8 = mul i6, i3
  b4 = allocate i8
  i9 = integer 8
  i10 = mul i6, i9
  b5 = allocate i10
  call top_k(i1, i7, i0, i7, i6, i7, b0, b4, b5)
  result positive = b2 [i2]
  result top = b4 [i6]
  result i = b5 [i6]
  b6 = input n
  i11 = load_integer b6, i64, 0
  i12 = load_integer b3, i64, 8
  i13 = equal i11, i12
  branch_if i13, L28
  check_equal i11, i5, 0
L28:
  i14 = add i11, i5
  i15 = sub i14, i7
  i16 = floordiv i15, i9
  i17 = mod i15, i9
  i18 = max i16, i17
  i19 = less i18, i9
  i20 = move i19
  check i20, 1
  branch L37
L37:
  b6 = move_buffer b6
  result s = b6 []
  return
}
)";

// This sample has a loop whose body is a program that calls another program.
// The results of the calls are an input, a constant, memory in an arena, and
// memory that belongs to the result alone.
constexpr std::string_view kCalls = R"(
module "by hand" from "calls"
constant start: f32[2] = [1, 2]
dispatch @add<N>(%x: f32[N], %y: f32[N]) -> (%z: f32[N]) {
  %z[i] = %x[i] + %y[i]
}
program main<N, "?">(x: f32[N], n: u8[3]) -> (sum: f32[N], scan: f32[$1], last: f32[N], first: f32[2]) {
  i0 = input_dim x, 0
  b0 = input x
  b1 = input n
  i1 = load_integer b1, u8, 2
  i2 = integer 4
  i3 = mul i0, i2
  i4 = integer 0
  b2 = allocate i4
  i5 = integer 0
  b3 = move_buffer b0
  i6 = integer 1
  b5 = arena 64
  branch L19
L13:
  store_integer b5, i4, 8
  i9 = load_integer b5, i64, 8
  call_program body(i9, i0; b3, b0 -> b3 [i10], b4 [i10])
  append b2, i5, b4, i3
  i5 = add i5, i3
  i4 = add i4, i6
L19:
  i7 = less i4, i1
  branch_if i7, L13
  i11 = mul i4, i0
  i12 = sub i5, i3
  b6 = slice_at b2, i12, i3
  result sum = b3 [i0]
  result scan = b2 [i11]
  result last = b6 [i0]
  call_program constants(-> b7 [i13])
  result first = b7 [i13]
  return
}
program body<N>[k, N](state: f32[N], x: f32[N]) -> (next: f32[N], seen: f32[N]) {
  b0 = input state
  b1 = input x
  b2 = arena 64
  dispatch @add(i1; b0, b1 -> b2)
  result next = b2 [i1]
  branch_if i0, L8
  result seen = b0 [i1]
  return
L8:
  call_program twice(i1; b0 -> b3 [i2])
  result seen = b3 [i2]
  return
}
program twice<N>[N](x: f32[N]) -> (y: f32[N]) {
  i1 = integer 4
  i2 = mul i0, i1
  b0 = input x
  b1 = allocate i2
  dispatch @add(i0; b0, b0 -> b1)
  result y = b1 [i0]
  return
}
program constants() -> (c: f32[2]) {
  b0 = constant 0 (start)
  i0 = integer 2
  result c = b0 [i0]
  return
}
)";

// This sample uses every string function, and logical types.
constexpr std::string_view kStrings = R"(
module "by hand" from "strings"
strings ["", "[a-z]+", ", ", "\xff"]
program main<N, "?">(e: u8[2] as f8e4m3fn, x: i64[N] as string) -> (joined: i64[N] as string, parts: i64[N, $1] as string, counts: i64[N], texts: i64[N] as "string", numbers: i64[N], matches: bool[N], e: u8[2] as f8e4m3fn) {
  i0 = input_dim x, 0
  i1 = integer 8
  i2 = mul i0, i1
  b0 = input x
  b1 = allocate i2
  call string_upper(i0, b0, b1)
  b2 = allocate i2
  call string_lower(i0, b0, b2)
  b3 = allocate i2
  call string_concat(i0, b1, b2, b3)
  i3 = integer 2
  i4 = integer -1
  b4 = allocate i2
  call string_split(i0, i3, i4, b0, b5, b4, i5)
  i6 = integer 4
  b6 = allocate i2
  call number_to_string(i6, i0, b4, b6)
  b7 = allocate i2
  call string_to_number(i6, i0, b6, b7)
  i7 = integer 1
  b8 = allocate i0
  call regex_full_match(i0, i7, b0, b8)
  b10 = allocate i2
  call string_rank(i0, b0, b10)
  b9 = input 0
  result joined = b3 [i0]
  result parts = b5 [i0, i5]
  result counts = b4 [i0]
  result texts = b6 [i0]
  result numbers = b7 [i0]
  result matches = b8 [i0]
  result e = b9 [i3]
  return
}
)";

constexpr SampleModule kSamples[] = {{"loop", kLoop},
                                     {"static", kStatic},
                                     {"shapes", kShapes},
                                     {"calls", kCalls},
                                     {"strings", kStrings}};

}  // namespace

std::span<const SampleModule> SampleModules() { return kSamples; }

ModuleDefinition ParseSample(std::string_view text) {
  StatusOr<ModuleDefinition> module = ParseModule(text);
  EMBER_CHECK(module.ok()) << module.status().ToString();
  const Status verified = VerifyModule(*module);
  EMBER_CHECK(verified.ok()) << verified.ToString();
  return *std::move(module);
}

ModuleDefinition SampleNamed(std::string_view name) {
  for (const SampleModule& sample : kSamples) {
    if (sample.name == name) return ParseSample(sample.text);
  }
  EMBER_CHECK(false) << "no sample " << name;
  return {};
}

}  // namespace ember::vm

#include "jit/c/language.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/concat.h"

namespace ember::jit::c {
namespace {

std::string Heading(const loops::LoopNest&, const loops::Phase&,
                    const std::string& name) {
  return Concat({"int32_t ", name,
                 "(const int64_t *parameters, void *const *buffers,\n"
                 "    int64_t begin, int64_t end, "
                 "struct EmberIndexFailure *failure)"});
}

std::string Buffer(const loops::LoopNest& nest, uint32_t number,
                   const std::string& name);

// Operations for which every compiler emits one or a few instructions. Only
// rounding may call a library, because processors without an instruction for an
// operation would otherwise need a library for it.
constexpr legalise::TargetOperations kOperations = {
    // C has no 16-bit floats: legalisation computes them in f32 and converts
    // them by integer operations.
    .half_conversions = false,
    .half_sums = false,
    .wide_halves = false,
    .narrow_integers = true,
    .bool_casts = true,
    // C99 defines that quotients are rounded toward 0, so remainders of
    // negative numbers are defined.
    .signed_remainders = true,
    // C leaves casts of floats undefined that do not fit the integer, so
    // legalisation expands saturating casts.
    .saturating_casts = false,
    // C's fmin and fmax ignore NaNs, but most compilers call a function for
    // them.
    .number_extremes = false,
    // Printed code rounds floats by calls of floor, ceil, trunc and nearbyint.
    .rounding_f32 = true,
    .rounding_f64 = true,
    // Arithmetic of f64 counts as slow, because many small processors have
    // hardware for f32 only.
    .cheap_doubles = false,
    .matrix_loops = false,
};

constexpr c_like::Language kC11 = {
    .operations = kOperations,
    // Largest number of lines of a function. Compilers for small processors
    // still accept functions of this length.
    .max_lines = 30000,
    .types = {.boolean = "uint8_t",
              .i8 = "int8_t",
              .i16 = "int16_t",
              .i32 = "int32_t",
              .i64 = "int64_t",
              .u8 = "uint8_t",
              .u16 = "uint16_t",
              .u32 = "uint32_t",
              .u64 = "uint64_t",
              .f32 = "float",
              .f64 = "double",
              .size = "size_t"},
    .literals = {.u32 = "${value}u",
                 .i64 = "INT64_C($value)",
                 .u64 = "UINT64_C($value)",
                 .f32 = "${value}f",
                 .f64 = "$value",
                 .infinite_f32 = "ember_f32_of_u32(UINT32_C($value))",
                 .infinite_f64 = "ember_f64_of_u64(UINT64_C($value))"},
    // Names that begin with "ember_" are functions that jit/c/prelude.h adds to
    // each file.
    .bits = {.f32_of_u32 = "ember_f32_of_u32($value)",
             .f64_of_u64 = "ember_f64_of_u64($value)",
             .u32_of_f32 = "ember_u32_of_f32($value)",
             .u64_of_f64 = "ember_u64_of_f64($value)"},
    .functions = {.call_f32 = "${function}f($value)",
                  .call_f64 = "$function($value)",
                  .absolute = "fabs",
                  .floor = "floor",
                  .ceil = "ceil",
                  // nearbyint rounds by the current rounding mode; C's default
                  // rounds ties to even.
                  .round = "nearbyint",
                  .truncate = "trunc",
                  .square_root = "sqrt",
                  .infinity = "INFINITY"},
    .cast = "($type)$value",
    .choice = "$condition ? $yes : $no",
    .declarations = {.constant = "const $type $name = $value;",
                     .variable = "$type $name = $value;",
                     .array = "$type $name[$count];",
                     .zeros = "$type $name[$count] = {0};"},
    .loop = "for ($type $name = 0; $name < $end; ++$name)",
    // A call of a phase's function runs the tasks from `begin` to `end` - 1.
    .task = {.heading = "for ($type $name = begin; $name < end; ++$name)",
             .first = {}},
    // One thread runs all invocations of a loop before the next statement, so
    // no barriers are needed.
    .invocation = {},
    .first_invocation = {},
    .barrier = {},
    .kernel = {},
    .failure = "return ember_failed(failure, $buffer, $dim, $index, $extent);",
    .parameter = "const int64_t $name = parameters[$number];",
    // Keeps compilers from warning of arguments that a phase does not use.
    .first_line = "(void)parameters, (void)buffers, (void)failure;",
    .last_line = "return 0;",
    .heading = Heading,
    .buffer = Buffer,
    .refuse = nullptr,
};
static_assert(c_like::IsComplete(kC11));

std::string Buffer(const loops::LoopNest& nest, uint32_t number,
                   const std::string& name) {
  const loops::Buffer& buffer = nest.buffers[number];
  const bool is_input = buffer.scope == loops::MemoryScope::kInput;
  const std::string pointer = Concat(
      {is_input ? "const " : "", c_like::TypeOf(kC11, buffer.type), " *"});
  return Concat({pointer, name, " = (", pointer, ")buffers[", number, "];"});
}

}  // namespace

const c_like::Language kLanguage = kC11;

}  // namespace ember::jit::c

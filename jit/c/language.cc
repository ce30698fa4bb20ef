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

// Operations for which every compiler emits one instruction, or a few. Except
// for rounding, none may call a library, which processors without such an
// instruction would have to ship.
constexpr legalise::TargetOperations kOperations = {
    // C has no floats of 16 bits: they are computed in f32, and converted in
    // integers.
    .half_conversions = false,
    .half_sums = false,
    .wide_halves = false,
    .narrow_integers = true,
    .bool_casts = true,
    // Since C99 a quotient is rounded toward 0.
    .signed_remainders = true,
    // Legalisation writes out casts that C leaves undefined.
    .saturating_casts = false,
    // fmin ignores NaNs, but most compilers call a function for it.
    .number_extremes = false,
    // Rounding calls floor, ceil, trunc and nearbyint.
    .rounding_f32 = true,
    .rounding_f64 = true,
    // Many small processors have f32 only.
    .cheap_doubles = false,
    .matrix_loops = false,
};

constexpr c_like::Language kC11 = {
    .operations = kOperations,
    // Compilers for small processors accept functions of this size.
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
    // Names that begin with "ember_" are functions of jit/c/prelude.h.
    .bits = {.f32_of_u32 = "ember_f32_of_u32($value)",
             .f64_of_u64 = "ember_f64_of_u64($value)",
             .u32_of_f32 = "ember_u32_of_f32($value)",
             .u64_of_f64 = "ember_u64_of_f64($value)"},
    .functions = {.call_f32 = "${function}f($value)",
                  .call_f64 = "$function($value)",
                  .absolute = "fabs",
                  .floor = "floor",
                  .ceil = "ceil",
                  // The default rounding mode of C rounds ties to even.
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
    // A call runs a range of the tasks.
    .task = {.heading = "for ($type $name = begin; $name < end; ++$name)",
             .first = {}},
    // Invocations run one after another, loop by loop, and need no barriers.
    .invocation = {},
    .first_invocation = {},
    .barrier = {},
    .kernel = {},
    .failure = "return ember_failed(failure, $buffer, $dim, $index, $extent);",
    .parameter = "const int64_t $name = parameters[$number];",
    // A phase may leave some of its function's arguments unused.
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

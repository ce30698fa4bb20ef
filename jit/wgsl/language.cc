#include "jit/wgsl/language.h"

#include <string>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/kernel_function.h"
#include "jit/loops/loop_nest.h"
#include "jit/wgsl/memory.h"

namespace ember::jit::wgsl {
namespace {

using c_like::Language;
using loops::LoopKind;
using loops::Statement;
using loops::StorageKind;

// Declines loops over subgroups, and updates of memory whose values WGSL lacks.
Status Refuse(const loops::LoopNest& nest, const Statement& statement) {
  if (statement.kind == Statement::Kind::kFor &&
      (statement.loop == LoopKind::kSubgroup ||
       statement.loop == LoopKind::kMatrix))
    return Decline(DeclineReason::kDeviceMatrix, "a loop over subgroups");
  for (const loops::Store& store : statement.stores) {
    const DType type = nest.buffers[store.buffer].type;
    if (store.update != tensor::Update::kAssign && DTypeByteSize(type) == 8)
      return Decline(DeclineReason::kDeviceType, DTypeName(type));
  }
  return OkStatus();
}

// Returns the value as another type. Integers of 8 and 16 bits are held in 32
// bits, so a conversion to them drops the upper bits.
std::string Convert(DType, DType to, const std::string& value) {
  const int bits = 8 * static_cast<int>(DTypeByteSize(to));
  switch (to) {
    case DType::kI8:
    case DType::kI16:
      return Concat({"extractBits(i32(", value, "), 0u, ", bits, "u)"});
    case DType::kU8:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return Concat({"(u32(", value, ") & ", (1 << bits) - 1, "u)"});
    default:
      return Concat({c_like::TypeOf(kLanguage, to), "(", value, ")"});
  }
}

// Returns the element's number in the buffer's binding: a slice begins at the
// number that has the buffer's name.
std::string PositionOf(const loops::Phase& phase, uint32_t buffer,
                       const std::string& name, std::string_view position) {
  return phase.workgroup.storage[buffer].kind == StorageKind::kSlices
             ? Concat({name, " + (", position, ")"})
             : std::string(position);
}

std::string Load(const loops::LoopNest& nest, const loops::Phase& phase,
                 uint32_t buffer, const std::string& name,
                 std::string_view position) {
  if (!c_like::IsBound(phase.workgroup.storage[buffer]))
    return Concat({name, "[", position, "]"});
  return LoadOf(MemoryOf(nest, phase, buffer),
                PositionOf(phase, buffer, name, position));
}

std::string Store(const loops::LoopNest& nest, const loops::Phase& phase,
                  uint32_t buffer, const std::string& name,
                  std::string_view position, std::string_view value) {
  if (!c_like::IsBound(phase.workgroup.storage[buffer]))
    return Concat({name, "[", position, "] = ", value, ";"});
  return StoreOf(MemoryOf(nest, phase, buffer),
                 PositionOf(phase, buffer, name, position), value);
}

// A literal of a NaN or an infinity is an error in WGSL, and a compiler may
// reassociate sums. So the bits of such literals, and of numbers that round
// sums, go through no_bits, which is 0, but no compiler knows it: it is the
// upper half of the number of the first task, which fits 32 bits.
#define EMBER_NO_BITS "let no_bits: u32 = u32(parameters.p$parameters.y);\n  "
constexpr Language kWgsl = {
    .operations = {.bool_casts = true,
                   .signed_remainders = true,
                   .rounding_f32 = true},
    .max_lines = 30000,
    .is_strict = true,
    .types = {.boolean = "bool",
              .i8 = "i32",
              .i16 = "i32",
              .i32 = "i32",
              .i64 = {},
              .u8 = "u32",
              .u16 = "u32",
              .u32 = "u32",
              .u64 = {},
              .f32 = "f32",
              .f64 = {},
              .size = "u32"},
    .literals = {.u32 = "${value}u",
                 // Values of types that WGSL lacks are declined.
                 .i64 = "$value",
                 .u64 = "$value",
                 .f32 = "${value}f",
                 .f64 = "$value",
                 .infinite_f32 = "bitcast<f32>(no_bits | ${value}u)",
                 .infinite_f64 = "$value",
                 .boolean = "bool($value)",
                 .i32 = "i32($value)"},
    .bits = {.f32_of_u32 = "bitcast<f32>($value)",
             .f64_of_u64 = "$value",
             .u32_of_f32 = "bitcast<u32>($value)",
             .u64_of_f64 = "$value"},
    .functions = {.call_f32 = "$function($value)",
                  .call_f64 = "$function($value)",
                  .absolute = "abs",
                  .floor = "floor",
                  .ceil = "ceil",
                  .round = "round",
                  .truncate = "trunc",
                  .square_root = "sqrt",
                  .infinity = "bitcast<f32>(no_bits | 2139095040u)",
                  .is_nan = "(bitcast<u32>($value) & 2147483647u) > "
                            "2139095040u",
                  .is_infinite = "(bitcast<u32>($value) & 2147483647u) == "
                                 "2139095040u"},
    .cast = "$type($value)",
    .choice = "select($no, $yes, $condition)",
    .declarations = {.constant = "let $name: $type = $value;",
                     .variable = "var $name: $type = $value;",
                     .array = "var $name: array<$type, $count>;",
                     .zeros = "var $name: array<$type, $count>;"},
    .loop = "for (var $name: $type = 0; $name < $end; $name++)",
    .task = {.heading = "if (task < $end)",
             .first = "let $name: $type = task;"},
    .invocation = {.heading = "if (i32(local_id.x) < $end)",
                   .first = "let $name: $type = i32(local_id.x);"},
    .first_invocation = "local_id.x == 0u",
    // Invocations may also share what is in the device's memory.
    .barrier = "workgroupBarrier(); storageBarrier();",
    .kernel = {.heading = "@compute @workgroup_size($invocations)\n"
                          "fn $name(@builtin(workgroup_id) group: vec3<u32>, "
                          "@builtin(num_workgroups) groups: vec3<u32>, "
                          "@builtin(local_invocation_id) local_id: vec3<u32>)",
               .binding = {},
               .parameter = {},
               .first_task = {},
               .workgroup =
                   "let workgroup: i32 = i32(group.x + group.y * groups.x);",
               .task_of_workgroup =
                   EMBER_NO_BITS "let task: i32 = parameters.p$parameters.x + "
                                 "workgroup;",
               .task_of_invocation =
                   EMBER_NO_BITS "let task: i32 = parameters.p$parameters.x + "
                                 "workgroup * $invocations + i32(local_id.x);",
               .pointer = {},
               .slice = "let $name: u32 = u32(workgroup) * ($elements);",
               .shared = {},
               .shared_pointer = {},
               .record = {}},
    .failure = "record_failure($buffer, $dim, $index, $extent);",
    .parameter = "let $name: i32 = parameters.p$number.x;",
    .first_line = {},
    .last_line = {},
    .convert = Convert,
    .load = Load,
    .store = Store,
    .heading = nullptr,
    .buffer = nullptr,
    .refuse = Refuse,
};
#undef EMBER_NO_BITS
static_assert(c_like::IsComplete(kWgsl));

}  // namespace

const Language kLanguage = kWgsl;

}  // namespace ember::jit::wgsl

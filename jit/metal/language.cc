#include "jit/metal/language.h"

#include "jit/backend/decline_reasons.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/walk.h"

namespace ember::jit::metal {
namespace {

using c_like::Language;
using loops::LoopKind;
using loops::Statement;

Status RefuseDoubles(const loops::LoopNest& nest, const Statement& statement) {
  bool has_doubles = false;
  for (const loops::Store& store : statement.stores)
    has_doubles |= nest.buffers[store.buffer].type == DType::kF64;
  for (const loops::NodeId id :
       loops::NodesUnder(nest.pool, loops::RootsOf(nest.pool, statement)))
    has_doubles |= nest.pool[id].type == DType::kF64;
  return has_doubles ? Decline(DeclineReason::kDeviceType, "f64") : OkStatus();
}

Status Refuse(const loops::LoopNest& nest, const Statement& statement) {
  if (statement.kind == Statement::Kind::kFor &&
      (statement.loop == LoopKind::kSubgroup ||
       statement.loop == LoopKind::kMatrix))
    return Decline(DeclineReason::kDeviceMatrix, "a loop over subgroups");
  return RefuseDoubles(nest, statement);
}

// The argument with the attribute buffer(30) holds the parameters: 30 is
// kParametersIndex.
constexpr Language kMsl = {
    .operations = {.narrow_integers = true,
                   .bool_casts = true,
                   .signed_remainders = true,
                   .rounding_f32 = true},
    .max_lines = 30000,
    .types = {.boolean = "uchar",
              .i8 = "char",
              .i16 = "short",
              .i32 = "int",
              .i64 = "long",
              .u8 = "uchar",
              .u16 = "ushort",
              .u32 = "uint",
              .u64 = "ulong",
              .f32 = "float",
              // MSL has no double. This type is never printed, because Refuse
              // declines nests with doubles.
              .f64 = "double",
              .size = "size_t"},
    .literals = {.u32 = "${value}u",
                 .i64 = "${value}L",
                 .u64 = "${value}UL",
                 .f32 = "${value}f",
                 .f64 = "$value",
                 .infinite_f32 = "as_type<float>(${value}u)",
                 .infinite_f64 = "as_type<double>(${value}UL)"},
    .bits = {.f32_of_u32 = "as_type<float>($value)",
             .f64_of_u64 = "as_type<double>($value)",
             .u32_of_f32 = "as_type<uint>($value)",
             .u64_of_f64 = "as_type<ulong>($value)"},
    .functions = {.call_f32 = "precise::$function($value)",
                  .call_f64 = "$function($value)",
                  .absolute = "fabs",
                  .floor = "floor",
                  .ceil = "ceil",
                  .round = "rint",
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
    .task = {.heading = "if (task < $end)",
             .first = "const $type $name = task;"},
    .invocation = {.heading = "if ((int)local_id.x < $end)",
                   .first = "const $type $name = local_id.x;"},
    .first_invocation = "local_id.x == 0",
    // The barrier also orders accesses to the device's memory, because
    // invocations may share buffers there.
    .barrier =
        "threadgroup_barrier(mem_flags::mem_threadgroup | "
        "mem_flags::mem_device);",
    .kernel =
        {.heading = "[[max_total_threads_per_threadgroup($invocations)]]\n"
                    "kernel void $name($arguments, "
                    "threadgroup uchar *shared [[threadgroup(0)]], "
                    "uint3 group [[threadgroup_position_in_grid]], "
                    "uint3 groups [[threadgroups_per_grid]], "
                    "uint3 local_id [[thread_position_in_threadgroup]])",
         .binding = "device ${const}uchar *a$number [[buffer($number)]]",
         .parameter = {},
         .first_task = "constant long *parameters [[buffer(30)]]",
         .workgroup = "const int workgroup = group.x + group.y * groups.x;",
         .task_of_workgroup =
             "const int task = parameters[$parameters] + workgroup;",
         .task_of_invocation = "const int task = parameters[$parameters] + "
                               "workgroup * $invocations + local_id.x;",
         .pointer = "device $const$type *$name = (device $const$type "
                    "*)a$number;",
         .slice = "$name += (size_t)workgroup * ($elements);",
         .shared = {},
         .shared_pointer = "threadgroup $type *const $name = (threadgroup "
                           "$type *)(shared + $offset);",
         .record = "device uchar *const record = a$number;"},
    .failure = "record_failure(record, $buffer, $dim, $index, $extent);",
    .parameter = "const long $name = parameters[$number];",
    .first_line = {},
    .last_line = {},
    .heading = nullptr,
    .buffer = nullptr,
    .refuse = Refuse,
};
static_assert(c_like::IsComplete(kMsl));

}  // namespace

const Language kLanguage = kMsl;

// The pragma forbids the compiler to contract a * b + c to an FMA, so that
// expressions round as they are written. The function records the first check
// of a command that fails (CheckRecord of vm/format/device_abi.h).
const std::string_view kPrelude = R"(#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

static void record_failure(device uchar *record, int buffer, int dim, long index, long extent) {
  int expected = 0;
  while (!atomic_compare_exchange_weak_explicit((device atomic_int *)record, &expected, 1, memory_order_relaxed, memory_order_relaxed)) {
    if (expected != 0) return;
  }
  ((device int *)record)[1] = buffer;
  ((device int *)record)[2] = dim;
  ((device long *)record)[2] = index;
  ((device long *)record)[3] = extent;
}
)";

}  // namespace ember::jit::metal

#include "jit/opencl/language.h"

#include <vector>

#include "jit/backend/decline_reasons.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/walk.h"

namespace ember::jit::opencl {
namespace {

using c_like::Language;
using loops::LoopKind;
using loops::Statement;

// The pragma forbids the compiler to contract a * b + c to an FMA, so that
// expressions round as they are written. The function records the first check
// of a command that fails (CheckRecord of vm/format/device_abi.h).
#define EMBER_PRELUDE                                                          \
  "#pragma OPENCL FP_CONTRACT OFF\n"                                           \
  "\n"                                                                         \
  "void record_failure(global int *record, int buffer, int dim, long index,\n" \
  "                    long extent) {\n"                                       \
  "  if (atomic_cmpxchg(record, 0, 1) != 0) return;\n"                         \
  "  record[1] = buffer;\n"                                                    \
  "  record[2] = dim;\n"                                                       \
  "  ((global long *)record)[2] = index;\n"                                    \
  "  ((global long *)record)[3] = extent;\n"                                   \
  "}\n"

constexpr std::string_view kPrelude = EMBER_PRELUDE;
constexpr std::string_view kPreludeOfDoubles =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" EMBER_PRELUDE;
#undef EMBER_PRELUDE

// --- statements that are declined: OpenCL C cannot express them, or the device
// has no f64

Status Refuse(const loops::LoopNest&, const Statement& statement) {
  if (statement.kind != Statement::Kind::kFor) return OkStatus();
  if (statement.loop == LoopKind::kSubgroup ||
      statement.loop == LoopKind::kMatrix)
    return Decline(DeclineReason::kDeviceMatrix, "a loop over subgroups");
  return OkStatus();
}

Status RefuseDoubles(const loops::LoopNest& nest, const Statement& statement) {
  const auto decline = [] {
    return Decline(DeclineReason::kDeviceType, "f64 (feature f64)");
  };
  for (const loops::Store& store : statement.stores) {
    if (nest.buffers[store.buffer].type == DType::kF64) return decline();
  }
  for (const loops::NodeId id :
       loops::NodesUnder(nest.pool, loops::RootsOf(nest.pool, statement))) {
    if (nest.pool[id].type == DType::kF64) return decline();
  }
  return Refuse(nest, statement);
}

constexpr Language TableWith(decltype(Language::refuse) refuse) {
  return {
      .operations = {.narrow_integers = true,
                     .bool_casts = true,
                     .signed_remainders = true,
                     .rounding_f32 = true,
                     .rounding_f64 = true},
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
                .f64 = "double",
                .size = "size_t"},
      .literals = {.u32 = "${value}u",
                   .i64 = "${value}L",
                   .u64 = "${value}UL",
                   .f32 = "${value}f",
                   .f64 = "$value",
                   .infinite_f32 = "as_float(${value}u)",
                   .infinite_f64 = "as_double(${value}UL)"},
      .bits = {.f32_of_u32 = "as_float($value)",
               .f64_of_u64 = "as_double($value)",
               .u32_of_f32 = "as_uint($value)",
               .u64_of_f64 = "as_ulong($value)"},
      .functions = {.call_f32 = "$function($value)",
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
      .invocation = {.heading = "if (get_local_id(0) < $end)",
                     .first = "const $type $name = get_local_id(0);"},
      .first_invocation = "get_local_id(0) == 0",
      // The barrier also orders accesses to the device's memory, because
      // invocations may share buffers there.
      .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      // PoCL 3.1 and 6.0 lose the statements after a loop's last barrier if the
      // loop is in the branch of the task (hal/opencl/README.md).
      .loops_end_with_barrier = true,
      .kernel =
          {.heading = "kernel __attribute__((reqd_work_group_size($invocations,"
                      " 1, 1)))\nvoid $name($arguments)",
           .binding = "global ${const}uchar *${restrict}a$number, const ulong "
                      "o$number",
           .parameter = "const long $name",
           .first_task = "const long first",
           .workgroup = "const int workgroup = get_group_id(0) + "
                        "get_group_id(1) * get_num_groups(0);",
           .task_of_workgroup = "const int task = first + workgroup;",
           .task_of_invocation = "const int task = first + workgroup * "
                                 "$invocations + get_local_id(0);",
           .pointer = "global $const$type *$name = (global $const$type "
                      "*)(a$number + o$number);",
           .slice = "$name += (size_t)workgroup * ($elements);",
           .shared = "local uchar shared[$bytes] __attribute__((aligned(16)));",
           .shared_pointer =
               "local $type *const $name = (local $type *)(shared + $offset);",
           .record = "global int *const record = (global int *)(a$number + "
                     "o$number);"},
      .failure = "record_failure(record, $buffer, $dim, $index, $extent);",
      .parameter = {},
      .first_line = {},
      .last_line = {},
      .heading = nullptr,
      .buffer = nullptr,
      .refuse = refuse,
  };
}

constexpr Language kWithDoubles = TableWith(Refuse);
constexpr Language kWithoutDoubles = TableWith(RefuseDoubles);
static_assert(c_like::IsComplete(kWithDoubles));

}  // namespace

const Language& LanguageFor(const Target& target) {
  return target.f64 ? kWithDoubles : kWithoutDoubles;
}

std::string_view PreludeFor(const Target& target) {
  return target.f64 ? kPreludeOfDoubles : kPrelude;
}

}  // namespace ember::jit::opencl

#include "jit/c_like/testing/opencl.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/language.h"
#include "jit/c_like/names.h"
#include "jit/c_like/phase_printer.h"
#include "jit/loops/walk.h"
#include "jit/pipeline/target_passes.h"

namespace ember::jit::c_like {
namespace {

using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;

// The begin of a file: expressions are computed as they are written.
constexpr std::string_view kPrelude =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#pragma OPENCL FP_CONTRACT OFF\n";

// --- buffers

std::optional<int64_t> ElementsOf(const loops::LoopNest& nest,
                                  const loops::Buffer& buffer) {
  int64_t elements = 1;
  for (const loops::NodeId extent : buffer.extents) {
    const std::optional<int64_t> known = nest.pool.IntegerConstant(extent);
    if (!known || *known > (int64_t{1} << 24)) return std::nullopt;
    elements = std::min(elements * *known, int64_t{1} << 24);
  }
  return elements;
}

// Checks that the workgroup's memory holds the buffers of tasks.
Status CheckBuffers(const loops::LoopNest& nest,
                    const gpu::DeviceTraits& device) {
  int64_t left = device.shared_bytes;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.scope != MemoryScope::kTask) continue;
    const std::optional<int64_t> elements = ElementsOf(nest, buffer);
    const int64_t size = DTypeByteSize(buffer.type);
    if (!elements || *elements > left / size) {
      return Decline(DeclineReason::kDeviceLimit,
                     Concat({"buffer %", buffer.name, ", where ", left,
                             " bytes of a workgroup's memory are left"}));
    }
    left -= *elements * size;
  }
  return OkStatus();
}

// --- statements that OpenCL C 1.2 cannot express, or this table does not

Status Refuse(const loops::LoopNest&, const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kCheck:
      return Decline(DeclineReason::kNoProof, "a check of an index");
    case Statement::Kind::kFor:
      if (statement.loop == LoopKind::kSubgroup ||
          statement.loop == LoopKind::kMatrix)
        return Decline(DeclineReason::kDeviceMatrix, "a loop over subgroups");
      return OkStatus();
    default:
      return OkStatus();
  }
}

// --- functions

int64_t InvocationsOf(const loops::LoopNest& nest, const loops::Block& block) {
  int64_t most = 1;
  for (const Statement& statement : block) {
    most = std::max(most, InvocationsOf(nest, statement.body));
    if (!loops::IsInvocationLoop(statement)) continue;
    most = std::max(most, *nest.pool.IntegerConstant(
                              loops::ExtentOf(nest.pool, statement.variable)));
  }
  return most;
}

std::string Heading(const loops::LoopNest& nest, const loops::Phase& phase,
                    const std::string& name);
std::string Buffer(const loops::LoopNest& nest, uint32_t number,
                   const std::string& name);

constexpr Language kOpenCl = {
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
    .task = {.heading = "if (get_group_id(0) < $end)",
             .first = "const $type $name = get_group_id(0);"},
    .invocation = {.heading = "if (get_local_id(0) < $end)",
                   .first = "const $type $name = get_local_id(0);"},
    .first_invocation = "get_local_id(0) == 0",
    // Invocations may also share what is in the device's memory.
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .failure = {},
    .parameter = {},
    .first_line = {},
    .last_line = {},
    .heading = Heading,
    .buffer = Buffer,
    .refuse = Refuse,
};
static_assert(IsComplete(kOpenCl));

bool IsArgument(const loops::Buffer& buffer) {
  return buffer.scope != MemoryScope::kTask &&
         buffer.scope != MemoryScope::kRegister;
}

std::string Heading(const loops::LoopNest& nest, const loops::Phase& phase,
                    const std::string& name) {
  std::string arguments;
  const auto add = [&](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  for (uint32_t i = 0; i < nest.buffers.size(); ++i) {
    const loops::Buffer& buffer = nest.buffers[i];
    if (!IsArgument(buffer)) continue;
    const bool is_input = buffer.scope == MemoryScope::kInput;
    add(Concat({"global ", is_input ? "const " : "",
                TypeOf(kOpenCl, buffer.type), " *", BufferName(nest, i)}));
  }
  for (size_t i = 0; i < nest.parameters.size(); ++i)
    add("const long " + ParameterName(nest, i));
  return Concat({"kernel __attribute__((reqd_work_group_size(",
                 InvocationsOf(nest, phase.body), ", 1, 1)))\nvoid ", name, "(",
                 arguments, ")"});
}

std::string Buffer(const loops::LoopNest& nest, uint32_t number,
                   const std::string& name) {
  const loops::Buffer& buffer = nest.buffers[number];
  if (IsArgument(buffer)) return "";
  return Concat({"local ", TypeOf(kOpenCl, buffer.type), " ", name, "[",
                 *ElementsOf(nest, buffer), "];"});
}

}  // namespace

StatusOr<std::string> OpenClOf(const loops::LoopNest& given,
                               const gpu::DeviceTraits& device) {
  EMBER_RETURN_IF_ERROR(CheckBuffers(given, device));
  std::string file(kPrelude);
  TargetBuild build = {.nest = given,
                       .operations = kOpenCl.operations,
                       .device = &device,
                       .marks_integers = true};
  build.emit = [&](const loops::LoopNest& nest) -> Status {
    const auto print = [&](const std::vector<loops::Phase>& phases,
                           std::string_view kind) -> Status {
      for (size_t i = 0; i < phases.size(); ++i) {
        EMBER_ASSIGN_OR_RETURN(
            const std::string function,
            PrintPhase(kOpenCl, nest, phases[i],
                       Concat({Identifier(nest.name), kind, i})));
        file += "\n" + function;
      }
      return OkStatus();
    };
    EMBER_RETURN_IF_ERROR(print(nest.prologue, "_prologue"));
    return print(nest.phases, "_phase");
  };
  EMBER_RETURN_IF_ERROR(RunTargetPasses(build, nullptr));
  return file;
}

}  // namespace ember::jit::c_like

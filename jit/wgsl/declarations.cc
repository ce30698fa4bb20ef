#include "jit/wgsl/declarations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/identifiers.h"
#include "jit/c_like/kernel_function.h"
#include "jit/gpu/constant_elements.h"
#include "jit/gpu/register_class.h"
#include "jit/wgsl/language.h"
#include "jit/wgsl/memory.h"

namespace ember::jit::wgsl {
namespace {

using loops::BufferStorage;
using loops::StorageKind;

// Largest number of bytes of all variables of a function that every adapter
// supports (WGSL, section "Limits").
constexpr int64_t kFunctionBytes = 8192;

// The words of the record are those of vm::CheckRecord. The first failed check
// of a command is recorded.
constexpr std::string_view kRecord =
    "@group(1) @binding(1) var<storage, read_write> record: "
    "array<atomic<u32>, 8>;\n"
    "fn record_failure(buffer: u32, dim: u32, index: i32, extent: i32) {\n"
    "  if (atomicOr(&record[0], 1u) != 0u) { return; }\n"
    "  atomicStore(&record[1], buffer);\n"
    "  atomicStore(&record[2], dim);\n"
    "  atomicStore(&record[4], u32(index));\n"
    "  atomicStore(&record[5], u32(index >> 31u));\n"
    "  atomicStore(&record[6], u32(extent));\n"
    "  atomicStore(&record[7], u32(extent >> 31u));\n"
    "}\n";

std::string Parameters(size_t count) {
  std::string members;
  for (size_t i = 0; i <= count; ++i)
    members += Concat({i == 0 ? " " : ", ", "p", i, ": vec2<i32>"});
  return Concat({"struct Parameters {", members,
                 " }\n@group(1) @binding(0) var<uniform> parameters: "
                 "Parameters;\n"});
}

bool IsOfFunction(const BufferStorage& storage) {
  return storage.kind == StorageKind::kPrivate ||
         storage.kind == StorageKind::kRegisters;
}

// Returns the number of elements that an invocation, or the workgroup, has of
// the buffer.
int64_t ElementsOf(const loops::LoopNest& nest, const BufferStorage& storage,
                   const loops::Buffer& buffer) {
  const int64_t all = gpu::ConstantElements(nest, buffer);
  return storage.of_invocation
             ? all / *nest.pool.IntegerConstant(buffer.extents.front())
             : all;
}

Status TooFew(std::string_view what, int64_t found, int64_t limit) {
  return Decline(
      DeclineReason::kDeviceLimit,
      Concat({found, " ", what, ", where an entry point has ", limit}));
}

}  // namespace

Status Declarations::CheckLimits(const loops::LoopNest& nest,
                                 const loops::Phase& phase) const {
  int64_t bindings = phase.workgroup.has_checks ? 1 : 0;
  int64_t function_bytes = 0, shared_bytes = 0;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const BufferStorage& storage = phase.workgroup.storage[i];
    const loops::Buffer& buffer = nest.buffers[i];
    if (c_like::IsBound(storage)) {
      ++bindings;
      continue;
    }
    if (storage.kind == StorageKind::kUnused) continue;
    if (c_like::TypeOf(kLanguage, buffer.type).empty())
      return Decline(DeclineReason::kDeviceType, DTypeName(buffer.type));
    const int64_t bytes =
        ElementsOf(nest, storage, buffer) * gpu::BytesInRegister(buffer.type);
    (IsOfFunction(storage) ? function_bytes : shared_bytes) += bytes;
  }
  if (bindings > target_.storage_buffers)
    return TooFew("storage buffers", bindings, target_.storage_buffers);
  if (function_bytes > kFunctionBytes)
    return TooFew("bytes of arrays", function_bytes, kFunctionBytes);
  if (shared_bytes > target_.shared_bytes)
    return TooFew("bytes of a workgroup", shared_bytes, target_.shared_bytes);
  return OkStatus();
}

void Declarations::Add(const std::string& text) {
  if (all_.insert(text).second) added_ += text;
}

StatusOr<std::string> Declarations::Of(const loops::LoopNest& nest,
                                       const loops::Phase& phase) {
  EMBER_RETURN_IF_ERROR(CheckLimits(nest, phase));
  Add(Parameters(nest.parameters.size()));
  if (phase.workgroup.has_checks) Add(std::string(kRecord));
  for (uint32_t i = 0; i < nest.buffers.size(); ++i) {
    const BufferStorage& storage = phase.workgroup.storage[i];
    const loops::Buffer& buffer = nest.buffers[i];
    if (c_like::IsBound(storage)) {
      const Memory memory = MemoryOf(nest, phase, i);
      Add(DeclarationOf(memory));
      Add(FunctionsOf(memory));
    } else if (storage.kind == StorageKind::kShared) {
      Add(Concat({"var<workgroup> ", c_like::BufferName(nest, i), ": array<",
                  c_like::TypeOf(kLanguage, buffer.type), ", ",
                  ElementsOf(nest, storage, buffer), ">;\n"}));
    }
  }
  return std::exchange(added_, {});
}

}  // namespace ember::jit::wgsl

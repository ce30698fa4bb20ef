#include "jit/c_like/kernel_function.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "jit/c_like/form.h"
#include "jit/c_like/identifiers.h"
#include "jit/gpu/constant_elements.h"
#include "jit/loops/walk.h"

namespace ember::jit::c_like {
namespace {

using loops::BufferStorage;
using loops::StorageKind;

size_t BindingCount(const loops::Phase& phase) {
  return BindingOf(phase,
                   static_cast<uint32_t>(phase.workgroup.storage.size()));
}

// True if the buffer may share its memory with another bound buffer of the
// phase.
bool SharesMemory(const loops::LoopNest& nest, const loops::Phase& phase,
                  uint32_t buffer) {
  const std::vector<BufferStorage>& storage = phase.workgroup.storage;
  for (uint32_t other = 0; other < storage.size(); ++other) {
    if (other != buffer && IsBound(storage[other]) &&
        loops::AreMarkedAsShared(nest, buffer, other))
      return true;
  }
  return false;
}

std::string_view Const(const BufferStorage& storage) {
  return storage.is_written ? "" : "const ";
}

}  // namespace

bool IsBound(const BufferStorage& storage) {
  return storage.kind == StorageKind::kMemory ||
         storage.kind == StorageKind::kSlices;
}

size_t BindingOf(const loops::Phase& phase, uint32_t buffer) {
  const std::vector<BufferStorage>& storage = phase.workgroup.storage;
  return static_cast<size_t>(
      std::count_if(storage.begin(), storage.begin() + buffer, IsBound));
}

gpu::PhaseCode DescribeKernel(const Language& language,
                              const loops::LoopNest& nest,
                              const loops::Phase& phase, std::string name) {
  const loops::Workgroup& workgroup = phase.workgroup;
  gpu::PhaseCode code;
  code.entry_point = std::move(name);
  for (uint32_t i = 0; i < nest.buffers.size(); ++i) {
    const BufferStorage& storage = workgroup.storage[i];
    if (!IsBound(storage)) continue;
    const bool is_sliced = storage.kind == StorageKind::kSlices;
    code.bindings.push_back({.buffer = i,
                             .is_sliced = is_sliced,
                             .is_written = storage.is_written});
    code.has_slices |= is_sliced;
  }
  code.has_checks = workgroup.has_checks;
  code.invocations = workgroup.invocations;
  code.iterations = workgroup.iterations;
  code.shared_bytes = workgroup.shared_bytes;
  if (language.kernel.shared.empty() && language.load == nullptr)
    code.dynamic_shared_bytes = workgroup.shared_bytes;
  if (workgroup.mode == loops::Workgroup::Mode::kTaskEach)
    code.tasks_per_workgroup = workgroup.invocations;
  return code;
}

std::string KernelHeading(const Language& language, const loops::LoopNest& nest,
                          const loops::Phase& phase, const std::string& name) {
  const Language::Kernel& kernel = language.kernel;
  std::string arguments;
  const bool has_pointers = language.load == nullptr;
  const auto add = [&](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  const auto add_binding = [&](std::string_view is_const,
                               std::string_view is_restrict, size_t number) {
    add(Fill(kernel.binding, {{"const", is_const},
                              {"restrict", is_restrict},
                              {"number", std::to_string(number)}}));
  };
  for (uint32_t i = 0; i < nest.buffers.size(); ++i) {
    const BufferStorage& storage = phase.workgroup.storage[i];
    if (!IsBound(storage) || !has_pointers) continue;
    add_binding(Const(storage), SharesMemory(nest, phase, i) ? "" : "restrict ",
                BindingOf(phase, i));
  }
  if (phase.workgroup.has_checks && has_pointers)
    add_binding("", "", BindingCount(phase));
  if (!kernel.parameter.empty()) {
    for (size_t i = 0; i < nest.parameters.size(); ++i)
      add(Fill(kernel.parameter, {{"name", ParameterName(nest, i)}}));
  }
  if (has_pointers) add(std::string(kernel.first_task));
  return Fill(kernel.heading,
              {{"name", name},
               {"arguments", arguments},
               {"invocations", std::to_string(phase.workgroup.invocations)}});
}

std::vector<std::string> KernelFirstLines(const Language& language,
                                          const loops::LoopNest& nest,
                                          const loops::Phase& phase) {
  const Language::Kernel& kernel = language.kernel;
  const loops::Workgroup& workgroup = phase.workgroup;
  const bool is_each = workgroup.mode == loops::Workgroup::Mode::kTaskEach;
  std::vector<std::string> lines = {
      std::string(kernel.workgroup),
      Fill(is_each ? kernel.task_of_invocation : kernel.task_of_workgroup,
           {{"invocations", std::to_string(workgroup.invocations)},
            {"parameters", std::to_string(nest.parameters.size())}})};
  if (workgroup.shared_bytes > 0 && !kernel.shared.empty()) {
    lines.push_back(Fill(kernel.shared,
                         {{"bytes", std::to_string(workgroup.shared_bytes)}}));
  }
  if (workgroup.has_checks && !kernel.record.empty()) {
    lines.push_back(
        Fill(kernel.record, {{"number", std::to_string(BindingCount(phase))}}));
  }
  return lines;
}

std::string KernelBufferLine(const Language& language,
                             const loops::LoopNest& nest,
                             const loops::Phase& phase, uint32_t number,
                             const std::string& name) {
  const BufferStorage& storage = phase.workgroup.storage[number];
  const loops::Buffer& buffer = nest.buffers[number];
  const std::string_view type = TypeOf(language, buffer.type);
  const bool is_private =
      storage.kind != StorageKind::kShared && !IsBound(storage);
  if (language.load != nullptr && !is_private) return "";
  if (IsBound(storage)) {
    return Fill(language.kernel.pointer,
                {{"const", Const(storage)},
                 {"type", type},
                 {"name", name},
                 {"number", std::to_string(BindingOf(phase, number))}});
  }
  if (storage.kind == StorageKind::kShared) {
    return Fill(language.kernel.shared_pointer,
                {{"type", type},
                 {"name", name},
                 {"offset", std::to_string(storage.offset.value_or(0))}});
  }
  return Fill(language.declarations.array,
              {{"type", type},
               {"name", name},
               {"count", std::to_string(gpu::ConstantElements(nest, buffer))}});
}

}  // namespace ember::jit::c_like

#include "jit/gpu/device_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/loops/iterations.h"

namespace ember::jit {

using gpu::PhaseCode;
using loops::Scope;

namespace {

// Slices of one buffer: as many workgroups run at once as fit into it.
constexpr int64_t kSliceBytes = int64_t{64} << 20;

int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Status OverLimit(const loops::LoopNest& nest, const std::string& what) {
  return Decline(DeclineReason::kDeviceLimit,
                 Concat({"dispatch @", nest.name, ": ", what}));
}

}  // namespace

// What recorded phases use: temporaries, and what says whether a check failed.
class DeviceKernel::CallRecording final : public vm::Recording {
 public:
  explicit CallRecording(const loops::LoopNest& nest) : nest_(nest) {}

  Status Outcome() override {
    if (record_ == nullptr) return OkStatus();
    gpu::CheckRecord failed;
    std::memcpy(&failed, record_->host_data(), sizeof failed);
    if (failed.flag == 0) return OkStatus();
    std::memset(record_->host_data(), 0, sizeof failed);
    return vm::FailedCheck(nest_.name, nest_.buffers[failed.buffer].name,
                           failed.dim, failed.index, failed.extent);
  }

  int64_t device_bytes() const override {
    int64_t bytes = 0;
    for (const std::unique_ptr<hal::Buffer>& buffer : buffers_)
      bytes += buffer->size();
    return bytes;
  }

 private:
  friend class DeviceKernel;
  const loops::LoopNest& nest_;
  Buffers buffers_;
  hal::Buffer* record_ = nullptr;
};

DeviceKernel::DeviceKernel(DeviceKernelDefinition definition)
    : definition_(std::move(definition)),
      limits_(definition_.device->limits()),
      header_(definition_.nest,
              std::max<int64_t>(limits_.binding_alignment, 64)),
      packed_ranges_(definition_.nest.buffers.size()) {}

StatusOr<std::unique_ptr<DeviceKernel>> DeviceKernel::Create(
    DeviceKernelDefinition definition) {
  std::unique_ptr<DeviceKernel> kernel(new DeviceKernel(std::move(definition)));
  const DeviceKernelDefinition& own = kernel->definition_;
  if (own.nest.parameters.empty()) {
    EMBER_ASSIGN_OR_RETURN(const NestLayout layout,
                           kernel->header_.LayoutFor({}));
    EMBER_RETURN_IF_ERROR(kernel->CheckLayout(layout));
  }
  EMBER_ASSIGN_OR_RETURN(kernel->phases_, kernel->Load(own.code.phases));
  const auto begin = std::chrono::steady_clock::now();
  EMBER_RETURN_IF_ERROR(kernel->Pack());
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - begin;
  kernel->pack_ms_ = took.count();
  // Neither is used any more.
  kernel->definition_.constants.clear();
  kernel->definition_.code.code = {};
  return kernel;
}

bool DeviceKernel::Accepts(std::span<const int64_t> parameters) const {
  return !definition_.is_specialised ||
         std::ranges::equal(parameters, definition_.parameters);
}

bool DeviceKernel::Uses(size_t buffer) const {
  for (const PhaseCode& phase : definition_.code.phases) {
    for (const PhaseCode::Binding& binding : phase.bindings) {
      if (binding.buffer == buffer) return true;
    }
  }
  return false;
}

Status DeviceKernel::Run(const vm::KernelCall&) const {
  return InternalError("expected a kernel of the host, found one of a device");
}

StatusOr<DeviceKernel::Executables> DeviceKernel::Load(
    const std::vector<PhaseCode>& phases) const {
  const loops::LoopNest& nest = definition_.nest;
  Executables executables;
  for (const PhaseCode& phase : phases) {
    hal::ExecutableDefinition executable;
    executable.name = Concat({nest.name, ".", phase.entry_point});
    executable.format = definition_.code.format;
    executable.code = definition_.code.code;
    executable.entry_point = phase.entry_point;
    executable.workgroup = {phase.invocations, 1, 1};
    executable.shared_bytes = phase.dynamic_shared_bytes;
    executable.binding_count =
        static_cast<int>(phase.bindings.size()) + phase.has_checks;
    executable.parameter_count = static_cast<int>(nest.parameters.size()) + 1;
    if (executable.binding_count > limits_.binding_count) {
      return OverLimit(nest,
                       Concat({executable.binding_count,
                               " buffers, where a kernel of the device has ",
                               limits_.binding_count}));
    }
    if (executable.parameter_count > limits_.parameter_count) {
      return OverLimit(nest, Concat({executable.parameter_count,
                                     " parameters, where the device has ",
                                     limits_.parameter_count}));
    }
    EMBER_ASSIGN_OR_RETURN(executables.emplace_back(),
                           definition_.device->LoadExecutable(executable));
  }
  return executables;
}

Status DeviceKernel::CheckLayout(const NestLayout& layout) const {
  const loops::LoopNest& nest = definition_.nest;
  for (const int64_t tasks : layout.phase_tasks) {
    if (tasks > gpu::kMostExtent)
      return OverLimit(nest, Concat({tasks, " tasks"}));
  }
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loops::Buffer& buffer = nest.buffers[i];
    const int64_t elements = layout.bytes[i] / DTypeByteSize(buffer.type);
    bool is_over = elements > gpu::kMostElements;
    for (const int64_t extent : layout.extents[i])
      is_over |= extent > gpu::kMostExtent;
    const bool is_bound =
        buffer.scope != Scope::kTask && buffer.scope != Scope::kRegister;
    is_over |= is_bound && layout.bytes[i] > limits_.binding_bytes;
    if (!is_over) continue;
    return OverLimit(nest, Concat({"buffer %", buffer.name, " of ",
                                   layout.bytes[i], " bytes"}));
  }
  return OkStatus();
}

// Of all phases that are to be recorded, before the first is.
Status DeviceKernel::CheckIterations(
    std::span<const PhaseCode> phases, std::span<const loops::Phase> bodies,
    std::span<const int64_t> parameters) const {
  const loops::LoopNest& nest = definition_.nest;
  for (size_t i = 0; i < phases.size(); ++i) {
    const int64_t limit = phases[i].iterations;
    if (limit == 0) continue;
    const int64_t most =
        loops::MostIterations(nest, bodies[i].body, parameters);
    if (most > limit)
      return OverLimit(nest, gpu::TooManyIterations(most, limit));
  }
  return OkStatus();
}

StatusOr<hal::Buffer*> DeviceKernel::Allocate(int64_t bytes,
                                              hal::MemoryKind kind,
                                              Buffers& buffers) const {
  auto buffer = definition_.device->Allocate(bytes, kind);
  if (!buffer.ok()) {
    return buffer.status().WithContext(
        Concat({"dispatch @", definition_.nest.name}));
  }
  buffers.push_back(*std::move(buffer));
  return buffers.back().get();
}

StatusOr<hal::BufferRange> DeviceKernel::AllocateTemporary(
    int64_t bytes, vm::DeviceScratch* scratch, CallRecording& recording) const {
  if (scratch == nullptr) {
    EMBER_ASSIGN_OR_RETURN(
        hal::Buffer* const buffer,
        Allocate(bytes, hal::MemoryKind::kDeviceLocal, recording.buffers_));
    return hal::BufferRange{buffer, 0, bytes};
  }
  StatusOr<hal::BufferRange> range = scratch->Take(bytes);
  if (range.ok()) return range;
  return range.status().WithContext(
      Concat({"dispatch @", definition_.nest.name}));
}

// --- packed constants

Status DeviceKernel::Pack() {
  const loops::LoopNest& nest = definition_.nest;
  if (nest.prologue.empty()) return OkStatus();
  // Packed buffers have the extents of constants, which depend on nothing that
  // a call brings.
  std::vector<int64_t> parameters = definition_.prologue_parameters;
  parameters.resize(nest.parameters.size());
  EMBER_ASSIGN_OR_RETURN(const NestLayout layout,
                         header_.LayoutFor(parameters));
  EMBER_RETURN_IF_ERROR(
      vm::CheckConstants(header_.image(), layout, definition_.constants));
  EMBER_RETURN_IF_ERROR(CheckLayout(layout));
  EMBER_RETURN_IF_ERROR(
      CheckIterations(definition_.code.prologue, nest.prologue, parameters));
  EMBER_ASSIGN_OR_RETURN(const Executables executables,
                         Load(definition_.code.prologue));
  std::vector<bool> is_read(nest.buffers.size());
  for (const PhaseCode& phase : definition_.code.prologue) {
    for (const PhaseCode::Binding& binding : phase.bindings)
      is_read[binding.buffer] = true;
  }
  CallRecording recording(nest);
  std::vector<hal::BufferRange> ranges(nest.buffers.size());
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const int64_t bytes = layout.bytes[i];
    if (nest.buffers[i].scope == Scope::kPacked) {
      EMBER_ASSIGN_OR_RETURN(
          hal::Buffer* const buffer,
          Allocate(bytes, hal::MemoryKind::kDeviceLocal, packed_));
      packed_ranges_[i] = ranges[i] = {buffer, 0, bytes};
    } else if (i < definition_.constants.size() && is_read[i]) {
      // Read once, from where the host has written it.
      EMBER_ASSIGN_OR_RETURN(
          hal::Buffer* const buffer,
          Allocate(bytes, hal::MemoryKind::kHostVisible, recording.buffers_));
      if (bytes > 0) {
        std::memcpy(buffer->host_data(), definition_.constants[i].data(),
                    static_cast<size_t>(bytes));
      }
      ranges[i] = {buffer, 0, bytes};
    }
  }
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::CommandList> list,
                         definition_.device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(RecordPhases(definition_.code.prologue, executables, 0,
                                     layout, parameters, std::move(ranges),
                                     *list, nullptr, recording));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Fence> fence,
                         definition_.device->Submit(*list));
  EMBER_RETURN_IF_ERROR(fence->Wait());
  return recording.Outcome();
}

// --- calls

StatusOr<std::unique_ptr<vm::Recording>> DeviceKernel::Record(
    const vm::RecordCall& call) const {
  const loops::LoopNest& nest = definition_.nest;
  const std::span<const int64_t> parameters =
      nest.parameters.empty() ? std::span<const int64_t>() : call.parameters;
  EMBER_ASSIGN_OR_RETURN(const NestLayout layout,
                         header_.LayoutFor(parameters));
  if (!nest.parameters.empty()) {
    EMBER_RETURN_IF_ERROR(CheckLayout(layout));
    EMBER_RETURN_IF_ERROR(
        CheckIterations(definition_.code.phases, nest.phases, parameters));
  }
  auto recording = std::make_unique<CallRecording>(nest);
  std::vector<hal::BufferRange> ranges = packed_ranges_;
  for (size_t i = 0; i < call.buffers.size() && i < ranges.size(); ++i) {
    const Scope scope = nest.buffers[i].scope;
    if (scope != Scope::kInput && scope != Scope::kOutput) continue;
    ranges[i] = call.buffers[i];
    // What is behind the last element is nobody's business.
    ranges[i].length = std::min(ranges[i].length, layout.bytes[i]);
  }
  EMBER_RETURN_IF_ERROR(RecordPhases(
      definition_.code.phases, phases_, nest.prologue.size(), layout,
      parameters, std::move(ranges), call.list, call.scratch, *recording));
  return std::unique_ptr<vm::Recording>(std::move(recording));
}

Status DeviceKernel::RecordPhases(
    std::span<const PhaseCode> phases, const Executables& executables,
    size_t first_task_count, const NestLayout& layout,
    std::span<const int64_t> parameters, std::vector<hal::BufferRange> ranges,
    hal::CommandList& list, vm::DeviceScratch* scratch,
    CallRecording& recording) const {
  const loops::LoopNest& nest = definition_.nest;
  // Also of no bytes: commands name a buffer.
  const bool has_call_buffers = std::any_of(
      nest.buffers.begin(), nest.buffers.end(),
      [](const loops::Buffer& buffer) { return buffer.scope == Scope::kCall; });
  if (has_call_buffers) {
    EMBER_ASSIGN_OR_RETURN(
        const hal::BufferRange memory,
        AllocateTemporary(layout.call_bytes, scratch, recording));
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (nest.buffers[i].scope != Scope::kCall) continue;
      ranges[i] = {memory.buffer, memory.offset + layout.offsets[i],
                   layout.bytes[i]};
    }
  }
  const bool has_checks =
      std::any_of(phases.begin(), phases.end(),
                  [](const PhaseCode& phase) { return phase.has_checks; });
  if (has_checks) {
    EMBER_ASSIGN_OR_RETURN(
        recording.record_,
        Allocate(sizeof(gpu::CheckRecord), hal::MemoryKind::kHostVisible,
                 recording.buffers_));
  }
  std::vector<int64_t> pushed(parameters.begin(), parameters.end());
  pushed.push_back(0);
  bool is_first = true;
  for (size_t i = 0; i < phases.size(); ++i) {
    const PhaseCode& phase = phases[i];
    const int64_t tasks = layout.phase_tasks[first_task_count + i];
    if (tasks <= 0) continue;
    // Slices of a workgroup each, for some tasks at a time.
    int64_t at_once = tasks;
    for (const PhaseCode::Binding& binding : phase.bindings) {
      const int64_t bytes = layout.bytes[binding.buffer];
      if (!binding.is_sliced || bytes == 0) continue;
      const int64_t most =
          std::min({kSliceBytes, limits_.binding_bytes, gpu::kMostElements});
      at_once = std::min(at_once, std::max<int64_t>(most / bytes, 1));
      if (bytes > limits_.binding_bytes)
        return OverLimit(nest, Concat({"temporary of ", bytes, " bytes"}));
    }
    std::vector<hal::BufferRange> bindings;
    for (const PhaseCode::Binding& binding : phase.bindings) {
      if (binding.is_sliced) {
        EMBER_ASSIGN_OR_RETURN(
            ranges[binding.buffer],
            AllocateTemporary(layout.bytes[binding.buffer] * at_once, scratch,
                              recording));
      }
      bindings.push_back(ranges[binding.buffer]);
    }
    if (phase.has_checks)
      bindings.push_back({recording.record_, 0, sizeof(gpu::CheckRecord)});
    for (int64_t first = 0; first < tasks; first += at_once) {
      if (!std::exchange(is_first, false))
        EMBER_RETURN_IF_ERROR(list.Barrier());
      const int64_t groups =
          RoundUp(std::min(at_once, tasks - first), phase.tasks_per_workgroup) /
          phase.tasks_per_workgroup;
      const int64_t most =
          std::min(limits_.chunks[0], hal::DeviceLimits::kMostChunks);
      const int64_t rows = RoundUp(groups, most) / most;
      if (rows > limits_.chunks[1])
        return OverLimit(nest, Concat({groups, " workgroups"}));
      pushed.back() = first;
      EMBER_RETURN_IF_ERROR(list.Dispatch(
          *executables[i], {.chunks = {RoundUp(groups, rows) / rows, rows, 1},
                            .bindings = bindings,
                            .parameters = pushed}));
    }
  }
  return OkStatus();
}

}  // namespace ember::jit

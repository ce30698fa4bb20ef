#include "vm/runtime/kernels/device_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/concat.h"
#include "base/rounding.h"
#include "vm/format/device_abi.h"

namespace ember::vm {
namespace {

// A sliced buffer has one part (slice) for each workgroup that runs. This is
// the largest number of bytes of all slices of one buffer; it limits the number
// of workgroups that run at once.
constexpr int64_t kSliceBytes = int64_t{64} << 20;
constexpr int64_t kAlignment = 64;

std::vector<hal::BoxMap> MapsOf(const KernelImage& image,
                                const DevicePhase& phase) {
  std::vector<hal::BoxMap> maps;
  for (const BoxMap& box : phase.boxes) {
    hal::BoxMap& map = maps.emplace_back();
    map.binding = static_cast<int>(box.binding);
    map.element_bytes =
        DTypeByteSize(image.buffers[phase.bindings[box.binding].buffer].type);
    map.dims = static_cast<int>(box.box.size());
    std::ranges::copy(box.box, map.box.begin());
    std::ranges::copy(box.order, map.order.begin());
    map.is_swizzled = box.is_swizzled;
  }
  return maps;
}

// Returns the extents of the tensors of a phase's tensor maps, in the form of
// DispatchArguments::map_extents.
std::vector<int64_t> MapExtents(const DevicePhase& phase,
                                const KernelLayout& layout) {
  std::vector<int64_t> all;
  for (const BoxMap& map : phase.boxes) {
    const std::vector<int64_t>& extents =
        layout.extents[phase.bindings[map.binding].buffer];
    all.insert(all.end(), extents.begin(), extents.end());
  }
  return all;
}

// The ranges that the phases since the last barrier access. A phase may run
// concurrently with these phases, unless one of them writes a range that the
// other accesses.
class Touches {
 public:
  struct Touch {
    hal::BufferRange range;
    bool is_write;
  };
  // Returns true if a phase that accesses these ranges must wait for earlier
  // phases. The caller then records a barrier before the phase.
  bool MustWait(const std::vector<Touch>& phase) {
    const bool conflicts = std::ranges::any_of(phase, [&](const Touch& touch) {
      return std::ranges::any_of(before_, [&](const Touch& before) {
        return (touch.is_write || before.is_write) &&
               Overlap(touch.range, before.range);
      });
    });
    if (conflicts) before_.clear();
    before_.insert(before_.end(), phase.begin(), phase.end());
    return conflicts;
  }

 private:
  // Ranges of no bytes are treated as ranges of some bytes, because drivers
  // bind some bytes for them, which may belong to another buffer.
  static bool Overlap(const hal::BufferRange& a, const hal::BufferRange& b) {
    if (a.length == 0 || b.length == 0) return true;
    return a.buffer == b.buffer && a.offset < b.offset + b.length &&
           b.offset < a.offset + a.length;
  }

  std::vector<Touch> before_;
};

}  // namespace

// The memory of a recorded call: its temporaries, and the record of a failed
// check.
class DeviceKernel::CallRecording final : public Recording {
 public:
  explicit CallRecording(const KernelImage& image) : image_(image) {}

  Status Outcome() override {
    if (record_ == nullptr) return OkStatus();
    CheckRecord failed;
    std::memcpy(&failed, record_->host_data(), sizeof failed);
    if (failed.flag == 0) return OkStatus();
    std::memset(record_->host_data(), 0, sizeof failed);
    return FailedCheck(image_.dispatch,
                       failed.buffer < image_.buffers.size()
                           ? image_.buffers[failed.buffer].name
                           : std::string(),
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
  const KernelImage& image_;
  Buffers buffers_;
  hal::Buffer* record_ = nullptr;
};

DeviceKernel::DeviceKernel(DeviceKernelDefinition definition)
    : definition_(std::move(definition)),
      limits_(definition_.device->limits()),
      alignment_(std::max(limits_.binding_alignment, kAlignment)),
      packed_ranges_(definition_.image.buffers.size()) {}

StatusOr<std::unique_ptr<DeviceKernel>> DeviceKernel::Create(
    DeviceKernelDefinition definition) {
  std::unique_ptr<DeviceKernel> kernel(new DeviceKernel(std::move(definition)));
  DeviceKernelDefinition& own = kernel->definition_;
  if (own.image.parameter_count == 0) {
    EMBER_ASSIGN_OR_RETURN(const KernelLayout layout, kernel->LayoutFor({}));
    EMBER_RETURN_IF_ERROR(kernel->CheckLayout(layout));
    EMBER_RETURN_IF_ERROR(kernel->CheckIterations(kernel->phases(), layout));
    EMBER_RETURN_IF_ERROR(kernel->CheckBoxes(kernel->phases(), layout));
  }
  EMBER_ASSIGN_OR_RETURN(kernel->executables_, kernel->Load(kernel->phases()));
  const auto begin = std::chrono::steady_clock::now();
  EMBER_RETURN_IF_ERROR(kernel->Pack());
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - begin;
  kernel->pack_ms_ = took.count();
  // The constants, packed constants and code in the definition are cleared,
  // because they are used only while the kernel is created.
  own.constants.clear();
  own.packed.clear();
  own.image.code.bytes = {};
  // Only the emulated grid runs the code where it is in memory, so only its
  // kernels keep the object that owns the code.
  if (own.image.code.format != KernelFormat::kEmulatedGrid)
    own.image.code.owner = nullptr;
  return kernel;
}

DeviceKernel::PhaseRange DeviceKernel::prologue() const {
  return {0, definition_.image.prologue_count};
}

DeviceKernel::PhaseRange DeviceKernel::phases() const {
  return {definition_.image.prologue_count, definition_.image.phases.size()};
}

bool DeviceKernel::Accepts(std::span<const int64_t> parameters) const {
  return ShapeAccepts(definition_.image.shape, parameters);
}

bool DeviceKernel::Uses(size_t buffer) const {
  const auto [begin, end] = phases();
  for (size_t i = begin; i < end; ++i) {
    for (const DevicePhase::Binding& binding :
         definition_.image.code.device[i].bindings) {
      if (binding.buffer == buffer) return true;
    }
  }
  return false;
}

// Returns the error that a limit of the device is too small. Its text is that
// of jit/backend/decline_reasons.h, so that kernels from files report the same
// reason.
Status DeviceKernel::OverLimit(std::string_view what) const {
  return UnimplementedError(Concat(
      {"device-limit: the device has too little of what the kernel needs: "
       "dispatch @",
       definition_.image.dispatch, ": ", what}));
}

StatusOr<KernelLayout> DeviceKernel::LayoutFor(
    std::span<const int64_t> parameters) const {
  return LayOutKernel(definition_.image, parameters, alignment_);
}

StatusOr<DeviceKernel::Executables> DeviceKernel::Load(PhaseRange range) const {
  const KernelImage& image = definition_.image;
  Executables executables;
  for (size_t i = range.begin; i < range.end; ++i) {
    const DevicePhase& phase = image.code.device[i];
    hal::ExecutableDefinition executable;
    executable.name = Concat({image.dispatch, ".", phase.entry_point});
    executable.format =
        kKernelFormats[static_cast<size_t>(image.code.format)].text;
    executable.code = image.code.bytes;
    executable.entry_point = phase.entry_point;
    executable.workgroup = {phase.invocations, 1, 1};
    executable.shared_bytes = phase.shared_bytes;
    executable.binding_count =
        static_cast<int>(phase.bindings.size()) + phase.has_checks;
    executable.parameter_count = static_cast<int>(image.parameter_count) + 1;
    if (executable.binding_count > limits_.binding_count) {
      return OverLimit(Concat({executable.binding_count,
                               " buffers, where a kernel of the device has ",
                               limits_.binding_count}));
    }
    if (executable.parameter_count > limits_.parameter_count) {
      return OverLimit(Concat({executable.parameter_count,
                               " parameters, where the device has ",
                               limits_.parameter_count}));
    }
    const std::vector<hal::BoxMap> maps = MapsOf(image, phase);
    executable.maps = maps;
    if (maps.size() > static_cast<size_t>(limits_.map_count)) {
      return OverLimit(Concat(
          {maps.size(), " tensor maps, where a kernel of the device has ",
           limits_.map_count}));
    }
    EMBER_ASSIGN_OR_RETURN(executables.emplace_back(),
                           definition_.device->LoadExecutable(executable));
  }
  return executables;
}

Status DeviceKernel::CheckLayout(const KernelLayout& layout) const {
  const KernelImage& image = definition_.image;
  for (const int64_t tasks : layout.phase_tasks) {
    if (tasks > kMaxDeviceExtent) return OverLimit(Concat({tasks, " tasks"}));
  }
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    const KernelBuffer& buffer = image.buffers[i];
    const int64_t elements = layout.bytes[i] / DTypeByteSize(buffer.type);
    bool is_over = elements > kMaxDeviceElements;
    for (const int64_t extent : layout.extents[i])
      is_over |= extent > kMaxDeviceExtent;
    const bool is_bound = buffer.scope != KernelScope::kTask &&
                          buffer.scope != KernelScope::kRegister;
    is_over |= is_bound && layout.bytes[i] > limits_.binding_bytes;
    if (!is_over) continue;
    return OverLimit(
        Concat({"buffer %", buffer.name, " of ", layout.bytes[i], " bytes"}));
  }
  return OkStatus();
}

// Checks the numbers of loop iterations of all phases in the range. It is
// called, like CheckBoxes, before the first phase is recorded.
Status DeviceKernel::CheckIterations(PhaseRange range,
                                     const KernelLayout& layout) const {
  if (layout.phase_iterations.empty()) return OkStatus();
  for (size_t i = range.begin; i < range.end; ++i) {
    const int64_t limit = definition_.image.code.device[i].most_iterations;
    const int64_t most = layout.phase_iterations[i];
    if (limit == 0 || most <= limit) continue;
    return OverLimit(Concat({"up to ", most,
                             " iterations of an invocation's loops, where the "
                             "driver ends them after ",
                             limit}));
  }
  return OkStatus();
}

// Checks the requirements on tensor maps that no other check covers.
// CheckLayout has limited extents and strides, and bindings begin at addresses
// with the device's alignment.
Status DeviceKernel::CheckBoxes(PhaseRange range,
                                const KernelLayout& layout) const {
  static_assert(kMaxDeviceElements * 8 <= kMaxBoxStride);
  const KernelImage& image = definition_.image;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (layout.phase_tasks[i] <= 0) continue;
    const DevicePhase& phase = image.code.device[i];
    for (const BoxMap& map : phase.boxes) {
      const uint32_t number = phase.bindings[map.binding].buffer;
      const KernelBuffer& buffer = image.buffers[number];
      if (layout.bytes[number] == 0) {
        return OverLimit(Concat({"a tensor map of buffer %", buffer.name,
                                 ", which has no elements"}));
      }
      // stride in bytes of the dim before `dim`, in the loop below
      int64_t stride = DTypeByteSize(buffer.type);
      const std::vector<int64_t>& extents = layout.extents[number];
      for (size_t dim = extents.size() - 1; dim > 0; --dim) {
        stride *= extents[dim];
        if (stride % kBoxAlignment == 0) continue;
        return OverLimit(Concat({"a tensor map of buffer %", buffer.name,
                                 " with a stride of ", stride,
                                 (" bytes, where the device wants a multiple "
                                  "of "),
                                 kBoxAlignment}));
      }
    }
  }
  return OkStatus();
}

StatusOr<hal::Buffer*> DeviceKernel::Allocate(int64_t bytes,
                                              hal::MemoryKind kind,
                                              Buffers& buffers) const {
  auto buffer = definition_.device->Allocate(bytes, kind);
  if (!buffer.ok()) {
    return buffer.status().WithContext(
        Concat({"dispatch @", definition_.image.dispatch}));
  }
  buffers.push_back(*std::move(buffer));
  return buffers.back().get();
}

StatusOr<hal::BufferRange> DeviceKernel::AllocateTemporary(
    int64_t bytes, DeviceScratch* scratch, CallRecording& recording) const {
  if (scratch == nullptr) {
    EMBER_ASSIGN_OR_RETURN(
        hal::Buffer* const buffer,
        Allocate(bytes, hal::MemoryKind::kDeviceLocal, recording.buffers_));
    return hal::BufferRange{buffer, 0, bytes};
  }
  StatusOr<hal::BufferRange> range = scratch->Take(bytes);
  if (range.ok()) return range;
  return range.status().WithContext(
      Concat({"dispatch @", definition_.image.dispatch}));
}

// --- packed constants

Status DeviceKernel::TakePacked(const KernelLayout& layout) {
  const KernelImage& image = definition_.image;
  Buffers staged;
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::CommandList> list,
                         definition_.device->CreateCommandList());
  size_t next = 0;
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    if (image.buffers[i].scope != KernelScope::kPacked) continue;
    const std::span<const uint8_t> data = next < definition_.packed.size()
                                              ? definition_.packed[next]
                                              : std::span<const uint8_t>();
    ++next;
    const int64_t bytes = layout.bytes[i];
    if (static_cast<uint64_t>(bytes) != data.size()) {
      return InvalidArgumentError(Concat(
          {"dispatch @", image.dispatch, ": buffer %", image.buffers[i].name,
           ": expected ", bytes, " packed bytes, found ", data.size()}));
    }
    EMBER_ASSIGN_OR_RETURN(
        hal::Buffer* const source,
        Allocate(bytes, hal::MemoryKind::kHostVisible, staged));
    EMBER_ASSIGN_OR_RETURN(
        hal::Buffer* const target,
        Allocate(bytes, hal::MemoryKind::kDeviceLocal, packed_));
    packed_ranges_[i] = {target, 0, bytes};
    if (bytes == 0) continue;
    std::memcpy(source->host_data(), data.data(), data.size());
    EMBER_RETURN_IF_ERROR(list->Copy({source, 0, bytes}, {target, 0, bytes}));
  }
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Fence> fence,
                         definition_.device->Submit(*list));
  return fence->Wait();
}

Status DeviceKernel::Pack() {
  const KernelImage& image = definition_.image;
  if (image.prologue_count == 0) return OkStatus();
  // Parameters without a given value are 0 while constants are packed, because
  // the extents of packed buffers depend on constants only.
  std::vector<int64_t> parameters = definition_.prologue_parameters;
  parameters.resize(image.parameter_count);
  EMBER_ASSIGN_OR_RETURN(const KernelLayout layout, LayoutFor(parameters));
  EMBER_RETURN_IF_ERROR(CheckLayout(layout));
  if (!definition_.packed.empty()) return TakePacked(layout);
  EMBER_RETURN_IF_ERROR(CheckConstants(image, layout, definition_.constants));
  EMBER_RETURN_IF_ERROR(CheckIterations(prologue(), layout));
  EMBER_RETURN_IF_ERROR(CheckBoxes(prologue(), layout));
  EMBER_ASSIGN_OR_RETURN(const Executables executables, Load(prologue()));
  std::vector<bool> is_read(image.buffers.size());
  for (size_t i = 0; i < image.prologue_count; ++i) {
    for (const DevicePhase::Binding& binding : image.code.device[i].bindings)
      is_read[binding.buffer] = true;
  }
  CallRecording recording(image);
  std::vector<hal::BufferRange> ranges(image.buffers.size());
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    const int64_t bytes = layout.bytes[i];
    const KernelBuffer& buffer = image.buffers[i];
    if (buffer.scope == KernelScope::kPacked) {
      EMBER_ASSIGN_OR_RETURN(
          hal::Buffer* const memory,
          Allocate(bytes, hal::MemoryKind::kDeviceLocal, packed_));
      packed_ranges_[i] = ranges[i] = {memory, 0, bytes};
    } else if (buffer.scope == KernelScope::kInput && is_read[i]) {
      const std::span<const uint8_t> data = i < definition_.constants.size()
                                                ? definition_.constants[i]
                                                : std::span<const uint8_t>();
      if (static_cast<int64_t>(data.size()) < bytes) {
        return InvalidArgumentError(
            Concat({"dispatch @", image.dispatch, ": buffer %", buffer.name,
                    ": expected a constant of ", bytes, " bytes, found ",
                    data.size()}));
      }
      // The constants that the prologue reads are uploaded to host-visible
      // memory, because the device reads them only once.
      EMBER_ASSIGN_OR_RETURN(
          hal::Buffer* const memory,
          Allocate(bytes, hal::MemoryKind::kHostVisible, recording.buffers_));
      if (bytes > 0) {
        std::memcpy(memory->host_data(), data.data(),
                    static_cast<size_t>(bytes));
      }
      ranges[i] = {memory, 0, bytes};
    }
  }
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::CommandList> list,
                         definition_.device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(RecordPhases(prologue(), executables, layout,
                                     parameters, std::move(ranges), *list,
                                     nullptr, recording));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Fence> fence,
                         definition_.device->Submit(*list));
  EMBER_RETURN_IF_ERROR(fence->Wait());
  return recording.Outcome();
}

// --- calls

StatusOr<std::unique_ptr<Recording>> DeviceKernel::Record(
    const RecordCall& call) const {
  const KernelImage& image = definition_.image;
  const std::span<const int64_t> parameters =
      image.parameter_count == 0 ? std::span<const int64_t>() : call.parameters;
  EMBER_ASSIGN_OR_RETURN(const KernelLayout layout, LayoutFor(parameters));
  if (image.parameter_count > 0) {
    EMBER_RETURN_IF_ERROR(CheckLayout(layout));
    EMBER_RETURN_IF_ERROR(CheckIterations(phases(), layout));
    EMBER_RETURN_IF_ERROR(CheckBoxes(phases(), layout));
  }
  auto recording = std::make_unique<CallRecording>(image);
  std::vector<hal::BufferRange> ranges = packed_ranges_;
  for (size_t i = 0; i < call.buffers.size() && i < ranges.size(); ++i) {
    if (image.buffers[i].scope > KernelScope::kOutput) continue;
    ranges[i] = call.buffers[i];
    // The kernel gets only the bytes of the operand's elements; the caller's
    // range may be longer.
    ranges[i].length = std::min(ranges[i].length, layout.bytes[i]);
  }
  EMBER_RETURN_IF_ERROR(RecordPhases(phases(), executables_, layout, parameters,
                                     std::move(ranges), call.list, call.scratch,
                                     *recording));
  return std::unique_ptr<Recording>(std::move(recording));
}

Status DeviceKernel::RecordPhases(
    PhaseRange range, const Executables& executables,
    const KernelLayout& layout, std::span<const int64_t> parameters,
    std::vector<hal::BufferRange> ranges, hal::CommandList& list,
    DeviceScratch* scratch, CallRecording& recording) const {
  const KernelImage& image = definition_.image;
  const std::span<const DevicePhase> device(
      image.code.device.data() + range.begin, range.end - range.begin);
  // The memory for the call's own buffers has at least one byte, even if they
  // are empty, because a command must refer to a buffer.
  const bool has_call_buffers =
      std::ranges::any_of(image.buffers, [](const KernelBuffer& buffer) {
        return buffer.scope == KernelScope::kCall;
      });
  if (has_call_buffers) {
    EMBER_ASSIGN_OR_RETURN(
        const hal::BufferRange memory,
        AllocateTemporary(layout.call_bytes, scratch, recording));
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (image.buffers[i].scope != KernelScope::kCall) continue;
      ranges[i] = {memory.buffer, memory.offset + layout.offsets[i],
                   layout.bytes[i]};
    }
  }
  if (std::ranges::any_of(device, &DevicePhase::has_checks)) {
    EMBER_ASSIGN_OR_RETURN(
        recording.record_,
        Allocate(sizeof(CheckRecord), hal::MemoryKind::kHostVisible,
                 recording.buffers_));
  }
  std::vector<int64_t> pushed(parameters.begin(), parameters.end());
  pushed.push_back(0);
  const bool is_prologue = range.begin < phases().begin;
  Touches touches;
  for (size_t i = 0; i < device.size(); ++i) {
    const DevicePhase& phase = device[i];
    const int64_t tasks = layout.phase_tasks[range.begin + i];
    if (tasks <= 0) continue;
    // If a buffer of the phase has a slice for each workgroup, only as many
    // tasks run at once as slices fit into kSliceBytes and the limits of one
    // buffer; at least one does.
    int64_t at_once = tasks;
    for (const DevicePhase::Binding& binding : phase.bindings) {
      const int64_t bytes = layout.bytes[binding.buffer];
      if (!binding.is_sliced || bytes == 0) continue;
      const int64_t most =
          std::min({kSliceBytes, limits_.binding_bytes, kMaxDeviceElements});
      at_once = std::min(at_once, std::max<int64_t>(most / bytes, 1));
      if (bytes > limits_.binding_bytes)
        return OverLimit(Concat({"temporary of ", bytes, " bytes"}));
    }
    std::vector<hal::BufferRange> bindings;
    std::vector<Touches::Touch> touched;
    for (const DevicePhase::Binding& binding : phase.bindings) {
      if (binding.is_sliced) {
        EMBER_ASSIGN_OR_RETURN(
            ranges[binding.buffer],
            AllocateTemporary(layout.bytes[binding.buffer] * at_once, scratch,
                              recording));
      }
      bindings.push_back(ranges[binding.buffer]);
      const KernelScope scope = image.buffers[binding.buffer].scope;
      const bool is_read_only = scope == KernelScope::kInput ||
                                (scope == KernelScope::kPacked && !is_prologue);
      touched.push_back({bindings.back(), !is_read_only});
    }
    if (phase.has_checks)
      bindings.push_back({recording.record_, 0, sizeof(CheckRecord)});
    const std::vector<int64_t> map_extents = MapExtents(phase, layout);
    const int64_t per_group = phase.tasks_per_workgroup;
    for (int64_t first = 0; first < tasks; first += at_once) {
      // A barrier is also necessary between two parts of the phase's tasks,
      // because the second part's workgroups write to the slices that the first
      // part used.
      if (touches.MustWait(touched) || first > 0)
        EMBER_RETURN_IF_ERROR(list.Barrier());
      int64_t groups =
          DivideRoundingUp(std::min(at_once, tasks - first), per_group);
      if (phase.most_workgroups != 0)
        groups = std::min<int64_t>(groups, phase.most_workgroups);
      const int64_t most =
          std::min(limits_.chunks[0], hal::DeviceLimits::kMaxChunks);
      const int64_t rows = DivideRoundingUp(groups, most);
      if (rows > limits_.chunks[1])
        return OverLimit(Concat({groups, " workgroups"}));
      pushed.back() = first;
      EMBER_RETURN_IF_ERROR(list.Dispatch(
          *executables[i], {.chunks = {DivideRoundingUp(groups, rows), rows, 1},
                            .bindings = bindings,
                            .parameters = pushed,
                            .map_extents = map_extents}));
    }
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<Kernel>> LaunchOnDevice(
    DeviceKernelDefinition definition) {
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernel> kernel,
                         DeviceKernel::Create(std::move(definition)));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace ember::vm

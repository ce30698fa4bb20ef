// The launcher of kernels on devices: loads the image of a kernel on a device
// and records its calls. It corresponds to cpu_kernel.h for CPUs. Only programs
// with sessions on devices link it (vm/runtime/devices/session.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernel> kernel,
//                          DeviceKernel::Create({.image = image,
//                                                .device = device}));
//   EMBER_ASSIGN_OR_RETURN(auto recording,
//                          kernel->Record({parameters, ranges, *list}));
//   ... submit the list, wait ...
//   EMBER_RETURN_IF_ERROR(recording->Outcome());
//
// The image may come from a file. Its buffers, workgroups and numbers of tasks
// are checked by the verifier and against the device's limits; what its code
// does cannot be checked. Thread-safe. Temporaries are in the caller's scratch
// or belong to recordings; packed constants belong to the kernel.
#ifndef EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_H_
#define EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernels/device_kernel_definition.h"
#include "vm/runtime/kernels/layout.h"

namespace ember::vm {

class DeviceKernel final : public RecordedKernel {
 public:
  // Loads a kernel on a device and packs its constants: the prologue runs on
  // the device, and the function waits for its end. Errors: Unimplemented, with
  // a message that begins with "device-limit", if a limit of the device is too
  // small for the kernel, or for the only shape for which it is specialised;
  // InvalidArgument if constants are missing or have a wrong size; errors of
  // the device.
  static StatusOr<std::unique_ptr<DeviceKernel>> Create(
      DeviceKernelDefinition definition);

  bool Uses(size_t buffer) const override;
  // Records the commands of a call. Returns Unimplemented if a limit of the
  // device is too small for this call.
  StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const override;
  int tier() const override { return definition_.image.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override;
  int open_parameters() const override {
    return OpenParameters(definition_.image.shape);
  }
  double error_growth() const override {
    return definition_.image.error_growth;
  }
  std::string Describe() const override { return definition_.description; }
  // Returns the number of milliseconds that packing the constants took.
  double pack_ms() const { return pack_ms_; }

 private:
  class CallRecording;
  using Executables = std::vector<std::unique_ptr<hal::Executable>>;
  using Buffers = std::vector<std::unique_ptr<hal::Buffer>>;
  // The phases [begin, end) of the image's list of phases.
  struct PhaseRange {
    size_t begin = 0;
    size_t end = 0;
  };

  explicit DeviceKernel(DeviceKernelDefinition definition);
  PhaseRange prologue() const;
  PhaseRange phases() const;
  StatusOr<Executables> Load(PhaseRange range) const;
  StatusOr<KernelLayout> LayoutFor(std::span<const int64_t> parameters) const;
  // Checks the sizes of a call against the limits on which the kernel's code
  // relies, and against those of the device.
  Status CheckLayout(const KernelLayout& layout) const;
  Status CheckIterations(PhaseRange range, const KernelLayout& layout) const;
  // Checks that the tensors which the phases copy by tensor maps fulfil the
  // requirements on such tensors (device_abi.h).
  Status CheckBoxes(PhaseRange range, const KernelLayout& layout) const;
  Status Pack();
  Status TakePacked(const KernelLayout& layout);
  // Records the phases of a range. `ranges` has the memory of the image's
  // buffers, except for temporaries.
  Status RecordPhases(PhaseRange range, const Executables& executables,
                      const KernelLayout& layout,
                      std::span<const int64_t> parameters,
                      std::vector<hal::BufferRange> ranges,
                      hal::CommandList& list, DeviceScratch* scratch,
                      CallRecording& recording) const;
  // Takes device memory from the scratch. If there is no scratch, the recording
  // owns the memory.
  StatusOr<hal::BufferRange> AllocateTemporary(int64_t bytes,
                                               DeviceScratch* scratch,
                                               CallRecording& recording) const;
  StatusOr<hal::Buffer*> Allocate(int64_t bytes, hal::MemoryKind kind,
                                  Buffers& buffers) const;
  Status OverLimit(std::string_view what) const;

  DeviceKernelDefinition definition_;
  const hal::DeviceLimits limits_;
  const int64_t alignment_;
  double pack_ms_ = 0;
  Executables executables_;  // executables of the phases after the prologue
  Buffers packed_;
  // for each buffer, the range of its packed contents in device memory
  std::vector<hal::BufferRange> packed_ranges_;
};

// Makes a kernel by DeviceKernel::Create. The type of this function is
// DeviceLauncher.
StatusOr<std::unique_ptr<Kernel>> LaunchOnDevice(
    DeviceKernelDefinition definition);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_H_

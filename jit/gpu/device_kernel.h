// A loop nest as code for a device, as a kernel whose calls are recorded.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernel> kernel,
//                          DeviceKernel::Create(std::move(definition)));
//   EMBER_ASSIGN_OR_RETURN(auto recording,
//                          kernel->Record({parameters, ranges, *list}));
//   ... submit the list, wait ...
//   EMBER_RETURN_IF_ERROR(recording->Outcome());
//
// Thread-safe. Temporaries are the caller's scratch or belong to recordings,
// packed constants to the kernel.
#ifndef EMBER_JIT_GPU_DEVICE_KERNEL_H_
#define EMBER_JIT_GPU_DEVICE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/backend/nest_layout.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct DeviceKernelDefinition {
  int tier = 1;
  // Parameters that the nest was specialised on; empty: the nest has the
  // dispatch's.
  std::vector<int64_t> parameters;
  bool is_specialised = false;
  loops::LoopNest nest;
  gpu::DeviceCode code;
  std::shared_ptr<hal::Device> device;
  std::vector<std::span<const uint8_t>> constants;
  // For nests whose prologue depends on them; else zeros do.
  std::vector<int64_t> prologue_parameters;
  std::string description;
};

class DeviceKernel final : public vm::Kernel {
 public:
  // Packs constants: runs the prologue on the device, and waits for it.
  // Errors: kUnimplemented (jit/decline_reasons.h) where a limit of the device
  // is too small for the kernel, or for its one shape.
  static StatusOr<std::unique_ptr<DeviceKernel>> Create(
      DeviceKernelDefinition definition);

  bool is_recorded() const override { return true; }
  bool Uses(size_t buffer) const override;
  // kUnimplemented where a limit of the device is too small for this call.
  StatusOr<std::unique_ptr<vm::Recording>> Record(
      const vm::RecordCall& call) const override;
  int tier() const override { return definition_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override;
  Status Run(const vm::KernelCall& call) const override;
  std::string Describe() const override { return definition_.description; }
  // How long the prologue took.
  double pack_ms() const { return pack_ms_; }

 private:
  class CallRecording;
  using Executables = std::vector<std::unique_ptr<hal::Executable>>;
  using Buffers = std::vector<std::unique_ptr<hal::Buffer>>;

  explicit DeviceKernel(DeviceKernelDefinition definition);
  StatusOr<Executables> Load(const std::vector<gpu::PhaseCode>& phases) const;
  // What the code relies on, and limits of the device.
  Status CheckLayout(const NestLayout& layout) const;
  Status CheckIterations(std::span<const gpu::PhaseCode> phases,
                         std::span<const loops::Phase> bodies,
                         std::span<const int64_t> parameters) const;
  Status Pack();
  // Ranges of the nest's buffers, but for temporaries.
  Status RecordPhases(std::span<const gpu::PhaseCode> phases,
                      const Executables& executables, size_t first_task_count,
                      const NestLayout& layout,
                      std::span<const int64_t> parameters,
                      std::vector<hal::BufferRange> ranges,
                      hal::CommandList& list, vm::DeviceScratch* scratch,
                      CallRecording& recording) const;
  // Memory of the device, of the recording where there is no scratch.
  StatusOr<hal::BufferRange> AllocateTemporary(int64_t bytes,
                                               vm::DeviceScratch* scratch,
                                               CallRecording& recording) const;
  StatusOr<hal::Buffer*> Allocate(int64_t bytes, hal::MemoryKind kind,
                                  Buffers& buffers) const;

  DeviceKernelDefinition definition_;
  const hal::DeviceLimits limits_;
  NestHeader header_;
  double pack_ms_ = 0;
  Executables phases_;
  Buffers packed_;
  std::vector<hal::BufferRange> packed_ranges_;  // by buffer
};

}  // namespace ember::jit

#endif  // EMBER_JIT_GPU_DEVICE_KERNEL_H_

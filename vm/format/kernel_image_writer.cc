#include "vm/format/kernel_image_bytes.h"

namespace ember::vm {
namespace {

template <typename T>
void WriteNumbers(const std::vector<T>& numbers, ByteWriter& writer) {
  writer.Number(static_cast<uint32_t>(numbers.size()));
  for (const T number : numbers) writer.Number(number);
}

void WriteBuffer(const KernelBuffer& buffer, ByteWriter& writer) {
  writer.Text(buffer.name);
  writer.Number(static_cast<uint8_t>(buffer.type));
  writer.Number(static_cast<uint8_t>(buffer.scope));
  writer.Number(static_cast<uint8_t>(buffer.may_be_overwritten));
  writer.Number(buffer.alignment);
  WriteNumbers(buffer.extents, writer);
}

}  // namespace

void WriteKernelCode(const KernelCode& code, ByteWriter& writer) {
  writer.Number(static_cast<uint8_t>(code.format));
  writer.Number(code.alignment);
  WriteNumbers(code.entries, writer);
  WriteDevicePhases(code, writer);
  writer.Bytes(code.bytes);
}

void WriteDevicePhases(const KernelCode& code, ByteWriter& writer) {
  if (code.is_machine_code()) return;
  writer.Number(static_cast<uint32_t>(code.device.size()));
  for (const DevicePhase& phase : code.device) {
    writer.Text(phase.entry_point);
    writer.Number(static_cast<uint32_t>(phase.bindings.size()));
    for (const DevicePhase::Binding& binding : phase.bindings) {
      writer.Number(binding.buffer);
      writer.Number(static_cast<uint8_t>(binding.is_sliced));
    }
    writer.Number(static_cast<uint8_t>(phase.has_checks));
    writer.Number(phase.invocations);
    writer.Number(phase.tasks_per_workgroup);
    writer.Number(phase.shared_bytes);
    writer.Number(phase.most_iterations);
    writer.Number(phase.most_workgroups);
    writer.Number(static_cast<uint32_t>(phase.boxes.size()));
    for (const BoxMap& map : phase.boxes) {
      writer.Number(map.binding);
      writer.Number(static_cast<uint8_t>(map.is_swizzled));
      WriteNumbers(map.box, writer);
      WriteNumbers(map.order, writer);
    }
  }
}

void WriteKernelHeader(const KernelImage& image, ByteWriter& writer) {
  writer.Text(image.dispatch);
  writer.Text(image.target);
  writer.Number(static_cast<uint8_t>(image.tier));
  writer.Number(image.error_growth);
  writer.Number(image.parameter_count);
  WriteNumbers(image.shape, writer);
  writer.Number(static_cast<uint32_t>(image.formulas.size()));
  for (const tensor::Instruction& in : image.formulas) {
    writer.Number(static_cast<uint8_t>(in.opcode));
    writer.Number(static_cast<uint8_t>(in.type));
    for (const uint32_t operand : {in.a, in.b, in.c}) writer.Number(operand);
    writer.Number(in.immediate);
  }
  writer.Number(static_cast<uint32_t>(image.buffers.size()));
  for (const KernelBuffer& buffer : image.buffers) WriteBuffer(buffer, writer);
  WriteNumbers(image.phases, writer);
  writer.Number(image.prologue_count);
  WriteNumbers(image.iterations, writer);
}

void WriteKernelImage(const KernelImage& image, ByteWriter& writer) {
  WriteKernelHeader(image, writer);
  WriteKernelCode(image.code, writer);
}

}  // namespace ember::vm

#include <algorithm>
#include <utility>

#include "vm/format/kernel_image_bytes.h"
#include "vm/format/kernel_image_verifier.h"

namespace ember::vm {
namespace {

template <typename T>
std::vector<T> ReadNumbers(ByteReader& reader) {
  std::vector<T> numbers(reader.Count(sizeof(T)));
  for (T& number : numbers) number = reader.Number<T>();
  return numbers;
}

KernelBuffer ReadBuffer(ByteReader& reader) {
  KernelBuffer buffer;
  buffer.name = reader.Text();
  buffer.type = static_cast<DType>(reader.Number<uint8_t>());
  buffer.scope = static_cast<KernelScope>(reader.Number<uint8_t>());
  buffer.may_be_overwritten = reader.Number<uint8_t>() != 0;
  buffer.alignment = reader.Number<uint32_t>();
  buffer.extents = ReadNumbers<uint32_t>(reader);
  return buffer;
}

KernelCode ReadCode(ByteReader& reader, std::shared_ptr<const void> owner) {
  KernelCode code;
  code.format = static_cast<KernelFormat>(reader.Number<uint8_t>());
  code.alignment = reader.Number<uint32_t>();
  code.entries = ReadNumbers<uint32_t>(reader);
  ReadDevicePhases(reader, code);
  code.bytes = reader.Bytes();
  code.owner = std::move(owner);
  return code;
}

DevicePhase ReadDevicePhase(ByteReader& reader, BoxesInBytes boxes) {
  DevicePhase phase;
  phase.entry_point = reader.Text();
  constexpr size_t kBindingBytes = 5;
  phase.bindings.resize(reader.Count(kBindingBytes));
  for (DevicePhase::Binding& binding : phase.bindings) {
    binding.buffer = reader.Number<uint32_t>();
    binding.is_sliced = reader.Number<uint8_t>() != 0;
  }
  phase.has_checks = reader.Number<uint8_t>() != 0;
  phase.invocations = reader.Number<uint32_t>();
  phase.tasks_per_workgroup = reader.Number<uint32_t>();
  phase.shared_bytes = reader.Number<uint32_t>();
  phase.most_iterations = reader.Number<int64_t>();
  if (boxes == BoxesInBytes::kNone) return phase;
  phase.most_workgroups = reader.Number<uint32_t>();
  constexpr size_t kMapBytes = 9;
  phase.boxes.resize(reader.Count(kMapBytes));
  for (BoxMap& map : phase.boxes) {
    map.binding = reader.Number<uint32_t>();
    map.is_swizzled = reader.Number<uint8_t>() != 0;
    map.box = ReadNumbers<uint32_t>(reader);
    if (boxes == BoxesInBytes::kAll) map.order = ReadNumbers<uint32_t>(reader);
  }
  return phase;
}

Status CutOff() {
  return DataLossError("kernel: expected more bytes, found the end");
}

}  // namespace

void ReadDevicePhases(ByteReader& reader, KernelCode& code,
                      BoxesInBytes boxes) {
  if (code.is_machine_code()) return;
  constexpr size_t kPhaseBytes = 29;
  code.device.resize(reader.Count(kPhaseBytes));
  for (DevicePhase& phase : code.device) phase = ReadDevicePhase(reader, boxes);
}

Status CheckIsOfFile(const KernelCode& code) {
  if (code.format != KernelFormat::kEmulatedGrid) return OkStatus();
  return InvalidArgumentError(
      "code: expected a format that files have, found emulated-grid");
}

StatusOr<KernelCode> ReadKernelCode(ByteReader& reader,
                                    std::shared_ptr<const void> owner,
                                    size_t phases) {
  KernelCode code = ReadCode(reader, std::move(owner));
  if (!reader.ok()) return CutOff();
  EMBER_RETURN_IF_ERROR(CheckIsOfFile(code));
  EMBER_RETURN_IF_ERROR(VerifyKernelCode(
      code, phases == SIZE_MAX
                ? std::max(code.entries.size(), code.device.size())
                : phases));
  return code;
}

StatusOr<KernelImage> ReadKernelHeader(ByteReader& reader,
                                       bool has_iterations) {
  KernelImage image;
  image.dispatch = reader.Text();
  image.target = reader.Text();
  image.tier = reader.Number<uint8_t>();
  image.error_growth = reader.Number<double>();
  image.parameter_count = reader.Number<uint32_t>();
  image.shape = ReadNumbers<int64_t>(reader);
  constexpr size_t kFormulaBytes = 22;
  image.formulas.resize(reader.Count(kFormulaBytes));
  for (tensor::Instruction& in : image.formulas) {
    in.opcode = static_cast<tensor::Opcode>(reader.Number<uint8_t>());
    in.type = static_cast<DType>(reader.Number<uint8_t>());
    in.a = reader.Number<uint32_t>();
    in.b = reader.Number<uint32_t>();
    in.c = reader.Number<uint32_t>();
    in.immediate = reader.Number<uint64_t>();
  }
  constexpr size_t kBufferBytes = 15;
  image.buffers.resize(reader.Count(kBufferBytes));
  for (KernelBuffer& buffer : image.buffers) buffer = ReadBuffer(reader);
  image.phases = ReadNumbers<uint32_t>(reader);
  image.prologue_count = reader.Number<uint32_t>();
  if (has_iterations) image.iterations = ReadNumbers<uint32_t>(reader);
  if (!reader.ok()) return CutOff();
  return image;
}

StatusOr<KernelImage> ReadKernelImage(ByteReader& reader,
                                      std::shared_ptr<const void> owner) {
  EMBER_ASSIGN_OR_RETURN(KernelImage image, ReadKernelHeader(reader));
  image.code = ReadCode(reader, std::move(owner));
  if (!reader.ok()) return CutOff();
  EMBER_RETURN_IF_ERROR(CheckIsOfFile(image.code));
  EMBER_RETURN_IF_ERROR(VerifyKernelImage(image));
  return image;
}

}  // namespace ember::vm

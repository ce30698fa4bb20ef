#include "vm/format/kernel_image_verifier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>

#include "base/concat.h"
#include "tensor/verifier/type_rules.h"
#include "vm/format/device_abi.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

using tensor::Instruction;
using tensor::Opcode;

Status Refuse(std::string_view what, std::string_view expected, int64_t found) {
  return InvalidArgumentError(
      Concat({what, ": expected ", expected, ", found ", found}));
}

// True if the value is a power of two and at most `most`.
bool IsAlignment(uint32_t value, uint32_t most) {
  return std::has_single_bit(value) && value <= most;
}

class Verifier {
 public:
  explicit Verifier(const KernelImage& image) : image_(image) {}

  Status Run() {
    EMBER_RETURN_IF_ERROR(CheckFields());
    EMBER_RETURN_IF_ERROR(CheckCounts());
    for (size_t i = 0; i < image_.formulas.size(); ++i)
      EMBER_RETURN_IF_ERROR(CheckFormula(i));
    KernelScope last = KernelScope::kInput;
    for (const KernelBuffer& buffer : image_.buffers)
      EMBER_RETURN_IF_ERROR(CheckBuffer(buffer, last));
    for (const uint32_t tasks : image_.phases)
      EMBER_RETURN_IF_ERROR(CheckValue("tasks of a phase", tasks));
    for (const uint32_t iterations : image_.iterations)
      EMBER_RETURN_IF_ERROR(CheckValue("iterations of a phase", iterations));
    EMBER_RETURN_IF_ERROR(VerifyKernelCode(image_.code, image_.phases.size()));
    for (size_t i = 0; i < image_.code.device.size(); ++i)
      EMBER_RETURN_IF_ERROR(CheckDevicePhase(i));
    return OkStatus();
  }

 private:
  Status CheckFields() {
    if (image_.dispatch.size() > kMaxTextLength ||
        image_.target.size() > kMaxTextLength)
      return Refuse("texts", "at most 65536 bytes", kMaxTextLength + 1);
    if (image_.tier < 1 || image_.tier > 2)
      return Refuse("tier", "1 or 2", image_.tier);
    if (!std::isfinite(image_.error_growth) || image_.error_growth < 1)
      return InvalidArgumentError("error growth: expected a number from 1 up");
    return OkStatus();
  }

  // Checks the number of parameters. Code for one shape takes no parameters;
  // code for a shape with open parameters takes all parameters of the dispatch.
  // Code without a shape may take any number.
  Status CheckParameters() {
    if (image_.shape.empty()) return OkStatus();
    if (OpenParameters(image_.shape) == 0) {
      return image_.parameter_count == 0
                 ? OkStatus()
                 : Refuse("parameters", "none, as it is for one shape",
                          image_.parameter_count);
    }
    return image_.parameter_count == image_.shape.size()
               ? OkStatus()
               : Refuse("parameters", "as many as the shape has",
                        image_.parameter_count);
  }

  Status CheckCounts() {
    for (const size_t count :
         {image_.formulas.size(), image_.buffers.size(), image_.phases.size(),
          image_.shape.size(), size_t{image_.parameter_count}}) {
      if (count > kMaxKernelItems)
        return Refuse("list", "at most 65536 items",
                      static_cast<int64_t>(count));
    }
    EMBER_RETURN_IF_ERROR(CheckParameters());
    if (!image_.iterations.empty() &&
        (image_.code.is_machine_code() ||
         image_.iterations.size() != image_.phases.size())) {
      return Refuse("iterations", "one for each phase of a device, or none",
                    static_cast<int64_t>(image_.iterations.size()));
    }
    if (image_.prologue_count > image_.phases.size()) {
      return Refuse("prologue", "no more phases than there are",
                    image_.prologue_count);
    }
    return OkStatus();
  }

  Status CheckFormula(size_t number) {
    const Instruction& in = image_.formulas[number];
    const std::string what = Concat({"formula ", number});
    if (static_cast<int>(in.opcode) >= tensor::kOpcodeCount) {
      return Refuse(what, "an operation of the table",
                    static_cast<int>(in.opcode));
    }
    if (!IsValidDType(static_cast<uint8_t>(in.type)))
      return Refuse(what, "an element type", static_cast<int>(in.type));
    const int count = tensor::RegisterOperandCount(in.opcode);
    const bool has_immediate =
        in.opcode == Opcode::kConstant || in.opcode == Opcode::kParameter;
    if (count == 0 && !has_immediate) {
      return InvalidArgumentError(
          Concat({what, ": expected arithmetic, found '",
                  tensor::InfoOf(in.opcode).text, "'"}));
    }
    const uint32_t operands[3] = {in.a, in.b, in.c};
    DType types[3] = {};
    for (int i = 0; i < 3; ++i) {
      if (i >= count && operands[i] != 0)
        return Refuse(what, "0 for an operand that it has not", operands[i]);
      if (i >= count) continue;
      if (operands[i] >= number)
        return Refuse(what, "an earlier formula", operands[i]);
      types[i] = image_.formulas[operands[i]].type;
    }
    if (!has_immediate && in.immediate != 0)
      return InvalidArgumentError(Concat({what, ": expected no immediate"}));
    if (in.opcode == Opcode::kConstant) {
      return tensor::AreBitsOf(in.immediate, in.type)
                 ? OkStatus()
                 : InvalidArgumentError(
                       Concat({what, ": expected bits of ", DTypeName(in.type),
                               ", found others"}));
    }
    if (in.opcode == Opcode::kParameter) {
      if (in.type != DType::kI64 || in.immediate >= image_.parameter_count) {
        return Refuse(
            what, Concat({"an i64 parameter below ", image_.parameter_count}),
            static_cast<int64_t>(in.immediate));
      }
      return OkStatus();
    }
    const tensor::TypeFault fault = tensor::FindTypeFault(
        in.opcode, in.type, std::span(types).first(static_cast<size_t>(count)));
    if (fault.kind == tensor::TypeFault::kNone) return OkStatus();
    return InvalidArgumentError(Concat(
        {what, ": expected operands that '", tensor::InfoOf(in.opcode).text,
         "' takes, found ", DTypeName(fault.found)}));
  }

  Status CheckValue(std::string_view what, uint32_t number) {
    if (number < image_.formulas.size() &&
        image_.formulas[number].type == DType::kI64)
      return OkStatus();
    return Refuse(what, "the number of an i64 formula", number);
  }

  // Checks one buffer, and that inputs come first, then outputs, then all other
  // buffers. `last` is the scope of the previous buffer.
  Status CheckBuffer(const KernelBuffer& buffer, KernelScope& last) {
    if (buffer.name.size() > kMaxTextLength)
      return Refuse("buffer", "a name of at most 65536 bytes",
                    static_cast<int64_t>(buffer.name.size()));
    const std::string what = Concat({"buffer '", buffer.name, "'"});
    if (static_cast<size_t>(buffer.scope) >= std::size(kKernelScopes))
      return Refuse(what, "a scope", static_cast<int>(buffer.scope));
    if (!IsValidDType(static_cast<uint8_t>(buffer.type)))
      return Refuse(what, "an element type", static_cast<int>(buffer.type));
    const bool is_operand = buffer.scope <= KernelScope::kOutput;
    if (is_operand && buffer.scope < last) {
      return InvalidArgumentError(
          Concat({what, ": expected inputs, then outputs, then all others"}));
    }
    last = buffer.scope;
    if (!IsAlignment(buffer.alignment, is_operand ? 64 : 1)) {
      return Refuse(
          what,
          is_operand ? "an alignment of 1, 2, 4 … 64" : "an alignment of 1",
          buffer.alignment);
    }
    if (buffer.may_be_overwritten && buffer.scope != KernelScope::kInput)
      return InvalidArgumentError(
          Concat({what, ": expected an input that may be overwritten"}));
    if (buffer.extents.size() > kMaxKernelRank)
      return Refuse(what, "at most 64 extents",
                    static_cast<int64_t>(buffer.extents.size()));
    for (const uint32_t extent : buffer.extents)
      EMBER_RETURN_IF_ERROR(CheckValue(what, extent));
    return OkStatus();
  }

  // Checks the bindings of a phase against the image's buffers, which
  // VerifyKernelCode cannot do because it sees only the code.
  Status CheckDevicePhase(size_t number) {
    const DevicePhase& phase = image_.code.device[number];
    const std::string what = Concat({"phase ", number});
    if (phase.most_iterations > 0 && image_.iterations.empty())
      return InvalidArgumentError(
          Concat({what, ": expected iterations, found none"}));
    for (const DevicePhase::Binding& binding : phase.bindings) {
      if (binding.buffer >= image_.buffers.size()) {
        return Refuse(what, Concat({"a buffer below ", image_.buffers.size()}),
                      binding.buffer);
      }
      const KernelBuffer& buffer = image_.buffers[binding.buffer];
      const bool is_task = buffer.scope == KernelScope::kTask;
      const bool is_unknown = buffer.scope == KernelScope::kRegister ||
                              (buffer.scope == KernelScope::kOutput &&
                               number < image_.prologue_count);
      if (is_unknown || is_task != binding.is_sliced) {
        return InvalidArgumentError(Concat(
            {what, ": buffer '", buffer.name,
             "': expected slices of a task's buffer, or one in memory that "
             "is known, found another"}));
      }
    }
    for (const BoxMap& map : phase.boxes)
      EMBER_RETURN_IF_ERROR(CheckBox(phase, map, what));
    return OkStatus();
  }

  // Checks a tensor map against its buffer. VerifyKernelCode has already
  // checked what does not depend on the buffer.
  Status CheckBox(const DevicePhase& phase, const BoxMap& map,
                  std::string_view phase_name) {
    const KernelBuffer& buffer =
        image_.buffers[phase.bindings[map.binding].buffer];
    const std::string what =
        Concat({phase_name, ": tensor map of buffer '", buffer.name, "'"});
    if (map.box.size() != buffer.extents.size()) {
      return Refuse(what, Concat({"a box of ", buffer.extents.size(), " dims"}),
                    static_cast<int64_t>(map.box.size()));
    }
    const int64_t bytes = int64_t{map.box.back()} * DTypeByteSize(buffer.type);
    const bool is_wide = map.is_swizzled && bytes > kMaxSwizzledBytes;
    if (bytes % kBoxAlignment == 0 && !is_wide) return OkStatus();
    return Refuse(what,
                  is_wide ? "at most 128 bytes in a row that is swizzled"
                          : "rows of a multiple of 16 bytes",
                  bytes);
  }

  const KernelImage& image_;
};

// Checks that a tensor map's order is empty, or contains each dim once, and the
// innermost dim last.
Status VerifyOrder(const BoxMap& map, std::string_view map_name) {
  if (map.order.empty()) return OkStatus();
  const size_t dims = map.box.size();
  if (map.order.size() != dims) {
    return Refuse(map_name, Concat({"an order of ", dims, " dims"}),
                  static_cast<int64_t>(map.order.size()));
  }
  std::vector<bool> is_there(dims, false);
  for (const uint32_t dim : map.order) {
    if (dim >= dims || is_there[dim])
      return Refuse(map_name, "an order with each dim once", dim);
    is_there[dim] = true;
  }
  if (map.order.back() == dims - 1) return OkStatus();
  return Refuse(map_name, "the last dim innermost", map.order.back());
}

// Checks those properties of a tensor map that do not depend on its buffer.
Status VerifyBox(const DevicePhase& phase, const BoxMap& map,
                 std::string_view phase_name) {
  const std::string what = Concat({phase_name, ": tensor map"});
  if (map.binding >= phase.bindings.size()) {
    return Refuse(what, Concat({"a binding below ", phase.bindings.size()}),
                  map.binding);
  }
  if (phase.bindings[map.binding].is_sliced)
    return Refuse(what, "a binding without slices", map.binding);
  if (map.box.empty() || map.box.size() > kMaxBoxDims)
    return Refuse(what, "a box of 1 to 5 dims",
                  static_cast<int64_t>(map.box.size()));
  for (const uint32_t extent : map.box) {
    if (extent < 1 || extent > kMaxBoxExtent)
      return Refuse(what, "a box of 1 to 256 elements in each dim", extent);
  }
  return VerifyOrder(map, what);
}

Status VerifyDevicePhase(KernelFormat format, const DevicePhase& phase,
                         size_t number) {
  const std::string what = Concat({"phase ", number});
  if (phase.entry_point.empty() || phase.entry_point.size() > kMaxTextLength)
    return Refuse(what, "an entry point of 1 to 65536 bytes",
                  static_cast<int64_t>(phase.entry_point.size()));
  if (phase.bindings.size() > kMaxKernelItems)
    return Refuse(what, "at most 65536 bindings",
                  static_cast<int64_t>(phase.bindings.size()));
  if (phase.invocations < 1 || phase.invocations > kMaxInvocations)
    return Refuse(what, "1 to 65536 invocations", phase.invocations);
  if (phase.tasks_per_workgroup < 1 ||
      phase.tasks_per_workgroup > kMaxInvocations)
    return Refuse(what, "1 to 65536 tasks of a workgroup",
                  phase.tasks_per_workgroup);
  if (phase.shared_bytes > kMaxSharedBytes)
    return Refuse(what, "at most 1 GiB of a workgroup's memory",
                  phase.shared_bytes);
  if (phase.most_iterations < 0)
    return Refuse(what, "iterations from 0 up", phase.most_iterations);
  const bool has_slices =
      std::ranges::any_of(phase.bindings, &DevicePhase::Binding::is_sliced);
  if (phase.most_workgroups > (has_slices ? 0 : kMaxWorkgroups)) {
    return Refuse(what,
                  has_slices ? "any number of workgroups, as it has slices"
                             : "at most 65536 workgroups of a launch",
                  phase.most_workgroups);
  }
  const uint32_t most_maps = HasTensorMaps(format) ? kMaxBoxMaps : 0;
  if (phase.boxes.size() > most_maps) {
    return Refuse(what,
                  Concat({"at most ", most_maps, " tensor maps in ",
                          kKernelFormats[static_cast<size_t>(format)].text}),
                  static_cast<int64_t>(phase.boxes.size()));
  }
  for (const BoxMap& map : phase.boxes)
    EMBER_RETURN_IF_ERROR(VerifyBox(phase, map, what));
  return OkStatus();
}

}  // namespace

Status VerifyKernelCode(const KernelCode& code, size_t phases) {
  if (static_cast<size_t>(code.format) >= std::size(kKernelFormats))
    return Refuse("code", "a format", static_cast<int>(code.format));
  if (!IsAlignment(code.alignment, kMaxCodeAlignment)) {
    return Refuse("code", "an alignment of 1, 2, 4 … 65536", code.alignment);
  }
  if (code.bytes.size() > kMaxCodeBytes)
    return Refuse("code", "at most 1 GiB",
                  static_cast<int64_t>(code.bytes.size()));
  const size_t entries =
      code.is_machine_code() ? code.entries.size() : code.device.size();
  if (entries != phases) {
    return Refuse("code", Concat({"an entry for each of ", phases, " phases"}),
                  static_cast<int64_t>(entries));
  }
  if (!(code.is_machine_code() ? code.device.empty() : code.entries.empty())) {
    return InvalidArgumentError(
        "code: expected offsets of entries for machine code, names for other "
        "code, found both");
  }
  for (size_t i = 0; i < code.device.size(); ++i)
    EMBER_RETURN_IF_ERROR(VerifyDevicePhase(code.format, code.device[i], i));
  for (const uint32_t entry : code.entries) {
    if (entry >= code.bytes.size())
      return Refuse("code",
                    Concat({"entries below ", code.bytes.size(), " bytes"}),
                    entry);
  }
  return OkStatus();
}

Status VerifyKernelImage(const KernelImage& image) {
  const Status status = Verifier(image).Run();
  if (status.ok()) return status;
  return status.WithContext(
      Concat({"kernel of @", std::string_view(image.dispatch).substr(0, 256)}));
}

}  // namespace ember::vm

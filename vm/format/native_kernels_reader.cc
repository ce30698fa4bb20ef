#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "vm/format/kernel_image_bytes.h"
#include "vm/format/kernel_image_verifier.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_kernels_format.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Smallest number of bytes in the head of a section that an item of each kind
// takes: a code, a packed constant, a kernel, and a constant input of a kernel.
// Counts of items are checked with them.
constexpr size_t kCodeBytes = 25;
constexpr size_t kPackedBytes = 16;
constexpr size_t kKernelBytes = 57;
constexpr size_t kSourceBytes = 12;

Status Damaged(std::string_view expected, uint64_t found) {
  return DataLossError(
      Concat({"native section: expected ", expected, ", found ", found}));
}

// Reads the offset and size of a piece of `part`, and returns the bytes of the
// piece.
StatusOr<std::span<const uint8_t>> ReadPiece(ByteReader& reader,
                                             std::span<const uint8_t> part,
                                             uint64_t alignment) {
  const auto offset = reader.Number<uint64_t>();
  const auto size = reader.Number<uint64_t>();
  if (offset > part.size() || size > part.size() - offset)
    return Damaged(Concat({"a piece within ", part.size(), " bytes"}), offset);
  // The piece must be aligned relative to the part. The alignment of the part
  // itself is checked elsewhere.
  if (offset % alignment != 0)
    return Damaged(Concat({"a multiple of ", alignment}), offset);
  return part.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

StatusOr<KernelCode> ReadCode(ByteReader& reader, std::span<const uint8_t> part,
                              const std::shared_ptr<const void>& owner,
                              BoxesInBytes boxes) {
  KernelCode code;
  code.format = static_cast<KernelFormat>(reader.Number<uint8_t>());
  code.alignment = reader.Number<uint32_t>();
  code.entries.resize(reader.Count(sizeof(uint32_t)));
  for (uint32_t& entry : code.entries) entry = reader.Number<uint32_t>();
  ReadDevicePhases(reader, code, boxes);
  EMBER_ASSIGN_OR_RETURN(
      code.bytes,
      ReadPiece(reader, part, std::max<uint64_t>(code.alignment, 1)));
  code.owner = owner;
  // The code must have as many functions as phases, but only the kernels that
  // use it know this number. So it is not checked here.
  EMBER_RETURN_IF_ERROR(CheckIsOfFile(code));
  EMBER_RETURN_IF_ERROR(VerifyKernelCode(
      code, std::max(code.entries.size(), code.device.size())));
  return code;
}

Status CheckPacked(const NativeKernel& kernel) {
  if (kernel.packed.empty()) return OkStatus();
  const auto is_packed = [](const KernelBuffer& buffer) {
    return buffer.scope == KernelScope::kPacked;
  };
  const auto count = static_cast<size_t>(
      std::ranges::count_if(kernel.image.buffers, is_packed));
  if (count != kernel.packed.size())
    return Damaged(Concat({"packed constants for ", count, " buffers"}),
                   kernel.packed.size());
  if (!MayBePackedBefore(kernel.image))
    return DataLossError(
        "native section: expected constants to pack, found "
        "packed ones");
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<NativeKernel>> ReadNativeKernels(
    const NativeParts& parts, const std::shared_ptr<const void>& owner) {
  EMBER_ASSIGN_OR_RETURN(const NativeHeader header,
                         ReadNativeHeader(parts.head));
  for (const auto& [expected, part] :
       {std::pair(header.head_size, parts.head),
        std::pair(header.code_size, parts.code),
        std::pair(header.weights_size, parts.weights)}) {
    if (expected != part.size())
      return Damaged(Concat({"a part of ", expected, " bytes"}), part.size());
  }
  if (reinterpret_cast<uintptr_t>(parts.weights.data()) % kMemoryAlignment != 0)
    return DataLossError(
        "native section: expected aligned weights, found "
        "others");
  ByteReader reader(parts.head.subspan(kNativeHeaderBytes));
  std::vector<KernelCode> codes(reader.Count(kCodeBytes));
  const BoxesInBytes boxes = header.version > 4   ? BoxesInBytes::kAll
                             : header.version > 3 ? BoxesInBytes::kWithoutOrder
                                                  : BoxesInBytes::kNone;
  for (KernelCode& code : codes) {
    EMBER_ASSIGN_OR_RETURN(code, ReadCode(reader, parts.code, owner, boxes));
  }
  std::vector<std::span<const uint8_t>> weights(reader.Count(kPackedBytes));
  for (std::span<const uint8_t>& piece : weights) {
    EMBER_ASSIGN_OR_RETURN(piece,
                           ReadPiece(reader, parts.weights, kMemoryAlignment));
  }
  std::vector<NativeKernel> kernels(reader.Count(kKernelBytes));
  for (NativeKernel& kernel : kernels) {
    kernel.dispatch = reader.Number<uint32_t>();
    kernel.constants.resize(reader.Count(kSourceBytes));
    for (ConstantSource& source : kernel.constants) {
      source.constant = reader.Number<int32_t>();
      source.offset = reader.Number<int64_t>();
    }
    kernel.packed.resize(reader.Count(sizeof(uint32_t)));
    for (std::span<const uint8_t>& packed : kernel.packed) {
      const auto number = reader.Number<uint32_t>();
      if (number >= weights.size())
        return Damaged(Concat({"a packed constant below ", weights.size()}),
                       number);
      packed = weights[number];
    }
    if (!kernel.packed.empty()) kernel.packed_owner = owner;
    const auto code = reader.Number<uint32_t>();
    EMBER_ASSIGN_OR_RETURN(kernel.image,
                           ReadKernelHeader(reader, header.version > 2));
    if (code >= codes.size())
      return Damaged(Concat({"a code below ", codes.size()}), code);
    kernel.image.code = codes[code];
    EMBER_RETURN_IF_ERROR(VerifyKernelImage(kernel.image));
    EMBER_RETURN_IF_ERROR(CheckPacked(kernel));
  }
  if (!reader.ok() || !reader.at_end())
    return DataLossError("native section: expected its end, found another");
  return kernels;
}

}  // namespace ember::vm

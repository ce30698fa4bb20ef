#include "vm/format/native_section.h"

#include "base/concat.h"
#include "base/rounding.h"
#include "vm/format/native_kernels_format.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

Status CutOff(std::string_view part, uint64_t size, uint64_t room) {
  return DataLossError(Concat(
      {"native section: ", part, ": expected ", size, " bytes, found ", room}));
}

}  // namespace

StatusOr<NativeParts> SplitNativeSection(std::span<const uint8_t> bytes) {
  EMBER_ASSIGN_OR_RETURN(const NativeHeader header, ReadNativeHeader(bytes));
  NativeParts parts;
  uint64_t position = 0, end = 0;
  struct Part {
    std::string_view name;
    uint64_t size;
    std::span<const uint8_t>* bytes;
  };
  for (const Part& part :
       {Part{"head", header.head_size, &parts.head},
        Part{"code", header.code_size, &parts.code},
        Part{"weights", header.weights_size, &parts.weights}}) {
    // The position of an empty part is not checked, because it may be beyond
    // the end of the section.
    if (part.size == 0) continue;
    const uint64_t room = position < bytes.size() ? bytes.size() - position : 0;
    if (part.size > room) return CutOff(part.name, part.size, room);
    *part.bytes = bytes.subspan(static_cast<size_t>(position),
                                static_cast<size_t>(part.size));
    end = position + part.size;
    position = RoundUp(end, kMemoryAlignment);
  }
  if (end != bytes.size())
    return CutOff("head, code and weights", bytes.size(), end);
  return parts;
}

std::span<const uint8_t> HashedPart(std::span<const uint8_t> bytes) {
  const StatusOr<NativeParts> parts = SplitNativeSection(bytes);
  if (!parts.ok()) return bytes;
  const std::span<const uint8_t> last =
      parts->code.empty() ? parts->head : parts->code;
  return bytes.first(static_cast<size_t>(last.data() - bytes.data()) +
                     last.size());
}

std::string JoinNativeSection(const NativeParts& parts) {
  std::string bytes;
  bytes.reserve(
      static_cast<size_t>(RoundUp(parts.head.size(), kMemoryAlignment) +
                          RoundUp(parts.code.size(), kMemoryAlignment)) +
      parts.weights.size());
  for (const std::span<const uint8_t> part :
       {parts.head, parts.code, parts.weights}) {
    if (part.empty()) continue;
    bytes.resize(static_cast<size_t>(RoundUp(bytes.size(), kMemoryAlignment)));
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return bytes;
}

}  // namespace ember::vm

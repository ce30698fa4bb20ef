#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "base/rounding.h"
#include "vm/format/kernel_image_bytes.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_kernels_format.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Stores pieces of bytes one behind another. A piece that equals an earlier one
// is not stored again, if the earlier one's offset suits its alignment.
class Pieces {
 public:
  // Adds a piece, unless an equal one at a multiple of `alignment` was added
  // before. Returns the number of the added or the equal piece.
  uint32_t Add(std::span<const uint8_t> bytes, uint64_t alignment) {
    const uint64_t hash = HashBytes(bytes);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const Piece& piece = pieces_[it->second];
      if (piece.offset % alignment == 0 &&
          std::ranges::equal(
              bytes, std::span(reinterpret_cast<const uint8_t*>(bytes_.data()) +
                                   piece.offset,
                               static_cast<size_t>(piece.size))))
        return it->second;
    }
    const auto number = static_cast<uint32_t>(pieces_.size());
    const uint64_t offset = RoundUp(bytes_.size(), alignment);
    bytes_.resize(static_cast<size_t>(offset));
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    pieces_.push_back({offset, bytes.size()});
    by_hash_.emplace(hash, number);
    return number;
  }

  uint32_t count() const { return static_cast<uint32_t>(pieces_.size()); }
  void WriteRange(uint32_t number, ByteWriter& writer) const {
    writer.Number(pieces_[number].offset);
    writer.Number(pieces_[number].size);
  }
  std::string Take() && { return std::move(bytes_); }

 private:
  struct Piece {
    uint64_t offset = 0, size = 0;
  };
  std::string bytes_;
  std::vector<Piece> pieces_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

template <typename T>
void WriteNumbers(const std::vector<T>& numbers, ByteWriter& writer) {
  writer.Number(static_cast<uint32_t>(numbers.size()));
  for (const T number : numbers) writer.Number(number);
}

}  // namespace

NativeBytes WriteNativeKernels(std::span<const NativeKernel> kernels) {
  NativeBytes result;
  Pieces code, weights;
  std::vector<const KernelCode*> codes;
  // numbers: for each kernel, the index of its code in `codes`. places: for
  // each code, the number of its piece in `code`.
  std::vector<uint32_t> numbers, places;
  std::vector<std::vector<uint32_t>> packed;
  for (const NativeKernel& kernel : kernels) {
    const KernelCode& own = kernel.image.code;
    const auto found = std::ranges::find_if(
        codes, [&](const KernelCode* other) { return *other == own; });
    numbers.push_back(static_cast<uint32_t>(found - codes.begin()));
    if (found == codes.end()) {
      codes.push_back(&own);
      places.push_back(code.Add(own.bytes, own.alignment));
      result.code_alignment = std::max(result.code_alignment, own.alignment);
    }
    std::vector<uint32_t>& pieces = packed.emplace_back();
    for (const std::span<const uint8_t> bytes : kernel.packed)
      pieces.push_back(weights.Add(bytes, kMemoryAlignment));
  }
  ByteWriter writer;
  writer.Number(static_cast<uint32_t>(codes.size()));
  for (size_t i = 0; i < codes.size(); ++i) {
    writer.Number(static_cast<uint8_t>(codes[i]->format));
    writer.Number(codes[i]->alignment);
    WriteNumbers(codes[i]->entries, writer);
    WriteDevicePhases(*codes[i], writer);
    code.WriteRange(places[i], writer);
  }
  writer.Number(weights.count());
  for (uint32_t i = 0; i < weights.count(); ++i) weights.WriteRange(i, writer);
  writer.Number(static_cast<uint32_t>(kernels.size()));
  for (size_t i = 0; i < kernels.size(); ++i) {
    writer.Number(kernels[i].dispatch);
    writer.Number(static_cast<uint32_t>(kernels[i].constants.size()));
    for (const ConstantSource& source : kernels[i].constants) {
      writer.Number(source.constant);
      writer.Number(source.offset);
    }
    WriteNumbers(packed[i], writer);
    writer.Number(numbers[i]);
    WriteKernelHeader(kernels[i].image, writer);
  }
  const std::string lists = std::move(writer).Take();
  result.code = std::move(code).Take();
  result.weights = std::move(weights).Take();
  ByteWriter header;
  WriteNativeHeader({.head_size = kNativeHeaderBytes + lists.size(),
                     .code_size = result.code.size(),
                     .weights_size = result.weights.size()},
                    header);
  result.head = std::move(header).Take() + lists;
  return result;
}

}  // namespace ember::vm

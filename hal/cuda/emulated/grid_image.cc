// Encodes kernels of this process as the bytes of an image, and decodes them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {
namespace {

constexpr char kMagic[8] = {'E', 'M', 'B', 'G', 'R', 'I', 'D', '1'};

struct StoredEntry {
  char name[40] = {};
  GridKernel function = nullptr;
  uint64_t argument_count = 0;
  uint64_t shared_bytes = 0;
  uint64_t has_barriers = 0;
  uint64_t map_count = 0;
};

}  // namespace

std::vector<uint8_t> WriteGridImage(std::span<const GridEntry> entries) {
  std::vector<uint8_t> image(sizeof kMagic + sizeof(uint64_t) +
                             entries.size() * sizeof(StoredEntry));
  std::memcpy(image.data(), kMagic, sizeof kMagic);
  const uint64_t count = entries.size();
  std::memcpy(image.data() + sizeof kMagic, &count, sizeof count);
  uint8_t* at = image.data() + sizeof kMagic + sizeof count;
  for (const GridEntry& entry : entries) {
    StoredEntry stored;
    EMBER_CHECK(entry.name.size() < sizeof stored.name)
        << "kernel " << entry.name << ": too long a name";
    std::memcpy(stored.name, entry.name.data(), entry.name.size());
    stored.function = entry.function;
    stored.argument_count = entry.argument_count;
    stored.shared_bytes = entry.shared_bytes;
    stored.has_barriers = entry.has_barriers;
    stored.map_count = entry.map_count;
    std::memcpy(at, &stored, sizeof stored);
    at += sizeof stored;
  }
  return image;
}

std::vector<GridEntry> ReadGridImage(const void* image) {
  std::vector<GridEntry> entries;
  if (std::memcmp(image, kMagic, sizeof kMagic) != 0) return entries;
  const auto* at = static_cast<const uint8_t*>(image) + sizeof kMagic;
  uint64_t count = 0;
  std::memcpy(&count, at, sizeof count);
  at += sizeof count;
  for (uint64_t i = 0; i < count; ++i) {
    StoredEntry stored;
    std::memcpy(&stored, at, sizeof stored);
    at += sizeof stored;
    entries.push_back({stored.name, stored.function, stored.argument_count,
                       stored.shared_bytes, stored.has_barriers != 0,
                       static_cast<size_t>(stored.map_count)});
  }
  return entries;
}

}  // namespace ember::hal::cuda

#include "jit/target/cpu_model.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ember::jit {
namespace {

// What follows the name in the target's list: "" of "fma", "=8" of "cores=8".
std::optional<std::string_view> FindFeature(std::string_view target,
                                            std::string_view name) {
  size_t begin = target.find('+');
  while (begin != std::string_view::npos) {
    const size_t end = target.find('+', begin + 1);
    const std::string_view feature = target.substr(begin + 1, end - begin - 1);
    if (feature.substr(0, feature.find('=')) == name)
      return feature.substr(name.size());
    begin = end;
  }
  return std::nullopt;
}

bool HasFeature(std::string_view target, std::string_view name) {
  return FindFeature(target, name).has_value();
}

// Of "cores=8" 8, of "l1=32K" 32768, or `otherwise`.
int64_t NumberOf(std::string_view target, std::string_view name,
                 int64_t otherwise) {
  const auto text = FindFeature(target, name);
  if (!text || text->empty()) return otherwise;
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data() + 1, end, number);
  if (error != std::errc() || number <= 0) return otherwise;
  return at != end && *at == 'K' ? number << 10 : number;
}

}  // namespace

CpuModel CpuModel::Of(std::string_view target) {
  CpuModel cpu;
  if (target.starts_with("x86_64")) {
    cpu.has_fma = HasFeature(target, "fma");
    if (HasFeature(target, "avx512f")) {
      cpu.vector_bytes = 64;
      cpu.vector_registers = 32;
      cpu.has_masks = true;
      cpu.has_byte_dots =
          HasFeature(target, "avx512vnni") && HasFeature(target, "avx512vl");
      cpu.has_short_dots = HasFeature(target, "avx512bw");
      cpu.has_small_byte_dots = cpu.has_short_dots;
      cpu.has_bfloat_dots =
          HasFeature(target, "avx512bf16") && HasFeature(target, "avx512vl");
    } else if (HasFeature(target, "avx2")) {
      cpu.vector_bytes = 32;
      cpu.has_byte_dots = HasFeature(target, "avxvnni");
      cpu.has_short_dots = true;
      cpu.has_small_byte_dots = true;
    }
  } else if (target.starts_with("aarch64")) {
    cpu.vector_registers = 32;
    cpu.has_fma = true;
    cpu.has_integer_fma = true;
    cpu.has_byte_dots = HasFeature(target, "dotprod");
    // Of 128 bits it is NEON with masks.
    const int64_t sve_bits = NumberOf(target, "sve", 0);
    cpu.vector_bytes =
        static_cast<int>(std::clamp<int64_t>(sve_bits, 128, 512) / 8);
    cpu.has_masks = sve_bits > 128;
  } else if (target.starts_with("armv7")) {
    cpu.has_fma = HasFeature(target, "vfp4");
    cpu.has_integer_fma = true;
  }
  cpu.l1_bytes = NumberOf(target, "l1", cpu.l1_bytes);
  cpu.l2_bytes = NumberOf(target, "l2", cpu.l2_bytes);
  cpu.l3_bytes = NumberOf(target, "l3", cpu.l3_bytes);
  cpu.cores = static_cast<int>(NumberOf(target, "cores", cpu.cores));
  return cpu;
}

int CpuModel::Lanes(DType type) const {
  return std::max<int>(1, vector_bytes / static_cast<int>(DTypeByteSize(type)));
}

int64_t CpuModel::LanesFor(int64_t bytes, int64_t neighbours) const {
  // Below, instructions for single elements do as well.
  constexpr int64_t kFewest = 4;
  int64_t lanes = vector_bytes / bytes;
  while (lanes > kFewest && lanes / 2 >= neighbours) lanes /= 2;
  const bool fills_half = neighbours > 1 && neighbours * 2 >= lanes;
  return lanes > 1 && fills_half ? lanes : 1;
}

}  // namespace ember::jit

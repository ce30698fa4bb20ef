#include "jit/target/cpu_model.h"

#include <algorithm>
#include <optional>

#include "base/target_text.h"
#include "jit/target/dot_instructions.h"

namespace ember::jit {
CpuModel CpuModel::Of(std::string_view text) {
  const TargetText target(text);
  const auto number_of = [&](std::string_view name, int64_t otherwise) {
    const std::optional<int64_t> number = target.Number(name);
    return number && *number > 0 ? *number : otherwise;
  };
  CpuModel cpu;
  if (text.starts_with("x86_64")) {
    cpu.has_fma = target.Has("fma");
    if (target.Has("avx512f")) {
      cpu.vector_bytes = 64;
      cpu.vector_registers = 32;
      cpu.has_masks = true;
    } else if (target.Has("avx2")) {
      cpu.vector_bytes = 32;
    }
  } else if (text.starts_with("aarch64")) {
    cpu.vector_registers = 32;
    cpu.has_fma = true;
    cpu.has_integer_fma = true;
    // A CPU with SVE of 128 bits is modelled like one with NEON, without masks.
    const int64_t sve_bits = number_of("sve", 0);
    cpu.vector_bytes =
        static_cast<int>(std::clamp<int64_t>(sve_bits, 128, 512) / 8);
    cpu.has_masks = sve_bits > 128;
  } else if (text.starts_with("armv7")) {
    cpu.has_fma = target.Has("vfp4");
    cpu.has_integer_fma = true;
  }
  // Other targets, such as WebAssembly, keep the defaults: most machines that
  // run WebAssembly have the 16 vector registers of x86. Instructions for dot
  // products count only if they fill whole vectors. On x86 with vectors of 128
  // bits (SSE2) they are too short to pay.
  const int bits = 8 * cpu.vector_bytes;
  const auto has_dots = [&](DotKind kind) {
    const auto has = [&](std::string_view feature) {
      return target.Has(feature);
    };
    const bool is_short = text.starts_with("x86_64") && bits <= 128;
    return !is_short && WidestDot(text, kind, has, bits) >= bits;
  };
  cpu.has_byte_dots = has_dots(DotKind::kBytes);
  cpu.has_short_dots = has_dots(DotKind::kShorts);
  cpu.has_small_byte_dots = has_dots(DotKind::kSmallBytes);
  cpu.has_bfloat_dots = has_dots(DotKind::kBFloats);
  cpu.l1_bytes = number_of("l1", cpu.l1_bytes);
  cpu.l2_bytes = number_of("l2", cpu.l2_bytes);
  cpu.l3_bytes = number_of("l3", cpu.l3_bytes);
  cpu.cores = static_cast<int>(number_of("cores", cpu.cores));
  return cpu;
}

int CpuModel::Lanes(DType type) const {
  return std::max<int>(1, vector_bytes / static_cast<int>(DTypeByteSize(type)));
}

int64_t CpuModel::LanesFor(int64_t bytes, int64_t neighbours) const {
  // Fewest lanes that are worth a vector: with fewer, instructions for single
  // elements are as fast.
  constexpr int64_t kFewest = 4;
  int64_t lanes = vector_bytes / bytes;
  while (lanes > kFewest && lanes / 2 >= neighbours) lanes /= 2;
  const bool fills_half = neighbours > 1 && neighbours * 2 >= lanes;
  return lanes > 1 && fills_half ? lanes : 1;
}

}  // namespace ember::jit

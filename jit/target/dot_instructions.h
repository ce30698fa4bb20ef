// The table of instructions for short sums of products, one sum in each lane of
// a vector. A row computes a dot loop of its count and types
// (jit/loops/analysis/dot_product.h); its name is for people.
//
//   const auto has = [&](std::string_view feature) { … };
//   WidestDot("x86_64", DotKind::kBytes, has);   // 512; 0: there is none
//
// Schedules (CpuModel, GpuModel) and code generation (jit/llvm/passes/host.h)
// look up here which instructions a machine has. The dot_products.h of
// jit/llvm, jit/spirv and jit/ptx say how each is emitted, and how sums with
// operands of other signs are computed. Thread-safe.
#ifndef EMBER_JIT_TARGET_DOT_INSTRUCTIONS_H_
#define EMBER_JIT_TARGET_DOT_INSTRUCTIONS_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace ember::jit {

enum class DotKind : uint8_t {
  // Sums of 4 products of i8 by u8, in i32. Bytes with other signs are shifted
  // by 128 first, and the sum is corrected.
  kBytes,
  // Sums of 4 products of u8 by i8, on machines whose kBytes instructions need
  // operands of equal signs.
  kMixedBytes,
  kSmallBytes,  // sums of 4 products of u8 by i8 in -64..64 (loops::kSmallByte)
  kShorts,      // sums of 2 products of i16, in i32
  kBFloats      // sums of 2 products of bf16, in f32
};

struct DotInstruction {
  std::string_view name;
  // machine that has the instruction, as the first part of a target's name
  std::string_view machine;
  DotKind kind = DotKind::kBytes;
  // bits of the instruction's vectors; kOfMachine: as many as the machine's
  // vectors have
  int bits = 0;
  // Names of the features that the machine must have; empty: none.
  std::string_view features[2];
};
inline constexpr int kOfMachine = -1;

// Returns all rows. Rows of one machine and kind are sorted by their bits,
// widest first.
std::span<const DotInstruction> DotInstructions();

// Returns the bits of the widest vectors with an instruction of this kind; 0 if
// there is none. has(feature): returns true if the machine has the feature.
// vector_bits: the size of the machine's vectors, which is returned for rows of
// kOfMachine.
template <typename Has>
int WidestDot(std::string_view machine, DotKind kind, const Has& has,
              int vector_bits = 0) {
  for (const DotInstruction& row : DotInstructions()) {
    if (!machine.starts_with(row.machine) || row.kind != kind) continue;
    const bool is_there =
        std::ranges::all_of(row.features, [&](std::string_view feature) {
          return feature.empty() || has(feature);
        });
    if (is_there) return row.bits == kOfMachine ? vector_bits : row.bits;
  }
  return 0;
}

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_DOT_INSTRUCTIONS_H_

#include "jit/target/dot_instructions.h"

namespace ember::jit {
namespace {

using enum DotKind;

// clang-format off
constexpr DotInstruction kInstructions[] = {
    {"vpdpbusd", "x86_64", kBytes, 512, {"avx512vnni", "avx512vl"}},
    {"vpdpbusd", "x86_64", kBytes, 256, {"avxvnni"}},
    {"vpmaddubsw, vpmaddwd", "x86_64", kSmallBytes, 512, {"avx512bw"}},
    {"vpmaddubsw, vpmaddwd", "x86_64", kSmallBytes, 256, {"avx2"}},
    {"vpmaddwd", "x86_64", kShorts, 512, {"avx512bw"}},
    {"vpmaddwd", "x86_64", kShorts, 256, {"avx2"}},
    {"pmaddwd", "x86_64", kShorts, 128, {}},
    {"vdpbf16ps", "x86_64", kBFloats, 512, {"avx512bf16", "avx512vl"}},
    {"sdot, udot", "aarch64", kBytes, kOfMachine, {"dotprod"}},
    {"usdot", "aarch64", kMixedBytes, kOfMachine, {"i8mm"}},
    {"OpSDotKHR, OpUDotKHR", "vulkan", kBytes, 32, {"dot", "fast_dot"}},
    {"dp4a", "sm_", kBytes, 32, {}},
};
// clang-format on

}  // namespace

std::span<const DotInstruction> DotInstructions() { return kInstructions; }

}  // namespace ember::jit

#include "jit/target/testing/processors.h"

namespace ember::jit {
namespace {

// The targets name no caches, so all rows have the default caches: default
// schedules then differ only by the processors' instructions.
constexpr Processor kProcessors[] = {
    {.name = "x86-64-v2",
     .target = "x86_64-linux+cores=4",
     .llvm = "x86_64-linux-gnu:x86-64-v2"},
    {.name = "x86-64-v3",
     .target = "x86_64-linux+avx2+fma+cores=4",
     .llvm = "x86_64-linux-gnu:x86-64-v3"},
    {.name = "x86-64-v4",
     .target = "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+cores=4",
     .llvm = "x86_64-linux-gnu:x86-64-v4"},
    {.name = "x86-64-v4-vnni",
     .target = "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni"
               "+cores=4",
     .llvm = "x86_64-linux-gnu:x86-64-v4+avx512vnni"},
    {.name = "x86-64-v4-bf16",
     .target = "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512bf16"
               "+cores=4",
     .llvm = "x86_64-linux-gnu:x86-64-v4+avx512bf16"},
    {.name = "aarch64-neon",
     .target = "aarch64-linux+neon+cores=4",
     .llvm = "aarch64-linux-gnu:cortex-a72",
     .emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu cortex-a72"},
    {.name = "aarch64-dotprod",
     .target = "aarch64-linux+neon+dotprod+cores=4",
     .llvm = "aarch64-linux-gnu:neoverse-n1",
     .emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu neoverse-n1"},
    {.name = "aarch64-i8mm",
     .target = "aarch64-linux+neon+dotprod+i8mm+cores=4",
     .llvm = "aarch64-linux-gnu:neoverse-n1+i8mm",
     .emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,sve=off"},
    {.name = "aarch64-sve256",
     .target = "aarch64-linux+neon+dotprod+i8mm+sve=256+cores=4",
     .llvm = "aarch64-linux-gnu:neoverse-v1+sve=256",
     .emulator =
         "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,sve-max-vq=2"},
    // The processor of armv7-neon has no division and no fused multiply-add,
    // but it has instructions that convert f16.
    {.name = "armv7-neon",
     .target = "armv7-linux+neon+cores=4",
     .llvm = "arm-linux-gnueabihf:cortex-a9+neon",
     .emulator = "qemu-arm -L /usr/arm-linux-gnueabihf -cpu cortex-a9",
     .keeps_subnormals = false},
    // The processor of armv7-neon-vfp4 has 32-bit integer division and fused
    // multiply-add.
    {.name = "armv7-neon-vfp4",
     .target = "armv7-linux+neon+vfp4+cores=4",
     .llvm = "arm-linux-gnueabihf:cortex-a15+neon",
     .emulator = "qemu-arm -L /usr/arm-linux-gnueabihf -cpu cortex-a15",
     .keeps_subnormals = false},
    {.name = "wasm32-simd128",
     .target = "wasm32-none+simd128+cores=1",
     .llvm = "wasm32-unknown-unknown:generic+simd128+bulk-memory+sign-ext"
             "+nontrapping-fptoint+mutable-globals",
     .emulator = "node"},
};

}  // namespace

std::span<const Processor> Processors() { return kProcessors; }

const Processor* FindProcessor(std::string_view name) {
  for (const Processor& processor : kProcessors) {
    if (processor.name == name) return &processor;
  }
  return nullptr;
}

}  // namespace ember::jit

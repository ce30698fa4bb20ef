// Limits of every module, whatever its origin. They keep the verifier's own
// work bounded and let the runtime use fixed-size buffers. A file that exceeds
// one is refused with a message that names the limit.
#ifndef EMBER_VM_ISA_LIMITS_H_
#define EMBER_VM_ISA_LIMITS_H_

#include <cstdint>

namespace ember::vm {

// Largest number of dims of a tensor.
inline constexpr int kMaxRank = 32;
// Largest number of registers of each kind in a program.
inline constexpr uint32_t kMaxRegisters = 1 << 20;
// Largest number of registers of both kinds in all programs of a module.
inline constexpr uint64_t kMaxModuleRegisters = 4 * kMaxRegisters;
// Largest number of programs of a module: a model has one for each branch and
// loop body. A chain of calls may be as long as this.
inline constexpr uint32_t kMaxPrograms = 1 << 14;
// Largest number of parameters of a called program, and of symbols that name
// parameters.
inline constexpr uint32_t kMaxParameters = 4096;
// Largest product of the numbers of basic blocks and of registers of a program.
// It bounds the time and memory of the verification.
inline constexpr uint64_t kMaxBlockRegisters = uint64_t{1} << 22;
// Largest number of bytes of a dispatch's name, a target and the texts of a
// kernel's image. Other texts of a module are limited only by the file's size:
// they are stored once, and their users refer to them.
inline constexpr uint32_t kMaxTextLength = 1 << 16;
// Largest number of shapes of a dispatch in a module's profile.
inline constexpr uint32_t kMaxProfileShapes = 64;
// Constants are aligned to this many bytes in the file and in memory; so are
// arenas, allocations and the offsets of views.
inline constexpr int64_t kMemoryAlignment = 64;

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_LIMITS_H_

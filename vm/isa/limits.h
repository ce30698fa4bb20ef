// Limits of every module, whatever its origin. They bound the work of the
// verifier and allow the runtime to use buffers of fixed size. A file that
// exceeds one is refused with a message that names the limit.
#ifndef EMBER_VM_ISA_LIMITS_H_
#define EMBER_VM_ISA_LIMITS_H_

#include <cstdint>

namespace ember::vm {

// Largest number of dims of a tensor.
inline constexpr int kMaxRank = 32;
// Largest number of registers of each kind (integers, buffers) in a program.
inline constexpr uint32_t kMaxRegisters = 1 << 20;
// Largest sum of the numbers of registers of all programs of a module, integers
// and buffers together.
inline constexpr uint64_t kMaxModuleRegisters = 4 * kMaxRegisters;
// Largest number of programs of a module: a model has one for each branch and
// loop body. A chain of nested calls may have this length.
inline constexpr uint32_t kMaxPrograms = 1 << 14;
// Largest number of parameters of a called program, and of symbols that name
// parameters.
inline constexpr uint32_t kMaxParameters = 4096;
// Largest product of the number of basic blocks of a program and the number of
// words of its state: one word for each buffer register, one for 64 integer
// registers, one for 64 results, and one more. This limit bounds the time and
// memory that the verification needs.
inline constexpr uint64_t kMaxBlockRegisters = uint64_t{1} << 22;
// Largest number of bytes of a dispatch's name, of a target, and of each text
// in a kernel's image. Other texts of a module are limited only by the file's
// size, because they are stored once and not copied.
inline constexpr uint32_t kMaxTextLength = 1 << 16;
// Largest number of shapes of one dispatch in a module's profile.
inline constexpr uint32_t kMaxProfileShapes = 64;
// Alignment in bytes of constants in the file and in memory, of arenas and
// allocations, and of the offsets of views.
inline constexpr int64_t kMemoryAlignment = 64;

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_LIMITS_H_

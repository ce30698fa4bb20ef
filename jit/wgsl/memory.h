// The forms of elements in the memory of WebGPU: a storage buffer is an array
// of words, in which elements of 8 and 16 bits are packed.
//
//   const Memory memory = MemoryOf(nest, phase, 2);   // i8, binding 1
//   LoadOf(memory, "v3");                             // "load_r1_i8(v3)"
//
// The variable's name and type follow from the binding, the element type and
// the access, so that phases share the variables that they have in common:
//
//   type               read only                     written
//   i32, u32, f32      array<i32> r1_i32             array<i32> w1_i32
//   8, 16 bits, bool   array<u32> r1_words           array<atomic<u32>> w1_words
//   i64                array<vec2<i32>> r1_i64       array<vec2<i32>> w1_i64
//
// Words with several elements are changed by atomic operations, because other
// invocations may store to the other elements of the word. The high half of an
// i64 is the sign of the value, which fits 32 bits.
//
// Thread-safe.
#ifndef EMBER_JIT_WGSL_MEMORY_H_
#define EMBER_JIT_WGSL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::wgsl {

// The binding of a buffer in a phase.
struct Memory {
  size_t binding = 0;
  DType type = DType::kF32;
  bool is_written = false;

  // True if a word has several elements.
  bool IsPacked() const { return DTypeByteSize(type) < 4; }
};

// buffer: the number of a buffer that has a binding.
Memory MemoryOf(const loops::LoopNest& nest, const loops::Phase& phase,
                uint32_t buffer);

// Returns the declaration of the binding's variable.
std::string DeclarationOf(const Memory& memory);
// Returns the functions that load and store elements of packed memory.
std::string FunctionsOf(const Memory& memory);

// Returns the value of the element at `position`, in the type of values, and
// the statement that stores a value there.
std::string LoadOf(const Memory& memory, std::string_view position);
std::string StoreOf(const Memory& memory, std::string_view position,
                    std::string_view value);

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_MEMORY_H_

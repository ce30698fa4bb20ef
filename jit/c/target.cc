#include "jit/c/target.h"

namespace ember::jit::c {

CpuModel ModelOf(std::string_view target) {
  CpuModel cpu = CpuModel::Of(target);
  // Number of f32 lanes of a vector loop, which is printed as a loop of four;
  // compilers make a vector of it if the processor has vectors. Two and eight
  // lanes were slower (README.md).
  cpu.vector_bytes = 16;
  cpu.vector_registers = 16;
  return cpu;
}

}  // namespace ember::jit::c

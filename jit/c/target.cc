#include "jit/c/target.h"

namespace ember::jit::c {

CpuModel ModelOf(std::string_view target) {
  CpuModel cpu = CpuModel::Of(target);
  // Four lanes of f32 are a loop of four, of which compilers make a vector if
  // the processor has any; twice as many and half as many were slower
  // (README.md).
  cpu.vector_bytes = 16;
  cpu.vector_registers = 16;
  return cpu;
}

}  // namespace ember::jit::c

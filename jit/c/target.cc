#include "jit/c/target.h"

namespace ember::jit::c {

CpuModel ModelOf(std::string_view target) {
  CpuModel cpu = CpuModel::Of(target);
  // Four lanes of f32 are an array of four, which compilers keep in registers
  // of whatever kind there are; eight results at a time is what even processors
  // of sixteen registers hold.
  cpu.vector_bytes = 16;
  cpu.vector_registers = 16;
  return cpu;
}

}  // namespace ember::jit::c

// Parses targets of the back end for C, whose name is "c11", into the CPU model
// by which schedules are chosen.
//
//   ModelOf("c11+l1=16K");   // one core, 16 KiB of cache
//
// The features l1, l2, l3 and cores of CpuModel::Of may follow the name.
// Thread-safe.
#ifndef EMBER_JIT_C_TARGET_H_
#define EMBER_JIT_C_TARGET_H_

#include <string_view>

#include "jit/target/cpu_model.h"

namespace ember::jit::c {

inline constexpr std::string_view kTargetName = "c11";

CpuModel ModelOf(std::string_view target);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TARGET_H_

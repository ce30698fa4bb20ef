// The target of C: a text whose name is "c11", and the model for schedules of
// the processor that it means.
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

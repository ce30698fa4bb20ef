// The target of C: a text whose name is "c11", and what schedules are to think
// of the processor that it stands for.
//
//   ModelOf("c11+l1=16K");   // no cores beside the one, 16 KiB of cache
//
// Behind the name may stand what CpuModel::Of knows of any processor: l1, l2,
// l3, cores. Thread-safe.
#ifndef EMBER_JIT_C_TARGET_H_
#define EMBER_JIT_C_TARGET_H_

#include <string_view>

#include "jit/target/cpu_model.h"

namespace ember::jit::c {

inline constexpr std::string_view kTargetName = "c11";

CpuModel ModelOf(std::string_view target);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TARGET_H_

// The target string of the machine we run on: "x86_64-linux+avx2+fma".
#ifndef EMBER_HAL_CPU_CPU_TARGET_H_
#define EMBER_HAL_CPU_CPU_TARGET_H_

#include <string>

namespace ember::hal {

std::string HostTarget();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_CPU_TARGET_H_

// The machine we run on.
#ifndef EMBER_HAL_CPU_CPU_TARGET_H_
#define EMBER_HAL_CPU_CPU_TARGET_H_

#include <cstdint>
#include <string>

namespace ember::hal {

// The target string that describes it: what kernels may use, caches as far as
// the system tells, cores. "x86_64-linux+avx2+fma+l1=32K+l2=1024K+cores=2".
std::string HostTarget();

// For people: "AMD EPYC 9554 64-Core Processor"; empty if the system does not
// tell.
std::string HostName();
// Of the machine; 0 if the system does not tell.
int64_t HostMemoryBytes();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_CPU_TARGET_H_

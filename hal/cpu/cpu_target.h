// The machine we run on.
#ifndef EMBER_HAL_CPU_CPU_TARGET_H_
#define EMBER_HAL_CPU_CPU_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::hal {

// The target string that describes it: what kernels may use, caches as far as
// the system tells, cores. "x86_64-linux+avx2+fma+l1=32K+l2=1024K+cores=2".
std::string HostTarget();

// What this machine lacks of a target whose code is to run here: "avx512f,
// sve=256", or the kind of machine that it is not; empty if the code runs. Of a
// target, caches and cores do not count. A feature that this function does not
// know is missing.
std::string MissingFeatures(std::string_view target);

// How many features code for the target asks for: the more, the better it is,
// as far as texts can tell. Caches and cores do not count.
int CountFeatures(std::string_view target);

// For people: "AMD EPYC 9554 64-Core Processor"; empty if the system does not
// tell.
std::string HostName();
// Of the machine; 0 if the system does not tell.
int64_t HostMemoryBytes();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_CPU_TARGET_H_

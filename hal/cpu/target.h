// Describes the machine that the process runs on.
#ifndef EMBER_HAL_CPU_TARGET_H_
#define EMBER_HAL_CPU_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::hal {

// Returns the target string of this machine: features that kernels may use,
// caches as far as the system reports them, and cores, such as
// "x86_64-linux+avx2+fma+l1=32K+l2=1024K+cores=2".
std::string HostTarget();

// Returns the features of a target that this machine lacks, such as "avx512f,
// sve=256", or the kind of machine that it is not; empty if code for the target
// runs here. The target's caches and cores do not count. A feature that this
// function does not know is missing.
std::string MissingFeatures(std::string_view target);

// Returns the number of features that code for the target requires; code for
// more features is better, as far as texts show. Caches and cores do not count.
int CountFeatures(std::string_view target);

// Returns the processor's name for people, such as "AMD EPYC 9554 64-Core
// Processor"; empty if the system does not say.
std::string HostName();
// Returns the bytes of memory of the machine; 0 if the system does not say.
int64_t HostMemoryBytes();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_TARGET_H_

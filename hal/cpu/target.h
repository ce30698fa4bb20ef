// Describes the machine on which the process runs.
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

// Returns the features that a target requires and this machine lacks, such as
// "avx512f, sve=256"; for a target of another kind of machine, returns that
// kind. The result is empty if code for the target runs here. The target's
// caches and cores are ignored. A feature that this function does not know
// counts as missing.
std::string MissingFeatures(std::string_view target);

// Returns the number of features that code for the target requires, without
// caches and cores. If several kernels run here, the one with the largest
// number is preferred.
int CountFeatures(std::string_view target);

// Returns the processor's name for display, such as "AMD EPYC 9554 64-Core
// Processor"; empty if the system does not report it.
std::string HostName();
// Returns the number of bytes of the machine's memory; 0 if the system does not
// report it.
int64_t HostMemoryBytes();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_TARGET_H_

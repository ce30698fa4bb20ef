#include "tools/lib/cli/kernel_cache.h"

#include <algorithm>

#include "tools/lib/cli/paths.h"

namespace ember::tools {

void AddKernelCacheFlags(Flags& flags, KernelCacheFlags* values) {
  flags.Add("kernel-cache", &values->folder, "DIR",
            "Keeps compiled kernels in this folder for later processes. "
            "Default: $EMBER_CACHE (no cache\n"
            "if it is empty) or ~/.cache/ember/kernels.");
  flags.Add("no-kernel-cache", &values->is_off,
            "Compiles each kernel in this process, and keeps none.");
  flags.Add("kernel-cache-mb", &values->megabytes, "N",
            "Limits the size of the folder, approximately. The kernels "
            "that have not been used for\n"
            "longest are removed.");
}

jit::CacheOptions CacheOptionsOf(const KernelCacheFlags& flags) {
  if (flags.is_off) return {};
  jit::CacheOptions options = jit::DefaultCacheOptions();
  if (!flags.folder.empty()) options.folder = UserPath(flags.folder);
  // Upper bound of the flag's number of megabytes, so that the number of bytes
  // cannot overflow.
  constexpr double kMax = 1e9;
  options.max_bytes =
      static_cast<int64_t>(std::clamp(flags.megabytes, 0.0, kMax) * 1e6);
  return options;
}

}  // namespace ember::tools

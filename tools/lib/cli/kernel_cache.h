// Declares the flags of the kernel cache on disk.
//
//   KernelCacheFlags cache;
//   AddKernelCacheFlags(flags, &cache);
//   …
//   OpenTier({.tier = tier, .cache = CacheOptionsOf(cache)}, device, module);
#ifndef EMBER_TOOLS_LIB_CLI_KERNEL_CACHE_H_
#define EMBER_TOOLS_LIB_CLI_KERNEL_CACHE_H_

#include <string>

#include "jit/cache/options.h"
#include "tools/lib/cli/flags.h"

namespace ember::tools {

struct KernelCacheFlags {
  std::string folder;
  bool is_off = false;
  double megabytes = 256;
};

// Declares the flags. `values` must outlive the parsing.
void AddKernelCacheFlags(Flags& flags, KernelCacheFlags* values);

jit::CacheOptions CacheOptionsOf(const KernelCacheFlags& flags);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_KERNEL_CACHE_H_

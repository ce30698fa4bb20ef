// Where the kernel cache on disk is, and how large it may become.
//
//   JitOptions options;
//   options.cache = DefaultCacheOptions();
//
// Thread-safe while the environment does not change.
#ifndef EMBER_JIT_CACHE_CACHE_OPTIONS_H_
#define EMBER_JIT_CACHE_CACHE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace ember::jit {

struct CacheOptions {
  // Made if it does not exist. Empty: no cache on disk.
  std::string folder;
  // The secret that entries are authenticated with, made if it does not exist.
  // Not in the folder, so that one that comes from elsewhere is worth nothing.
  std::string secret_file;
  // Entries that were used last longest ago are removed beyond that.
  int64_t max_bytes = int64_t{256} << 20;
};

// Folder: $EMBER_CACHE (empty: no cache), else ember/kernels in
// $XDG_CACHE_HOME or ~/.cache. Secret: ember/kernel-cache.secret in
// $XDG_STATE_HOME or ~/.local/state. Without a home folder: no cache.
CacheOptions DefaultCacheOptions();

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_CACHE_OPTIONS_H_

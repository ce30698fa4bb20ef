// The location and the size limit of the kernel cache on disk.
//
//   JitOptions options;
//   options.cache = DefaultCacheOptions();
//
// Thread-safe while the environment does not change.
#ifndef EMBER_JIT_CACHE_OPTIONS_H_
#define EMBER_JIT_CACHE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace ember::jit {

struct CacheOptions {
  // Path of the cache's folder, which is made if it does not exist. Empty:
  // kernels are not cached on disk.
  std::string folder;
  // Path of the file with the secret that authenticates entries; it is made if
  // it does not exist. The file is not in the cache's folder, so entries of a
  // folder that was copied from another user or machine are not trusted.
  std::string secret_file;
  // Largest number of bytes in the folder. If the entries exceed it, the least
  // recently used are removed.
  int64_t max_bytes = int64_t{256} << 20;
};

// Returns the user's location of the cache. Folder: $EMBER_CACHE (empty: no
// cache) if it is set, otherwise ember/kernels in $XDG_CACHE_HOME or ~/.cache.
// Secret: ember/kernel-cache.secret in $XDG_STATE_HOME or ~/.local/state. If
// there is no home folder and the variable is not set, the path is empty:
// without a folder there is no cache.
CacheOptions DefaultCacheOptions();

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_OPTIONS_H_

// Stores bytes on disk by key. Entries are authenticated, their size is
// bounded, and processes share them.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DiskCache> cache,
//                          DiskCache::Open(DefaultCacheOptions()));
//   if (std::optional<std::string> bytes = cache->Load(key)) …
//   cache->Store(key, bytes);
//
// Each entry is a file KEY.kernel: a header, an authentication code over
// secret, key and contents, and the contents. Load ignores entries that are
// damaged, cut off or from elsewhere, and the next Store replaces them. A cache
// that cannot be written to (any more) is only read. The folder may be removed
// at any time. Thread-safe.
#ifndef EMBER_JIT_CACHE_DISK_CACHE_H_
#define EMBER_JIT_CACHE_DISK_CACHE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/private_folder.h"
#include "base/sha256.h"
#include "base/status.h"
#include "jit/cache/options.h"

namespace ember::jit {

class DiskCache {
 public:
  // Opens the cache. Fails with the reason if the folder or the file of the
  // secret cannot be used.
  static StatusOr<std::unique_ptr<DiskCache>> Open(const CacheOptions& options);

  std::optional<std::string> Load(const Sha256Digest& key);
  // Stores an entry, unless it has more than 1/8 of the limit or an earlier one
  // could not be written. Each process checks the folder's size whenever it has
  // written 1/32 of the limit, so the folder may exceed the limit by that much
  // per process.
  void Store(const Sha256Digest& key, std::string_view contents);

  // Returns a description of the problem if entries cannot be written, or if
  // Load found entries that were not authentic; empty if there is no problem.
  std::string problem() const;
  int64_t rejected() const;

  static std::string FileName(const Sha256Digest& key) {
    return ToHex(key) + ".kernel";
  }

 private:
  DiskCache(PrivateFolder folder, std::string secret, int64_t max_bytes)
      : folder_(std::move(folder)),
        secret_(std::move(secret)),
        max_bytes_(max_bytes) {}
  Sha256Digest CodeOf(const Sha256Digest& key, std::string_view contents) const;
  bool has_write_problem() const;
  void Evict();

  const PrivateFolder folder_;
  const std::string secret_;
  const int64_t max_bytes_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  // number of bytes that this process may write before it checks the folder's
  // size
  int64_t until_look_ = 0;
  int64_t rejected_ = 0;
  std::string write_problem_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_DISK_CACHE_H_

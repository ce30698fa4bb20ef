#include "jit/cache/disk_cache.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/concat.h"
#include "jit/cache/secret.h"

namespace ember::jit {
namespace {

// The version of the file format. The version of the compiler is not in the
// file: it is part of the key.
constexpr std::string_view kMagic = "Ember kernel 1\n";
constexpr size_t kHeaderBytes = kMagic.size() + std::tuple_size_v<Sha256Digest>;

// Age at which an unfinished file is removed: the process that was writing it
// was killed.
constexpr int64_t kUnfinishedNanoseconds = 60'000'000'000;

int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

StatusOr<std::unique_ptr<DiskCache>> DiskCache::Open(
    const CacheOptions& options) {
  if (options.secret_file.empty())
    return FailedPreconditionError("there is no folder for its secret");
  EMBER_ASSIGN_OR_RETURN(PrivateFolder folder,
                         PrivateFolder::Open(options.folder));
  EMBER_ASSIGN_OR_RETURN(std::string secret,
                         ReadOrMakeSecret(options.secret_file));
  return std::unique_ptr<DiskCache>(
      new DiskCache(std::move(folder), std::move(secret), options.max_bytes));
}

Sha256Digest DiskCache::CodeOf(const Sha256Digest& key,
                               std::string_view contents) const {
  return HmacSha256(secret_, {kMagic, BytesOf(key), contents});
}

std::optional<std::string> DiskCache::Load(const Sha256Digest& key) {
  auto file = folder_.Use(FileName(key), max_bytes_);
  if (!file) return std::nullopt;
  const std::string_view bytes = *file;
  if (bytes.size() >= kHeaderBytes && bytes.starts_with(kMagic)) {
    Sha256Digest code;
    std::memcpy(code.data(), bytes.data() + kMagic.size(), code.size());
    const std::string_view contents = bytes.substr(kHeaderBytes);
    if (IsSameSecret(code, CodeOf(key, contents))) return std::string(contents);
  }
  const std::scoped_lock lock(mutex_);
  ++rejected_;
  return std::nullopt;
}

void DiskCache::Store(const Sha256Digest& key, std::string_view contents) {
  const auto bytes = static_cast<int64_t>(kHeaderBytes + contents.size());
  if (bytes > max_bytes_ / 8 || has_write_problem()) return;
  const Sha256Digest code = CodeOf(key, contents);
  const Status status =
      folder_.Replace(FileName(key), Concat({kMagic, BytesOf(code), contents}));
  bool looks = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!status.ok()) write_problem_ = status.message();
    until_look_ -= bytes;
    if (until_look_ < 0) {
      until_look_ = max_bytes_ / 32;
      looks = true;
    }
  }
  if (looks) Evict();
}

// Removes the least recently used entries if the folder is too large. Several
// processes may do this at once, which is harmless: they choose the same files.
void DiskCache::Evict() {
  std::vector<PrivateFolder::File> files = folder_.List();
  const int64_t long_ago = NowNanoseconds() - kUnfinishedNanoseconds;
  std::erase_if(files, [&](const PrivateFolder::File& file) {
    if (!file.is_unfinished) return !file.name.ends_with(".kernel");
    if (file.used_ns < long_ago) folder_.Remove(file.name);
    return true;
  });
  int64_t total = 0;
  for (const PrivateFolder::File& file : files) total += file.bytes;
  if (total <= max_bytes_) return;
  // An eighth of the limit is freed, so that the next few checks need not
  // remove anything.
  const int64_t wanted = max_bytes_ - max_bytes_ / 8;
  std::ranges::sort(files, {}, &PrivateFolder::File::used_ns);
  for (const PrivateFolder::File& file : files) {
    if (total <= wanted) return;
    folder_.Remove(file.name);
    total -= file.bytes;
  }
}

std::string DiskCache::problem() const {
  const std::scoped_lock lock(mutex_);
  if (!write_problem_.empty() || rejected_ == 0) return write_problem_;
  return Concat({rejected_,
                 " entries were damaged, or not of this user's "
                 "secret"});
}

bool DiskCache::has_write_problem() const {
  const std::scoped_lock lock(mutex_);
  return !write_problem_.empty();
}

int64_t DiskCache::rejected() const {
  const std::scoped_lock lock(mutex_);
  return rejected_;
}

}  // namespace ember::jit

#include "jit/cache/options.h"

#include <cstdlib>
#include <optional>

namespace ember::jit {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// Returns a base folder of the user by the XDG specification: the value of the
// environment variable or, if that is not an absolute path, the folder below
// the home folder. Empty if there is neither. XDG says to ignore relative
// paths.
std::string BaseFolder(const char* variable, const char* below_home) {
  const std::string given = Variable(variable).value_or("");
  if (given.starts_with('/')) return given;
  const std::string home = Variable("HOME").value_or("");
  return home.starts_with('/') ? home + below_home : "";
}

}  // namespace

CacheOptions DefaultCacheOptions() {
  CacheOptions options;
  const std::string caches = BaseFolder("XDG_CACHE_HOME", "/.cache");
  const std::string states = BaseFolder("XDG_STATE_HOME", "/.local/state");
  if (const auto folder = Variable("EMBER_CACHE")) {
    options.folder = *folder;
  } else if (!caches.empty()) {
    options.folder = caches + "/ember/kernels";
  }
  if (!states.empty())
    options.secret_file = states + "/ember/kernel-cache.secret";
  return options;
}

}  // namespace ember::jit

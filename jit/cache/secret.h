// Reads or makes this user's secret, which authenticates cache entries.
//
//   EMBER_ASSIGN_OR_RETURN(std::string secret,
//                          ReadOrMakeSecret("/home/me/.local/state/…"));
//
// Thread-safe, and safe with several processes: all get the same one.
#ifndef EMBER_JIT_CACHE_SECRET_H_
#define EMBER_JIT_CACHE_SECRET_H_

#include <string>

#include "base/status.h"

namespace ember::jit {

// Returns the secret of 32 bytes. A file that has another size, or that others
// may read or change, is replaced, which invalidates everything authenticated
// with the old secret. Fails if there is no secret and none can be made.
StatusOr<std::string> ReadOrMakeSecret(const std::string& path);

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_SECRET_H_

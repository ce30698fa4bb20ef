// The secret of this user that cache entries are authenticated with.
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

// 32 bytes. A file that has another size, or that others may read or change, is
// replaced: what was authenticated with it is worth nothing then. Fails if
// there is none and none can be made.
StatusOr<std::string> ReadOrMakeSecret(const std::string& path);

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_SECRET_H_

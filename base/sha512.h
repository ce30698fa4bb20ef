// SHA-512 (FIPS 180-4).
//
//   Sha512 hash;
//   hash.Add(bytes);
//   hash.Add(more);
//   Sha512Digest digest = hash.Finish();
//
// A value; not thread-safe.
#ifndef EMBER_BASE_SHA512_H_
#define EMBER_BASE_SHA512_H_

#include <cstdint>

#include "base/sha2.h"

namespace ember {

using Sha512 = Sha2<uint64_t>;
using Sha512Digest = Sha512::Digest;

}  // namespace ember

#endif  // EMBER_BASE_SHA512_H_

// Whether an Ed25519 signature (RFC 8032) is right: the half of it that a
// program which loads files needs.
//
//   if (!VerifyEd25519(key, message, signature)) …
//
// Everything here is public, so nothing takes care of how long it takes. Keys
// and signatures are made by tools, with libsodium (tools/vm_sign.cc).
// Thread-safe.
#ifndef EMBER_BASE_ED25519_H_
#define EMBER_BASE_ED25519_H_

#include <array>
#include <cstdint>
#include <span>

namespace ember {

using Ed25519Key = std::array<uint8_t, 32>;  // public
using Ed25519Signature = std::array<uint8_t, 64>;

bool VerifyEd25519(const Ed25519Key& key, std::span<const uint8_t> message,
                   const Ed25519Signature& signature);

}  // namespace ember

#endif  // EMBER_BASE_ED25519_H_

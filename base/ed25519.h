// Verifies Ed25519 signatures (RFC 8032). A program that loads signed files
// needs no more than that.
//
//   if (!VerifyEd25519(key, message, signature)) …
//
// All inputs are public, so the time of the computation may depend on them.
// Tools make keys and signatures with libsodium (tools/vm_sign.cc).
// Thread-safe.
#ifndef EMBER_BASE_ED25519_H_
#define EMBER_BASE_ED25519_H_

#include <array>
#include <cstdint>
#include <span>

namespace ember {

using Ed25519Key = std::array<uint8_t, 32>;  // a public key
using Ed25519Signature = std::array<uint8_t, 64>;

bool VerifyEd25519(const Ed25519Key& key, std::span<const uint8_t> message,
                   const Ed25519Signature& signature);

}  // namespace ember

#endif  // EMBER_BASE_ED25519_H_

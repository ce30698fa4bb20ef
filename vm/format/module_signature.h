// The signature at the end of a module file, by which somebody vouches for its
// native code: 32 bytes of a public Ed25519 key and 64 of the signature, of the
// digest that SignedDigest gives.
//
//   EMBER_RETURN_IF_ERROR(VerifySignature(definition, trusted_key));
//
// Signed are header and metadata, which are all that the module is but for the
// elements of its constants, and the native sections. So native code cannot be
// moved to another module, nor a module changed around it; constants are
// numbers, and may be exchanged.
// Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_SIGNATURE_H_
#define EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

#include <string_view>

#include "base/ed25519.h"
#include "base/sha512.h"
#include "base/status.h"
#include "vm/format/module_definition.h"

namespace ember::vm {

// Of a module that was read from a file with room for a signature.
Sha512Digest SignedDigest(const ModuleDefinition& module);

// That the module's file was signed with the secret of this key. Errors:
// FailedPrecondition if it is not signed, by another key, or was changed since.
Status VerifySignature(const ModuleDefinition& module, const Ed25519Key& key);

// The same of what else is signed: that the digest was, by this key. what: for
// the message.
Status CheckSignature(std::string_view what, const ModuleSignature& signature,
                      const Sha512Digest& digest, const Ed25519Key& key);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

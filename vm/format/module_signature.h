// The signature at the end of a module file. With it the owner of a key vouches
// for the file's native code. It has 32 bytes of a public Ed25519 key and 64
// bytes of the signature of SignedDigest's digest.
//
//   EMBER_RETURN_IF_ERROR(VerifySignature(definition, trusted_key));
//
// The digest covers the native sections, the header and the metadata, which
// hold the whole module except the elements of its constants. So native code
// cannot be moved to another module, and the module around it cannot be
// changed. Constants are only numbers, and may be exchanged. Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_SIGNATURE_H_
#define EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

#include <string_view>

#include "base/ed25519.h"
#include "base/sha512.h"
#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the digest of a module that was read from a file with room for a
// signature.
Sha512Digest SignedDigest(const ModuleDefinition& module);

// Checks that the module's file was signed with the secret of this key. Errors:
// FailedPrecondition if the file is not signed, is signed by another key, or
// was changed since.
Status VerifySignature(const ModuleDefinition& module, const Ed25519Key& key);

// Checks that this key signed another kind of digest. what: name of the signed
// object, for the message.
Status CheckSignature(std::string_view what, const ModuleSignature& signature,
                      const Sha512Digest& digest, const Ed25519Key& key);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

// The signature at the end of a module file. With the signature the owner of a
// key confirms that the file's native code is trusted. It consists of a public
// Ed25519 key (32 bytes) and a signature (64 bytes) of the digest that
// SignedDigest returns.
//
//   EMBER_RETURN_IF_ERROR(VerifySignature(definition, trusted_key));
//
// The digest covers the native sections, the header and the metadata, which
// hold the whole module except the elements of its constants. So native code
// cannot be moved to another module, and the module around it cannot be
// changed. The elements of constants may be changed, because they are only
// numbers. Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_SIGNATURE_H_
#define EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

#include <string_view>

#include "base/ed25519.h"
#include "base/sha512.h"
#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the digest that the signature signs. The module must have been read
// from a file with room for a signature.
Sha512Digest SignedDigest(const ModuleDefinition& module);

// Checks that the module's file was signed with the secret that belongs to this
// public key. Errors: FailedPrecondition if the file is not signed, is signed
// by another key, or was changed after it was signed.
Status VerifySignature(const ModuleDefinition& module, const Ed25519Key& key);

// Checks that the signature of an object that is not a module (an overlay) was
// made by this key. `what` is the object's name for the error message.
Status CheckSignature(std::string_view what, const ModuleSignature& signature,
                      const Sha512Digest& digest, const Ed25519Key& key);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_SIGNATURE_H_

// Identifies the module for which native code was made, if the code is in
// another file than the module. The identity is a digest of everything that a
// module's results depend on.
//
//   if (overlay.module != IdentityOf(definition)) …  // kernels of another one
//
// The digest covers programs, dispatches and strings, and for each constant its
// name, type, dims and the hash of its bytes that is stored in the module's
// file. It does not cover native sections, the profile, texts about the model's
// origin, the layout of the file and its signature: the same kernels fit a
// module with and without these parts. Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_IDENTITY_H_
#define EMBER_VM_FORMAT_MODULE_IDENTITY_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// The identity: the first half of a SHA-512 digest. It has this length because
// it must be infeasible to make another module for which signed kernels would
// be accepted.
using ModuleIdentity = std::array<uint8_t, 32>;

// Returns the module's identity. The bytes of constants are read only if the
// module was not read from a file.
ModuleIdentity IdentityOf(const ModuleDefinition& module);

// Returns the first eight bytes of the identity in hexadecimal digits, for
// messages.
std::string IdentityText(const ModuleIdentity& identity);

// Checks that kernels which were made for the module `found` may be used with
// the module `expected`. Returns InvalidArgument if the identities differ.
Status CheckIdentity(const ModuleIdentity& expected,
                     const ModuleIdentity& found);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_IDENTITY_H_

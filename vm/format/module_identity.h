// Identifies the module that native code was made for, if code and module are
// in two files. The identity is a digest of everything that a module's results
// depend on.
//
//   if (overlay.module != IdentityOf(definition)) …  // kernels of another one
//
// The digest covers programs, dispatches and strings, and of each constant its
// name, type, dims and the hash of its bytes that the module's file has. It
// does not cover native sections, the profile, texts about the model's origin,
// the layout of the file and its signature: the same kernels fit the module
// with them and without. Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_IDENTITY_H_
#define EMBER_VM_FORMAT_MODULE_IDENTITY_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// The first half of a SHA-512 digest. It must be infeasible to make another
// module for which signed kernels would be accepted.
using ModuleIdentity = std::array<uint8_t, 32>;

// Returns the module's identity. It reads the bytes of constants only if the
// module does not come from a file.
ModuleIdentity IdentityOf(const ModuleDefinition& module);

// The first eight bytes in hexadecimal digits: for messages.
std::string IdentityText(const ModuleIdentity& identity);

// Checks that kernels made for `found` belong to the module `expected`.
// InvalidArgument otherwise.
Status CheckIdentity(const ModuleIdentity& expected,
                     const ModuleIdentity& found);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_IDENTITY_H_

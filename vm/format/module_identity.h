// Which module native code was made for, where code and module are two files:
// a digest of everything that a module computes by.
//
//   if (overlay.module != IdentityOf(definition)) …  // kernels of another one
//
// It is of programs, dispatches and strings, and of each constant name, type,
// dims and the hash of its bytes that the module's file has. Native sections,
// the profile, texts about the model's origin, the layout of the file and its
// signature do not count: kernels fit the module with them and without.
// Thread-safe.
#ifndef EMBER_VM_FORMAT_MODULE_IDENTITY_H_
#define EMBER_VM_FORMAT_MODULE_IDENTITY_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "vm/format/module_definition.h"

namespace ember::vm {

// The first half of a SHA-512 digest, as nobody should be able to make another
// module for which signed kernels are taken.
using ModuleIdentity = std::array<uint8_t, 32>;

// Reads the bytes of constants only of modules that come from no file.
ModuleIdentity IdentityOf(const ModuleDefinition& module);

// The first eight bytes in hexadecimal digits: for messages.
std::string IdentityText(const ModuleIdentity& identity);

// That kernels which were made for `found` are of the module that is
// `expected`. InvalidArgument otherwise.
Status CheckIdentity(const ModuleIdentity& expected,
                     const ModuleIdentity& found);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_IDENTITY_H_

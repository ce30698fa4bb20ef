// An overlay file. It has kernels for one target and for one module, the base,
// which is in another file.
//
//   EMBER_ASSIGN_OR_RETURN(Overlay overlay,
//                          ReadOverlay("model.x86-64-v4.vmfb-overlay"));
//   if (overlay.module == IdentityOf(definition)) …  // it is of this base
//
//   offset 0   OverlayHeader, 128 bytes
//   then       the target's text
//   then       the native section (vm/format/native_section.h), at a multiple
//              of 64 bytes
//   at the end a signature of SignedDigest, if the header says so
//
// All numbers are little-endian. A hash detects flipped bits in header and
// target. The section has a hash of its own, which is compared where the
// section is used. Thread-safe.
#ifndef EMBER_VM_FORMAT_OVERLAY_H_
#define EMBER_VM_FORMAT_OVERLAY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/ed25519.h"
#include "base/sha512.h"
#include "base/status.h"
#include "vm/format/module_identity.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

inline constexpr std::string_view kOverlayEnding = ".vmfb-overlay";
inline constexpr uint32_t kOverlayVersion = 1;

struct OverlayHeader {
  char magic[4] = {'E', 'M', 'O', 'V'};
  uint32_t version = kOverlayVersion;
  ModuleIdentity module = {};  // identity of the module to which the overlay
                               // belongs
  uint64_t target_size = 0;
  // offset of the native section in the file, a multiple of 64
  uint64_t section_offset = 0;
  uint64_t section_size = 0;
  uint64_t section_hash = 0;  // hash of the native section, as in
                              // NativeSection::hash
  uint64_t file_size = 0;
  // offset of the signature, which is kSignatureBytes before the end; 0: there
  // is none
  uint64_t signature_offset = 0;
  uint64_t reserved[4] = {};
  uint64_t header_hash = 0;  // hash (HashBytes) of all fields before this one
                             // and of the target's text
};
static_assert(sizeof(OverlayHeader) == 128,
              "the header is part of the file format");

struct Overlay {
  ModuleIdentity module = {};
  NativeSection section;
  // The signature at the end of the overlay's file; ModuleSignature::head is
  // the overlay's header and target. SerializeOverlay does not write it.
  ModuleSignature signature;
};

bool IsOverlay(std::string_view contents);

// Reads an overlay file. Errors contain the file's name: NotFound (no such
// file), DataLoss (truncated or damaged), Unimplemented (another version).
StatusOr<Overlay> ReadOverlay(const std::string& path);
// Reads an overlay from memory. `bytes` must be 64-byte aligned and must not
// change while the overlay exists. `owner`, which may be null, owns their
// memory; the section keeps it alive.
StatusOr<Overlay> ReadOverlay(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner);

// Returns the contents of the overlay's file, without a signature.
std::string SerializeOverlay(const Overlay& overlay);
// Returns the file with room for a signature at its end, which replaces an
// existing one. The header then contains the signature's offset. Errors are
// those of ReadOverlay.
StatusOr<std::string> MakeRoomForSignature(std::string file);

// Returns the digest that a signature signs. It covers the header, the target,
// and the section except for packed weights.
Sha512Digest SignedDigest(const Overlay& overlay);
// Checks that the overlay was signed with the secret that belongs to this
// public key, as VerifySignature (vm/format/module_signature.h) does for a
// module.
Status VerifySignature(const Overlay& overlay, const Ed25519Key& key);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_OVERLAY_H_

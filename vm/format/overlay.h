// An overlay file: the kernels of one target for a module that is in a file of
// its own, the base.
//
//   EMBER_ASSIGN_OR_RETURN(Overlay overlay,
//                          ReadOverlay("model.x86-64-v4.vmfb-overlay"));
//   if (overlay.module == IdentityOf(definition)) …  // it is of this base
//
//   offset 0   OverlayHeader, 128 bytes
//   then       the target's text
//   then       the native section (vm/format/native_section.h), at a multiple
//              of 64 bytes
//   at the end a signature, if the header says so: of the digest below
//
// All numbers are little-endian. Flipped bytes in header and target are found
// by their hash, those of the section by its own where it is used. Thread-safe.
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
#include "vm/format/module_definition.h"
#include "vm/format/module_identity.h"

namespace ember::vm {

inline constexpr std::string_view kOverlayEnding = ".vmfb-overlay";
inline constexpr uint32_t kOverlayVersion = 1;

struct OverlayHeader {
  char magic[4] = {'E', 'M', 'O', 'V'};
  uint32_t version = kOverlayVersion;
  ModuleIdentity module = {};  // the base's
  uint64_t target_size = 0;
  uint64_t section_offset = 0;  // a multiple of 64
  uint64_t section_size = 0;
  uint64_t section_hash = 0;  // NativeSection::hash
  uint64_t file_size = 0;
  uint64_t signature_offset = 0;  // 0: none; else kSignatureBytes at the end
  uint64_t reserved[4] = {};
  uint64_t header_hash = 0;  // HashBytes of the fields before, and the target
};
static_assert(sizeof(OverlayHeader) == 128,
              "the header is part of the file format");

struct Overlay {
  ModuleIdentity module = {};
  NativeSection section;
  // As ModuleDefinition::signature: head is header and target. Not written.
  ModuleSignature signature;
};

bool IsOverlay(std::string_view contents);

// Errors: NotFound (no such file), DataLoss (cut off, damaged), Unimplemented
// (another version), with the file's name.
StatusOr<Overlay> ReadOverlay(const std::string& path);
// bytes: 64-byte aligned, unchanged while the overlay lives; owner (may be
// null) is kept with the section.
StatusOr<Overlay> ReadOverlay(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner);

// The file, without a signature.
std::string SerializeOverlay(const Overlay& overlay);
// The same file with room for a signature at its end, in the place of any
// before, which the header tells of. Errors as of ReadOverlay.
StatusOr<std::string> MakeRoomForSignature(std::string file);

// What is signed: header, target and section, but for packed weights.
Sha512Digest SignedDigest(const Overlay& overlay);
// As VerifySignature of a module.
Status VerifySignature(const Overlay& overlay, const Ed25519Key& key);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_OVERLAY_H_

#include "vm/format/overlay.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rounding.h"
#include "vm/format/container.h"
#include "vm/format/module_signature.h"
#include "vm/format/native_section.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

uint64_t HashOfHead(const OverlayHeader& header,
                    std::span<const uint8_t> target) {
  return HashBytes(target,
                   HashBytes(&header, offsetof(OverlayHeader, header_hash)));
}

Status Damaged(std::string_view what, uint64_t expected, uint64_t found) {
  return DataLossError(
      Concat({"overlay: ", what, ": expected ", expected, ", found ", found}));
}

StatusOr<OverlayHeader> ReadHeader(std::span<const uint8_t> bytes) {
  OverlayHeader header;
  if (bytes.size() < sizeof header)
    return Damaged("size in bytes", sizeof header, bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (!IsOverlay({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    return DataLossError("overlay: expected 'EMOV', found other bytes");
  if (header.version != kOverlayVersion) {
    return UnimplementedError(
        Concat({"overlay: expected version ", kOverlayVersion, ", found ",
                header.version}));
  }
  const uint64_t size = bytes.size();
  if (header.file_size != size)
    return Damaged("size in bytes", header.file_size, size);
  const uint64_t target_end = sizeof header + header.target_size;
  if (header.target_size > kMaxTextLength || target_end > size ||
      header.section_offset < target_end || header.section_offset > size ||
      header.section_offset % kMemoryAlignment != 0 ||
      header.section_size > size - header.section_offset) {
    return DataLossError(
        "overlay: expected target and section within the file, found others");
  }
  const uint64_t end = header.section_offset + header.section_size;
  if (header.signature_offset != 0 &&
      (size - end < kSignatureBytes ||
       header.signature_offset != size - kSignatureBytes)) {
    return Damaged("signature offset", size - kSignatureBytes,
                   header.signature_offset);
  }
  const uint64_t hash = HashOfHead(
      header,
      bytes.subspan(sizeof header, static_cast<size_t>(header.target_size)));
  if (hash != header.header_hash)
    return Damaged("header hash", header.header_hash, hash);
  return header;
}

}  // namespace

bool IsOverlay(std::string_view contents) {
  const OverlayHeader expected;
  return contents.starts_with(
      std::string_view(expected.magic, sizeof expected.magic));
}

StatusOr<Overlay> ReadOverlay(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto owner = std::make_shared<MappedFile>(std::move(file));
  StatusOr<Overlay> overlay = ReadOverlay(owner->bytes(), owner);
  if (!overlay.ok()) return overlay.status().WithContext(path);
  return overlay;
}

StatusOr<Overlay> ReadOverlay(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner) {
  EMBER_ASSIGN_OR_RETURN(const OverlayHeader header, ReadHeader(bytes));
  Overlay overlay;
  overlay.module = header.module;
  const auto target_size = static_cast<size_t>(header.target_size);
  overlay.section.target.assign(
      reinterpret_cast<const char*>(bytes.data()) + sizeof header, target_size);
  overlay.section.hash = header.section_hash;
  overlay.section.data =
      bytes.subspan(static_cast<size_t>(header.section_offset),
                    static_cast<size_t>(header.section_size));
  overlay.section.owner = owner;
  if (header.signature_offset == 0) return overlay;
  ModuleSignature& signature = overlay.signature;
  const uint8_t* const at =
      bytes.data() + static_cast<size_t>(header.signature_offset);
  signature.is_present = true;
  std::memcpy(signature.key.data(), at, signature.key.size());
  std::memcpy(signature.signature.data(), at + signature.key.size(),
              signature.signature.size());
  signature.head = bytes.first(sizeof header + target_size);
  signature.owner = std::move(owner);
  return overlay;
}

std::string SerializeOverlay(const Overlay& overlay) {
  const NativeSection& section = overlay.section;
  OverlayHeader header;
  header.module = overlay.module;
  header.target_size = section.target.size();
  header.section_offset =
      RoundUp(sizeof header + section.target.size(), kMemoryAlignment);
  header.section_size = section.data.size();
  header.section_hash = HashBytes(HashedPart(section.data));
  header.file_size = header.section_offset + header.section_size;
  header.header_hash = HashOfHead(header, BytesOf(section.target));
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += section.target;
  file.resize(static_cast<size_t>(header.section_offset));
  file.append(reinterpret_cast<const char*>(section.data.data()),
              section.data.size());
  return file;
}

StatusOr<std::string> MakeRoomForSignature(std::string file) {
  EMBER_ASSIGN_OR_RETURN(OverlayHeader header, ReadHeader(BytesOf(file)));
  if (header.signature_offset != 0)
    file.resize(static_cast<size_t>(header.signature_offset));
  header.signature_offset = file.size();
  file.resize(file.size() + kSignatureBytes);
  header.file_size = file.size();
  header.header_hash = HashOfHead(
      header, BytesOf(file).subspan(sizeof header,
                                    static_cast<size_t>(header.target_size)));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

Sha512Digest SignedDigest(const Overlay& overlay) {
  // The signed data begins with this text. It differs from that of a module's
  // signature, so neither signature is valid for the other kind of file.
  constexpr std::string_view kPurpose = "Ember: native code of an overlay, 1";
  Sha512 hash;
  hash.Add(BytesOf(kPurpose));
  hash.Add(overlay.signature.head);
  hash.Add(HashedPart(overlay.section.data));
  return hash.Finish();
}

Status VerifySignature(const Overlay& overlay, const Ed25519Key& key) {
  return CheckSignature("overlay", overlay.signature, SignedDigest(overlay),
                        key);
}

}  // namespace ember::vm

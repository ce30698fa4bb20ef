#include "tools/lib/prejit/sign.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/sha512.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/public_key.h"
#include "tools/lib/cli/standard_streams.h"
#include "vm/format/container.h"
#include "vm/format/module_signature.h"
#include "vm/format/overlay.h"
#include "vm/format/reader.h"

namespace ember::tools {
namespace {

Status Start() {
  if (sodium_init() >= 0) return OkStatus();
  return InternalError("libsodium: expected it to start, found it does not");
}

// Writes a file that must not exist yet, with these permissions.
Status WriteNew(const std::string& path, mode_t mode, const std::string& text) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) {
    return InvalidArgumentError("cannot make '" + path +
                                "': " + std::strerror(errno));
  }
  const ssize_t count = write(file, text.data(), text.size());
  const bool is_written = count == static_cast<ssize_t>(text.size());
  if (close(file) != 0 || !is_written)
    return InvalidArgumentError("cannot write '" + path + "'");
  return OkStatus();
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Returns the file's bytes with space for a signature at the end, and with a
// header that gives the position of this space. An earlier signature is
// removed.
StatusOr<std::string> MakeRoom(std::string file) {
  EMBER_ASSIGN_OR_RETURN(vm::ContainerHeader header,
                         vm::ReadContainerHeader(BytesOf(file), true));
  if (header.signature_offset != 0)
    file.resize(static_cast<size_t>(header.signature_offset));
  header.signature_offset = file.size();
  file.resize(file.size() + vm::kSignatureBytes);
  header.file_size = file.size();
  header.header_hash = vm::HashOfHeader(header);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

StatusOr<Sha512Digest> DigestOfModule(const std::string& file) {
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition definition,
                         vm::ReadModule(BytesOf(file), nullptr));
  if (definition.natives.empty()) {
    return InvalidArgumentError(
        "expected native kernels to sign, found none (vm-prejit makes some)");
  }
  return vm::SignedDigest(definition);
}

StatusOr<Sha512Digest> DigestOfOverlay(const std::string& file) {
  // Computing the digest needs no alignment of the overlay's bytes in memory,
  // because nothing is run from them.
  EMBER_ASSIGN_OR_RETURN(const vm::Overlay overlay,
                         vm::ReadOverlay(BytesOf(file), nullptr));
  return vm::SignedDigest(overlay);
}

}  // namespace

Status MakeKeys(const std::string& name) {
  EMBER_RETURN_IF_ERROR(Start());
  unsigned char public_key[crypto_sign_PUBLICKEYBYTES];
  unsigned char secret_key[crypto_sign_SECRETKEYBYTES];
  if (crypto_sign_keypair(public_key, secret_key) != 0)
    return InternalError("libsodium: expected keys, found none");
  const std::string path = UserPath(name);
  const Status status =
      WriteNew(path + ".secret", 0600, HexLine(secret_key, sizeof secret_key));
  sodium_memzero(secret_key, sizeof secret_key);
  EMBER_RETURN_IF_ERROR(status);
  return WriteNew(path + ".public", 0644,
                  HexLine(public_key, sizeof public_key));
}

Status SignModule(const std::string& module, const std::string& secret_file,
                  const std::string& output) {
  EMBER_RETURN_IF_ERROR(Start());
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         ReadFile(UserPath(secret_file)));
  const auto secret = ParseHexLine(text, crypto_sign_SECRETKEYBYTES);
  if (!secret.ok()) return secret.status().WithContext(secret_file);
  EMBER_ASSIGN_OR_RETURN(const std::string path, InputPath("MODEL", module));
  EMBER_ASSIGN_OR_RETURN(std::string file, ReadFile(path));
  const bool is_overlay = vm::IsOverlay(file);
  StatusOr<std::string> room = is_overlay
                                   ? vm::MakeRoomForSignature(std::move(file))
                                   : MakeRoom(std::move(file));
  if (!room.ok()) return room.status().WithContext(module);
  file = *std::move(room);
  StatusOr<Sha512Digest> digest =
      is_overlay ? DigestOfOverlay(file) : DigestOfModule(file);
  if (!digest.ok()) return digest.status().WithContext(module);
  auto* const at = reinterpret_cast<unsigned char*>(file.data()) + file.size() -
                   vm::kSignatureBytes;
  crypto_sign_ed25519_sk_to_pk(at, secret->data());
  if (crypto_sign_detached(at + crypto_sign_PUBLICKEYBYTES, nullptr,
                           digest->data(), digest->size(), secret->data()) != 0)
    return InternalError("libsodium: expected a signature, found none");
  return WriteUserFile(output, file);
}

}  // namespace ember::tools

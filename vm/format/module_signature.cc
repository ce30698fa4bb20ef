#include "vm/format/module_signature.h"

#include <string_view>

#include "base/concat.h"
#include "vm/format/native_section.h"

namespace ember::vm {
namespace {

std::span<const uint8_t> BytesOf(const void* data, size_t size) {
  return {static_cast<const uint8_t*>(data), size};
}

}  // namespace

Sha512Digest SignedDigest(const ModuleDefinition& module) {
  // The signed data begins with this text, so that a signature of other data by
  // the same key is never valid for a module.
  constexpr std::string_view kPurpose = "Ember: native code of a module, 1";
  Sha512 hash;
  hash.Add(BytesOf(kPurpose.data(), kPurpose.size()));
  hash.Add(module.signature.head);
  for (const NativeSection& native : module.natives) {
    const std::span<const uint8_t> data = HashedPart(native.data);
    const uint64_t size = data.size();
    hash.Add(BytesOf(&size, sizeof size));
    hash.Add(data);
  }
  return hash.Finish();
}

Status CheckSignature(std::string_view what, const ModuleSignature& signature,
                      const Sha512Digest& digest, const Ed25519Key& key) {
  const auto refuse = [&](std::string_view message) {
    return FailedPreconditionError(Concat({what, ": expected ", message}));
  };
  if (!signature.is_present)
    return refuse("a signature, found none (vm-sign makes one)");
  if (signature.key != key)
    return refuse("a signature by the given key, found another's");
  if (!VerifyEd25519(key, digest, signature.signature))
    return refuse("the signed bytes, found changed ones");
  return OkStatus();
}

Status VerifySignature(const ModuleDefinition& module, const Ed25519Key& key) {
  return CheckSignature("module", module.signature, SignedDigest(module), key);
}

}  // namespace ember::vm

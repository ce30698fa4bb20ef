#include "vm/format/module_signature.h"

#include <string_view>

namespace ember::vm {
namespace {

std::span<const uint8_t> BytesOf(const void* data, size_t size) {
  return {static_cast<const uint8_t*>(data), size};
}

}  // namespace

Sha512Digest SignedDigest(const ModuleDefinition& module) {
  // Nothing else that a key may sign begins so.
  constexpr std::string_view kPurpose = "Ember: native code of a module, 1";
  Sha512 hash;
  hash.Add(BytesOf(kPurpose.data(), kPurpose.size()));
  hash.Add(module.signature.head);
  for (const NativeSection& native : module.natives) {
    const uint64_t size = native.data.size();
    hash.Add(BytesOf(&size, sizeof size));
    hash.Add(native.data);
  }
  return hash.Finish();
}

Status VerifySignature(const ModuleDefinition& module, const Ed25519Key& key) {
  const ModuleSignature& signature = module.signature;
  if (!signature.is_present) {
    return FailedPreconditionError(
        "module: expected a signature, found none (vm-sign makes one)");
  }
  if (signature.key != key) {
    return FailedPreconditionError(
        "module: expected a signature by the given key, found another's");
  }
  if (!VerifyEd25519(key, SignedDigest(module), signature.signature)) {
    return FailedPreconditionError(
        "module: expected what was signed, found it changed since");
  }
  return OkStatus();
}

}  // namespace ember::vm

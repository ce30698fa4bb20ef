#include "jit/kernel/content_key.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/sha256.h"
#include "tensor/analysis/canonical_names.h"
#include "tensor/text/text.h"

namespace ember::jit {
namespace {

// Number of hexadecimal digits of a key: the first 32 of a SHA-256 hash.
constexpr size_t kKeyDigits = 32;

// A dispatch with canonical names, together with the owner of the original
// request's data.
struct Owned {
  tensor::Dispatch dispatch;
  std::shared_ptr<const void> original;
};

}  // namespace

vm::KernelRequest WithCanonicalNames(const vm::KernelRequest& request) {
  auto owned = std::make_shared<const Owned>(
      tensor::WithCanonicalNames(*request.dispatch), request.owner);
  vm::KernelRequest canonical = request;
  canonical.dispatch = &owned->dispatch;
  canonical.owner = std::move(owned);
  return canonical;
}

std::string ContentKey(const vm::KernelRequest& canonical) {
  std::string text = tensor::Print(*canonical.dispatch);
  for (const int64_t parameter : canonical.parameters)
    text += "parameter " + std::to_string(parameter) + "\n";
  for (size_t i = 0; i < canonical.constant_inputs.size(); ++i) {
    if (canonical.constant_inputs[i])
      text += "constant " + std::to_string(i) + "\n";
  }
  return ToHex(Sha256({text})).substr(0, kKeyDigits);
}

}  // namespace ember::jit

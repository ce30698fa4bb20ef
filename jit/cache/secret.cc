#include "jit/cache/secret.h"

#include "base/concat.h"
#include "base/private_folder.h"

namespace ember::jit {
namespace {

constexpr int64_t kSecretBytes = 32;

std::optional<std::string> ReadSecret(const PrivateFolder& folder,
                                      const std::string& name) {
  auto secret = folder.Read(name, kSecretBytes, /*is_secret=*/true);
  if (secret && secret->size() != kSecretBytes) secret.reset();
  // A secret of zeros would be easy to guess. A power loss may leave such a
  // file, so it counts as missing.
  if (secret && *secret == std::string(kSecretBytes, '\0')) secret.reset();
  return secret;
}

}  // namespace

StatusOr<std::string> ReadOrMakeSecret(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == path.size()) {
    return InvalidArgumentError(
        Concat({"secret file '", path, "': expected a path in a folder"}));
  }
  EMBER_ASSIGN_OR_RETURN(const PrivateFolder folder,
                         PrivateFolder::Open(path.substr(0, slash)));
  const std::string name = path.substr(slash + 1);
  if (auto secret = ReadSecret(folder, name)) return *std::move(secret);
  // If several processes make a secret at once, the first to write the file
  // wins, and the others then read its secret.
  EMBER_ASSIGN_OR_RETURN(const std::string made, RandomBytes(kSecretBytes));
  EMBER_RETURN_IF_ERROR(folder.Create(name, made));
  if (auto secret = ReadSecret(folder, name)) return *std::move(secret);
  // The file exists but holds no valid secret, so it is replaced.
  EMBER_RETURN_IF_ERROR(
      folder.Replace(name, made, Durability::kSurvivesPowerLoss));
  if (auto secret = ReadSecret(folder, name)) return *std::move(secret);
  return FailedPreconditionError(
      Concat({"secret file '", path, "': cannot be read after it was made"}));
}

}  // namespace ember::jit

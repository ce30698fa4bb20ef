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
  // A file of zeros, which a power loss may leave, is no secret: it is easy to
  // guess.
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
  // If several processes need the secret at once, the first process to write
  // the file decides on it.
  EMBER_ASSIGN_OR_RETURN(const std::string made, RandomBytes(kSecretBytes));
  EMBER_RETURN_IF_ERROR(folder.Create(name, made));
  if (auto secret = ReadSecret(folder, name)) return *std::move(secret);
  // If the file has contents that cannot be used, the file is replaced.
  EMBER_RETURN_IF_ERROR(
      folder.Replace(name, made, Durability::kSurvivesPowerLoss));
  if (auto secret = ReadSecret(folder, name)) return *std::move(secret);
  return FailedPreconditionError(
      Concat({"secret file '", path, "': cannot be read after it was made"}));
}

}  // namespace ember::jit

#include "tools/lib/tuning/fleet/open_queue.h"

#include <dlfcn.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/concat.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/tuning/nats/nats_options.h"
#include "tune/fleet/folder_queue.h"

namespace ember::tools {
namespace {

constexpr std::string_view kFolder = "folder:";

bool IsNats(std::string_view text) {
  return text.starts_with("nats://") || text.starts_with("tls://");
}

// Looks for libember_nats.so in this program's folder and in the folders above
// it. The last of the relative paths is that of an installation; the others are
// those of a build.
std::filesystem::path FindLibrary() {
  constexpr const char* kPlaces[] = {
      "tools/lib/tuning/nats/libember_nats.so",
      "lib/tuning/nats/libember_nats.so",
      "lib/ember/libember_nats.so",
  };
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    for (const char* place : kPlaces) {
      const std::filesystem::path library = folder / place;
      if (std::filesystem::exists(library, error)) return library;
    }
  }
  return {};
}

StatusOr<std::unique_ptr<tune::JobQueue>> OpenNats(
    const QueueAddress& address) {
  const std::filesystem::path path = FindLibrary();
  if (path.empty()) {
    return NotFoundError(
        Concat({address.address,
                ": expected libember_nats.so beside this program, "
                "found none; it is built where libnats-dev is "
                "installed"}));
  }
  // The library is never unloaded, because the queue's code is in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFoundError(dlerror());
  const auto open =
      reinterpret_cast<OpenNatsFunction>(dlsym(library, "EmberOpenNats"));
  if (open == nullptr) return NotFoundError(dlerror());
  const NatsOptions options{
      .url = address.address,
      .credentials =
          address.credentials.empty() ? "" : UserPath(address.credentials),
      .authority =
          address.authority.empty() ? "" : UserPath(address.authority)};
  std::unique_ptr<tune::JobQueue> queue;
  std::string error;
  if (!open(&options, &queue, &error)) return FailedPreconditionError(error);
  return queue;
}

// Opens a queue that is a folder, from an address folder:PATH or
// folder:PATH,lease=SECONDS.
StatusOr<std::unique_ptr<tune::JobQueue>> OpenFolder(
    const std::string& address) {
  constexpr std::string_view kLease = ",lease=";
  constexpr int kMaxLease = 86'400;
  tune::FolderQueueOptions options;
  std::string path = address.substr(kFolder.size());
  if (const size_t at = path.rfind(kLease); at != std::string::npos) {
    int seconds = 0;
    const char* const end = path.data() + path.size();
    const auto [after, error] =
        std::from_chars(path.data() + at + kLease.size(), end, seconds);
    if (error != std::errc() || after != end || seconds < 2 ||
        seconds > kMaxLease) {
      return CommandLineError(
          Concat({address, ": expected a lease of 2 to ", kMaxLease,
                  " seconds, found '", path.substr(at + kLease.size()), "'"}));
    }
    options.lease = std::chrono::seconds(seconds);
    path.resize(at);
  }
  return tune::OpenFolderQueue(UserPath(path), options);
}

}  // namespace

void AddQueueFlags(Flags& flags, QueueAddress* address) {
  flags.Add("credentials", &address->credentials, "FILE",
            "The credentials with which a NATS server is used.");
  flags.Add("authority", &address->authority, "FILE",
            "The certificates of authorities that a tls:// server is checked "
            "with. Default: the system's.");
}

bool IsQueueAddress(std::string_view text) {
  return IsNats(text) || (text.starts_with(kFolder) && text != kFolder);
}

StatusOr<std::unique_ptr<tune::JobQueue>> OpenQueue(
    const QueueAddress& address) {
  if (IsNats(address.address)) return OpenNats(address);
  if (!IsQueueAddress(address.address)) {
    return CommandLineError(
        Concat({"expected nats://HOST:PORT, tls://HOST:PORT or folder:PATH, "
                "found '",
                address.address, "'"}));
  }
  return OpenFolder(address.address);
}

}  // namespace ember::tools

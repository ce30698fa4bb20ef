#include "vm/runtime/session.h"

#include <string>
#include <utility>

#include "vm/runtime/executor.h"

namespace ember::vm {

StatusOr<std::unique_ptr<Session>> Session::Create(
    std::shared_ptr<const Module> module, SessionOptions options) {
  if (module == nullptr)
    return InvalidArgumentError("session: expected a module, found none");
  if (options.device == nullptr) {
    return InvalidArgumentError("session: expected a device, found none");
  }
  if (options.tiering != nullptr &&
      &options.tiering->module() != module.get()) {
    return InvalidArgumentError(
        "session: expected the tiering of its own module, found another's");
  }
  if (!options.device->is_host() && options.device_support == nullptr) {
    return UnimplementedError(
        "session: expected the host's device, as this runtime was built "
        "without "
        "others, found '" +
        std::string(options.device->driver()) + "'");
  }
  if (options.tiering != nullptr)
    EMBER_RETURN_IF_ERROR(options.tiering->UseOn(options.device));
  auto executor =
      std::make_unique<Executor>(std::move(module), std::move(options));
  EMBER_RETURN_IF_ERROR(executor->Initialize());
  return std::unique_ptr<Session>(std::move(executor));
}

}  // namespace ember::vm

#include "vm/runtime/session.h"

#include <string>
#include <utility>

#include "vm/runtime/program/program_session.h"

namespace ember::vm {

StatusOr<std::unique_ptr<Session>> Session::Create(
    std::shared_ptr<const Module> module, SessionOptions options) {
  if (module == nullptr)
    return InvalidArgumentError("session: expected a module, found none");
  if (options.device == nullptr) {
    return InvalidArgumentError("session: expected a device, found none");
  }
  if (!options.device->is_host() && options.device_support == nullptr) {
    return UnimplementedError(
        "session: expected the host's device, as this runtime was built "
        "without "
        "others, found '" +
        std::string(options.device->driver()) + "'");
  }
  auto session =
      std::make_unique<ProgramSession>(std::move(module), std::move(options));
  EMBER_RETURN_IF_ERROR(session->Initialize());
  return std::unique_ptr<Session>(std::move(session));
}

Status Session::SetResultBuffers(std::vector<ResultBuffer> buffers) {
  return result_buffers().Set(std::move(buffers));
}

void Session::AllowOverwriting(const std::vector<bool>& inputs) {
  result_buffers().AllowOverwriting(inputs);
}

std::vector<SiteProfile> Session::Profile() const {
  return dispatches().Profile();
}

}  // namespace ember::vm

#include "hal/executable_checks.h"

#include "base/concat.h"

namespace ember::hal {

Status CheckCounts(const DeviceLimits& limits,
                   const ExecutableDefinition& definition) {
  if (definition.binding_count < 0 || definition.parameter_count < 0) {
    return InvalidArgumentError(Concat(
        {"expected counts of at least 0, found ", definition.binding_count,
         " bindings and ", definition.parameter_count, " parameters"}));
  }
  if (definition.binding_count > limits.binding_count) {
    return ResourceExhaustedError(
        Concat({"expected at most ", limits.binding_count,
                " bindings on this device, found ", definition.binding_count}));
  }
  if (definition.parameter_count > limits.parameter_count) {
    return ResourceExhaustedError(Concat(
        {"expected at most ", limits.parameter_count,
         " parameters on this device, found ", definition.parameter_count}));
  }
  const auto maps = static_cast<int64_t>(definition.maps.size());
  if (maps > limits.map_count) {
    return Status(limits.map_count == 0 ? StatusCode::kUnimplemented
                                        : StatusCode::kResourceExhausted,
                  Concat({"expected at most ", limits.map_count,
                          " tensor maps on this device, found ", maps}));
  }
  return OkStatus();
}

}  // namespace ember::hal

// Checks of an executable's definition that drivers make before they look at
// its code.
//
//   EMBER_RETURN_IF_ERROR(CheckCounts(limits(), definition));
//
// Thread-safe.
#ifndef EMBER_HAL_EXECUTABLE_CHECKS_H_
#define EMBER_HAL_EXECUTABLE_CHECKS_H_

#include "base/status.h"
#include "hal/device_limits.h"
#include "hal/executable.h"

namespace ember::hal {

// Checks the counts of a definition. Returns InvalidArgument for negative
// counts of bindings or parameters, ResourceExhausted for more than the device
// supports, Unimplemented for tensor maps if the device has none.
Status CheckCounts(const DeviceLimits& limits,
                   const ExecutableDefinition& definition);

}  // namespace ember::hal

#endif  // EMBER_HAL_EXECUTABLE_CHECKS_H_

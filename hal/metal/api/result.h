// Converts errors of Metal to a status.
//
//   CommandsStatus({.code = 3, .text = "…"});
//   // "the commands ended with MTLCommandBufferErrorPageFault: …"
//
// Thread-safe.
#ifndef EMBER_HAL_METAL_API_RESULT_H_
#define EMBER_HAL_METAL_API_RESULT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/metal/api/functions.h"

namespace ember::hal::metal {

// MTLCommandBufferError, with the numbers that the documentation gives.
inline constexpr int64_t kInternalError = 1;
inline constexpr int64_t kTimeout = 2;
inline constexpr int64_t kPageFault = 3;
inline constexpr int64_t kOutOfMemory = 8;
inline constexpr int64_t kDeviceRemoved = 11;

// Returns the name of a MTLCommandBufferError, such as
// "MTLCommandBufferErrorTimeout"; "MTLCommandBufferError 77" for an unknown
// number.
std::string CommandErrorName(int64_t code);

// Returns the line of a text of several lines that says most: the first one
// with an error, or else the first that is not empty.
std::string_view SayingLine(std::string_view text);

// Returns the error of commands that ended with one. It is FailedPrecondition,
// because what the commands wrote is unknown, so the device counts as lost.
Status CommandsStatus(const Error& error);

// Returns the error of a call that returned nil: "CALL gave nil", with the line
// of the error that says most, if there is one.
Status NilStatus(StatusCode code, std::string_view call,
                 const Error& error = {});

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_API_RESULT_H_

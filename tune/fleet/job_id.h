// Makes and parses the names of a tuner's session (one run of the tuner) and of
// its jobs.
//
//   const std::string session = NewSession();     // "5f0c9a1e77d0b642"
//   SessionOf(JobId(session, 7));                 // session
//
// Thread-safe.
#ifndef EMBER_TUNE_FLEET_JOB_ID_H_
#define EMBER_TUNE_FLEET_JOB_ID_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::tune {

// Returns the number as 16 hexadecimal digits.
std::string HexDigits(uint64_t number);
// True if the text consists of exactly `digits` hexadecimal digits, in lower
// case.
bool IsHex(std::string_view text, size_t digits);

// Returns a new session's name, 16 hexadecimal digits drawn at random.
std::string NewSession();
// Returns SESSION-NUMBER.
std::string JobId(std::string_view session, size_t number);
// Returns the session in a job's id. Returns an error if the text does not have
// the form that JobId makes.
StatusOr<std::string> SessionOf(std::string_view id);

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_JOB_ID_H_

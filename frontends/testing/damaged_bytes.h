// Damages a model's bytes, for the robustness tests of formats. An import of
// damaged bytes may succeed or fail; it must return, and an error must be one
// line.
//
//   TryEveryByteChanged(SampleModel(name), [](const std::string& bytes) {
//     return ImportBytes(bytes).status();
//   });
#ifndef EMBER_FRONTENDS_TESTING_DAMAGED_BYTES_H_
#define EMBER_FRONTENDS_TESTING_DAMAGED_BYTES_H_

#include <functional>
#include <string>

#include "base/status.h"

namespace ember::frontends {

// Uses damaged bytes, and returns the status.
using Attempt = std::function<Status(const std::string& bytes)>;

// Fails the test unless the status is ok or an error of one line.
void ExpectOneLine(const Status& status);

// Changes each byte in four ways.
void TryEveryByteChanged(const std::string& bytes, const Attempt& attempt);
// Tries each prefix, including the empty one.
void TryEveryTruncation(const std::string& bytes, const Attempt& attempt);
// Replaces each aligned word of 4 bytes by absurd numbers, as it may be an
// offset, extent or index.
void TryAbsurdWords(const std::string& bytes, const Attempt& attempt);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_TESTING_DAMAGED_BYTES_H_

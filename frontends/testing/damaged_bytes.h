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

// Imports damaged bytes, and returns the status.
using Attempt = std::function<Status(const std::string& bytes)>;

// Fails the test unless the status is ok or an error of one line.
void ExpectOneLine(const Status& status);

// Calls `attempt` with copies of the bytes in which one byte is changed: each
// byte in four ways.
void TryEveryByteChanged(const std::string& bytes, const Attempt& attempt);
// Calls `attempt` with each prefix of the bytes, including the empty one.
void TryEveryTruncation(const std::string& bytes, const Attempt& attempt);
// Calls `attempt` with copies of the bytes in which one aligned word of 4 bytes
// is an absurd number, as the word may be an offset, extent or index.
void TryAbsurdWords(const std::string& bytes, const Attempt& attempt);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_TESTING_DAMAGED_BYTES_H_

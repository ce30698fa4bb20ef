// Damage to a model's bytes, for the robustness tests of formats: whether an
// import works then does not matter; that it comes back, with one line, does.
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

// What becomes of damaged bytes.
using Attempt = std::function<Status(const std::string& bytes)>;

// The status of an attempt that may fail, with one line; else the test does.
void ExpectOneLine(const Status& status);

// Each byte in four ways.
void TryEveryByteChanged(const std::string& bytes, const Attempt& attempt);
// Each beginning, that of no bytes too.
void TryEveryTruncation(const std::string& bytes, const Attempt& attempt);
// Each aligned word of 4 bytes as a number that is far off: offsets, extents,
// indices.
void TryAbsurdWords(const std::string& bytes, const Attempt& attempt);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_TESTING_DAMAGED_BYTES_H_

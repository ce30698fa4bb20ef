// The table of reasons why a dispatch stays with tier 0. A step of the JIT that
// declines names a row and says what it found.
//
//   return Decline(DeclineReason::kFloatRemainder, "%y");
//   // Unimplemented: "float-remainder: remainders of floats are exact only by
//   // long division, which kernels do not contain: %y"
#ifndef EMBER_JIT_BACKEND_DECLINE_REASONS_H_
#define EMBER_JIT_BACKEND_DECLINE_REASONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::jit {

// Rows: (name, text, doc).
// clang-format off
#define EMBER_FOR_EACH_DECLINE_REASON(row) \
  row(FloatRemainder, "float-remainder", "remainders of floats are exact only by long division, which kernels do not contain") \
  row(ScatterOrder, "scatter-order", "points of the stage may store to one element, in an order that counts") \
  row(TooLarge, "too-large", "the kernel would be larger than the limit") \
  row(IndexTerm, "index-term", "an index has a term beyond 2^40, and kernels rely on smaller ones") \
  row(NoProof, "no-proof", "an index cannot be proved or checked to be in bounds") \
  row(DeviceLimit, "device-limit", "the device has too little of what the kernel needs") \
  row(DeviceType, "device-type", "the device does not have the type") \
  row(DeviceMatrix, "device-matrix", "the device has no such matrices of subgroups") \
  row(Target, "target", "there is no back end for the target") \
  row(Slower, "slower", "calls of the kernel took longer than tier 0's") \
  row(Differs, "differs", "the kernel was withdrawn, as a result differed from tier 0's")
// clang-format on

enum class DeclineReason : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_DECLINE_REASON(EMBER_ROW)
#undef EMBER_ROW
};

std::string_view DeclineText(DeclineReason reason);
std::string_view DeclineDoc(DeclineReason reason);

// Returns kUnimplemented with the message "text: doc: what", where text and doc
// are those of the reason's row.
Status Decline(DeclineReason reason, std::string_view what);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_DECLINE_REASONS_H_

#include "jit/backend/decline_reasons.h"

namespace ember::jit {
namespace {

struct Row {
  std::string_view text;
  std::string_view doc;
};

constexpr Row kRows[] = {
#define EMBER_ROW(name, text, doc) {text, doc},
    EMBER_FOR_EACH_DECLINE_REASON(EMBER_ROW)
#undef EMBER_ROW
};

}  // namespace

std::string_view DeclineText(DeclineReason reason) {
  return kRows[static_cast<int>(reason)].text;
}

std::string_view DeclineDoc(DeclineReason reason) {
  return kRows[static_cast<int>(reason)].doc;
}

Status Decline(DeclineReason reason, std::string_view what) {
  std::string message(DeclineText(reason));
  message += ": ";
  message += DeclineDoc(reason);
  if (!what.empty()) {
    message += ": ";
    message += what;
  }
  return UnimplementedError(message);
}

}  // namespace ember::jit

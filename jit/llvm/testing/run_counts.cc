#include "jit/llvm/testing/run_counts.h"

#include <cstdio>

#include "jit/backend/decline_reasons.h"

namespace ember::jit::llvm_ir {
namespace {

constexpr DeclineReason kReasons[] = {
#define EMBER_ROW(name, ...) DeclineReason::k##name,
    EMBER_FOR_EACH_DECLINE_REASON(EMBER_ROW)
#undef EMBER_ROW
};

// Returns the reason to decline that the message contains, after the names of
// what was compiled; "not lowered" if it contains none.
std::string ReasonOf(std::string_view message) {
  for (const DeclineReason reason : kReasons) {
    const std::string text(DeclineText(reason));
    if (message.find(text + ": ") != std::string_view::npos) return text;
  }
  return "not lowered";
}

}  // namespace

void RunCounts::Refuse(std::string_view message) {
  ++refused[ReasonOf(message)];
}

int64_t RunCounts::all_refused() const {
  int64_t all = 0;
  for (const auto& [reason, times] : refused) all += times;
  return all;
}

void RunCounts::Print(std::string_view where, std::string_view what) const {
  std::string text(where);
  text += ": " + std::string(what) + ": " + std::to_string(run) +
          " kernels run, " + std::to_string(wrong) +
          " wrong; refused: " + std::to_string(all_refused());
  const char* separator = " (";
  for (const auto& [reason, times] : refused) {
    text += separator + std::to_string(times) + " " + reason;
    separator = ", ";
  }
  std::printf("%s%s\n", text.c_str(), refused.empty() ? "" : ")");
}

}  // namespace ember::jit::llvm_ir

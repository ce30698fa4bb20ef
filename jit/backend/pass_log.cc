#include "jit/backend/pass_log.h"

#include <algorithm>

namespace ember::jit {

std::string TextAfter(const PassLog& log, std::string_view pass) {
  const auto found = std::ranges::find(log.records, pass, &PassRecord::name);
  return found == log.records.end() ? std::string() : found->text;
}

}  // namespace ember::jit

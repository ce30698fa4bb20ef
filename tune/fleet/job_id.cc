#include "tune/fleet/job_id.h"

#include <random>

#include "base/concat.h"
#include "base/one_line.h"

namespace ember::tune {
namespace {

constexpr size_t kSessionDigits = 16;
constexpr size_t kMaxNumberDigits = 12;
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string HexDigits(uint64_t number) {
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; number >>= 4)
    text[i] = kDigits[number & 15];
  return text;
}

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of(kDigits) == std::string_view::npos;
}

std::string NewSession() {
  std::random_device device;
  return HexDigits(uint64_t{device()} << 32 | device());
}

std::string JobId(std::string_view session, size_t number) {
  return Concat({session, "-", number});
}

StatusOr<std::string> SessionOf(std::string_view id) {
  const size_t dash = id.find('-');
  const std::string_view session = id.substr(0, dash);
  const std::string_view number =
      dash == std::string_view::npos ? "" : id.substr(dash + 1);
  if (IsHex(session, kSessionDigits) && !number.empty() &&
      number.size() <= kMaxNumberDigits &&
      number.find_first_not_of("0123456789") == std::string_view::npos)
    return std::string(session);
  constexpr size_t kMaxShown = 60;
  return DataLossError(Concat({"expected the id of a job, found '",
                               OnOneLine(id.substr(0, kMaxShown)), "'"}));
}

}  // namespace ember::tune

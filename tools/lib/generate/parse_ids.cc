#include "tools/lib/generate/parse_ids.h"

#include <charconv>
#include <string>

#include "base/one_line.h"
#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {

StatusOr<std::vector<int32_t>> ParseIds(std::string_view flag,
                                        std::string_view text) {
  std::vector<int32_t> ids;
  std::string_view rest = text;
  while (true) {
    int32_t id = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), id);
    const auto used = static_cast<size_t>(end - rest.data());
    if (error != std::errc() || id < 0 ||
        (used < rest.size() && rest[used] != ',')) {
      return CommandLineError(std::string(flag) +
                              ": expected ids of tokens such as 1,403,407, "
                              "found '" +
                              OnOneLine(text.substr(0, 100)) + "'");
    }
    ids.push_back(id);
    if (used == rest.size()) return ids;
    rest = rest.substr(used + 1);
  }
}

}  // namespace ember::tools

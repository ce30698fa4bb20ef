// Reads ids of tokens from a command line.
//
//   ParseIds("--ids", "1,403,407")   // {1, 403, 407}
//
// Errors name the flag, what was expected and what was found. Thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_PARSE_IDS_H_
#define EMBER_TOOLS_LIB_GENERATE_PARSE_IDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tools {

StatusOr<std::vector<int32_t>> ParseIds(std::string_view flag,
                                        std::string_view text);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_PARSE_IDS_H_

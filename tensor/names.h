// Names in a dispatch: what the text form can write and read back.
#ifndef EMBER_TENSOR_NAMES_H_
#define EMBER_TENSOR_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace ember::tensor {

// Letters, digits, '_', '.' and '$', at most 200 characters: for what is
// written behind a '%' or '@'.
bool IsSigilName(std::string_view name);
// A sigil name that starts with a letter or '_' and is not a literal (true,
// false, inf, nan): for parameters and axes.
bool IsPlainName(std::string_view name);

// The nearest name of that form that is not among `taken`.
std::string MakeSigilName(std::string_view name,
                          const std::vector<std::string>& taken);
std::string MakePlainName(std::string_view name,
                          const std::vector<std::string>& taken);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NAMES_H_

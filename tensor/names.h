// Names in a dispatch that the text form can write and read back.
#ifndef EMBER_TENSOR_NAMES_H_
#define EMBER_TENSOR_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace ember::tensor {

// True for letters, digits, '_', '.' and '$', at most 200 characters: the names
// behind a '%' or '@'.
bool IsSigilName(std::string_view name);
// True for a sigil name that starts with a letter or '_' and is not a literal
// (true, false, inf, nan): the names of parameters and axes.
bool IsPlainName(std::string_view name);

// Returns the nearest name of that form that is not among `taken`.
std::string MakeSigilName(std::string_view name,
                          const std::vector<std::string>& taken);
std::string MakePlainName(std::string_view name,
                          const std::vector<std::string>& taken);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NAMES_H_

// Rules for the names in a dispatch, which make sure that its text form can
// write and read them back.
#ifndef EMBER_TENSOR_NAMES_H_
#define EMBER_TENSOR_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace ember::tensor {

// True if the text can be a name behind '%' or '@': 1 to 200 characters, which
// are letters, digits, '_', '.' or '$'.
bool IsSigilName(std::string_view name);
// True if the text can be the name of a parameter or axis: it can be a name
// behind '%', starts with a letter or '_', and is not a literal (true, false,
// inf, nan).
bool IsPlainName(std::string_view name);

// MakeSigilName returns a name for use behind '%' or '@', and MakePlainName one
// for a parameter or axis. Each returns a valid name that is not among `taken`
// and as similar to `name` as possible.
std::string MakeSigilName(std::string_view name,
                          const std::vector<std::string>& taken);
std::string MakePlainName(std::string_view name,
                          const std::vector<std::string>& taken);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NAMES_H_

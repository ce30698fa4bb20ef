#include "tensor/names.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::tensor {
namespace {

constexpr size_t kMaxLength = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '.' || c == '$';
}

bool IsLiteral(std::string_view name) {
  return name == "true" || name == "false" || name == "inf" || name == "nan";
}

// Replaces characters that a name must not have by '_', and shortens the name
// so that it stays within the largest length when a suffix such as "_123" is
// added.
std::string ReplaceOthers(std::string_view name) {
  std::string result(name.substr(0, kMaxLength - 12));
  for (char& c : result) {
    if (!IsNameCharacter(c)) c = '_';
  }
  return result;
}

std::string MakeUnique(const std::string& name,
                       const std::vector<std::string>& taken) {
  const auto is_taken = [&](const std::string& candidate) {
    return std::find(taken.begin(), taken.end(), candidate) != taken.end();
  };
  std::string candidate = name;
  for (int i = 1; is_taken(candidate); ++i) candidate = Concat({name, "_", i});
  return candidate;
}

}  // namespace

bool IsSigilName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLength &&
         std::all_of(name.begin(), name.end(), IsNameCharacter);
}

bool IsPlainName(std::string_view name) {
  return IsSigilName(name) && IsLetter(name[0]) && !IsLiteral(name);
}

std::string MakeSigilName(std::string_view name,
                          const std::vector<std::string>& taken) {
  std::string result = ReplaceOthers(name);
  return MakeUnique(result.empty() ? "_" : result, taken);
}

std::string MakePlainName(std::string_view name,
                          const std::vector<std::string>& taken) {
  std::string result = ReplaceOthers(name);
  if (!IsPlainName(result)) result = "_" + result;
  return MakeUnique(result, taken);
}

}  // namespace ember::tensor

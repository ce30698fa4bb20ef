// Suggestions for names that do not exist.
//
//   return NotFoundError("no pass 'fuze'" + DidYouMean("fuze", passes));
//   // no pass 'fuze'; did you mean 'fuse'?
#ifndef EMBER_BASE_DID_YOU_MEAN_H_
#define EMBER_BASE_DID_YOU_MEAN_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ember {

// Returns the candidate that differs least from the name. A candidate counts
// only if at most two characters are added, left out or replaced, and fewer
// than the candidate's length.
std::optional<std::string_view> NearestName(
    std::string_view name, std::span<const std::string_view> candidates);

// Returns "; did you mean 'x'?", or nothing where no candidate is near.
std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

}  // namespace ember

#endif  // EMBER_BASE_DID_YOU_MEAN_H_

// Suggests a similar name in messages about a name that does not exist.
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

// Returns the candidate whose edit distance from the name is least. Candidates
// at a distance above two, or not below their own length, do not count; nullopt
// if no candidate counts.
std::optional<std::string_view> NearestName(
    std::string_view name, std::span<const std::string_view> candidates);

// Returns "; did you mean 'x'?", or nothing where no candidate is near.
std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

}  // namespace ember

#endif  // EMBER_BASE_DID_YOU_MEAN_H_

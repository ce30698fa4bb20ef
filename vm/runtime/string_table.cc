#include "vm/runtime/string_table.h"

#include "base/concat.h"

namespace ember::vm {

void StringTable::Reset(std::span<const std::string> initial) {
  const bool same =
      initial.data() == initial_.data() && initial.size() == initial_.size();
  if (same) {
    for (const std::string& text : owned_) handles_.erase(text);
    views_.resize(initial.size());
  } else {
    handles_.clear();
    views_.clear();
    for (const std::string& text : initial) {
      handles_.emplace(text, size());
      views_.push_back(text);
    }
  }
  initial_ = initial;
  owned_.clear();
  bytes_ = 0;
}

StatusOr<int64_t> StringTable::Intern(std::string_view text) {
  if (const auto found = handles_.find(text); found != handles_.end())
    return found->second;
  if (Cost(text) > byte_limit_ - bytes_) {
    return ResourceExhaustedError(
        Concat({"strings: expected at most ", byte_limit_ - bytes_,
                " more bytes, found a string of ", text.size(),
                " and 64 for its entry"}));
  }
  bytes_ += Cost(text);
  const int64_t handle = size();
  views_.push_back(owned_.emplace_back(text));
  handles_.emplace(views_.back(), handle);
  return handle;
}

StatusOr<std::string_view> StringTable::Get(int64_t handle) const {
  if (handle >= 0 && handle < size())
    return views_[static_cast<size_t>(handle)];
  return InvalidArgumentError(Concat(
      {"strings: expected a handle below ", size(), ", found ", handle}));
}

}  // namespace ember::vm

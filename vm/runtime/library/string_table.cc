#include "vm/runtime/library/string_table.h"

#include "base/concat.h"

namespace ember::vm {

Status StringTable::Reset(std::span<const std::string> initial,
                          const Interrupt* interrupt) {
  constexpr size_t kAtOnce = 1024;
  const auto should_stop = [&](size_t number) {
    return interrupt != nullptr && number % kAtOnce == 0 &&
           interrupt->ShouldStop();
  };
  const bool same =
      initial.data() == initial_.data() && initial.size() == initial_.size();
  if (!same) {
    handles_.clear();
    views_.clear();
    owned_.clear();
    bytes_ = 0;
    initial_ = {};
    for (const std::string& text : initial) {
      if (should_stop(views_.size())) return interrupt->status();
      handles_.emplace(text, size());
      views_.push_back(text);
    }
    initial_ = initial;
  }
  for (; !owned_.empty(); owned_.pop_back(), views_.pop_back()) {
    if (should_stop(owned_.size())) return interrupt->status();
    handles_.erase(owned_.back());
  }
  bytes_ = 0;
  return OkStatus();
}

Status StringTable::Charge(std::string_view text) {
  if (Cost(text) <= byte_limit_ - bytes_) {
    bytes_ += Cost(text);
    return OkStatus();
  }
  return ResourceExhaustedError(
      Concat({"strings: expected at most ", byte_limit_ - bytes_,
              " more bytes, found a string of ", text.size(), " and ",
              kEntryBytes, " for its entry"}));
}

StatusOr<int64_t> StringTable::Intern(std::string_view text) {
  if (const auto found = handles_.find(text); found != handles_.end())
    return found->second;
  EMBER_RETURN_IF_ERROR(Charge(text));
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

#include "frontends/onnx/import/branch_choices.h"

#include <algorithm>

namespace ember::onnx {
namespace {

constexpr int kMaxTried = 16;

}  // namespace

std::optional<bool> BranchChoices::Find(const std::string& origin) const {
  for (const Choice& choice : choices_) {
    if (choice.origin == origin) return choice.then;
  }
  return std::nullopt;
}

void BranchChoices::Choose(const std::string& origin, bool then) {
  choices_.push_back({origin, then, false});
}

bool BranchChoices::open() const {
  return tried_ < kMaxTried &&
         std::any_of(
             choices_.begin(), choices_.end(),
             [](const Choice& choice) { return !choice.changed; });
}

bool BranchChoices::Next() {
  if (!open()) return false;
  while (choices_.back().changed) choices_.pop_back();
  choices_.back().then = !choices_.back().then;
  choices_.back().changed = true;
  ++tried_;
  return true;
}

}  // namespace ember::onnx

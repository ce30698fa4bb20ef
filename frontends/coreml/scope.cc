#include "frontends/coreml/scope.h"

#include "base/one_line.h"

namespace ember::coreml {

Scope::Scope(Scope& parent, graph::Region& region)
    : builder_(&region.builder()),
      parent_(&parent),
      region_(&region),
      depth_(parent.depth_ + 1) {
  builder_->SetOrigin(parent.builder_->origin());
}

Scope::Scope(Scope& parent)
    : builder_(parent.builder_), parent_(&parent), depth_(parent.depth_ + 1) {}

const MilValue* Scope::Find(const std::string& name) {
  const auto found = values_.find(name);
  if (found != values_.end())
    return found->second.is_lost ? nullptr : &found->second;
  const MilValue* outer = parent_ != nullptr ? parent_->Find(name) : nullptr;
  if (outer == nullptr || region_ == nullptr) return outer;
  MilValue inner = *outer;
  if (inner.tensor)
    inner.tensor = Tensor(builder_, region_->Capture(inner.tensor.value()));
  return &(values_[name] = std::move(inner));
}

bool Scope::IsLost(const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second.is_lost;
  return parent_ != nullptr && parent_->IsLost(name);
}

Status Scope::Missing(const std::string& name, const std::string& what,
                      const std::string& maker) const {
  return DataLossError("expected a " + what + " '" + OnOneLine(name) + "' of " +
                       maker + " before it, found " +
                       (IsLost(name) ? "one of a branch or loop that need not "
                                       "give it, or not always of one type"
                                     : "none"));
}

Status Scope::CheckDepth() const {
  if (depth_ <= kMaxNesting) return OkStatus();
  return UnimplementedError("expected at most " + std::to_string(kMaxNesting) +
                            " branches and loops in each other, found more");
}

Status Scope::CountStep(int64_t& steps) const {
  if (depth_ == 0 || ++steps <= kMaxInnerSteps) return OkStatus();
  return UnimplementedError("expected loops that are imported in " +
                            std::to_string(kMaxInnerSteps) +
                            " steps: shapes change in loops in each other");
}

}  // namespace ember::coreml

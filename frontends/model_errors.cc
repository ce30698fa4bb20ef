#include "frontends/model_errors.h"

#include "base/one_line.h"

namespace ember::frontends {

Status OfModel(const Status& status, std::string_view name) {
  return Status(status.code(), OnOneLine(status.message()))
      .WithContext("model '" + OnOneLine(name) + "'");
}

Status CheckNoEntry(const ImportOptions& options, std::string_view why) {
  if (options.entry.empty()) return OkStatus();
  return InvalidArgumentError("--entry: expected none, as " + std::string(why) +
                              ", found '" + OnOneLine(options.entry) + "'");
}

Status NoSuchEntry(std::string_view what, std::span<const std::string> names,
                   std::string_view entry) {
  const std::string found =
      entry.empty() ? "none" : "'" + OnOneLine(entry) + "'";
  if (names.empty()) {
    return InvalidArgumentError("--entry: expected none, as the model has no " +
                                std::string(what) + ", found " + found);
  }
  std::string there;
  for (const std::string& name : names)
    there += (there.empty() ? "'" : ", '") + OnOneLine(name) + "'";
  return InvalidArgumentError("--entry: expected one of the " +
                              std::string(what) + " " + there + ", found " +
                              found);
}

void UnsupportedParts::Add(const std::string& name, std::string_view place,
                           std::string_view reason) {
  Use& use = uses_[name];
  if (use.count++ > 0) return;
  use.place = place;
  use.reason = reason;
}

Status UnsupportedParts::ToStatus() const {
  if (uses_.empty()) return OkStatus();
  std::string text;
  for (const auto& [name, use] : uses_) {
    text += text.empty() ? "unsupported " + kind_ + ": " : ", ";
    text += name + " (" + place_ + " '" + use.place + "'";
    if (use.count > 1)
      text += ", " + std::to_string(use.count) + " " + place_ + "s";
    if (!use.reason.empty()) text += "; " + use.reason;
    text += ")";
  }
  return UnimplementedError(OnOneLine(text));
}

}  // namespace ember::frontends

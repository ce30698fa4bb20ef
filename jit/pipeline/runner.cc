#include "jit/pipeline/runner.h"

#include <utility>

#include "base/concat.h"

namespace ember::jit {

Status PassRun::CheckAfter(const PassInfo& pass, const Status& verified) {
  if (was_valid_ && !verified.ok()) {
    return InternalError(
        Concat({"after pass ", pass.name, ": ", verified.message()}));
  }
  was_valid_ = verified.ok();
  return OkStatus();
}

void PassRun::Record(const PassInfo& pass, double milliseconds,
                     std::string text) {
  PassRecord& record = log_.records.emplace_back();
  record.name = pass.name;
  record.milliseconds = milliseconds;
  record.is_unchanged = !text.empty() && text == before_;
  if (!text.empty()) before_ = text;
  record.text = std::move(text);
}

bool IsFor(const PassInfo& pass, bool is_for_gpu) {
  switch (pass.targets) {
    case PassTargets::kAll:
      return true;
    case PassTargets::kCpus:
      return !is_for_gpu;
    case PassTargets::kGpus:
      return is_for_gpu;
  }
  return true;
}

}  // namespace ember::jit

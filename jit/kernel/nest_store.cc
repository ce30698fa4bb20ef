#include "jit/kernel/nest_store.h"

#include <cstddef>
#include <utility>

#include "base/concat.h"
#include "jit/kernel/content_key.h"
#include "jit/schedule/core/computation.h"

namespace ember::jit {
namespace {

// Returns a key of the request: two requests with equal keys have equal nests.
// The ranges of i8 constants are part of the key, because they decide which
// product instructions are exact.
std::string KeyOf(const vm::KernelRequest& canonical,
                  const NestOptions& options) {
  std::string key = Concat({ContentKey(canonical), " ", canonical.target, " ",
                            options.is_exact ? "exact " : ""});
  for (size_t i = 0; i < canonical.constant_inputs.size(); ++i) {
    if (!canonical.constant_inputs[i]) continue;
    schedule::ComputationBuffer input;
    input.type = canonical.dispatch->buffers[i].type;
    if (i < options.ranges.size() && options.ranges[i]) {
      input.values = *options.ranges[i];
    } else {
      schedule::MakeConstant(input, canonical.constant_data[i]);
    }
    key += Concat({input.values.low, "..", input.values.high, " "});
  }
  return key + options.given_schedule;
}

}  // namespace

StatusOr<loops::LoopNest> NestStore::Build(const vm::KernelRequest& request,
                                           const NestOptions& options,
                                           double* error_growth) {
  const vm::KernelRequest canonical = WithCanonicalNames(request);
  const std::string key = KeyOf(canonical, options);
  Entry entry;
  bool is_known = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(key);
    is_known = found != entries_.end();
    if (is_known) entry = found->second;
  }
  if (!is_known) {
    NestOptions own = options;
    own.has_canonical_names = false;
    EMBER_ASSIGN_OR_RETURN(
        entry.nest, BuildNest(canonical, own, nullptr, &entry.error_growth));
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t size = request.dispatch->instructions.size();
    if (instructions_ + size > kMaxInstructions) {
      entries_.clear();
      instructions_ = 0;
    }
    if (size <= kMaxInstructions && entries_.emplace(key, entry).second)
      instructions_ += size;
  }
  RestoreNames(*request.dispatch, entry.nest);
  *error_growth = entry.error_growth;
  return std::move(entry.nest);
}

}  // namespace ember::jit

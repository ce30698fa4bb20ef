#include "llm/grammar/json_constraint.h"

#include <algorithm>
#include <string_view>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"

namespace ember::llm {
namespace {

// Largest number of masks that are kept. A mask takes 32 KiB for a vocabulary
// of 262144 tokens.
constexpr size_t kMaxKept = 64;

}  // namespace

JsonConstraint::JsonConstraint(const VocabularyTrie& trie,
                               std::span<const int32_t> ends,
                               const JsonLimits& limits)
    : trie_(&trie), ends_(ends.begin(), ends.end()), machine_(limits) {
  std::erase_if(ends_,
                [&trie](int32_t id) { return !trie.vocabulary().Has(id); });
}

TokenMask JsonConstraint::ComputeMask() const {
  TokenMask mask(trie_->vocabulary().size());
  if (is_ended_) return mask;
  // The trie is walked depth-first. A child is visited only if the machine
  // accepts its byte.
  struct Visit {
    int32_t node;
    JsonMachine machine;
  };
  const ByteTrie& trie = trie_->trie();
  std::vector<Visit> visits = {{ByteTrie::kRoot, machine_}};
  while (!visits.empty()) {
    const Visit visit = visits.back();
    visits.pop_back();
    for (int32_t i = 0; i < trie.ChildCount(visit.node); ++i) {
      const int32_t child = trie.FirstChild(visit.node) + i;
      JsonMachine machine = visit.machine;
      if (!machine.Push(trie.ByteOf(child))) continue;
      trie_->ForEachToken(child, [&mask](int32_t id) { mask.Add(id); });
      if (trie.ChildCount(child) > 0) visits.push_back({child, machine});
    }
  }
  // Tokens that end a generation are allowed once the JSON text is complete.
  for (const int32_t id : ends_) {
    if (machine_.IsComplete()) mask.Add(id);
  }
  return mask;
}

const TokenMask& JsonConstraint::Allowed() {
  const uint64_t hash = machine_.Hash();
  const auto found = kept_by_hash_.find(hash);
  if (found != kept_by_hash_.end()) {
    if (found->second->state == machine_) {
      kept_.splice(kept_.begin(), kept_, found->second);
      return kept_.front().mask;
    }
    kept_.erase(found->second);
    kept_by_hash_.erase(found);
  }
  kept_.push_front({machine_, ComputeMask(), hash});
  kept_by_hash_.emplace(hash, kept_.begin());
  if (kept_.size() > kMaxKept) {
    kept_by_hash_.erase(kept_.back().hash);
    kept_.pop_back();
  }
  return kept_.front().mask;
}

Status JsonConstraint::Accept(int32_t id) {
  const Vocabulary& vocabulary = trie_->vocabulary();
  const bool is_known = vocabulary.Has(id);
  const bool is_end = std::find(ends_.begin(), ends_.end(), id) != ends_.end();
  if (is_end && machine_.IsComplete() && !is_ended_) {
    is_ended_ = true;
    kept_.clear();
    kept_by_hash_.clear();
    return OkStatus();
  }
  JsonMachine machine = machine_;
  bool is_allowed = is_known && !is_ended_ && !vocabulary.IsHidden(id) &&
                    !vocabulary.Bytes(id).empty();
  if (is_allowed) {
    for (const char c : vocabulary.Bytes(id)) {
      is_allowed = is_allowed && machine.Push(static_cast<uint8_t>(c));
    }
  }
  if (!is_allowed) {
    return InvalidArgumentError(Concat(
        {"JSON: expected a token that continues the text, found token ", id,
         " \"", OnOneLine(Shortened(is_known ? vocabulary.Bytes(id) : "", 40)),
         "\""}));
  }
  machine_ = machine;
  return OkStatus();
}

}  // namespace ember::llm

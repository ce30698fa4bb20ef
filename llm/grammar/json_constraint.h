// Restricts generated tokens to those that continue a JSON text.
//
//   const VocabularyTrie trie(tokenizer.vocabulary());
//   JsonConstraint constraint(trie, ends, {.is_object = true});
//   sampler.Sample(logits, &constraint.Allowed());
//   EMBER_RETURN_IF_ERROR(constraint.Accept(id));
//   constraint.IsComplete();   // only then is a token that ends allowed
//
// The mask of allowed tokens is computed by walking the trie of all tokens'
// bytes, so that a common beginning of many tokens is tried only once. Masks
// are kept, because many states of the grammar come back again and again. Every
// allowed token can be continued to a complete text if the vocabulary has a
// token for each byte of ASCII. Errors: a token that is not allowed. The trie
// must outlive the constraint. Thread-compatible; the trie can be shared.
#ifndef EMBER_LLM_GRAMMAR_JSON_CONSTRAINT_H_
#define EMBER_LLM_GRAMMAR_JSON_CONSTRAINT_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llm/grammar/json_machine.h"
#include "llm/grammar/vocabulary_trie.h"
#include "llm/sampling/token_mask.h"

namespace ember::llm {

class JsonConstraint {
 public:
  // `ends` are the ids of the tokens that end a generation.
  JsonConstraint(const VocabularyTrie& trie, std::span<const int32_t> ends,
                 const JsonLimits& limits);

  // Returns the tokens that may follow. The reference is valid until the next
  // call of Accept or Allowed.
  const TokenMask& Allowed();
  Status Accept(int32_t id);
  bool IsComplete() const { return machine_.IsComplete(); }
  // True once a token that ends the generation was accepted.
  bool is_ended() const { return is_ended_; }

 private:
  struct Kept {
    JsonMachine state;
    TokenMask mask;
    uint64_t hash;
  };
  TokenMask ComputeMask() const;

  const VocabularyTrie* trie_;
  std::vector<int32_t> ends_;
  JsonMachine machine_;
  bool is_ended_ = false;
  // The kept masks with the states of the grammar to which they belong, the
  // most recently used first.
  std::list<Kept> kept_;
  std::unordered_map<uint64_t, std::list<Kept>::iterator> kept_by_hash_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_GRAMMAR_JSON_CONSTRAINT_H_

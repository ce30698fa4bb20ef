// Chooses the next token from the logits of a model.
//
//   EMBER_ASSIGN_OR_RETURN(Sampler sampler,
//                          Sampler::Create({.temperature = 0.7f, .seed = 1},
//                                          vocabulary.size()));
//   EMBER_ASSIGN_OR_RETURN(int32_t id, sampler.Sample(logits, nullptr));
//   sampler.Accept(id);
//
// The steps, in this order: biases are added; penalties are applied to the
// tokens that were accepted before; tokens outside the mask are dropped; top-k,
// top-p and min-p keep the likeliest tokens; the temperature scales the logits;
// one token is drawn. With temperature 0 the likeliest token is taken, and of
// equally likely ones the one with the lowest id. The same options, logits and
// accepted tokens give the same token, up to the rounding of exp on the
// machine.
//
// Sampling takes time proportional to the vocabulary. Errors: wrong options; no
// token is left (the mask is empty, or all logits are -infinity or NaN).
// Movable; thread-compatible. Sources: Holtzman et al., The Curious Case of
// Neural Text Degeneration, 2020 (top-p); Nguyen et al., Turning Up the Heat,
// 2024 (min-p); Keskar et al., CTRL, 2019 (repetition penalty).
#ifndef EMBER_LLM_SAMPLING_SAMPLER_H_
#define EMBER_LLM_SAMPLING_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llm/sampling/random.h"
#include "llm/sampling/token_mask.h"

namespace ember::llm {

struct SamplingOptions {
  float temperature = 0.8f;  // `temperature`: the logits are divided by it; 0:
                             // the likeliest token is always chosen
  int32_t top_k = 40;        // number of likeliest tokens that are kept; 0: all
  float top_p = 0.95f;       // tokens are kept, the likeliest first, until they
                             // have this total probability; 1: all
  // A token is kept if it is at least `min_p` times as likely as the likeliest
  // one; 0: all are kept.
  float min_p = 0.05f;
  // If a token was accepted before, its logit is divided by
  // `repetition_penalty` if positive, and multiplied if negative; 1: no
  // penalty.
  float repetition_penalty = 1;
  float frequency_penalty = 0;  // number that is subtracted from a token's
                                // logit for each earlier occurrence
  float presence_penalty = 0;   // number that is subtracted once from the logit
                                // of a token that occurred before
  // Number of last accepted tokens whose occurrences count for penalties; -1:
  // all.
  int32_t penalty_window = 64;
  uint64_t seed = 0;
  // Pairs of an id and a number that is added to its logit; -infinity excludes
  // the token.
  std::vector<std::pair<int32_t, float>> biases;
};

class Sampler {
 public:
  static StatusOr<Sampler> Create(SamplingOptions options,
                                  int32_t vocabulary_size);

  // Chooses a token. Only tokens in `allowed` may be chosen; null: all.
  StatusOr<int32_t> Sample(std::span<const float> logits,
                           const TokenMask* allowed);
  // Records a token, generated or of the prompt, whose occurrence counts for
  // penalties.
  void Accept(int32_t id);

 private:
  struct Candidate {
    float logit;
    int32_t id;
  };

  Sampler(SamplingOptions options, int32_t vocabulary_size);
  void CollectCandidates(std::span<const float> logits,
                         const TokenMask* allowed);
  // Remove unlikely candidates as the options say; the remaining ones are
  // sorted by their logits.
  void KeepTopK();
  void KeepTopP();
  void KeepMinP();
  void SortFirst(size_t count);
  int32_t Draw();

  SamplingOptions options_;
  int32_t vocabulary_size_;
  Random random_;
  std::deque<int32_t> window_;
  std::unordered_map<int32_t, int32_t> counts_;
  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  size_t sorted_ = 0;  // number of first elements of candidates_ that are
                       // already sorted
};

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_SAMPLER_H_

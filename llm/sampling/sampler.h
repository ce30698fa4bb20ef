// Chooses the next token from the logits of a model.
//
//   EMBER_ASSIGN_OR_RETURN(Sampler sampler,
//                          Sampler::Create({.temperature = 0.7f, .seed = 1},
//                                          vocabulary.size()));
//   EMBER_ASSIGN_OR_RETURN(int32_t id, sampler.Sample(logits, nullptr));
//   sampler.Accept(id);
//
// The steps, in this order: biases are added; penalties are subtracted for the
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
  float temperature = 0.8f;  // 0: the likeliest token.
  int32_t top_k = 40;        // 0: all tokens.
  float top_p = 0.95f;       // 1: all tokens.
  // Keeps tokens at least this many times as likely as the likeliest; 0: all.
  float min_p = 0.05f;
  // Positive logits of accepted tokens are divided by it, negative ones are
  // multiplied. 1: no penalty.
  float repetition_penalty = 1;
  float frequency_penalty = 0;  // Subtracted for each time a token occurs.
  float presence_penalty = 0;   // Subtracted once for a token that occurs.
  // Number of last accepted tokens that penalties look at; -1: all.
  int32_t penalty_window = 64;
  uint64_t seed = 0;
  // Ids and what is added to their logits; -infinity excludes a token.
  std::vector<std::pair<int32_t, float>> biases;
};

class Sampler {
 public:
  static StatusOr<Sampler> Create(SamplingOptions options,
                                  int32_t vocabulary_size);

  // Returns a token. `allowed` may be null: all tokens.
  StatusOr<int32_t> Sample(std::span<const float> logits,
                           const TokenMask* allowed);
  // Counts the token for penalties; also for tokens of the prompt.
  void Accept(int32_t id);

 private:
  struct Candidate {
    float logit;
    int32_t id;
  };

  Sampler(SamplingOptions options, int32_t vocabulary_size);
  void CollectCandidates(std::span<const float> logits,
                         const TokenMask* allowed);
  // Keep the likeliest candidates; afterwards they are sorted.
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
  size_t sorted_ = 0;  // Candidates at the begin that are in order.
};

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_SAMPLER_H_

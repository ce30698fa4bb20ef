#include "llm/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/concat.h"

namespace ember::llm {
namespace {

Status WrongOption(std::string_view name, std::string_view expected,
                   float found) {
  return InvalidArgumentError(
      Concat({"sampling option ", name, ": expected ", expected, ", found ",
              std::to_string(found)}));
}

Status Check(const SamplingOptions& options, int32_t vocabulary_size) {
  const auto is_number = [](float value) { return std::isfinite(value); };
  if (!is_number(options.temperature) || options.temperature < 0) {
    return WrongOption("temperature", "at least 0", options.temperature);
  }
  if (options.top_k < 0) {
    return WrongOption("top_k", "at least 0",
                       static_cast<float>(options.top_k));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    return WrongOption("top_p", "more than 0 and at most 1", options.top_p);
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    return WrongOption("min_p", "at least 0 and at most 1", options.min_p);
  }
  if (!is_number(options.repetition_penalty) ||
      options.repetition_penalty <= 0) {
    return WrongOption("repetition_penalty", "more than 0",
                       options.repetition_penalty);
  }
  if (!is_number(options.frequency_penalty)) {
    return WrongOption("frequency_penalty", "a number",
                       options.frequency_penalty);
  }
  if (!is_number(options.presence_penalty)) {
    return WrongOption("presence_penalty", "a number",
                       options.presence_penalty);
  }
  if (options.penalty_window < -1) {
    return WrongOption("penalty_window", "at least -1",
                       static_cast<float>(options.penalty_window));
  }
  for (const auto& [id, bias] : options.biases) {
    if (id < 0 || id >= vocabulary_size || std::isnan(bias)) {
      return InvalidArgumentError(
          Concat({"sampling option biases: expected ids below ",
                  vocabulary_size, " with numbers, found id ", id}));
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<Sampler> Sampler::Create(SamplingOptions options,
                                  int32_t vocabulary_size) {
  EMBER_RETURN_IF_ERROR(Check(options, vocabulary_size));
  return Sampler(std::move(options), vocabulary_size);
}

Sampler::Sampler(SamplingOptions options, int32_t vocabulary_size)
    : options_(std::move(options)),
      vocabulary_size_(vocabulary_size),
      random_(options_.seed) {}

void Sampler::Accept(int32_t id) {
  if (options_.penalty_window == 0) return;
  ++counts_[id];
  if (options_.penalty_window < 0) return;
  window_.push_back(id);
  if (window_.size() <= static_cast<size_t>(options_.penalty_window)) return;
  const auto oldest = counts_.find(window_.front());
  window_.pop_front();
  if (--oldest->second == 0) counts_.erase(oldest);
}

void Sampler::CollectCandidates(std::span<const float> logits,
                                const TokenMask* allowed) {
  logits_.assign(logits.begin(), logits.end());
  for (const auto& [id, bias] : options_.biases) logits_[id] += bias;
  for (const auto& [id, count] : counts_) {
    if (id < 0 || id >= vocabulary_size_) continue;
    float& logit = logits_[id];
    logit = logit > 0 ? logit / options_.repetition_penalty
                      : logit * options_.repetition_penalty;
    logit -= static_cast<float>(count) * options_.frequency_penalty +
             options_.presence_penalty;
  }
  candidates_.clear();
  sorted_ = 0;
  for (int32_t id = 0; id < vocabulary_size_; ++id) {
    if (allowed != nullptr && !allowed->Has(id)) continue;
    // A logit of NaN is excluded here, too, because comparisons with NaN are
    // false.
    if (logits_[id] > -INFINITY) candidates_.push_back({logits_[id], id});
  }
}

void Sampler::SortFirst(size_t count) {
  count = std::min(count, candidates_.size());
  if (count <= sorted_) return;
  const auto is_likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  const auto begin = candidates_.begin();
  const auto middle = begin + static_cast<ptrdiff_t>(count);
  if (middle != candidates_.end()) {
    std::nth_element(begin, middle, candidates_.end(), is_likelier);
  }
  std::sort(begin, middle, is_likelier);
  sorted_ = count;
}

void Sampler::KeepTopK() {
  if (options_.top_k == 0) return;
  const auto count = static_cast<size_t>(options_.top_k);
  SortFirst(count);
  if (count < candidates_.size()) candidates_.resize(count);
}

void Sampler::KeepTopP() {
  if (options_.top_p >= 1) return;
  SortFirst(1);
  const double most = candidates_[0].logit;
  double total = 0;
  for (const Candidate& each : candidates_) {
    total += std::exp(each.logit - most);
  }
  // Usually few tokens have the wanted share of the probability. So only some
  // candidates are sorted at first, and more when needed.
  double sum = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (i >= sorted_) SortFirst(std::max<size_t>(64, i * 8));
    sum += std::exp(candidates_[i].logit - most);
    if (sum >= options_.top_p * total) {
      candidates_.resize(i + 1);
      sorted_ = std::min(sorted_, candidates_.size());
      return;
    }
  }
}

void Sampler::KeepMinP() {
  if (options_.min_p <= 0) return;
  SortFirst(1);
  // The condition exp(logit - most) >= min_p, as a bound of the logit.
  const float least = candidates_[0].logit + std::log(options_.min_p);
  const Candidate first = candidates_[0];
  std::erase_if(candidates_, [&](const Candidate& each) {
    return each.logit < least && each.id != first.id;
  });
  sorted_ = std::min(sorted_, candidates_.size());
}

int32_t Sampler::Draw() {
  SortFirst(1);
  const double most = candidates_[0].logit;
  const double scale = 1 / static_cast<double>(options_.temperature);
  double total = 0;
  for (const Candidate& each : candidates_) {
    total += std::exp((each.logit - most) * scale);
  }
  double left = random_.Uniform() * total;
  for (const Candidate& each : candidates_) {
    left -= std::exp((each.logit - most) * scale);
    if (left < 0) return each.id;
  }
  // This line is reached only if the subtractions were rounded so that `left`
  // did not get below 0.
  return candidates_[0].id;
}

StatusOr<int32_t> Sampler::Sample(std::span<const float> logits,
                                  const TokenMask* allowed) {
  if (logits.size() != static_cast<size_t>(vocabulary_size_)) {
    return InvalidArgumentError(Concat({"sampling: expected ", vocabulary_size_,
                                        " logits, found ", logits.size()}));
  }
  if (allowed != nullptr && allowed->size() != vocabulary_size_) {
    return InvalidArgumentError(
        Concat({"sampling: expected a mask of ", vocabulary_size_,
                " tokens, found ", allowed->size()}));
  }
  CollectCandidates(logits, allowed);
  if (candidates_.empty()) {
    return FailedPreconditionError(
        "sampling: expected a token that is allowed and has a finite logit, "
        "found none");
  }
  // A logit of +infinity is replaced by a large number, because differences of
  // infinities are NaN.
  for (Candidate& each : candidates_) {
    each.logit = std::min(each.logit, 3e38f);
  }
  if (options_.temperature == 0) {
    SortFirst(1);
    return candidates_[0].id;
  }
  KeepTopK();
  KeepTopP();
  KeepMinP();
  return Draw();
}

}  // namespace ember::llm

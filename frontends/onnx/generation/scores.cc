#include "frontends/onnx/generation/scores.h"

#include <limits>
#include <string>
#include <vector>

#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Reads an operand that is a mask of tokens, such as vocab_mask. The result is
// true for allowed tokens, whose element is not 0.
Tensor MaskOperand(NodeContext& c, int input, int rank) {
  if (input < 0 || !c.Input(input)) return Tensor();
  if (!c.CheckRank(input, rank, rank)) return c.Wrap(nullptr);
  return NotEqual(c.Input(input), 0);
}

Tensor TokenNumbers(const Tensor& scores) {
  return Unsqueeze(IotaVector(scores.builder(), scores.dim(1), DType::kI64),
                   {0});
}

// Returns bool [rows, vocabulary]: true for tokens that would complete an
// n-gram that the row contains already.
Tensor RepeatsOf(Tensor sequences, Tensor length, int64_t n, Tensor scores) {
  graph::GraphBuilder& builder = sequences.builder();
  const Dim rows = sequences.dim(0);
  // Every position of the buffer is tested as the start of an n-gram. An n-gram
  // that would end after the `length` written tokens never matches.
  const Dim starts = sequences.dim(1);
  sequences = Pad(sequences, {Dim(0), Dim(0)}, {Dim(0), Dim(n - 1)}, "constant",
                  sequences.Like(0));
  const Tensor start = Unsqueeze(IotaVector(builder, starts, DType::kI64), {0});
  const auto last = static_cast<double>(n - 1);
  Tensor repeats = Less(start + last, length);
  for (int64_t k = 0; k + 1 < n; ++k) {
    const Tensor position = Maximum(length - last + static_cast<double>(k), 0);
    const Tensor wanted =
        Gather(sequences, Reshape(position, {Dim(1)}), 1);  // [rows, 1]
    repeats =
        And(repeats, Equal(SliceAxis(sequences, 1, Dim(k), starts), wanted));
  }
  repeats = Broadcast(repeats, {rows, starts});
  const Tensor next =
      Cast(SliceAxis(sequences, 1, Dim(n - 1), starts), DType::kI64);
  const Tensor hit =
      And(Unsqueeze(repeats, {2}),
          Equal(Unsqueeze(next, {2}), Unsqueeze(TokenNumbers(scores), {0})));
  return Reduce(hit, "maximum", {1}, false);
}

}  // namespace

double LowestScore() {
  return static_cast<double>(std::numeric_limits<float>::lowest());
}

Tensor AnyOpen(Tensor done) { return Reduce(Not(done), "maximum", {0}, false); }

bool CheckTensors(NodeContext& c, int most) {
  if (c.input_count() < 1 || c.input_count() > most || !c.Input(0)) {
    c.FailInvalid("expected 1 to " + std::to_string(most) +
                  " inputs, the first of them present, found " +
                  std::to_string(c.input_count()));
  }
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor input = c.Input(i);
    if (!input || (input.sequence() == nullptr && input.carried_type() == 0))
      continue;
    c.FailInvalid("input " + std::to_string(i) +
                  ": expected a tensor of numbers");
  }
  return c.ok();
}

Tensor ScalarOperand(NodeContext& c, int input, DType type) {
  if (input < 0 || !c.Input(input)) return Tensor();
  return Cast(Reshape(c.Input(input), {}), type);
}

ScoreRules ReadScoreRules(NodeContext& c, const RuleInputs& inputs) {
  ScoreRules rules;
  rules.eos = c.Integer("eos_token_id", -1);
  rules.ngram = c.Integer("no_repeat_ngram_size", 0);
  rules.min_length = ScalarOperand(c, inputs.min_length, DType::kI64);
  rules.repetition_penalty =
      ScalarOperand(c, inputs.repetition_penalty, DType::kF32);
  if (Tensor penalty = rules.repetition_penalty; penalty && c.ok()) {
    const auto known = c.builder().ConstantContents(penalty.value());
    if (known && known->front() == 1) rules.repetition_penalty = Tensor();
    c.builder().Require(Less(0, penalty).value(),
                        "repetition_penalty: expected a number above 0");
  }
  rules.vocab_mask = MaskOperand(c, inputs.vocab_mask, 1);
  rules.prefix_vocab_mask = MaskOperand(c, inputs.prefix_vocab_mask, 2);
  const double presence = c.Float("presence_penalty", 0);
  if (presence != 0 && inputs.presence_mask >= 0 &&
      c.Input(inputs.presence_mask)) {
    c.CheckRank(inputs.presence_mask, 2, 2);
    rules.presence_mask =
        Cast(c.Input(inputs.presence_mask), DType::kF32) * presence;
  }
  const double temperature = c.Float("temperature", 1);
  if (temperature > 0) rules.temperature = temperature;
  return rules;
}

ScoreRules ExpandRows(const ScoreRules& rules, const Dim& beams) {
  ScoreRules result = rules;
  for (Tensor* mask : {&result.prefix_vocab_mask, &result.presence_mask}) {
    if (*mask) *mask = RepeatEach(*mask, 0, beams);
  }
  return result;
}

ScoreRules Inside(graph::Region& region, const ScoreRules& rules) {
  ScoreRules result = rules;
  // prefix_vocab_mask applies to the first token only, so it is removed for the
  // loop.
  result.prefix_vocab_mask = Tensor();
  for (Tensor* value : {&result.min_length, &result.repetition_penalty,
                        &result.vocab_mask, &result.presence_mask}) {
    *value = Inside(region, *value);
  }
  return result;
}

Tensor ApplyRules(const ScoreRules& rules, Tensor scores, Tensor sequences,
                  Tensor seen, Tensor length, bool first) {
  const Tensor lowest = scores.Like(LowestScore());
  if (rules.repetition_penalty) {
    const Tensor& penalty = rules.repetition_penalty;
    const Tensor less =
        Select(Less(scores, 0), scores * penalty, scores / penalty);
    scores = Select(seen, less, scores);
  }
  // An n-gram at least as long as the longest sequence can never repeat, so the
  // rule is skipped.
  if (rules.ngram > 0 && rules.ngram < kLongestSequence) {
    scores = Select(RepeatsOf(sequences, length, rules.ngram, scores), lowest,
                    scores);
  }
  if (rules.vocab_mask)
    scores = Select(Unsqueeze(rules.vocab_mask, {0}), scores, lowest);
  if (first && rules.prefix_vocab_mask)
    scores = Select(rules.prefix_vocab_mask, scores, lowest);
  if (rules.min_length && rules.eos >= 0) {
    const Tensor end =
        Equal(TokenNumbers(scores), static_cast<double>(rules.eos));
    scores = Select(And(end, Less(length, rules.min_length)), lowest, scores);
  }
  if (rules.temperature != 1) scores = scores / rules.temperature;
  if (rules.presence_mask) scores = scores - rules.presence_mask;
  return scores;
}

Tensor SeenTokens(Tensor tokens, const Dim& vocabulary) {
  const Tensor numbers = IotaVector(tokens.builder(), vocabulary, DType::kI64);
  const Tensor hit = Equal(Unsqueeze(Cast(tokens, DType::kI64), {2}),
                           AlongAxis(numbers, 2, 3));
  return Reduce(hit, "maximum", {1}, false);
}

std::optional<Dim> ReadMaximumLength(NodeContext& c, int input,
                                     const Dim& prompt) {
  Dim length(kLongestSequence);
  if (c.Input(input)) {
    const std::optional<Shape> sizes = c.Sizes(input, "max_length");
    if (!sizes) return std::nullopt;
    if (sizes->size() != 1) {
      c.FailInvalid("max_length (input " + std::to_string(input) +
                    "): expected one number, found " +
                    std::to_string(sizes->size()));
      return std::nullopt;
    }
    length = sizes->front();
  }
  if (length.is_constant() && length.constant() > kLongestSequence) {
    c.FailInvalid("max_length: expected at most " +
                  std::to_string(kLongestSequence) + ", found " +
                  length.ToString());
    return std::nullopt;
  }
  const Dim room = length - prompt;
  if (room.is_constant() && room.constant() < 1) {
    c.FailInvalid("max_length: expected more than the prompt's " +
                  prompt.ToString() + " tokens, found " + length.ToString());
    return std::nullopt;
  }
  if (!room.is_constant()) {
    c.builder().Require(
        Less(DimScalar(c.builder(), prompt), DimScalar(c.builder(), length))
            .value(),
        "max_length: expected more than the prompt's tokens");
  }
  return length;
}

Tensor BeginSequences(NodeContext& c, Tensor prompt,
                      const Dim& maximum_length) {
  const auto pad = static_cast<double>(c.Integer("pad_token_id", -1));
  const Shape rest{prompt.dim(0), maximum_length - prompt.dim(1)};
  return Concat({prompt, Broadcast(prompt.Like(pad), rest)}, 1);
}

Tensor WriteTokens(Tensor sequences, Tensor tokens, Tensor length) {
  const Tensor position = Unsqueeze(
      IotaVector(sequences.builder(), sequences.dim(1), DType::kI64), {0});
  return Select(Equal(position, length), Unsqueeze(tokens, {1}), sequences);
}

}  // namespace ember::onnx

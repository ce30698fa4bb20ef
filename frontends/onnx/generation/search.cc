// Imports GreedySearch and Sampling: one sequence per prompt.
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/generation/decoder.h"
#include "frontends/onnx/generation/draws.h"
#include "frontends/onnx/generation/generation.h"
#include "frontends/onnx/generation/scores.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;
using graph::Region;

// The random numbers and attributes by which Sampling chooses tokens. If
// `draws` is absent (GreedySearch), the token with the best score is chosen.
struct SamplingOptions {
  Tensor draws;  // Random numbers in [0, 1), f64 [steps, batch].
  double top_p = 0;
  double filter_value = -1e20;
  int64_t least_kept = 0;
  bool descending = false;  // the attribute `custom`
};

// The values that the search carries from one token to the next.
struct SearchState {
  Tensor sequences;  // i32 [batch, max_length]
  Tensor tokens;     // The last token of each row, i32 [batch].
  Tensor done;       // bool [batch]
  // The tokens that occur in each row, bool [batch, vocabulary]. Present if a
  // rule needs it.
  Tensor seen;
};

// Returns the random numbers that Sampling draws for all its tokens, f64
// [steps, batch]. They are computed from the seed (input 8).
Tensor Draws(NodeContext& c, const Dim& steps, const Dim& batch) {
  Tensor seed = c.Scalar(0, DType::kI64);
  if (c.Input(8)) {
    seed = ScalarOperand(c, 8, DType::kI64);
    c.builder().Require(LessEqual(0, seed).value(),
                        "seed: expected no number below 0");
  }
  return UniformDraws(c, seed, {steps, batch});
}

// Returns true for the tokens that top-p filtering leaves out, given their
// sorted scores. In ascending order these are the least probable tokens whose
// sum is at most 1 - top_p, except the last `least_kept`. In descending order
// they are the tokens after the most probable ones whose sum is above top_p.
Tensor LeftOut(const SamplingOptions& options, Tensor sorted) {
  const Tensor sums = InclusiveScan(Softmax(sorted, 1), 1, Opcode::kAdd, 0);
  const Dim count = sorted.dim(1);
  const Tensor place =
      Unsqueeze(IotaVector(sorted.builder(), count, DType::kI64), {0});
  if (options.descending) {
    const Tensor above =
        Cast(Less(sums.Like(options.top_p), sums), DType::kF32);
    const Shape none{Dim(0), Dim(0)}, one{Dim(0), Dim(1)},
        last{Dim(0), Dim(-1)};
    return NotEqual(Pad(above, one, last, "constant", above.Like(0)), 0);
  }
  const Tensor kept = DimScalar(sorted.builder(), count) -
                      static_cast<double>(options.least_kept);
  // Position 0 of the sorted tokens may be left out even if `least_kept`
  // protects all tokens.
  return And(LessEqual(sums, 1 - options.top_p),
             Or(Equal(place, 0), Less(place, kept)));
}

// Returns bool [batch, vocabulary]: true for tokens that are left out.
Tensor FilteredTokens(const SamplingOptions& options, Tensor scores) {
  const std::vector<Tensor> sorted =
      ApplyAll("top_k", {scores},
               {{"axis", int64_t{1}},
                {"k", Shape{scores.dim(1)}},
                {"largest", options.descending ? int64_t{1} : int64_t{0}}});
  if (sorted.size() != 2) return scores;
  const Tensor left = Cast(LeftOut(options, sorted[0]), DType::kI32);
  const Tensor none = Broadcast(left.Like(0), scores.shape());
  return NotEqual(
      Apply("scatter_elements", {none, sorted[1], left},
            {{"axis", int64_t{1}}, {"update", std::string("assign")}}),
      0);
}

// Draws a token per row by its probability. draw: f64 [batch].
Tensor SampleToken(const SamplingOptions& options, Tensor scores, Tensor draw) {
  scores = Select(FilteredTokens(options, scores),
                  scores.Like(options.filter_value), scores);
  // A token with an infinite score, such as a filtered one, gets the weight 0
  // and so cannot be drawn. The maximum is taken over the finite scores.
  const Tensor infinite = IsInfinite(scores);
  const Tensor finite = Select(infinite, scores.Like(LowestScore()), scores);
  const Tensor above = Cast(finite, DType::kF64) -
                       Cast(Reduce(finite, "maximum", {1}, true), DType::kF64);
  const Tensor weights = Select(infinite, above.Like(0), Exp(above));
  const Tensor sums = InclusiveScan(weights, 1, Opcode::kAdd, 0);
  const Tensor total = SliceAxis(sums, 1, sums.dim(1) - Dim(1), Dim(1));
  // The token is the first whose running sum is above the draw. Even with
  // rounding it is never after the last token that has a weight.
  const Tensor passed =
      And(LessEqual(sums, total * Unsqueeze(draw, {1})), Less(sums, total));
  return Reduce(Cast(passed, DType::kI64), "sum", {1}, false);
}

Tensor BestToken(Tensor scores) {
  return Apply("arg_reduce", {scores},
               {{"mode", std::string("maximum")},
                {"axis", int64_t{1}},
                {"last", int64_t{0}}});
}

class Search {
 public:
  Search(const SamplingOptions& options, int64_t eos, int64_t pad)
      : options_(options), eos_(eos), pad_(pad) {}

  // Adds a token to each row. length: i64[], the number of tokens so far. draw:
  // the random numbers of this step, f64 [batch].
  void Advance(const ScoreRules& rules, Tensor scores, Tensor length,
               bool first, Tensor draw, SearchState& state) const {
    scores =
        ApplyRules(rules, scores, state.sequences, state.seen, length, first);
    Tensor token =
        draw ? SampleToken(options_, scores, draw) : BestToken(scores);
    state.done = Or(state.done, Equal(token, static_cast<double>(eos_)));
    token = Cast(token, DType::kI32);
    state.tokens =
        Select(state.done, token.Like(static_cast<double>(pad_)), token);
    state.sequences = WriteTokens(state.sequences, state.tokens, length);
    if (state.seen) {
      state.seen = Or(state.seen,
                      SeenTokens(Unsqueeze(state.tokens, {1}), scores.dim(1)));
    }
  }

 private:
  const SamplingOptions& options_;
  int64_t eos_, pad_;
};

Tensor StepOf(Tensor draws, Tensor step) {
  if (!draws) return draws;
  return Squeeze(Gather(draws, Reshape(step, {Dim(1)}), 0), {0});
}

// Builds the loop that generates the tokens after the first one.
Tensor RunLoop(NodeContext& c, Decoder& decoder, const Search& search,
               const ScoreRules& rules, const SamplingOptions& options,
               const SearchState& begin) {
  GraphBuilder& builder = c.builder();
  const Dim prompt = decoder.prompt().dim(1);
  graph::LoopRequest request;
  request.conditional = true;
  request.limit =
      DimScalar(builder, begin.sequences.dim(1) - prompt - Dim(1)).value();
  request.condition = AnyOpen(begin.done).value();
  std::vector<Tensor> carried = {begin.sequences, begin.tokens, begin.done};
  if (begin.seen) carried.push_back(begin.seen);
  const auto states = static_cast<std::ptrdiff_t>(carried.size());
  carried.insert(carried.end(), decoder.state().begin(), decoder.state().end());
  request.carried = ValuesOf(carried);
  const auto body = [&](Region& region,
                        const graph::LoopInputs& in) -> graph::LoopOutputs {
    GraphBuilder& inside = region.builder();
    std::vector<Tensor> values = TensorsOf(inside, in.carried);
    SearchState state{values[0], values[1], values[2],
                      begin.seen ? values[3] : Tensor()};
    std::vector<Tensor> past(values.begin() + states, values.end());
    const Tensor iteration(&inside, in.iteration);
    const Tensor scores =
        decoder.Step({region, iteration, state.sequences, state.tokens}, past);
    if (!inside.status().ok()) return {};
    const Tensor length = iteration + DimScalar(inside, prompt + Dim(1));
    search.Advance(Inside(region, rules), scores, length, /*first=*/false,
                   StepOf(Inside(region, options.draws), iteration + 1), state);
    values = {state.sequences, state.tokens, state.done};
    if (state.seen) values.push_back(state.seen);
    values.insert(values.end(), past.begin(), past.end());
    return {.proceed = AnyOpen(state.done).value(),
            .carried = ValuesOf(values)};
  };
  const std::vector<graph::Value*> results = BuildLoop(builder, request, body);
  return c.Wrap(results.empty() ? nullptr : results[0]);
}

// Imports GreedySearch or Sampling. `is_sampling`: true if tokens are drawn;
// otherwise the token with the best score is chosen.
void ImportSearch(NodeContext& c, const SubgraphImporter& run,
                  bool is_sampling) {
  if (!CheckTensors(c, is_sampling ? 9 : 7)) return;
  if (const int64_t type = c.Integer("model_type", 0); type != 0) {
    return c.FailUnsupported(
        "attribute 'model_type': expected 0 (a decoder alone), found " +
        std::to_string(type));
  }
  if (is_sampling && c.WantsOutput(1)) {
    return c.FailUnsupported(
        "output 1 (filtered_logits): expected none, it is there for debugging");
  }
  const std::unique_ptr<Decoder> decoder = MakeGptDecoder(c, run, c.Input(6));
  if (!c.ok()) return;
  const Tensor prompt = decoder->prompt();
  const std::optional<Dim> most = ReadMaximumLength(c, 1, prompt.dim(1));
  ScoreRules rules = ReadScoreRules(c, {.min_length = 2,
                                        .repetition_penalty = 3,
                                        .vocab_mask = 4,
                                        .prefix_vocab_mask = 5,
                                        .presence_mask = is_sampling ? 7 : -1});
  if (!most || !c.ok()) return;
  SamplingOptions options;
  if (is_sampling) {
    options.top_p = c.Float("top_p", 0);
    options.filter_value = c.Float("filter_value", -1e20);
    options.least_kept = c.Integer("min_tokens_to_keep", 0);
    options.descending = c.Integer("custom", 0) != 0;
    options.draws = Draws(c, *most - prompt.dim(1), prompt.dim(0));
  }
  const Tensor scores = decoder->Start();
  if (!c.ok()) return;
  SearchState state;
  state.sequences = BeginSequences(c, prompt, *most);
  state.done = Broadcast(c.Scalar(0, DType::kBool), {prompt.dim(0)});
  if (rules.repetition_penalty) state.seen = SeenTokens(prompt, scores.dim(1));
  const Search search(options, rules.eos, c.Integer("pad_token_id", -1));
  search.Advance(rules, scores, DimScalar(c.builder(), prompt.dim(1)),
                 /*first=*/true,
                 StepOf(options.draws, c.Scalar(0, DType::kI64)), state);
  if (!c.ok()) return;
  c.SetOutput(0, RunLoop(c, *decoder, search, rules, options, state));
}

}  // namespace

void ImportGreedySearch(NodeContext& c, const SubgraphImporter& run) {
  ImportSearch(c, run, /*is_sampling=*/false);
}

void ImportSampling(NodeContext& c, const SubgraphImporter& run) {
  ImportSearch(c, run, /*is_sampling=*/true);
}

GenerationImporter FindGeneration(std::string_view domain,
                                  std::string_view name) {
  if (domain != "com.microsoft") return nullptr;
  if (name == "GreedySearch") return ImportGreedySearch;
  if (name == "Sampling") return ImportSampling;
  if (name == "BeamSearch") return ImportBeamSearch;
  return nullptr;
}

}  // namespace ember::onnx

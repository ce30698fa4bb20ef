// Imports BeamSearch, which keeps the `num_beams` best sequences of each prompt
// while they grow.
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/generation/decoder.h"
#include "frontends/onnx/generation/generation.h"
#include "frontends/onnx/generation/scores.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;
using graph::Region;

struct BeamOptions {
  Dim batch, beams, returned, maximum_length;
  bool early_stopping = false;
  int64_t eos = -1;
  int64_t pad = -1;
  Tensor length_penalty;  // f32[]
};

// The state of a search. There are batch * beams rows; the rows of a prompt are
// adjacent.
struct BeamState {
  Tensor sequences;  // i32 [rows, max_length]
  Tensor tokens;     // The last token of each row, i32 [rows].
  // Score of each beam: the sum of the log-probabilities of its tokens, f32
  // [batch, beams].
  Tensor scores;
  // The best sequences of each prompt that have produced the end token, i32
  // [batch, beams, max_length].
  Tensor ended;
  // Scores of the ended sequences, f32 [batch, beams], best first; -infinity
  // where there is none.
  Tensor ended_scores;
  Tensor ended_count;  // i64 [batch]
  Tensor done;         // bool [batch]
  // The tokens that occur in each row, bool [rows, vocabulary]. Present if a
  // rule needs it.
  Tensor seen;

  std::vector<Tensor> Values() const {
    std::vector<Tensor> values = {sequences,    tokens,      scores, ended,
                                  ended_scores, ended_count, done};
    if (seen) values.push_back(seen);
    return values;
  }
  void Set(const std::vector<Tensor>& values) {
    sequences = values[0];
    tokens = values[1];
    scores = values[2];
    ended = values[3];
    ended_scores = values[4];
    ended_count = values[5];
    done = values[6];
    if (values.size() > 7) seen = values[7];
  }
};

struct Ranking {
  // The largest elements of each row and their indices, [batch, count], the
  // largest first.
  Tensor values, indices;
};

Ranking Largest(Tensor x, const Dim& count) {
  const std::vector<Tensor> results = ApplyAll(
      "top_k", {x},
      {{"axis", int64_t{1}}, {"k", Shape{count}}, {"largest", int64_t{1}}});
  return results.size() == 2 ? Ranking{results[0], results[1]} : Ranking{x, x};
}

// Gathers elements of each row: returns x[b, indices[b, i]], [batch, m], for x
// [batch, n] and i64 indices [batch, m].
Tensor Pick(Tensor x, Tensor indices) {
  return Apply("gather_elements", {x, indices}, {{"axis", int64_t{1}}});
}

class BeamSearcher {
 public:
  explicit BeamSearcher(const BeamOptions& options) : o_(options) {}
  // Returns a copy of this searcher for use in the loop's region: it captures
  // the tensors of the options.
  BeamSearcher In(Region& region) const {
    BeamSearcher inner = *this;
    inner.o_.length_penalty = Inside(region, o_.length_penalty);
    return inner;
  }

  BeamState Begin(NodeContext& c, Tensor sequences) const {
    BeamState state;
    state.sequences = RepeatEach(sequences, 0, o_.beams);
    // All beams of a prompt begin with the same tokens, so in the first step
    // only the first beam may grow; the others begin with a very low score.
    constexpr double kUnlikely = -1e9;
    const Tensor beam =
        Unsqueeze(IotaVector(c.builder(), o_.beams, DType::kI64), {0});
    state.scores = Broadcast(Select(Equal(beam, 0), c.Scalar(0, DType::kF32),
                                    c.Scalar(kUnlikely, DType::kF32)),
                             {o_.batch, o_.beams});
    state.ended = Broadcast(c.Scalar(static_cast<double>(o_.pad), DType::kI32),
                            {o_.batch, o_.beams, o_.maximum_length});
    state.ended_scores = Broadcast(
        c.Scalar(-std::numeric_limits<double>::infinity(), DType::kF32),
        {o_.batch, o_.beams});
    state.ended_count = Broadcast(c.Scalar(0, DType::kI64), {o_.batch});
    state.done = Broadcast(c.Scalar(0, DType::kBool), {o_.batch});
    return state;
  }

  // Grows the beams by one token. logits: [rows, vocabulary]; length: i64[],
  // the number of tokens so far. Returns the scores of all candidates, [batch,
  // beams, vocabulary]. Sets `rows` to the index of the row that each row of
  // the next step continues.
  Tensor Advance(const ScoreRules& rules, Tensor logits, Tensor length,
                 bool first, BeamState& state, Tensor& rows) const {
    GraphBuilder& builder = logits.builder();
    const Dim vocabulary = logits.dim(1);
    Tensor scores = ApplyRules(rules, LogSoftmax(logits, 1), state.sequences,
                               state.seen, length, first);
    scores = Reshape(scores, {o_.batch, o_.beams, vocabulary}) +
             Unsqueeze(state.scores, {2});
    // The 2 * beams best candidates always include enough sequences that
    // continue: only one candidate of each beam is the end token, so at least
    // `beams` of the candidates do not end.
    const Ranking best = Largest(
        Reshape(scores, {o_.batch, o_.beams * vocabulary}), o_.beams * Dim(2));
    const Tensor count = DimScalar(builder, vocabulary);
    const Tensor beam = Binary(Opcode::kFloorDivide, best.indices, count);
    const Tensor token = Modulo(best.indices, count);
    const Tensor ends = Equal(token, static_cast<double>(o_.eos));
    const Tensor was_done = state.done;

    const auto front = [&](Tensor x) {
      return SliceAxis(x, 1, Dim(0), o_.beams);
    };
    const Tensor ended_rows = Gather(state.sequences, RowOf(front(beam)),
                                     0);  // [batch, beams, length]
    AddEnded(state, ended_rows, front(best.values), length,
             And(front(ends), Not(Unsqueeze(was_done, {1}))));
    state.done = Or(was_done, IsDone(state, best.values, length));

    // Selects the first `beams` candidates that do not end their sequence, in
    // the order of their scores.
    const Tensor place =
        Unsqueeze(IotaVector(builder, o_.beams * Dim(2), DType::kI64), {0});
    const Tensor order = Select(ends, -place - 1.0,
                                DimScalar(builder, o_.beams * Dim(2)) - place);
    const Tensor next =
        Largest(Broadcast(order, {o_.batch, o_.beams * Dim(2)}), o_.beams)
            .indices;
    const Tensor padded = Unsqueeze(was_done, {1});
    Tensor next_token = Cast(Pick(token, next), DType::kI32);
    next_token = Select(padded, next_token.Like(static_cast<double>(o_.pad)),
                        next_token);
    const Tensor next_score = Pick(best.values, next);
    state.scores = Select(padded, next_score.Like(0), next_score);
    const Tensor next_beam = Pick(beam, next);
    const Dim all = o_.batch * o_.beams;
    rows = Reshape(RowOf(Select(padded, next_beam.Like(0), next_beam)), {all});
    state.tokens = Reshape(next_token, {all});
    state.sequences =
        WriteTokens(Gather(state.sequences, rows, 0), state.tokens, length);
    if (state.seen) {
      state.seen = Or(Gather(state.seen, rows, 0),
                      SeenTokens(Unsqueeze(state.tokens, {1}), vocabulary));
    }
    return scores;
  }

  // Ends the search. The beams of a prompt that have not produced the end token
  // by max_length count as ended sequences, too, unless the prompt is done.
  void Finish(BeamState& state) const {
    GraphBuilder& builder = state.scores.builder();
    const Shape shape{o_.batch, o_.beams, o_.maximum_length};
    AddEnded(state, Reshape(state.sequences, shape), state.scores,
             DimScalar(builder, o_.maximum_length),
             Broadcast(Not(Unsqueeze(state.done, {1})), {o_.batch, o_.beams}));
  }

 private:
  // Returns the row of each beam in tensors of dim batch * beams. beam: number
  // of a beam within its prompt, i64 [batch, n].
  Tensor RowOf(Tensor beam) const {
    GraphBuilder& builder = beam.builder();
    const Tensor prompt = IotaVector(builder, o_.batch, DType::kI64);
    return beam + Unsqueeze(prompt * DimScalar(builder, o_.beams), {1});
  }

  Tensor Penalized(Tensor scores, Tensor length) const {
    return scores / Power(Cast(length, DType::kF32), o_.length_penalty);
  }

  // Keeps the best sequences among those that ended before and the new ones
  // that are `valid`.
  void AddEnded(BeamState& state, Tensor sequences, Tensor scores,
                Tensor length, Tensor valid) const {
    GraphBuilder& builder = scores.builder();
    const Tensor none = scores.Like(-std::numeric_limits<double>::infinity());
    scores =
        Select(valid, Maximum(Penalized(scores, length), LowestScore()), none);
    const Ranking best =
        Largest(Concat({state.ended_scores, scores}, 1), o_.beams);
    const Dim both = o_.beams * Dim(2);
    const Tensor prompt = IotaVector(builder, o_.batch, DType::kI64);
    const Tensor row =
        best.indices + Unsqueeze(prompt * DimScalar(builder, both), {1});
    const Tensor all = Reshape(Concat({state.ended, sequences}, 1),
                               {o_.batch * both, o_.maximum_length});
    state.ended = Gather(all, row, 0);
    state.ended_scores = best.values;
    const Tensor added = Reduce(Cast(valid, DType::kI64), "sum", {1}, false);
    state.ended_count =
        Minimum(state.ended_count + added, DimScalar(builder, o_.beams));
  }

  // True for the prompts that are done: those that have `beams` ended
  // sequences, of which no growing beam can beat the worst. With early_stopping
  // the number of ended sequences suffices.
  Tensor IsDone(const BeamState& state, Tensor best, Tensor length) const {
    GraphBuilder& builder = best.builder();
    const Tensor full = Equal(state.ended_count, DimScalar(builder, o_.beams));
    if (o_.early_stopping) return full;
    const Tensor worst = Squeeze(
        SliceAxis(state.ended_scores, 1, o_.beams - Dim(1), Dim(1)), {1});
    const Tensor top = Squeeze(SliceAxis(best, 1, Dim(0), Dim(1)), {1});
    return And(full, LessEqual(Penalized(top, length), worst));
  }

  BeamOptions o_;
};

// Reads num_beams or num_return_sequences: an operand of one element, at most
// 128; 1 if it is absent; nullopt after an error.
std::optional<Dim> CountOperand(NodeContext& c, int input,
                                const std::string& what) {
  constexpr int64_t kMax = 128;
  if (!c.Input(input)) return Dim(1);
  const std::optional<Shape> sizes = c.Sizes(input, what);
  if (!sizes) return std::nullopt;
  if (sizes->size() == 1) {
    const Dim count = sizes->front();
    if (!count.is_constant()) return count;
    if (count.constant() >= 1 && count.constant() <= kMax) return count;
  }
  c.FailInvalid(what + " (input " + std::to_string(input) +
                "): expected one number from 1 to " + std::to_string(kMax) +
                ", found " + graph::ShapeToString(*sizes));
  return std::nullopt;
}

std::optional<BeamOptions> ReadOptions(NodeContext& c, const Dim& prompt) {
  BeamOptions options;
  options.batch = c.Input(0).dim(0);
  const std::optional<Dim> most = ReadMaximumLength(c, 1, prompt);
  const std::optional<Dim> beams = CountOperand(c, 3, "num_beams");
  const std::optional<Dim> returned =
      CountOperand(c, 4, "num_return_sequences");
  if (!most || !beams || !returned || !c.ok()) return std::nullopt;
  options.maximum_length = *most;
  options.beams = *beams;
  options.returned = *returned;
  if (const Dim spare = *beams - *returned;
      spare.is_constant() && spare.constant() < 0) {
    c.FailInvalid(
        "num_return_sequences (input 4): expected at most num_beams, " +
        beams->ToString() + ", found " + returned->ToString());
    return std::nullopt;
  } else if (!spare.is_constant()) {
    c.builder().Require(LessEqual(DimScalar(c.builder(), *returned),
                                  DimScalar(c.builder(), *beams))
                            .value(),
                        "num_return_sequences: expected at most "
                        "num_beams");
  }
  options.early_stopping = c.Integer("early_stopping", 0) == 1;
  options.eos = c.Integer("eos_token_id", -1);
  options.pad = c.Integer("pad_token_id", -1);
  options.length_penalty = ScalarOperand(c, 5, DType::kF32);
  if (!options.length_penalty)
    options.length_penalty = c.Scalar(1, DType::kF32);
  return options;
}

bool CheckKind(NodeContext& c) {
  if (!CheckTensors(c, 12)) return false;
  const int64_t type = c.Integer("model_type", 0);
  if (type != 0 && type != 1) {
    c.FailUnsupported(
        "attribute 'model_type': expected 0 (a decoder alone) or 1 (an encoder "
        "and a decoder), found " +
        std::to_string(type));
  }
  for (const int input : {10, 11}) {
    if (!c.Input(input)) continue;
    const auto known = c.builder().ConstantContents(c.Input(input).value());
    if (input == 11 && known && known->size() == 1 && known->front() == 0)
      continue;
    c.FailUnsupported(
        std::string(input == 10 ? "decoder_input_ids" : "logits_processor") +
        " (input " + std::to_string(input) +
        "): expected none, it is of models with model_type 2");
  }
  if (c.output_count() > 3)
    c.FailUnsupported("expected at most 3 outputs, found " +
                      std::to_string(c.output_count()));
  return c.ok();
}

struct BeamResults {
  BeamState state;
  // Scores of the candidates in all steps after the first, [steps, batch,
  // beams, vocabulary].
  Tensor scores;
};

// Builds the loop that generates the tokens after the first one; nullopt after
// an error.
std::optional<BeamResults> RunLoop(NodeContext& c, Decoder& decoder,
                                   const BeamOptions& options,
                                   const BeamSearcher& search,
                                   const ScoreRules& rules,
                                   const BeamState& begin,
                                   const std::vector<Tensor>& past) {
  GraphBuilder& builder = c.builder();
  const Dim prompt = decoder.prompt().dim(1);
  const bool wants_scores = c.WantsOutput(2);
  graph::LoopRequest request;
  request.conditional = true;
  request.limit =
      DimScalar(builder, options.maximum_length - prompt - Dim(1)).value();
  request.condition = AnyOpen(begin.done).value();
  std::vector<Tensor> carried = begin.Values();
  const auto states = static_cast<std::ptrdiff_t>(carried.size());
  carried.insert(carried.end(), past.begin(), past.end());
  request.carried = ValuesOf(carried);
  const auto body = [&](Region& region,
                        const graph::LoopInputs& in) -> graph::LoopOutputs {
    GraphBuilder& inside = region.builder();
    const std::vector<Tensor> values = TensorsOf(inside, in.carried);
    BeamState state;
    state.Set({values.begin(), values.begin() + states});
    std::vector<Tensor> past_inside(values.begin() + states, values.end());
    const Tensor iteration(&inside, in.iteration);
    const Tensor logits = decoder.Step(
        {region, iteration, state.sequences, state.tokens}, past_inside);
    if (!inside.status().ok()) return {};
    const Tensor length = iteration + DimScalar(inside, prompt + Dim(1));
    Tensor rows;
    const Tensor scores =
        search.In(region).Advance(Inside(region, rules), logits, length,
                                  /*first=*/false, state, rows);
    std::vector<Tensor> next = state.Values();
    for (size_t i = 0; i < past_inside.size(); ++i) {
      next.push_back(options.beams == Dim(1)
                         ? past_inside[i]
                         : Gather(past_inside[i], rows, decoder.RowAxis(i)));
    }
    graph::LoopOutputs out{.proceed = AnyOpen(state.done).value(),
                           .carried = ValuesOf(next)};
    if (wants_scores) out.stacked = {scores.value()};
    return out;
  };
  const std::vector<graph::Value*> results = BuildLoop(builder, request, body);
  if (results.empty() || !c.ok()) return std::nullopt;
  const std::vector<Tensor> values = TensorsOf(builder, results);
  BeamResults found;
  found.state.Set({values.begin(), values.begin() + states});
  if (wants_scores) found.scores = values.back();
  return found;
}

// Returns the scores of all steps, [max_length - prompt length, batch, beams,
// vocabulary], with zeros after the last step that was run.
Tensor AllScores(Tensor first, Tensor others, const Dim& steps) {
  const Tensor scores = Concat({Unsqueeze(first, {0}), others}, 0);
  Shape high(4, Dim(0));
  high[0] = steps - scores.dim(0);
  return Pad(scores, Shape(4, Dim(0)), high, "constant", scores.Like(0));
}

}  // namespace

void ImportBeamSearch(NodeContext& c, const SubgraphImporter& run) {
  if (!CheckKind(c)) return;
  const std::unique_ptr<Decoder> decoder =
      c.Integer("model_type", 0) == 0 ? MakeGptDecoder(c, run, c.Input(9))
                                      : MakeEncoderDecoder(c, run, c.Input(9));
  if (!c.ok()) return;
  const Tensor prompt = decoder->prompt();
  const std::optional<BeamOptions> options = ReadOptions(c, prompt.dim(1));
  ScoreRules rules = ReadScoreRules(c, {.min_length = 2,
                                        .repetition_penalty = 6,
                                        .vocab_mask = 7,
                                        .prefix_vocab_mask = 8});
  if (!options || !c.ok()) return;
  rules = ExpandRows(rules, options->beams);
  const Tensor logits = RepeatEach(decoder->Start(), 0, options->beams);
  if (!c.ok()) return;
  decoder->ExpandRows(options->beams);
  const BeamSearcher search(*options);
  BeamState state =
      search.Begin(c, BeginSequences(c, prompt, options->maximum_length));
  if (rules.repetition_penalty) {
    state.seen =
        RepeatEach(SeenTokens(prompt, logits.dim(1)), 0, options->beams);
  }
  // Up to this first step all beams of a prompt have the same past (keys and
  // values). So the past need not be reordered by `rows`, the row that each
  // beam continues.
  Tensor rows;
  const Tensor first = search.Advance(
      rules, logits, DimScalar(c.builder(), prompt.dim(1)), true, state, rows);
  if (!c.ok()) return;
  std::optional<BeamResults> found =
      RunLoop(c, *decoder, *options, search, rules, state, decoder->state());
  if (!found) return;
  search.Finish(found->state);
  const DType type = c.Input(5) ? c.Input(5).dtype() : DType::kF32;
  c.SetOutput(0, SliceAxis(found->state.ended, 1, Dim(0), options->returned));
  c.SetOutput(1, Cast(SliceAxis(found->state.ended_scores, 1, Dim(0),
                                options->returned),
                      type));
  if (found->scores) {
    c.SetOutput(2, Cast(AllScores(first, found->scores,
                                  options->maximum_length - prompt.dim(1)),
                        type));
  }
}

}  // namespace ember::onnx

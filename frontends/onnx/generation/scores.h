// Rules that text generations apply to the scores of the next token before they
// choose it, and the sequences that they write.
//
//   ScoreRules rules = ReadScoreRules(c, {.min_length = 2, …});
//   scores = ApplyRules(rules, scores, sequences, seen, length, true);
//   … in a region: ApplyRules(Inside(region, rules), …)
//
// Rules apply in this order: repetition_penalty, no_repeat_ngram_size,
// vocab_mask, prefix_vocab_mask (first token only), min_length, temperature,
// presence_penalty.
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_SCORES_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_SCORES_H_

#include <cstdint>
#include <optional>

#include "frontends/onnx/generation/decoder.h"

namespace ember::onnx {

// The index of the node's input for each rule; -1 if the node has no such
// input.
struct RuleInputs {
  int min_length = -1;
  int repetition_penalty = -1;
  int vocab_mask = -1;
  int prefix_vocab_mask = -1;
  int presence_mask = -1;
};

// The rules of a generation. If a tensor is absent, its rule does not apply.
struct ScoreRules {
  Tensor min_length;          // i64[]
  Tensor repetition_penalty;  // f32[]
  Tensor vocab_mask;          // bool [vocabulary]
  Tensor prefix_vocab_mask;   // bool [rows, vocabulary]
  // The operand presence_mask times the attribute presence_penalty, which is
  // subtracted from the scores, f32 [rows, vocabulary].
  Tensor presence_mask;
  int64_t ngram = 0;
  int64_t eos = -1;
  double temperature = 1;
};

ScoreRules ReadScoreRules(NodeContext& c, const RuleInputs& inputs);
// Returns the rules with their tensors repeated, for `beams` rows per prompt.
ScoreRules ExpandRows(const ScoreRules& rules, const Dim& beams);
ScoreRules Inside(graph::Region& region, const ScoreRules& rules);

// Applies the rules. scores: f32 [rows, vocabulary]. sequences: i32 [rows,
// max_length], of which the first `length` (i64[]) are written. seen: bool
// [rows, vocabulary], true for tokens that occur in the written part; present
// if there is a repetition penalty.
Tensor ApplyRules(const ScoreRules& rules, Tensor scores, Tensor sequences,
                  Tensor seen, Tensor length, bool first);

// Returns bool [rows, vocabulary]: true for the tokens that occur in i32 [rows,
// length].
Tensor SeenTokens(Tensor tokens, const Dim& vocabulary);

// Largest max_length that is accepted, and its default, as in ONNX Runtime. It
// is only checked if max_length is known when compiling.
inline constexpr int64_t kLongestSequence = 4096;

// Reads the operand max_length as a dim that is greater than the prompt's;
// nullopt after an error.
std::optional<Dim> ReadMaximumLength(NodeContext& c, int input,
                                     const Dim& prompt);
// Returns sequences of `maximum_length` tokens: the prompt, followed by padding
// tokens.
Tensor BeginSequences(NodeContext& c, Tensor prompt, const Dim& maximum_length);
// Returns the sequences with the tokens (i32 [rows]) written at position
// `length`, one per row.
Tensor WriteTokens(Tensor sequences, Tensor tokens, Tensor length);

// Returns bool[]: true if some row is not done. done: bool [rows].
Tensor AnyOpen(Tensor done);

// Returns false, with an error, unless there is a prompt (operand 0), and at
// most `most` operands, all of them plain tensors.
bool CheckTensors(NodeContext& c, int most);
// Returns an operand of one element as a scalar; absent if the operand is.
Tensor ScalarOperand(NodeContext& c, int input, DType type);
// Returns the smallest finite f32, which is the score of tokens that are not
// allowed.
double LowestScore();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_SCORES_H_

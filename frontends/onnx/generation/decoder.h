// The decoder of a text generation: feeds its subgraph with the prompt and then
// with one token at a time.
//
//   std::unique_ptr<Decoder> decoder = MakeGptDecoder(c, run, mask);
//   Tensor scores = decoder->Start();       // [batch, vocabulary]
//   decoder->ExpandRows(beams);             // from here on batch * beams rows
//   … in a loop whose carried values begin with decoder->state():
//   Tensor scores = decoder->Step(step, state);   // [rows, vocabulary]
//
// Logits are f32, and only of the last token. A decoder must not outlive the
// context.
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_

#include <memory>
#include <vector>

#include "frontends/onnx/generation/generation.h"

namespace ember::onnx {

// The values of the generation loop that the decoder may read in one iteration.
struct DecoderStep {
  graph::Region& region;
  Tensor iteration;  // i64[], from 0
  // i32 [rows, max_length]: the prompt and the generated tokens, followed by
  // padding.
  Tensor sequences;
  Tensor tokens;  // i32 [rows]: the last token of each row.
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // The tokens of the prompt, i32 [batch, length].
  const Tensor& prompt() const { return prompt_; }
  virtual Tensor Start() = 0;
  // Repeats each row of the state `beams` times; the copies are adjacent.
  void ExpandRows(const Dim& beams);

  // The values that the loop carries for the decoder: past keys and values, for
  // GPT after the attention mask. Their dim of positions grows from iteration
  // to iteration.
  const std::vector<Tensor>& state() const { return state_; }
  // Runs the decoder for one token, and returns the scores of the next token.
  // `state` holds the carried values of this iteration, and on return those of
  // the next iteration.
  virtual Tensor Step(const DecoderStep& step, std::vector<Tensor>& state) = 0;
  // Returns the axis of the rows (sequences) of a carried value; `index` is its
  // index in state().
  virtual int RowAxis(size_t index) const = 0;

 protected:
  Decoder(NodeContext& c, const SubgraphImporter& run) : c_(c), run_(run) {}

  // Requirements that Run checks for the subgraph's outputs: there are at least
  // `least`, and those from index `first_past` on are past keys and values of
  // rank `past_rank`. Run returns the outputs; empty after an error.
  struct Expected {
    size_t least, first_past;
    int past_rank;
  };
  std::vector<Tensor> Run(const GraphProto& graph,
                          const std::vector<Tensor>& inputs,
                          graph::Region* region, const Expected& expected);
  // Returns the logits of the last position, f32 [rows, vocabulary].
  Tensor LastLogits(Tensor logits);
  // Returns a past without tokens, of the type that the subgraph declares, with
  // `rows` rows.
  Tensor EmptyPast(const ValueInfoProto& declared, int row_axis,
                   int length_axis, const Dim& rows);

  NodeContext& c_;
  const SubgraphImporter& run_;
  Tensor prompt_;
  std::vector<Tensor> state_;
  // Operands of the decoder that are the same in each iteration, such as the
  // encoder's hidden states. They have one element per row in dim 0.
  std::vector<Tensor> fixed_;
};

// Makes a decoder of model type 0 (GPT). attention_mask: an operand of the
// node, or absent.
std::unique_ptr<Decoder> MakeGptDecoder(NodeContext& c,
                                        const SubgraphImporter& run,
                                        Tensor attention_mask);
// Makes a decoder of model type 1 (an encoder with a decoder).
std::unique_ptr<Decoder> MakeEncoderDecoder(NodeContext& c,
                                            const SubgraphImporter& run,
                                            Tensor attention_mask);

// Returns `outer` as a value that the region captures. An absent tensor stays
// absent.
Tensor Inside(graph::Region& region, Tensor outer);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_

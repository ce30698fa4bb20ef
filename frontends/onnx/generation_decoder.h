// The decoder of a text generation: how its subgraph is fed, over the prompt
// and token by token.
//
//   std::unique_ptr<Decoder> decoder = MakeGptDecoder(c, run, mask);
//   Tensor scores = decoder->Start();       // [batch, vocabulary]
//   decoder->ExpandRows(beams);             // from here on batch * beams rows
//   … in a loop whose carried values begin with decoder->state():
//   Tensor scores = decoder->Step(step, state);   // [rows, vocabulary]
//
// Logits come in f32, of the last token only. Must not outlive the context.
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_

#include <memory>
#include <vector>

#include "frontends/onnx/generation.h"

namespace ember::onnx {

// What one iteration of the loop has.
struct DecoderStep {
  graph::Region& region;
  Tensor iteration;  // i64[], from 0
  Tensor sequences;  // i32 [rows, max_length], the generated tokens in front
  Tensor tokens;     // i32 [rows], the last of them
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // Tokens to begin with: i32 [batch, length].
  const Tensor& prompt() const { return prompt_; }
  virtual Tensor Start() = 0;
  // Each row `beams` times in a row.
  void ExpandRows(const Dim& beams);

  // What the loop carries. The dim of the length varies.
  const std::vector<Tensor>& state() const { return state_; }
  // state: of this iteration, and then of the next.
  virtual Tensor Step(const DecoderStep& step, std::vector<Tensor>& state) = 0;
  // The axis of a state's rows.
  virtual int RowAxis(size_t index) const = 0;

 protected:
  Decoder(NodeContext& c, const SubgraphRunner& run) : c_(c), run_(run) {}

  // The subgraph's outputs, at least `least` of them, the pasts among them
  // (from `first_past` on) of that rank; empty after an error.
  struct Expected {
    size_t least, first_past;
    int past_rank;
  };
  std::vector<Tensor> Run(const GraphProto& graph,
                          const std::vector<Tensor>& inputs,
                          graph::Region* region, const Expected& expected);
  // f32 [rows, vocabulary] of the last position.
  Tensor LastLogits(Tensor logits);
  // A past without tokens, as the subgraph declares it, with `rows` rows.
  Tensor EmptyPast(const ValueInfoProto& declared, int row_axis,
                   int length_axis, const Dim& rows);

  NodeContext& c_;
  const SubgraphRunner& run_;
  Tensor prompt_;
  std::vector<Tensor> state_;
  std::vector<Tensor> fixed_;  // by row too, the same in each iteration
};

// Model type 0. attention_mask: an operand of the node, or absent.
std::unique_ptr<Decoder> MakeGptDecoder(NodeContext& c,
                                        const SubgraphRunner& run,
                                        Tensor attention_mask);
// Model type 1.
std::unique_ptr<Decoder> MakeEncoderDecoder(NodeContext& c,
                                            const SubgraphRunner& run,
                                            Tensor attention_mask);

// The value inside the region; absent stays absent.
Tensor Inside(graph::Region& region, Tensor outer);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_DECODER_H_

// Tests GreedySearch, Sampling and BeamSearch end to end, with decoders whose
// logits are a known function of the tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"
#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelBuilder;
using onnx::TensorProto;
using ::testing::HasSubstr;
using Table = std::vector<std::vector<float>>;

// A log-probability so small that the token is never chosen.
constexpr float kNever = -30;

// Makes the parts that all decoders have: the inputs, and the concatenation of
// the past with the present. The caller adds nodes that compute `logits` from
// input_ids, position_ids, attention_mask and present_0.
ModelBuilder GptDecoder() {
  ModelBuilder m(11);
  m.Input("input_ids", {"batch", "length"}, TensorProto::INT32);
  m.Input("position_ids", {"batch", "length"}, TensorProto::INT32);
  m.Input("attention_mask", {"batch", "total"}, TensorProto::INT32);
  m.Input("past_0", {2, "batch", 1, "past", 1});
  m.Node("Cast", {"input_ids"}, {"numbers"}, {{"to", TensorProto::FLOAT}});
  m.Node("Unsqueeze", {"numbers"}, {"key"},
         {{"axes", std::vector<int64_t>{0, 2, 4}}});
  m.Node("Concat", {"key", "key"}, {"fresh"}, {{"axis", 0}});
  m.Node("Concat", {"past_0", "fresh"}, {"present_0"}, {{"axis", 3}});
  m.Output("logits");
  m.Output("present_0");
  return m;
}

// Returns a decoder whose logits after a token are the token's row of the
// table.
GraphProto TableDecoder(const Table& table) {
  ModelBuilder m = GptDecoder();
  const auto size = static_cast<int64_t>(table.size());
  std::vector<float> values;
  for (const auto& row : table)
    values.insert(values.end(), row.begin(), row.end());
  m.Floats("table", {size, size}, values);
  m.Node("Gather", {"table", "input_ids"}, {"logits"});
  return m.graph();
}

// Returns a table of transitions in which token t is most likely followed by (t
// + step) % size.
Table Counting(int size, int step = 1) {
  Table table(static_cast<size_t>(size),
              std::vector<float>(static_cast<size_t>(size), 0));
  for (int t = 0; t < size; ++t)
    table[static_cast<size_t>(t)][static_cast<size_t>((t + step) % size)] = 10;
  return table;
}

// Returns a table of transitions in which every token is followed by the same
// logits.
Table Always(const std::vector<float>& logits) {
  return Table(logits.size(), logits);
}

// Adds nodes that compute the logit of each token of the vocabulary as -(token
// - target)², so that `target` ([batch, length]) is the likeliest token.
void LogitsAround(ModelBuilder& m, const std::string& target, int vocabulary) {
  std::vector<float> numbers;
  for (int i = 0; i < vocabulary; ++i) numbers.push_back(static_cast<float>(i));
  m.Floats("vocabulary", {vocabulary}, numbers);
  m.Node("Unsqueeze", {target}, {"goal"}, {{"axes", std::vector<int64_t>{2}}});
  m.Node("Sub", {"vocabulary", "goal"}, {"distance"});
  m.Node("Mul", {"distance", "distance"}, {"square"});
  m.Node("Neg", {"square"}, {"logits"});
}

// Returns a decoder whose next token is the sum of the unmasked tokens and the
// position.
GraphProto SummingDecoder(int vocabulary) {
  ModelBuilder m = GptDecoder();
  m.Node("ReduceMean", {"present_0"}, {"tokens"},
         {{"axes", std::vector<int64_t>{0, 2, 4}}, {"keepdims", 0}});
  m.Node("Cast", {"attention_mask"}, {"mask"}, {{"to", TensorProto::FLOAT}});
  m.Node("Mul", {"tokens", "mask"}, {"shown"});
  m.Node("ReduceSum", {"shown"}, {"sum"},
         {{"axes", std::vector<int64_t>{1}}, {"keepdims", 1}});
  m.Node("Cast", {"position_ids"}, {"positions"}, {{"to", TensorProto::FLOAT}});
  m.Node("Add", {"positions", "sum"}, {"targets"});
  LogitsAround(m, "targets", vocabulary);
  return m.graph();
}

class Generation : public OneNode {
 public:
  Generation(const std::string& op_type, const GraphProto& decoder, int eos,
             int pad, int outputs = 1)
      : OneNode(op_type, 11, outputs, "com.microsoft") {
    Subgraph("decoder", decoder);
    Attribute({"eos_token_id", eos});
    Attribute({"pad_token_id", pad});
  }
  Generation& Subgraph(const char* name, const GraphProto& graph) {
    AttributeProto& attribute = *node().add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::GRAPH);
    *attribute.mutable_g() = graph;
    return *this;
  }
  Generation& Prompt(std::vector<int64_t> dims, std::vector<double> ids) {
    Input(I32(std::move(dims), std::move(ids)), {-1, -1});
    return *this;
  }
};

std::string ErrorOf(OneNode& node) {
  const auto results = node.Run();
  return results.ok() ? "" : std::string(results.status().message());
}

TEST(GreedySearch, RowsEndAtTheirTimeAndArePadded) {
  Generation node("GreedySearch", TableDecoder(Counting(8)), 7, 0);
  node.Prompt({3, 2}, {1, 2, 3, 4, 5, 6}).Input(I32({1}, {6}));
  ExpectNumbers(node.Run(), {I32({3, 6}, {1, 2, 3, 4, 5, 6,  //
                                          3, 4, 5, 6, 0, 0,  //
                                          5, 6, 0, 0, 0, 0})});
}

TEST(GreedySearch, StopsWhenAllRowsEnded) {
  Generation node("GreedySearch", TableDecoder(Counting(8)), 7, 0);
  node.Prompt({2, 1}, {6, 6}).Constant(I32({1}, {2048}));
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  std::vector<double> expected(2 * 2048, 0);
  expected[0] = expected[2048] = 6;
  ExpectNumbers(results, {I32({2, 2048}, expected)});
}

TEST(GreedySearch, NoEndBeforeTheSmallestLength) {
  for (const bool known : {true, false}) {
    Generation node("GreedySearch", TableDecoder(Counting(8)), 7, 0);
    node.Prompt({1, 2}, {5, 6});
    for (const double length : {6, 4}) {
      if (known)
        node.Constant(I32({1}, {length}));
      else
        node.Input(I32({1}, {length}));
    }
    // After token 6 several tokens have the same logit; the search takes the
    // first of them, 0.
    ExpectNumbers(node.Run(), {I32({1, 6}, {5, 6, 0, 1, 2, 3})});
  }
}

TEST(GreedySearch, PenalizesWhatTheRowHas) {
  const auto run = [](const std::vector<float>& logits, double prompt) {
    Generation node("GreedySearch", TableDecoder(Always(logits)), 9, 0);
    node.Prompt({1, 1}, {prompt}).Input(I32({1}, {4}));
    node.Absent().Input(F32({1}, {2}));
    return node.Run();
  };
  // The penalty divides the logits of tokens that have occurred. The logits of
  // the tokens 0 to 3 are 4, 3/2, 2.5, 1 in the first step, then 4/2, 3/2, 2.5,
  // 1, and then 2, 1.5, 1.25, 1.
  ExpectNumbers(run({4, 3, 2.5, 1}, 1), {I32({1, 4}, {1, 0, 2, 0})});
  // Negative logits are multiplied by the penalty 3 instead of divided, so that
  // they become smaller, too.
  ExpectNumbers(run({-1, -1.5, -1.75, -5}, 3), {I32({1, 4}, {3, 0, 1, 2})});
}

TEST(GreedySearch, RepeatsNoNGram) {
  Table table = Counting(4);
  for (size_t t = 0; t < 4; ++t) table[t][(t + 2) % 4] = 5;
  Generation node("GreedySearch", TableDecoder(table), 9, 0);
  node.Attribute({"no_repeat_ngram_size", 2});
  node.Prompt({1, 5}, {0, 1, 2, 3, 0}).Input(I32({1}, {8}));
  ExpectNumbers(node.Run(), {I32({1, 8}, {0, 1, 2, 3, 0, 2, 0, 0})});
  Generation longer("GreedySearch", TableDecoder(Counting(4)), 9, 0);
  longer.Attribute({"no_repeat_ngram_size", 9});
  longer.Prompt({1, 1}, {0}).Input(I32({1}, {3}));
  ExpectNumbers(longer.Run(), {I32({1, 3}, {0, 1, 2})});
}

TEST(GreedySearch, TakesMasksOfTheVocabulary) {
  Generation node("GreedySearch", TableDecoder(Counting(4)), 9, 0);
  node.Prompt({2, 1}, {0, 1}).Input(I32({1}, {4})).Absent().Absent();
  // The vocabulary mask forbids token 3 in all steps.
  node.Input(I32({4}, {1, 1, 1, 0}));
  // The prefix mask of the first sequence forbids token 1 in the first step.
  node.Input(I32({2, 4}, {1, 0, 1, 1, 1, 1, 1, 1}));
  ExpectNumbers(node.Run(), {I32({2, 4}, {0, 0, 1, 2, 1, 2, 0, 1})});
}

TEST(GreedySearch, FeedsPositionsMaskAndPast) {
  Generation node("GreedySearch", SummingDecoder(32), 30, 31);
  node.Prompt({2, 3}, {31, 1, 2, 1, 1, 1}).Input(I32({1}, {6}));
  // Each new token is the sum of all tokens before it and of its position: 1 +
  // 2 + 1 = 4, then 1 + 2 + 4 + 2 = 9, and so on. Padding counts neither as a
  // token nor as a position.
  ExpectNumbers(node.Run(),
                {I32({2, 6}, {31, 1, 2, 4, 9, 19, 1, 1, 1, 5, 11, 23})});
  Generation masked("GreedySearch", SummingDecoder(32), 30, 31);
  masked.Prompt({1, 3}, {1, 1, 1}).Input(I32({1}, {6}));
  masked.Absent().Absent().Absent().Absent().Input(I32({1, 3}, {0, 1, 1}));
  ExpectNumbers(masked.Run(), {I32({1, 6}, {1, 1, 1, 4, 9, 19})});
}

TEST(GreedySearch, RunsTheInitDecoderFirst) {
  Generation node("GreedySearch", TableDecoder(Counting(8)), 7, 0);
  node.Subgraph("init_decoder", TableDecoder(Counting(8, 3)));
  node.Prompt({1, 1}, {1}).Input(I32({1}, {4}));
  ExpectNumbers(node.Run(), {I32({1, 4}, {1, 4, 5, 6})});
}

TEST(GreedySearch, RefusesWhatItCannot) {
  Generation encoder("GreedySearch", TableDecoder(Counting(4)), 7, 0);
  encoder.Attribute({"model_type", 1});
  encoder.Prompt({1, 1}, {1}).Input(I32({1}, {4}));
  EXPECT_THAT(ErrorOf(encoder), HasSubstr("'model_type': expected 0"));
  GraphProto shared = TableDecoder(Counting(4));
  *shared.add_input() = shared.input(2);
  shared.mutable_input(4)->set_name("past_sequence_length");
  Generation buffer("GreedySearch", shared, 7, 0);
  buffer.Prompt({1, 1}, {1}).Input(I32({1}, {4}));
  EXPECT_THAT(ErrorOf(buffer),
              HasSubstr("(the last 'past_sequence_length') for 2 outputs: "
                        "export without past_present_share_buffer"));
  ModelBuilder flat = GptDecoder();
  flat.Node("ReduceMax", {"numbers"}, {"logits"});
  Generation ranks("GreedySearch", flat.graph(), 7, 0);
  ranks.Prompt({1, 1}, {1}).Input(I32({1}, {4}));
  EXPECT_THAT(ErrorOf(ranks),
              HasSubstr("output 0: expected a tensor of rank 3"));
  Generation full("GreedySearch", TableDecoder(Counting(4)), 7, 0);
  full.Prompt({1, 2}, {1, 2}).Input(I32({1}, {2}));
  EXPECT_THAT(ErrorOf(full),
              HasSubstr("max_length: expected more than the prompt's tokens"));
}

std::vector<float> Logs(const std::vector<double>& probabilities) {
  std::vector<float> logs;
  for (const double p : probabilities)
    logs.push_back(p > 0 ? static_cast<float>(std::log(p)) : kNever);
  return logs;
}

TEST(Sampling, TakesTheBestWhereNothingElseIsLeft) {
  for (const int custom : {0, 1}) {
    Generation node("Sampling", TableDecoder(Counting(8)), 7, 0);
    node.Attribute({"top_p", 0.5}).Attribute({"custom", custom});
    node.Attribute({"min_tokens_to_keep", 1});
    node.Prompt({2, 1}, {1, 5}).Input(I32({1}, {4}));
    ExpectNumbers(node.Run(), {I32({2, 4}, {1, 2, 3, 4, 5, 6, 0, 0})});
  }
}

TEST(Sampling, DrawsByProbabilityAmongWhatIsKept) {
  // The tokens have the probabilities .1, .2, .3 and .4, and top_p is .6. The
  // least probable tokens are dropped while the sum of the dropped
  // probabilities is at most 1 - .6.
  constexpr int kRows = 2048;
  for (const int seed : {-1, 7}) {
    Generation node("Sampling", TableDecoder(Always(Logs({.1, .2, .3, .4}))), 9,
                    0);
    node.Attribute({"top_p", 0.6}).Attribute({"min_tokens_to_keep", 1});
    node.Prompt({kRows, 1}, std::vector<double>(kRows, 1));
    node.Input(I32({1}, {3}));
    if (seed >= 0) {
      for (int i = 2; i < 8; ++i) node.Absent();
      node.Constant(I32({1}, {static_cast<double>(seed)}));
    }
    const auto results = node.Run();
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    int counts[2][4] = {}, same = 0;
    for (size_t row = 0; row < kRows; ++row) {
      const double* tokens = results->front().values.data() + 3 * row;
      for (const int step : {0, 1}) {
        const auto token = static_cast<int>(tokens[1 + step]);
        ASSERT_TRUE(token == 2 || token == 3) << token;
        ++counts[step][token];
      }
      same += tokens[1] == tokens[2] ? 1 : 0;
    }
    // Two tokens remain. The last one is drawn with probability 4/7, and a row
    // draws the same token in both steps with probability 25/49. The counts
    // must be within 5 standard deviations.
    const double spread = 5 * std::sqrt(kRows * 0.25);
    for (const auto& count : counts)
      EXPECT_NEAR(count[3], kRows * 4.0 / 7, spread);
    EXPECT_NEAR(same, kRows * 25.0 / 49, spread);
  }
}

// Draws the numbers that std::uniform_real_distribution<double> draws from
// std::minstd_rand: each number is made of two numbers of the generator, minus
// its minimum, the lower part first.
class Uniform {
 public:
  explicit Uniform(uint32_t seed) : generator_(seed) {}
  double Next() {
    constexpr double kRange = 2147483646;
    const double low = static_cast<double>(generator_() - 1);
    const double high = static_cast<double>(generator_() - 1);
    return (low + high * kRange) / (kRange * kRange);
  }

 private:
  std::minstd_rand0 generator_;
};

TEST(Sampling, DrawsWhatASeedSays) {
  constexpr int kRows = 5, kLength = 7;
  for (const int seed : {0, 7, 123456}) {
    Generation node("Sampling", TableDecoder(Always(Logs({.1, .2, .3, .4}))), 9,
                    0);
    node.Attribute({"top_p", 0.6}).Attribute({"min_tokens_to_keep", 1});
    node.Prompt({kRows, 1}, std::vector<double>(kRows, 1));
    node.Constant(I32({1}, {kLength}));
    if (seed > 0) {
      for (int i = 2; i < 8; ++i) node.Absent();
      node.Input(I32({1}, {static_cast<double>(seed)}));
    }
    Uniform uniform(static_cast<uint32_t>(seed));
    std::vector<double> expected(kRows * kLength, 1);
    for (size_t step = 1; step < kLength; ++step) {
      for (size_t row = 0; row < kRows; ++row)
        expected[row * kLength + step] = uniform.Next() * .7 < .3 ? 2 : 3;
    }
    ExpectNumbers(node.Run(), {I32({kRows, kLength}, expected)});
  }
}

TEST(Sampling, FlattensByTemperature) {
  // At temperature 1000 the two tokens are nearly equally probable, though
  // their logits differ by 30. So both tokens must be drawn.
  Generation node("Sampling", TableDecoder(Always({0, 30})), 9, 0);
  node.Attribute({"temperature", 1000.0}).Attribute({"top_p", 1.0});
  node.Attribute({"min_tokens_to_keep", 2});
  node.Prompt({64, 1}, std::vector<double>(64, 0)).Input(I32({1}, {2}));
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  double ones = 0;
  for (const double token : results->front().values) ones += token;
  EXPECT_NEAR(ones, 32, 20);
}

// Returns a table of transitions. Token 0 is followed by 1 (probability .6) or
// 2 (.4). Token 4 is the end of a sequence; it follows 1 with probability .5
// and 2 with probability .9.
Table Fork() {
  return {Logs({0, .6, .4, 0, 0}), Logs({.3, .2, 0, 0, .5}),
          Logs({.1, 0, 0, 0, .9}), Always({0, 0, 0, 0, 0})[0],
          Always({0, 0, 0, 0, 0})[0]};
}

Generation Beams(const GraphProto& decoder, double max_length, double beams,
                 double returned, double length_penalty, bool known = true) {
  Generation node("BeamSearch", decoder, 4, 3, 2);
  const auto add = [&](const Numbers& value) {
    if (known)
      node.Constant(value);
    else
      node.Input(value);
  };
  node.Input(I32({1, 1}, {0}), {-1, -1});
  add(I32({1}, {max_length}));
  node.Absent();
  add(I32({1}, {beams}));
  add(I32({1}, {returned}));
  add(F32({1}, {length_penalty}));
  return node;
}

TEST(BeamSearch, FindsWhatGreedySearchMisses) {
  for (const bool known : {true, false}) {
    Generation node = Beams(TableDecoder(Fork()), 6, 2, 2, 0, known);
    ExpectNumbers(node.Run(),
                  {I32({1, 2, 6}, {0, 2, 3, 3, 3, 3, 0, 1, 3, 3, 3, 3}),
                   F32({1, 2}, {std::log(.36), std::log(.3)})});
  }
  // A search with a single beam is greedy: it finds 0, 1 and the end token,
  // although another sequence is more probable.
  Generation greedy = Beams(TableDecoder(Fork()), 6, 1, 1, 0);
  ExpectNumbers(greedy.Run(), {I32({1, 1, 6}, {0, 1, 3, 3, 3, 3}),
                               F32({1, 1}, {std::log(.3)})});
}

TEST(BeamSearch, BeamsThatDoNotEndCountAtTheLargestLength) {
  Generation node = Beams(TableDecoder(Fork()), 2, 2, 2, 1);
  ExpectNumbers(node.Run(),
                {I32({1, 2, 2}, {0, 1, 0, 2}),
                 F32({1, 2}, {std::log(.6) / 2, std::log(.4) / 2})});
}

TEST(BeamSearch, LongSequencesArePenalizedByTheirLength) {
  // If the length penalty is 1, the log-probability is divided by the length.
  // Then 0 1 0 (.18, length 3) is worse than 0 2 and 0 1, which end after 2
  // tokens. If the penalty is 2, it is divided by length², and 0 1 0 is the
  // best.
  Generation one = Beams(TableDecoder(Fork()), 3, 2, 1, 1);
  ExpectNumbers(one.Run(),
                {I32({1, 1, 3}, {0, 2, 3}), F32({1, 1}, {std::log(.36) / 2})});
  Generation two = Beams(TableDecoder(Fork()), 3, 2, 1, 2);
  ExpectNumbers(two.Run(),
                {I32({1, 1, 3}, {0, 1, 0}), F32({1, 1}, {std::log(.18) / 9})});
}

TEST(BeamSearch, PromptsOfABatchAreApart) {
  Generation node("BeamSearch", TableDecoder(Fork()), 4, 3, 3);
  node.Prompt({2, 1}, {0, 2}).Input(I32({1}, {5})).Absent();
  node.Constant(I32({1}, {2})).Constant(I32({1}, {2}));
  node.Constant(F32({1}, {0}));
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNumbers(std::vector<Numbers>{(*results)[0], (*results)[1]},
                {I32({2, 2, 5}, {0, 2, 3, 3, 3, 0, 1, 3, 3, 3,  //
                                 2, 3, 3, 3, 3, 2, 0, 2, 3, 3}),
                 F32({2, 2}, {std::log(.36), std::log(.3), std::log(.9),
                              std::log(.036)})});
  // The third output has the log-probability of every candidate at every step:
  // [steps, batch, beams, tokens].
  const Numbers& scores = (*results)[2];
  EXPECT_EQ(scores.dims, (std::vector<int64_t>{4, 2, 2, 5}));
  EXPECT_NEAR(scores.values[1], std::log(.6), 1e-5);
  EXPECT_NEAR(scores.values[10 + 4], std::log(.9), 1e-5);
  EXPECT_NEAR(scores.values[20 + 4], std::log(.3), 1e-5);
}

TEST(BeamSearch, PastsFollowTheirBeams) {
  // After the first step the sequence 0 1 is better than 0 6. After the second
  // step 0 6 7 (.72), at the end of the vocabulary, is better than 0 1 2 (.56),
  // so the two beams change places. The token after 0 1 2 is the sum of its
  // tokens and the position, 5. That holds only if the past of the beam was
  // moved with the beam.
  Generation node("BeamSearch", SummingDecoder(8), 62, 63, 1);
  node.Subgraph("init_decoder",
                TableDecoder(Table(8, Logs({0, .52, 0, 0, 0, 0, .48, 0}))));
  node.Prompt({1, 1}, {0}).Input(I32({1}, {4})).Absent();
  node.Constant(I32({1}, {2})).Constant(I32({1}, {2}));
  ExpectNumbers(node.Run(), {I32({1, 2, 4}, {0, 6, 7, 7, 0, 1, 2, 5})});
}

// The model has an encoder and a decoder. The encoder passes on its tokens,
// without padding, as the keys of cross attention. The decoder's next token is
// the sum of the encoder's tokens and of all decoder tokens so far.
TEST(BeamSearch, RunsTheEncoderOnce) {
  constexpr int kStart = 1, kPad = 2, kVocabulary = 32;
  const std::vector<int64_t> inner = {1, 3};
  ModelBuilder encoder(11);
  for (const char* name : {"encoder_input_ids", "encoder_attention_mask"})
    encoder.Input(name, {"batch", "length"}, TensorProto::INT32);
  encoder.Node("Mul", {"encoder_input_ids", "encoder_attention_mask"},
               {"shown"});
  encoder.Node("Cast", {"shown"}, {"numbers"}, {{"to", TensorProto::FLOAT}});
  for (const char* name : {"present_key_cross_0", "present_value_cross_0"}) {
    encoder.Node("Unsqueeze", {"numbers"}, {name}, {{"axes", inner}});
    encoder.Output(name);
  }
  ModelBuilder decoder(11);
  decoder.Input("input_ids", {"batch", 1}, TensorProto::INT32);
  decoder.Input("encoder_attention_mask", {"batch", "length"},
                TensorProto::INT32);
  for (const char* name : {"past_key_self_0", "past_value_self_0"})
    decoder.Input(name, {"batch", 1, "past", 1});
  for (const char* name : {"past_key_cross_0", "past_value_cross_0"})
    decoder.Input(name, {"batch", 1, "length", 1});
  decoder.Node("Cast", {"input_ids"}, {"number"}, {{"to", TensorProto::FLOAT}});
  decoder.Node("Unsqueeze", {"number"}, {"fresh"}, {{"axes", inner}});
  for (const std::string part : {"key", "value"}) {
    decoder.Node("Concat", {"past_" + part + "_self_0", "fresh"},
                 {"present_" + part + "_self_0"}, {{"axis", 2}});
  }
  decoder.Node("Concat", {"past_value_cross_0", "present_value_self_0"},
               {"all"}, {{"axis", 2}});
  decoder.Node("ReduceSum", {"all"}, {"target"},
               {{"axes", inner}, {"keepdims", 0}});
  decoder.Node("ReduceSum", {"target"}, {"sum"},
               {{"axes", std::vector<int64_t>{1}}, {"keepdims", 1}});
  LogitsAround(decoder, "sum", kVocabulary);
  for (const char* name :
       {"logits", "present_key_self_0", "present_value_self_0"}) {
    decoder.Output(name);
  }
  for (const double beams : {1, 3}) {
    Generation node("BeamSearch", decoder.graph(), 31, kPad);
    node.Subgraph("encoder", encoder.graph());
    node.Attribute({"model_type", 1});
    node.Attribute({"decoder_start_token_id", kStart});
    // Padding in the middle or at the end of the prompt counts as a token;
    // padding at the beginning does not.
    node.Prompt({2, 3}, {kPad, 1, 1, 1, 1, kPad}).Input(I32({1}, {4})).Absent();
    node.Constant(I32({1}, {beams}));
    ExpectNumbers(node.Run(), {I32({2, 1, 4}, {1, 3, 6, 12, 1, 5, 10, 20})});
  }
}

// The next token is the last token plus the sum of the encoder's tokens. The
// decoder gets all tokens again in each step, so the past grows by all of them,
// and its length is not the number of tokens.
TEST(BeamSearch, DecodersMayTakeAllTokensAnew) {
  constexpr int kStart = 1, kPad = 2, kVocabulary = 32;
  const std::vector<int64_t> inner = {1, 3};
  ModelBuilder encoder(11);
  for (const char* name : {"encoder_input_ids", "encoder_attention_mask"})
    encoder.Input(name, {"batch", "length"}, TensorProto::INT32);
  encoder.Node("Cast", {"encoder_input_ids"}, {"numbers"},
               {{"to", TensorProto::FLOAT}});
  for (const char* name : {"present_key_cross_0", "present_value_cross_0"}) {
    encoder.Node("Unsqueeze", {"numbers"}, {name}, {{"axes", inner}});
    encoder.Output(name);
  }
  ModelBuilder decoder(11);
  decoder.Input("input_ids", {"batch", "count"}, TensorProto::INT32);
  decoder.Input("encoder_attention_mask", {"batch", "length"},
                TensorProto::INT32);
  for (const char* name : {"past_key_self_0", "past_value_self_0"})
    decoder.Input(name, {"batch", 1, "past", 1});
  for (const char* name : {"past_key_cross_0", "past_value_cross_0"})
    decoder.Input(name, {"batch", 1, "length", 1});
  decoder.Node("Cast", {"input_ids"}, {"number"}, {{"to", TensorProto::FLOAT}});
  decoder.Node("Unsqueeze", {"number"}, {"fresh"}, {{"axes", inner}});
  for (const std::string part : {"key", "value"}) {
    decoder.Node("Concat", {"past_" + part + "_self_0", "fresh"},
                 {"present_" + part + "_self_0"}, {{"axis", 2}});
  }
  decoder.Node("ReduceSum", {"past_value_cross_0"}, {"sum"},
               {{"axes", std::vector<int64_t>{1, 3}}, {"keepdims", 0}});
  decoder.Node("ReduceSum", {"sum"}, {"sums"},
               {{"axes", std::vector<int64_t>{1}}, {"keepdims", 1}});
  decoder.Node("Add", {"number", "sums"}, {"target"});
  LogitsAround(decoder, "target", kVocabulary);
  for (const char* name :
       {"logits", "present_key_self_0", "present_value_self_0"}) {
    decoder.Output(name);
  }
  for (const double beams : {1, 3}) {
    Generation node("BeamSearch", decoder.graph(), 31, kPad);
    node.Subgraph("encoder", encoder.graph());
    node.Attribute({"model_type", 1});
    node.Attribute({"decoder_start_token_id", kStart});
    node.Prompt({2, 2}, {1, 1, 1, 3}).Input(I32({1}, {7})).Absent();
    node.Constant(I32({1}, {beams}));
    ExpectNumbers(node.Run(), {I32({2, 1, 7}, {1, 3, 5, 7, 9, 11, 13,  //
                                               1, 5, 9, 13, 17, 21, 25})});
  }
}

TEST(BeamSearch, StopsEarly) {
  // Without early stopping, the search makes a third step and finds that 0 1 1
  // … is better than 0 1. With early stopping, the result is the first two
  // sequences that ended.
  for (const int early : {0, 1}) {
    Generation node = Beams(TableDecoder(Fork()), 3, 2, 1, 2);
    node.Attribute({"early_stopping", early});
    ExpectNumbers(node.Run(),
                  early == 1
                      ? std::vector<Numbers>{I32({1, 1, 3}, {0, 2, 3}),
                                             F32({1, 1}, {std::log(.36) / 4})}
                      : std::vector<Numbers>{I32({1, 1, 3}, {0, 1, 0}),
                                             F32({1, 1}, {std::log(.18) / 9})});
  }
}

TEST(BeamSearch, RefusesWhatItCannot) {
  Generation whisper("BeamSearch", TableDecoder(Fork()), 4, 3);
  whisper.Attribute({"model_type", 2});
  whisper.Prompt({1, 1}, {1}).Input(I32({1}, {4}));
  EXPECT_THAT(ErrorOf(whisper), HasSubstr("'model_type': expected 0"));
  Generation many = Beams(TableDecoder(Fork()), 4, 2, 3, 1);
  EXPECT_THAT(ErrorOf(many),
              HasSubstr("expected at most num_beams, 2, found 3"));
}

}  // namespace
}  // namespace ember::tests

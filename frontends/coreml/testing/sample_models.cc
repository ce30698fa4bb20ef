#include "frontends/coreml/testing/sample_models.h"

namespace ember::coreml {
namespace {

Message FeatureOf(const std::string& name, uint64_t kind, const Message& type) {
  return Message().Text(1, name).Put(3, Message().Put(kind, type));
}

Message TensorTypeOf(int64_t type, const std::vector<int64_t>& dims) {
  Message tensor;
  tensor.Integer(1, type).Integer(2, static_cast<int64_t>(dims.size()));
  for (const int64_t dim : dims)
    tensor.Put(3, Message().Put(1, Message().Integer(1, dim)));
  return Message().Put(1, tensor);
}

Message ConstOf(const std::string& name, const Message& type,
                const Message& tensor) {
  const Message value = Message().Put(2, type).Put(3, Message().Put(1, tensor));
  return Message()
      .Text(1, "const")
      .Put(3, Message().Text(1, name).Put(2, type))
      .Put(5, Message().Text(1, "val").Put(2, value));
}

std::string Network() {
  const Message weights =
      Message().Floats(1, std::vector<float>(2 * 3 * 9, 0.25f));
  const Message convolution = Message()
                                  .Integer(1, 2)
                                  .Integer(2, 3)
                                  .Integers(20, {3, 3})
                                  .Put(51, Message())
                                  .Put(90, weights);
  const Message quantized =
      Message()
          .Text(30, std::string("\x1b", 1))
          .Put(40, Message().Integer(1, 2).Put(
                       102, Message().Floats(1, {-1, 0, 1, 2})));
  Message network;
  network.Put(1, LayerOf(100, convolution, {"image"}, {"c"}));
  network.Put(1, LayerOf(130, Message().Put(10, Message()), {"c"}, {"r"}));
  network.Put(
      1, LayerOf(120, Message().Integer(1, 1).Integer(60, 1), {"r"}, {"p"}));
  network.Put(
      1, LayerOf(140, Message().Integer(1, 2).Integer(2, 2).Put(20, quantized),
                 {"p"}, {"s"}));
  network.Put(1, LayerOf(175, Message(), {"s"}, {"scores"}));
  network.Put(2, Message().Put(10, Message().Float(10, 0.5f)));
  network.Put(100, Message().Text(1, "cat").Text(1, "dog"));
  Message description =
      Description({ImageFeature("image", 4, 4)}, {StringFeature("label")});
  description.Text(11, "label").Text(12, "scores");
  description.Put(100, Message()
                           .Text(1, "Cats and dogs.")
                           .Text(3, "somebody")
                           .Text(4, "MIT")
                           .Put(100, Message().Text(1, "size").Text(2, "4")));
  return ModelOf(description, 403, network).bytes();
}

std::string Trees() {
  Message ensemble;
  ensemble.Put(1, BranchOf(0, 0, 1, 2.5, 1, 2));
  ensemble.Put(1, LeafOf(1, {{0, 1.0}}));
  ensemble.Put(1, LeafOf(2, {{0, -1.0}}));
  ensemble.Integer(2, 1).Doubles(3, {0.5});
  return ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                             {DoubleFeature("y")})
                     .Text(11, "y"),
                 302, Message().Put(1, ensemble))
      .bytes();
}

std::string Linear() {
  Message scaler = ModelOf(
      Description({ArrayFeature("x", {2})}, {ArrayFeature("scaled", {2})}), 604,
      Message().Doubles(1, {1, 2}).Doubles(2, {3}));
  Message glm = ModelOf(
      Description({ArrayFeature("scaled", {2})}, {DoubleFeature("y")})
          .Text(11, "y"),
      300, Message().Put(1, Message().Doubles(1, {1, 10})).Doubles(2, {0.5}));
  return ModelOf(Description({ArrayFeature("x", {2})}, {DoubleFeature("y")})
                     .Text(11, "y"),
                 201, Message().Put(1, Message().Put(1, scaler).Put(1, glm)))
      .bytes();
}

std::string Program() {
  return ModelOf(
             Description({ArrayFeature("x", {1, 2, 3})},
                         {ArrayFeature("y", {1, 2, 1})}),
             502,
             ProgramOf({ConstInts("axes", {-1}), ConstBool("keep", true),
                        ConstFloats("w", {2, 1}, {1, 2}),
                        OperationOf("mul", {{"x", {"x"}}, {"y", {"w"}}}, "m"),
                        OperationOf("reduce_sum",
                                    {{"x", {"m"}},
                                     {"axes", {"axes"}},
                                     {"keep_dims", {"keep"}}},
                                    "y")},
                       {"y"}))
      .bytes();
}

// A classifier with a list of labels.
std::string ClassifyingProgram() {
  Message list;
  for (const char* label : {"cat", "dog", "cow"})
    list.Put(1, Message()
                    .Put(2, TensorTypeOf(2, {}))
                    .Put(3, Message().Put(1, Message().Put(4, Message().Text(
                                                                  1, label)))));
  const Message classes =
      Message()
          .Put(2, Message().Put(2, Message().Put(1, TensorTypeOf(2, {}))))
          .Put(3, Message().Put(3, list));
  Message classify = OperationOf(
      "classify", {{"probabilities", {"p"}}, {"classes", {"c"}}}, "label");
  classify.Put(3, Message().Text(1, "scores"));
  Message description =
      Description({ArrayFeature("x", {1, 3})},
                  {StringFeature("label"), FeatureOf("scores", 6, Message())});
  description.Text(11, "label").Text(12, "scores");
  return ModelOf(
             description, 502,
             ProgramOf({ConstInts("axis", {-1}),
                        OperationOf("softmax",
                                    {{"x", {"x"}}, {"axis", {"axis"}}}, "p"),
                        Message()
                            .Text(1, "const")
                            .Put(3, Message().Text(1, "c"))
                            .Put(5, Message().Text(1, "val").Put(2, classes)),
                        classify},
                       {"label", "scores"}))
      .bytes();
}

// An LSTM with two inputs and one state.
std::string Recurrent() {
  const Message gate = Message().Floats(1, {0.5f, -1});
  const Message state = Message().Floats(1, {0.25f});
  Message weights;
  for (const uint64_t field : {1, 2, 3, 4}) weights.Put(field, gate);
  for (const uint64_t field : {20, 21, 22, 23, 60, 61, 62})
    weights.Put(field, state);
  const Message lstm = Message()
                           .Integer(1, 2)
                           .Integer(2, 1)
                           .Put(10, Message().Put(40, Message()))
                           .Put(10, Message().Put(30, Message()))
                           .Put(10, Message().Put(41, Message()))
                           .Put(15, Message().Integer(10, 1).Integer(40, 1))
                           .Put(20, weights);
  Message network;
  network.Put(1, LayerOf(420, lstm, {"x", "h"}, {"y", "last"})).Integer(5, 1);
  return ModelOf(
             Description({ArrayFeature("x", {3, 1, 2, 1, 1}),
                          ArrayFeature("h", {1, 1, 1, 1, 1})},
                         {ArrayFeature("y", {3}), ArrayFeature("last", {1})}),
             500, network)
      .bytes();
}

std::string SupportVectors() {
  const Message first =
      Message().Put(1, Message().Integer(1, 2).Double(2, 0.5));
  const Message second = Message().Put(1, Message().Integer(1, 1).Double(2, 1));
  return ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                             {DoubleFeature("label"), DoubleFeature("p")})
                     .Text(11, "label")
                     .Text(12, "p"),
                 401,
                 Message()
                     .Put(1, Message().Put(2, Message().Double(1, 0.5)))
                     .Integers(2, {1, 1})
                     .Put(3, Message().Put(1, first).Put(1, second))
                     .Put(5, Message().Doubles(1, {1, -1}))
                     .Doubles(6, {0.25})
                     .Doubles(7, {-1})
                     .Doubles(8, {0.5})
                     .Put(101, Message().Integers(1, {3, 4})))
      .bytes();
}

std::string Neighbors() {
  const Message index = Message()
                            .Integer(1, 2)
                            .Put(2, Message().Floats(1, {0, 1}))
                            .Put(2, Message().Floats(1, {1, 0}))
                            .Put(110, Message().Integer(1, 30));
  return ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                             {StringFeature("label")})
                     .Text(11, "label"),
                 404,
                 Message()
                     .Put(1, index)
                     .Integer(2, 1)
                     .Put(100, Message().Text(1, "cat").Text(1, "dog"))
                     .Put(210, Message()))
      .bytes();
}

// A network with a loop that a branch may leave. It computes y = x, then y = y
// + 3 at most four times, and stops when y is above 7.
std::string Loop() {
  const Message leave = Message().Put(1, LayerOf(620, Message(), {}, {}));
  const Message body =
      Message()
          .Put(1, LayerOf(230, Message().Float(1, 3), {"y"}, {"y"}))
          .Put(1, LayerOf(830, Message().Float(2, 7), {"y"}, {"c"}))
          .Put(1, LayerOf(605, Message().Put(1, leave), {"c"}, {}));
  Message network;
  network.Put(1, LayerOf(600, Message(), {"x"}, {"y"}))
      .Put(1, LayerOf(615, Message().Integer(1, 4).Put(4, body), {}, {}))
      .Integer(5, 1);
  return ModelOf(
             Description({ArrayFeature("x", {1})}, {ArrayFeature("y", {1})}),
             500, network)
      .bytes();
}

// An ML program with a loop and a conditional: y = x; while y < 5: y = y + 1;
// if y > 7: y = y * y.
std::string LoopingProgram() {
  const auto with = [](Message operation, const std::vector<Message>& blocks) {
    for (const Message& block : blocks) operation.Put(4, block);
    return operation;
  };
  const auto binary = [](const std::string& type, const std::string& x,
                         const std::string& y, const std::string& result) {
    return OperationOf(type, {{"x", {x}}, {"y", {y}}}, result);
  };
  return ModelOf(
             Description({ArrayFeature("x", {1})}, {ArrayFeature("y", {1})}),
             502,
             ProgramOf(
                 {ConstFloats("one", {1}, {1}), ConstFloats("five", {1}, {5}),
                  ConstFloats("seven", {1}, {7}),
                  with(OperationOf("while_loop", {{"loop_vars", {"x"}}}, "z"),
                       {BlockOf({"v"}, {binary("less", "v", "five", "c")},
                                {"c"}),
                        BlockOf({"v"}, {binary("add", "v", "one", "w")},
                                {"w"})}),
                  binary("greater", "z", "seven", "large"),
                  with(OperationOf("cond", {{"pred", {"large"}}}, "y"),
                       {BlockOf({}, {binary("mul", "z", "z", "s")}, {"s"}),
                        BlockOf({}, {}, {"z"})})},
                 {"y"}))
      .bytes();
}

}  // namespace

Message ArrayFeature(const std::string& name,
                     const std::vector<int64_t>& dims) {
  return FeatureOf(name, 5, Message().Integers(1, dims).Integer(2, 65568));
}
Message ImageFeature(const std::string& name, int64_t height, int64_t width) {
  return FeatureOf(
      name, 4, Message().Integer(1, width).Integer(2, height).Integer(3, 20));
}
Message DoubleFeature(const std::string& name) {
  return FeatureOf(name, 2, Message());
}
Message StringFeature(const std::string& name) {
  return FeatureOf(name, 3, Message());
}

Message Description(const std::vector<Message>& inputs,
                    const std::vector<Message>& outputs) {
  Message description;
  for (const Message& input : inputs) description.Put(1, input);
  for (const Message& output : outputs) description.Put(10, output);
  return description;
}

Message ModelOf(const Message& description, uint64_t kind,
                const Message& parameters) {
  return Message().Integer(1, 4).Put(2, description).Put(kind, parameters);
}

Message LayerOf(uint64_t kind, const Message& parameters,
                const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs) {
  Message layer;
  layer.Text(1, "layer");
  for (const std::string& input : inputs) layer.Text(2, input);
  for (const std::string& output : outputs) layer.Text(3, output);
  return layer.Put(kind, parameters);
}

Message BranchOf(int64_t node, int64_t behavior, int64_t feature, double value,
                 int64_t yes, int64_t no, bool missing_is_true) {
  return Message()
      .Integer(2, node)
      .Integer(3, behavior)
      .Integer(10, feature)
      .Double(11, value)
      .Integer(12, yes)
      .Integer(13, no)
      .Integer(14, missing_is_true ? 1 : 0);
}

Message LeafOf(int64_t node,
               const std::vector<std::pair<int64_t, double>>& votes) {
  Message leaf;
  leaf.Integer(2, node).Integer(3, 6);
  for (const auto& [target, value] : votes)
    leaf.Put(20, Message().Integer(1, target).Double(2, value));
  return leaf;
}

Message OperationOf(
    const std::string& type,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& inputs,
    const std::string& output) {
  Message operation;
  operation.Text(1, type);
  for (const auto& [name, values] : inputs) {
    Message argument;
    for (const std::string& value : values)
      argument.Put(1, Message().Text(1, value));
    operation.Put(2, Message().Text(1, name).Put(2, argument));
  }
  return operation.Put(3, Message().Text(1, output));
}

Message ConstFloats(const std::string& name, const std::vector<int64_t>& dims,
                    const std::vector<float>& values) {
  return ConstOf(name, TensorTypeOf(11, dims),
                 Message().Put(1, Message().Floats(1, values)));
}
Message ConstInts(const std::string& name, const std::vector<int64_t>& values) {
  return ConstOf(name, TensorTypeOf(23, {static_cast<int64_t>(values.size())}),
                 Message().Put(2, Message().Integers(1, values)));
}
Message ConstBool(const std::string& name, bool value) {
  return ConstOf(name, TensorTypeOf(1, {}),
                 Message().Put(3, Message().Integers(1, {value ? 1 : 0})));
}
Message ConstText(const std::string& name, const std::string& text) {
  return ConstOf(name, TensorTypeOf(2, {}),
                 Message().Put(4, Message().Text(1, text)));
}

Message BlockOf(const std::vector<std::string>& inputs,
                const std::vector<Message>& operations,
                const std::vector<std::string>& outputs) {
  Message block;
  for (const std::string& input : inputs)
    block.Put(1, Message().Text(1, input));
  for (const std::string& output : outputs) block.Text(2, output);
  for (const Message& operation : operations) block.Put(3, operation);
  return block;
}

Message ProgramOf(const std::vector<Message>& operations,
                  const std::vector<std::string>& outputs) {
  const Message block = BlockOf({}, operations, outputs);
  const Message function =
      Message()
          .Text(2, "CoreML5")
          .Put(3, Message().Text(1, "CoreML5").Put(2, block));
  return Message().Integer(1, 1).Put(
      2, Message().Text(1, "main").Put(2, function));
}

const std::vector<std::pair<std::string, std::string>>& SampleModels() {
  static const auto* const kModels =
      new std::vector<std::pair<std::string, std::string>>{
          {"network", Network()},
          {"trees", Trees()},
          {"linear", Linear()},
          {"program", Program()},
          {"classifying program", ClassifyingProgram()},
          {"recurrent", Recurrent()},
          {"support vectors", SupportVectors()},
          {"neighbors", Neighbors()},
          {"loop", Loop()},
          {"looping program", LoopingProgram()}};
  return *kModels;
}

}  // namespace ember::coreml

#include "frontends/torch_export/testing/sample_models.h"

#include <cstring>
#include <vector>

namespace ember::torch_export {
namespace {

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
// Returns the bytes of the f32 numbers first, first + step, ….
std::vector<uint8_t> Series(size_t count, float first, float step) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(first + step * static_cast<float>(i));
  return Floats(values);
}

constexpr std::string_view kNames[] = {"layers", "block", "branch", "counter",
                                       "loop"};

ProgramBuilder Layers() {
  ProgramBuilder p;
  p.Parameter("p_conv_weight", "conv.weight", DType::kF32, {2, 1, 3, 3},
              Series(18, -1, 0.125f));
  p.Parameter("p_conv_bias", "conv.bias", DType::kF32, {2}, Floats({0.5, -1}));
  p.Parameter("p_bn_weight", "bn.weight", DType::kF32, {2}, Floats({2, 1}));
  p.Parameter("p_bn_bias", "bn.bias", DType::kF32, {2}, Floats({0, 1}));
  p.Parameter("p_fc_weight", "fc.weight", DType::kF32, {2, 8},
              Series(16, -0.5, 0.0625f));
  p.Parameter("p_fc_bias", "fc.bias", DType::kF32, {2}, Floats({1, -1}));
  p.Buffer("b_bn_mean", "bn.running_mean", DType::kF32, {2}, Floats({1, -1}));
  p.Buffer("b_bn_var", "bn.running_var", DType::kF32, {2}, Floats({4, 0.25}));
  p.Input("x", DType::kF32, {"s0", "1", "4", "4"});
  p.Node("aten.convolution.default",
         {Tensor("x"), Tensor("p_conv_weight"), Tensor("p_conv_bias"),
          Ints({1, 1}), Ints({1, 1}), Ints({1, 1}), Bool(false), Ints({0, 0}),
          Int(1)},
         "convolution");
  p.TupleNode(
      "aten._native_batch_norm_legit_no_training.default",
      {Tensor("convolution"), Tensor("p_bn_weight"), Tensor("p_bn_bias"),
       Tensor("b_bn_mean"), Tensor("b_bn_var"), Float(0.1), Float(0)},
      {"getitem", "getitem_1", "getitem_2"});
  p.Node("aten.relu.default", {Tensor("getitem")}, "relu");
  p.TupleNode("aten.max_pool2d_with_indices.default",
              {Tensor("relu"), Ints({2, 2}), Ints({2, 2})},
              {"getitem_3", "getitem_4"});
  p.SymNode("aten.sym_size.int", {Tensor("x"), Int(0)}, "sym_size");
  p.Node("aten.view.default", {Tensor("getitem_3"), SymInts({"sym_size", "8"})},
         "view");
  p.Node("aten.permute.default", {Tensor("p_fc_weight"), Ints({1, 0})},
         "permute");
  p.Node("aten.addmm.default",
         {Tensor("p_fc_bias"), Tensor("view"), Tensor("permute")}, "addmm");
  p.Output("addmm");
  p.Range("s0", 2, std::nullopt);
  return p;
}

// A program that computes y = x + attention(norm(x)) with one head.
ProgramBuilder Block() {
  ProgramBuilder p;
  p.Parameter("p_norm_weight", "norm.weight", DType::kF32, {4},
              Floats({1, 0.5, 2, 1}));
  p.Parameter("p_norm_bias", "norm.bias", DType::kF32, {4},
              Floats({0, 0.25, 0, -0.5}));
  p.Parameter("p_qkv", "qkv.weight", DType::kF32, {12, 4},
              Series(48, -0.6f, 0.025f));
  p.Input("x", DType::kF32, {"s0", "s1", "4"});
  p.SymNode("aten.sym_size.int", {Tensor("x"), Int(0)}, "batch");
  p.SymNode("aten.sym_size.int", {Tensor("x"), Int(1)}, "length");
  p.TupleNode("aten.native_layer_norm.default",
              {Tensor("x"), Ints({4}), Tensor("p_norm_weight"),
               Tensor("p_norm_bias"), Float(1e-5)},
              {"norm", "norm_mean", "norm_rstd"});
  p.SymNode("_operator.mul", {SymInt("batch"), SymInt("length")}, "mul");
  p.Node("aten.view.default", {Tensor("norm"), SymInts({"mul", "4"})}, "rows");
  p.Node("aten.permute.default", {Tensor("p_qkv"), Ints({1, 0})}, "turned");
  p.Node("aten.mm.default", {Tensor("rows"), Tensor("turned")}, "mm");
  p.Node("aten.view.default",
         {Tensor("mm"), SymInts({"batch", "length", "12"})}, "qkv");
  p.ListNode("aten.split_with_sizes.default",
             {Tensor("qkv"), Ints({4, 4, 4}), Int(-1)}, {"q", "k", "v"});
  p.Node("aten.permute.default", {Tensor("k"), Ints({0, 2, 1})}, "k_turned");
  p.Node("aten.bmm.default", {Tensor("q"), Tensor("k_turned")}, "scores");
  p.Node("aten.div.Scalar", {Tensor("scores"), Float(2)}, "scaled");
  p.Node("aten.full.default",
         {SymInts({"length", "length"}), Bool(true),
          Named("dtype", Type(DType::kBool)), Named("device", Device("cpu")),
          Named("pin_memory", Bool(false))},
         "full");
  p.Node("aten.tril.default", {Tensor("full")}, "seen");
  p.Node("aten.logical_not.default", {Tensor("seen")}, "unseen");
  p.Node("aten.masked_fill.Scalar",
         {Tensor("scaled"), Tensor("unseen"), Float(-1e30)}, "masked");
  p.Node("aten._softmax.default", {Tensor("masked"), Int(-1), Bool(false)},
         "softmax");
  p.Node("aten.bmm.default", {Tensor("softmax"), Tensor("v")}, "attended");
  p.Node("aten.add.Tensor", {Tensor("x"), Tensor("attended")}, "add");
  p.Output("add");
  return p;
}

ProgramBuilder Branch() {
  GraphText then;
  then.TensorInput("a", DType::kF32, {"3"});
  then.Node("aten.mul.Tensor", {Tensor("a"), Int(2)}, "doubled");
  then.Result(Tensor("doubled"));
  GraphText otherwise;
  otherwise.TensorInput("a", DType::kF32, {"3"});
  otherwise.Node("aten.neg.default", {Tensor("a")}, "negative");
  otherwise.Result(Tensor("negative"));
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"3"});
  p.Node("aten.sum.default", {Tensor("x")}, "total");
  p.Node("aten.gt.Scalar", {Tensor("total"), Int(0)}, "positive");
  p.ListNode("higher_order.cond",
             {Tensor("positive"), Graph("true_graph_0", then),
              Graph("false_graph_0", otherwise), Tensors({"x"})},
             {"chosen"});
  p.Output("chosen");
  return p;
}

ProgramBuilder Counter() {
  ProgramBuilder p;
  p.Buffer("b_total", "total", DType::kF32, {2}, Floats({10, 20}));
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.add.Tensor", {Tensor("b_total"), Tensor("x")}, "add");
  p.Node("aten.add.Tensor", {Tensor("x"), Tensor("add")}, "add_1");
  p.BufferMutation("add", "total");
  p.Output("add_1");
  return p;
}

ProgramBuilder Loop() {
  GraphText condition;
  condition.TensorInput("a", DType::kF32, {"2"});
  condition.TensorInput("limit", DType::kF32, {});
  condition.Node("aten.sum.default", {Tensor("a")}, "total");
  condition.Node("aten.le.Tensor", {Tensor("total"), Tensor("limit")}, "goes");
  condition.Result(Tensor("goes"));
  GraphText body;
  body.TensorInput("a", DType::kF32, {"2"});
  body.TensorInput("limit", DType::kF32, {});
  body.Node("aten.mul.Tensor", {Tensor("a"), Int(2)}, "doubled");
  body.Result(Tensor("doubled"));
  ProgramBuilder p;
  p.TensorConstant("c_limit", "limit", DType::kF32, {}, Floats({100}));
  p.Input("x", DType::kF32, {"2"});
  p.ListNode("higher_order.while_loop",
             {Graph("cond_graph_0", condition), Graph("body_graph_0", body),
              Tensors({"x"}), Tensors({"c_limit"})},
             {"last"});
  p.Output("last");
  return p;
}

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

ProgramBuilder SampleProgram(std::string_view name) {
  if (name == "layers") return Layers();
  if (name == "block") return Block();
  if (name == "branch") return Branch();
  if (name == "counter") return Counter();
  return Loop();
}

std::string SampleModel(std::string_view name) {
  return SampleProgram(name).Archive();
}

}  // namespace ember::torch_export

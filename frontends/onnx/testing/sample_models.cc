#include "frontends/onnx/testing/sample_models.h"

#include "base/check.h"

namespace ember::onnx {
namespace {

ModelBuilder Layers() {
  ModelBuilder m(18);
  m.Input("x", {"N", 4, 6, 6});
  m.Floats("w", {2, 2, 3, 3}, std::vector<float>(36, 1));
  m.Floats("scales", {4}, {1, 1, 2, 2});
  m.Integers("shape", {0, 2, -1});
  m.Integers("starts", {1});
  m.Integers("ends", {9});
  m.Integers("axes", {2});
  m.Integers("repeats", {1, 2, 1});
  m.Integers("pads", {0, 1, 0, 0, 1, 0});
  m.Integers("indices", {1, 0});
  m.Integers("expanded", {1, 6, 2});
  m.Node("Conv", {"x", "w"}, {"a"},
         {{"group", 2},
          {"strides", std::vector<int64_t>{2, 1}},
          {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  m.Node("MaxPool", {"a"}, {"b"},
         {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"ceil_mode", 1}});
  m.Node("Resize", {"b", "", "scales"}, {"c"}, {{"mode", "linear"}});
  m.Node("Reshape", {"c", "shape"}, {"d"});
  m.Node("Slice", {"d", "starts", "ends", "axes"}, {"e"});
  m.Node("Tile", {"e", "repeats"}, {"f"});
  m.Node("Pad", {"f", "pads"}, {"g"});
  m.Node("Transpose", {"g"}, {"h"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  m.Node("Gather", {"h", "indices"}, {"i"}, {{"axis", 1}});
  m.Node("ReduceSum", {"i"}, {"j"});
  m.Node("Expand", {"j", "expanded"}, {"k"});
  m.Node("Einsum", {"k", "k"}, {"l"}, {{"equation", "bij,bkj->ik"}});
  m.Node("Softmax", {"l"}, {"y"});
  m.Output("y");
  return m;
}

ModelBuilder MoreLayers() {
  ModelBuilder m(23);
  m.Input("x", {1, 4, 6, 6});
  m.Floats("w", {4, 2, 2, 2}, std::vector<float>(32, 1));
  m.Floats("ones", {4}, {1, 1, 1, 1});
  m.Floats("blocks", {1, 4, 2, 6}, std::vector<float>(48, 1));
  m.Integers("axis", {2});
  m.Integers("sizes", {9, 9});
  m.Integers("start", {0});
  m.Integers("limit", {9});
  m.Integers("delta", {2});
  m.Integers("image", {4, 4});
  m.Integers("block", {2, 2});
  m.Integers("step", {3});
  m.Integers("depth", {4});
  m.Integers("k", {1});
  auto ints = [](std::initializer_list<int64_t> values) {
    return std::vector<int64_t>(values);
  };
  m.Node("ConvTranspose", {"x", "w"}, {"a"},
         {{"strides", ints({2, 2})},
          {"output_padding", ints({1, 1})},
          {"group", 1}});
  m.Node("ConvTranspose", {"x", "w"}, {"a2"},
         {{"strides", ints({2, 2})}, {"output_shape", ints({12, 12})}});
  m.Node("AveragePool", {"x"}, {"b"},
         {{"kernel_shape", ints({2, 2})},
          {"pads", ints({1, 1, 0, 0})},
          {"ceil_mode", 1},
          {"count_include_pad", 1},
          {"strides", ints({2, 2})},
          {"dilations", ints({1, 1})}});
  m.Node("MaxPool", {"x"}, {"b2", "b3"},
         {{"kernel_shape", ints({2, 2})}, {"storage_order", 1}});
  m.Node("LRN", {"x"}, {"c"}, {{"size", 3}});
  m.Node("GroupNormalization", {"x", "ones", "ones"}, {"d"},
         {{"num_groups", 2}});
  m.Node("DepthToSpace", {"x"}, {"e"}, {{"blocksize", 2}});
  m.Node("SpaceToDepth", {"x"}, {"e2"}, {{"blocksize", 2}});
  m.Node("Resize", {"x", "", "", "sizes"}, {"f"},
         {{"axes", ints({2, 3})}, {"keep_aspect_ratio_policy", "not_larger"}});
  m.Node("Range", {"start", "limit", "delta"}, {"g"});
  m.Node("CumSum", {"x", "axis"}, {"h"}, {{"exclusive", 1}});
  m.Node("Reshape", {"x", "flat"}, {"columns"});
  m.Integers("flat", {1, 16, 9});
  m.Node("Col2Im", {"columns", "image", "block"}, {"i"},
         {{"strides", ints({1, 1})},
          {"dilations", ints({1, 1})},
          {"pads", ints({0, 0, 0, 0})}});
  m.Node("Reshape", {"x", "line"}, {"signal"});
  m.Integers("line", {1, 144, 1});
  m.Node("STFT", {"signal", "step", "", "limit"}, {"j"}, {{"onesided", 1}});
  m.Node("DFT", {"signal", "limit"}, {"j2"}, {{"inverse", 0}});
  m.Node("QuantizeLinear", {"x", "blocks"}, {"q"},
         {{"axis", 2}, {"block_size", 3}});
  m.Node("Attention", {"x", "x", "x"}, {"l"}, {{"qk_matmul_output_mode", 0}});
  m.Node("OneHot", {"image", "depth", "block"}, {"n"}, {{"axis", -1}});
  m.Node("Split", {"x"}, {"o", "o2"}, {{"axis", 1}, {"num_outputs", 2}});
  m.Node("Trilu", {"x", "k"}, {"p"}, {{"upper", 1}});
  m.Node("CenterCropPad", {"x", "sizes"}, {"r"}, {{"axes", ints({2, 3})}});
  m.Node("Shape", {"x"}, {"s"}, {{"start", 1}, {"end", -1}});
  m.Node("Flatten", {"x"}, {"t"}, {{"axis", 2}});
  m.Node("HannWindow", {"depth"}, {"u"}, {{"periodic", 0}});
  for (const char* name :
       {"a", "a2", "b", "b2", "b3", "c", "d",  "e", "e2", "f", "g", "h", "i",
        "j", "j2", "q", "l",  "n",  "o", "o2", "p", "r",  "s", "t", "u"}) {
    m.Output(name);
  }
  return m;
}

// Adds a graph attribute to the last node.
GraphProto& AddGraph(ModelBuilder& m, const std::string& name,
                     ModelBuilder& body) {
  AttributeProto& attribute =
      *m.graph().mutable_node()->rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  *attribute.mutable_g() = body.graph();
  return *attribute.mutable_g();
}

ModelBuilder Loop() {
  ModelBuilder body(17);
  body.Input("i", {}, TensorProto::INT64);
  body.Input("go", {}, TensorProto::BOOL);
  body.Input("sum", {2});
  body.Node("Add", {"sum", "x"}, {"next"});
  body.Node("Identity", {"go"}, {"go_on"});
  body.Node("Mul", {"next", "x"}, {"scanned"});
  for (const char* name : {"go_on", "next", "scanned"}) body.Output(name);
  ModelBuilder m(17);
  m.Input("x", {2});
  m.Input("trips", {}, TensorProto::INT64);
  m.Node("Loop", {"trips", "", "x"}, {"y", "all"});
  AddGraph(m, "body", body);
  m.Output("y");
  m.Output("all");
  return m;
}

ModelBuilder Scan() {
  ModelBuilder body(17);
  body.Input("state", {3});
  body.Input("element", {3});
  body.Node("Add", {"state", "element"}, {"next"});
  body.Node("Relu", {"next"}, {"scanned"});
  body.Output("next");
  body.Output("scanned");
  ModelBuilder m(17);
  m.Input("initial", {3});
  m.Input("sequence", {"T", 3});
  m.Node("Scan", {"initial", "sequence"}, {"y", "all"},
         {{"num_scan_inputs", 1},
          {"scan_input_directions", std::vector<int64_t>{1}}});
  AddGraph(m, "body", body);
  m.Output("y");
  m.Output("all");
  return m;
}

ModelBuilder If() {
  ModelBuilder yes(17), no(17);
  yes.Node("Add", {"x", "x"}, {"a"});
  yes.Output("a");
  no.Node("Concat", {"x", "x"}, {"b"}, {{"axis", 0}});
  no.Output("b");
  ModelBuilder m(17);
  m.Input("x", {"N", 2});
  m.Input("condition", {}, TensorProto::BOOL);
  m.Node("If", {"condition"}, {"y"});
  AddGraph(m, "then_branch", yes);
  AddGraph(m, "else_branch", no);
  m.Output("y");
  return m;
}

ModelBuilder Quantized() {
  ModelBuilder m(19);
  m.Input("x", {"N", 4});
  m.Floats("scale", {}, {0.5});
  m.Floats("w", {4, 3}, std::vector<float>(12, 2));
  TensorProto& zero = *m.graph().add_initializer();
  zero.set_name("zero");
  zero.set_data_type(TensorProto::UINT8);
  zero.add_int32_data(3);
  m.Node("QuantizeLinear", {"x", "scale", "zero"}, {"xq"});
  m.Node("QuantizeLinear", {"w", "scale", "zero"}, {"wq"});
  m.Node("MatMulInteger", {"xq", "wq", "zero", "zero"}, {"p"});
  m.Node("QLinearMatMul",
         {"xq", "scale", "zero", "wq", "scale", "zero", "scale", "zero"},
         {"q"});
  m.Node("DequantizeLinear", {"q", "scale", "zero"}, {"y"});
  m.Node("DynamicQuantizeLinear", {"x"}, {"d", "d_scale", "d_zero"});
  for (const char* name : {"p", "y", "d", "d_scale", "d_zero"}) m.Output(name);
  return m;
}

ModelBuilder Function() {
  ModelBuilder m(17);
  OperatorSetIdProto& import = *m.proto().add_opset_import();
  import.set_domain("local");
  import.set_version(1);
  FunctionProto& function = *m.proto().add_functions();
  function.set_domain("local");
  function.set_name("Scaled");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("alpha");
  function.add_opset_import()->set_version(17);
  ModelBuilder nodes(17);
  NodeProto& node = nodes.Node("LeakyRelu", {"a"}, {"b"}, {{"alpha", 0.5}});
  node.mutable_attribute(0)->clear_f();
  node.mutable_attribute(0)->set_ref_attr_name("alpha");
  *function.add_node() = node;
  m.Input("x", {"N"});
  m.Node("Scaled", {"x"}, {"y"}, {{"alpha", 0.25}}).set_domain("local");
  m.Output("y");
  return m;
}

// Returns a model y = x + w whose weight w is external data: 16 bytes at offset
// 64 of weights.bin.
ModelBuilder External() {
  ModelBuilder m(17);
  m.Input("x", {"N", 4});
  m.Floats("w", {4}, {});
  TensorProto& weights = *m.graph().mutable_initializer(0);
  weights.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair("location", "weights.bin"), std::pair("offset", "64"),
        std::pair("length", "16")}) {
    StringStringEntryProto& entry = *weights.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  m.Node("Add", {"x", "w"}, {"y"});
  m.Output("y");
  return m;
}

struct Sample {
  std::string_view name;
  ModelBuilder (*make)();
};

constexpr Sample kSamples[] = {
    {"layers", Layers},
    {"more_layers", MoreLayers},
    {"loop", Loop},
    {"scan", Scan},
    {"if", If},
    {"quantized", Quantized},
    {"function", Function},
    {"external", External},
};

}  // namespace

std::vector<std::string_view> SampleModelNames() {
  std::vector<std::string_view> names;
  for (const Sample& sample : kSamples) names.push_back(sample.name);
  return names;
}

ModelBuilder SampleModel(std::string_view name) {
  for (const Sample& sample : kSamples) {
    if (sample.name == name) return sample.make();
  }
  EMBER_CHECK(false) << "no sample " << name;
  return ModelBuilder();
}

}  // namespace ember::onnx

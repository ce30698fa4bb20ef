#include "frontends/tensorflow/testing/sample_models.h"

#include "base/check.h"
#include "frontends/tensorflow/testing/graph_maker.h"

namespace ember::tensorflow {
namespace {

std::string Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

GraphMaker Layers() {
  GraphMaker graph;
  graph.Placeholder("image", DT_FLOAT, {-1, 4, 4, 1});
  graph.Add(MakeConst("weights", DT_FLOAT, {2, 2, 1, 2},
                      Bytes({1, 2, 3, 4, 5, 6, 7, 8})));
  graph.Node("conv", "Conv2D", {"image", "weights"},
             {Ints("strides", {1, 1, 1, 1}), Text("padding", "SAME")});
  graph.Node("relu", "Relu", {"conv"});
  graph.Node("pool", "MaxPool", {"relu"},
             {Ints("ksize", {1, 2, 2, 1}), Ints("strides", {1, 2, 2, 1}),
              Text("padding", "VALID")});
  graph.Add(MakeInts("axes", {1, 2}));
  graph.Node("mean", "Mean", {"pool", "axes"}, {Flag("keep_dims", false)});
  graph.Node("shape", "Shape", {"mean"});
  graph.Node("y", "Softmax", {"mean"});
  return graph;
}

GraphMaker Loop() {
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Placeholder("p", DT_BOOL, {});
  graph.Add(MakeInt("zero", 0));
  graph.Add(MakeInt("three", 3));
  for (const auto& [name, input] :
       {std::pair("i", "zero"), std::pair("t", "x"), std::pair("n", "three")}) {
    graph.Node(std::string("enter_") + name, "Enter", {input},
               {Text("frame_name", "f")});
  }
  for (const std::string name : {"i", "t"}) {
    graph.Node("merge_" + name, "Merge", {"enter_" + name, "next_" + name});
    graph.Node("switch_" + name, "Switch", {"merge_" + name, "cond"});
    graph.Node("exit_" + name, "Exit", {"switch_" + name});
    graph.Node("id_" + name, "Identity", {"switch_" + name + ":1"});
  }
  graph.Node("less", "Less", {"merge_i", "enter_n"});
  graph.Node("cond", "LoopCond", {"less"});
  NodeDef one = MakeInt("one", 1);
  one.add_input("^id_i");
  graph.Add(one);
  graph.Node("add", "Add", {"id_i", "one"});
  graph.Node("next_i", "NextIteration", {"add"});
  graph.Node("double", "Add", {"id_t", "id_t"});
  graph.Node("next_t", "NextIteration", {"double"});
  graph.Node("switch", "Switch", {"exit_t", "p"});
  graph.Node("negative", "Neg", {"switch:1"});
  graph.Node("y", "Merge", {"switch", "negative"});
  return graph;
}

GraphMaker WithFunctions() {
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Placeholder("n", DT_INT32, {});
  graph.Function("holds", {"i", "n", "list", "x"},
                 {MakeNode("less", "Less", {"i", "n"})}, {{"r", "less:z:0"}});
  graph.Function(
      "turn", {"i", "n", "list", "x"},
      {MakeInt("one", 1), MakeNode("next", "AddV2", {"i", "one:output:0"}),
       MakeNode("write", "TensorListSetItem", {"list", "i", "x"})},
      {{"i_out", "next:z:0"},
       {"n_out", "n"},
       {"list_out", "write:output_handle:0"},
       {"x_out", "x"}});
  graph.Add(MakeInt("zero", 0));
  graph.Add(MakeInt("none", -1));
  graph.Node("list", "TensorListReserve", {"none", "n"},
             {Type("element_dtype", DT_FLOAT)});
  graph.Node("loop", "StatelessWhile", {"zero", "n", "list", "x"},
             {Function("cond", "holds"), Function("body", "turn")});
  graph.Node("y", "TensorListStack", {"loop:2", "none"});
  return graph;
}

}  // namespace

std::vector<std::string> SampleModelNames() {
  return {"layers", "loop", "functions", "text"};
}

std::string SampleModel(const std::string& name) {
  if (name == "layers") return Layers().Finish();
  if (name == "loop") return Loop().Finish();
  if (name == "functions") return WithFunctions().Finish();
  EMBER_CHECK(name == "text") << name;
  return Layers().FinishText();
}

SavedModel SampleSavedModel() {
  GraphMaker graph;
  graph.Placeholder("serving_default_x", DT_FLOAT, {-1, 2});
  const auto variable = [&](const std::string& node, const std::string& name,
                            const std::vector<int64_t>& dims) {
    graph.Node(node, "VarHandleOp", {},
               {Text("shared_name", name), Type("dtype", DT_FLOAT),
                ShapeOf("shape", dims)});
  };
  variable("scale", "layer/scale", {2});
  variable("count", "count", {});
  graph.Function("serve", {"x", "scale", "count"},
                 {MakeNode("read", "ReadVariableOp", {"scale"}),
                  MakeNode("y", "Mul", {"x", "read:value:0"}),
                  MakeNode("before", "ReadVariableOp", {"count"})},
                 {{"y", "y:z:0"}, {"count", "before:value:0"}});
  NodeDef after = MakeNode("after", "ReadVariableOp", {"count", "^assign"});
  graph.Function(
      "increment", {"count"},
      {MakeScalar("one", 1),
       MakeNode("assign", "AssignAddVariableOp", {"count", "one:output:0"}),
       after},
      {{"r", "after:value:0"}}, {"assign"});
  graph.Node("StatefulPartitionedCall", "StatefulPartitionedCall",
             {"serving_default_x", "scale", "count"}, {Function("f", "serve")});
  graph.Node("Call_1", "StatefulPartitionedCall", {"count"},
             {Function("f", "increment")});
  // The SavedModel has the layout that tf.saved_model.save writes.
  AttrValue names;
  names.mutable_tensor()->set_dtype(DT_STRING);
  names.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(2);
  names.mutable_tensor()->add_string_val("scale/.ATTRIBUTES/VARIABLE_VALUE");
  names.mutable_tensor()->add_string_val("count/.ATTRIBUTES/VARIABLE_VALUE");
  graph.Placeholder("saver_filename", DT_STRING, {});
  graph.Function(
      "restore", {"prefix", "scale", "count"},
      {MakeNode("names", "Const", {}, {{"value", names}}),
       MakeNode("restored", "RestoreV2",
                {"prefix", "names:output:0", "names:output:0"}),
       MakeNode("copy", "Identity", {"restored:tensors:0"}),
       MakeNode("assign_0", "AssignVariableOp", {"scale", "copy:output:0"}),
       MakeNode("assign_1", "AssignVariableOp",
                {"count", "restored:tensors:1"})},
      {{"r", "prefix"}}, {"assign_0", "assign_1"});
  graph.Node("Restore", "StatefulPartitionedCall",
             {"saver_filename", "scale", "count"}, {Function("f", "restore")});
  SavedModel model;
  model.set_saved_model_schema_version(1);
  MetaGraphDef& meta = *model.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  meta.mutable_meta_info_def()->set_tensorflow_version("2.15.0");
  for (const char* asset : {"words.txt", "../saved_model.pb", "none.txt"})
    meta.add_asset_file_def()->set_filename(asset);
  *meta.mutable_graph_def() = graph.graph();
  meta.mutable_saver_def()->set_restore_op_name("Restore");
  SignatureDef& serve = (*meta.mutable_signature_def())["serving_default"];
  TensorInfo& x = (*serve.mutable_inputs())["x"];
  x.set_name("serving_default_x:0");
  x.set_dtype(DT_FLOAT);
  x.mutable_tensor_shape()->add_dim()->set_size(-1);
  x.mutable_tensor_shape()->add_dim()->set_size(2);
  const auto output = [](SignatureDef& signature, const std::string& name,
                         const std::string& source) {
    TensorInfo& info = (*signature.mutable_outputs())[name];
    info.set_name(source);
    info.set_dtype(DT_FLOAT);
  };
  output(serve, "y", "StatefulPartitionedCall:0");
  output(serve, "so_far", "StatefulPartitionedCall:1");
  output((*meta.mutable_signature_def())["count"], "now", "Call_1:0");
  return model;
}

TestCheckpoint SampleCheckpoint(bool compress) {
  return MakeCheckpoint(
      {{"scale/.ATTRIBUTES/VARIABLE_VALUE",
        {.type = DT_FLOAT, .dims = {2}, .bytes = Bytes({10, 100})}},
       {"count/.ATTRIBUTES/VARIABLE_VALUE",
        {.type = DT_FLOAT, .dims = {}, .bytes = Bytes({41})}}},
      compress);
}

}  // namespace ember::tensorflow

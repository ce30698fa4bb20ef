// Models with damaged bytes and absurd numbers: any result but a crash. Meant
// for --config=asan too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/import.h"
#include "frontends/onnx/model_builder.h"

namespace ember::onnx {
namespace {

// A little of everything that reads numbers from the model.
ModelBuilder Everything() {
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

// More of it: what the first model leaves out.
ModelBuilder Rest() {
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

ModelBuilder Both(int which) { return which == 0 ? Everything() : Rest(); }

void ImportBytes(const std::string& bytes) {
  // Whether it works does not matter, that it comes back does.
  (void)ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "", {});
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (int which : {0, 1}) {
    ModelBuilder m = Both(which);
    StatusOr<ember::graph::Graph> graph = m.Import();
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteFlipped) {
  const std::string bytes = Everything().proto().SerializeAsString();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x04, 0x10, 0x40, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ImportBytes(damaged);
    }
  }
}

TEST(Robustness, EveryTruncation) {
  const std::string bytes = Everything().proto().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size)
    ImportBytes(bytes.substr(0, size));
}

const int64_t kAbsurd[] = {
    INT64_MIN,        INT64_MIN + 1,    -(int64_t{1} << 40), -7,       -1, 0, 1,
    int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62,    INT64_MAX};

// Every integer of every initializer, attribute and input dim replaced.
void TryAbsurdNumbers(const ModelProto& model) {
  const auto import = [](const ModelProto& changed) {
    ImportBytes(changed.SerializeAsString());
  };
  for (const int64_t value : kAbsurd) {
    for (int t = 0; t < model.graph().initializer_size(); ++t) {
      for (int i = 0; i < model.graph().initializer(t).int64_data_size(); ++i) {
        ModelProto changed = model;
        changed.mutable_graph()->mutable_initializer(t)->set_int64_data(i,
                                                                        value);
        import(changed);
      }
      for (int i = 0; i < model.graph().initializer(t).float_data_size(); ++i) {
        ModelProto changed = model;
        changed.mutable_graph()->mutable_initializer(t)->set_float_data(
            i, static_cast<float>(value));
        import(changed);
      }
    }
    for (int n = 0; n < model.graph().node_size(); ++n) {
      for (int a = 0; a < model.graph().node(n).attribute_size(); ++a) {
        ModelProto changed = model;
        AttributeProto& attribute =
            *changed.mutable_graph()->mutable_node(n)->mutable_attribute(a);
        attribute.set_i(value);
        for (int i = 0; i < attribute.ints_size(); ++i)
          attribute.set_ints(i, value);
        import(changed);
      }
    }
    for (int d = 0; d < 4; ++d) {
      ModelProto changed = model;
      changed.mutable_graph()
          ->mutable_input(0)
          ->mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(d)
          ->set_dim_value(value);
      import(changed);
    }
  }
}

TEST(Robustness, AbsurdNumbers) {
  TryAbsurdNumbers(Everything().proto());
  TryAbsurdNumbers(Rest().proto());
}

}  // namespace
}  // namespace ember::onnx

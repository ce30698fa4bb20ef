// Models with damaged bytes and absurd numbers: any result but a crash. Meant for --config=asan too.
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
         {{"group", 2}, {"strides", std::vector<int64_t>{2, 1}},
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

void ImportBytes(const std::string& bytes) {
  // Whether it works does not matter, that it comes back does.
  (void)ImportModelBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "", {});
}

TEST(Robustness, TheModelItselfIsFine) {
  ModelBuilder m = Everything();
  StatusOr<ember::graph::Graph> graph = m.Import();
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
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
  for (size_t size = 0; size < bytes.size(); ++size) ImportBytes(bytes.substr(0, size));
}

const int64_t kAbsurd[] = {INT64_MIN, INT64_MIN + 1, -(int64_t{1} << 40), -7, -1, 0, 1,
                           int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX};

// Every integer of every initializer, attribute and input dim replaced.
TEST(Robustness, AbsurdNumbers) {
  const ModelProto model = Everything().proto();
  const auto import = [](const ModelProto& changed) { ImportBytes(changed.SerializeAsString()); };
  for (const int64_t value : kAbsurd) {
    for (int t = 0; t < model.graph().initializer_size(); ++t) {
      for (int i = 0; i < model.graph().initializer(t).int64_data_size(); ++i) {
        ModelProto changed = model;
        changed.mutable_graph()->mutable_initializer(t)->set_int64_data(i, value);
        import(changed);
      }
      for (int i = 0; i < model.graph().initializer(t).float_data_size(); ++i) {
        ModelProto changed = model;
        changed.mutable_graph()->mutable_initializer(t)->set_float_data(i, static_cast<float>(value));
        import(changed);
      }
    }
    for (int n = 0; n < model.graph().node_size(); ++n) {
      for (int a = 0; a < model.graph().node(n).attribute_size(); ++a) {
        ModelProto changed = model;
        AttributeProto& attribute = *changed.mutable_graph()->mutable_node(n)->mutable_attribute(a);
        attribute.set_i(value);
        for (int i = 0; i < attribute.ints_size(); ++i) attribute.set_ints(i, value);
        import(changed);
      }
    }
    for (int d = 0; d < 4; ++d) {
      ModelProto changed = model;
      changed.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()
          ->mutable_shape()->mutable_dim(d)->set_dim_value(value);
      import(changed);
    }
  }
}

}  // namespace
}  // namespace ember::onnx

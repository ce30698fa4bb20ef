// Tests the forms in which a graph holds constants. Operators that make, move,
// choose and reduce elements are in cases/.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::Type;

// A constant's list of values may be shorter than the tensor: the last value
// fills the rest, which is how a tensor of zeros is written. Half floats are
// given by their bits.
TEST(Constants, OfLists) {
  tensorflow::GraphMaker graph;
  tensorflow::AttrValue value;
  value.mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(4);
  value.mutable_tensor()->add_float_val(1);
  value.mutable_tensor()->add_float_val(2);
  graph.Node("a", "Const", {}, {{"value", value}});
  value.mutable_tensor()->Clear();
  value.mutable_tensor()->set_dtype(tensorflow::DT_HALF);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_half_val(0x3e00);
  graph.Node("b", "Const", {}, {{"value", value}});
  graph.Node("ya", "Identity", {"a"});
  graph.Node("yb", "Cast", {"b"}, {Type("DstT", tensorflow::DT_FLOAT)});
  ExpectNumbers(RunBytes(graph.Finish(), {}),
                {F32({4}, {1, 2, 2, 2}), F32({}, {1.5})});
}

// The last string of a shorter list fills the rest of the tensor. It must be
// looked up only once, because it may be long and there may be very many
// elements.
TEST(Constants, OfStrings) {
  tensorflow::GraphMaker graph;
  tensorflow::AttrValue value;
  value.mutable_tensor()->set_dtype(tensorflow::DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1 << 22);
  value.mutable_tensor()->add_string_val("short");
  value.mutable_tensor()->add_string_val(std::string(1 << 21, 's'));
  graph.Node("a", "Const", {}, {{"value", value}});
  graph.Node("y", "Identity", {"a"});
  const auto imported = tensorflow::ImportModelBytes(
      tensorflow::AsBytes(graph.Finish()), {.entry = "->y"});
  ASSERT_TRUE(imported.ok()) << imported.status().ToString();
  EXPECT_EQ(imported->strings().size(), 2u);
}

}  // namespace
}  // namespace ember::tests

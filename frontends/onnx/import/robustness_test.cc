// Imports models with damaged bytes and absurd numbers. A model may be imported
// or refused; only a crash fails the test. Run it with --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/import/import.h"
#include "frontends/onnx/testing/model_builder.h"
#include "frontends/onnx/testing/sample_models.h"

namespace ember::onnx {
namespace {

void ImportBytes(const std::string& bytes) {
  // The damaged model may be refused or accepted. The test only requires that
  // the import returns instead of crashing.
  (void)ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "", {});
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string_view name : {"layers", "more_layers"}) {
    ModelBuilder m = SampleModel(name);
    StatusOr<ember::graph::Graph> graph = m.Import();
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteFlipped) {
  const std::string bytes = SampleModel("layers").proto().SerializeAsString();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x04, 0x10, 0x40, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ImportBytes(damaged);
    }
  }
}

TEST(Robustness, EveryTruncation) {
  const std::string bytes = SampleModel("layers").proto().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size)
    ImportBytes(bytes.substr(0, size));
}

const int64_t kAbsurd[] = {
    INT64_MIN,        INT64_MIN + 1,    -(int64_t{1} << 40), -7,       -1, 0, 1,
    int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62,    INT64_MAX};

// Imports copies of a model in each of which one integer of an initializer, an
// attribute or an input dim is replaced by an absurd number.
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
  TryAbsurdNumbers(SampleModel("layers").proto());
  TryAbsurdNumbers(SampleModel("more_layers").proto());
}

}  // namespace
}  // namespace ember::onnx

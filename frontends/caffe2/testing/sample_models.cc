#include "frontends/caffe2/testing/sample_models.h"

#include "base/check.h"
#include "frontends/protobuf_text.h"
#include "third_party/caffe2/caffe2.pb.h"

namespace ember::caffe2 {
namespace {

constexpr char kImagePredict[] = R"pb(
  name: "image"
  op {
    input: "data"
    input: "w"
    input: "b"
    output: "conv"
    type: "Conv"
    arg { name: "kernel" i: 2 }
    arg { name: "pad" i: 1 }
    arg { name: "order" s: "NCHW" }
  }
  op { input: "conv" output: "conv" type: "Relu" }
  op {
    input: "conv"
    output: "pool"
    type: "AveragePool"
    arg { name: "kernels" ints: 2 ints: 2 }
    arg { name: "stride" i: 2 }
    arg { name: "legacy_pad" i: 3 }
  }
  op { input: "pool" input: "v" input: "c" output: "fc" type: "FC" }
  op { input: "fc" output: "softmax" type: "Softmax" }
  external_input: "data"
  external_input: "w"
  external_input: "b"
  external_input: "v"
  external_input: "c"
  external_output: "softmax"
)pb";
// An init net that fills the weights and also the model's input, an image, as
// exports for phones do.
constexpr char kImageInit[] = R"pb(
  op {
    output: "w"
    type: "GivenTensorFill"
    arg { name: "shape" ints: 2 ints: 1 ints: 2 ints: 2 }
    arg {
      name: "values"
      floats: 1
      floats: 2
      floats: 3
      floats: 4
      floats: -1
      floats: 0.5
      floats: 0
      floats: 2
    }
  }
  op {
    output: "b"
    type: "ConstantFill"
    arg { name: "shape" ints: 2 }
    arg { name: "value" f: 0.5 }
  }
  op {
    output: "v"
    type: "ConstantFill"
    arg { name: "shape" ints: 2 ints: 18 }
    arg { name: "value" f: 0.25 }
  }
  op {
    output: "c"
    type: "GivenTensorFill"
    arg { name: "shape" ints: 2 }
    arg { name: "values" floats: 1 floats: -1 }
  }
  op {
    output: "data"
    type: "ConstantFill"
    arg { name: "shape" ints: 1 ints: 1 ints: 4 ints: 4 }
  }
)pb";

constexpr char kElementsPredict[] = R"pb(
  name: "elements"
  op {
    input: "a"
    input: "b"
    output: "sum"
    type: "Add"
    arg { name: "broadcast" i: 1 }
    arg { name: "axis" i: 0 }
  }
  op {
    input: "sum"
    output: "left"
    output: "right"
    type: "Split"
    arg { name: "axis" i: 1 }
  }
  op {
    input: "right"
    input: "left"
    output: "joined"
    output: "info"
    type: "Concat"
    arg { name: "axis" i: 1 }
  }
  op {
    input: "joined"
    output: "turned"
    output: "old"
    type: "Reshape"
    arg { name: "shape" ints: 0 ints: -1 ints: 2 }
  }
  op {
    input: "turned"
    output: "best"
    output: "places"
    type: "TopK"
    arg { name: "k" i: 1 }
  }
  external_output: "best"
  external_output: "places"
)pb";
constexpr char kElementsInit[] = R"pb(
  op {
    output: "a"
    type: "GivenTensorFill"
    arg { name: "shape" ints: 2 ints: 4 }
    arg {
      name: "values"
      floats: 1
      floats: 2
      floats: 3
      floats: 4
      floats: 5
      floats: 6
      floats: 7
      floats: 8
    }
  }
  op {
    output: "b"
    type: "GivenTensorFill"
    arg { name: "shape" ints: 2 }
    arg { name: "values" floats: 10 floats: 20 }
  }
)pb";

}  // namespace

std::string BinaryNet(std::string_view text) {
  NetDef net;
  const Status status =
      frontends::ReadProtobufText(text, "net", net, /*unknown=*/nullptr);
  EMBER_CHECK(status.ok());
  return net.SerializeAsString();
}

const std::vector<SampleModel>& SampleModels() {
  static const auto* const kModels = new std::vector<SampleModel>{
      {"image", BinaryNet(kImagePredict), BinaryNet(kImageInit)},
      {"text", kImagePredict, kImageInit},
      {"elements", BinaryNet(kElementsPredict), BinaryNet(kElementsInit)},
  };
  return *kModels;
}

}  // namespace ember::caffe2

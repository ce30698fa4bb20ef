#include "frontends/caffe/testing/sample_models.h"

#include <google/protobuf/unknown_field_set.h>

#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {
namespace {

void SetBlob(const TestBlob& blob, BlobProto& proto) {
  proto.mutable_shape();
  for (const int64_t dim : blob.dims) proto.mutable_shape()->add_dim(dim);
  for (const float value : blob.values) proto.add_data(value);
  if (blob.raw_type < 0) return;
  google::protobuf::UnknownFieldSet& fields =
      *proto.GetReflection()->MutableUnknownFields(&proto);
  fields.AddVarint(10, static_cast<uint64_t>(blob.raw_type));
  fields.AddLengthDelimited(12, blob.raw);
}

TestBlob Blob(std::vector<int64_t> dims) {
  TestBlob blob{std::move(dims), {}};
  int64_t count = 1;
  for (const int64_t dim : blob.dims) count *= dim;
  for (int64_t i = 0; i < count; ++i)
    blob.values.push_back(static_cast<float>(i % 5) * 0.25f - 0.5f);
  return blob;
}

SampleModel Convolutional() {
  SampleModel model{"convolutional", R"(
    name: "net"
    layer { name: "in" type: "Input" top: "data"
            input_param { shape { dim: 1 dim: 2 dim: 6 dim: 6 } } }
    layer { name: "c" type: "Convolution" bottom: "data" top: "c"
            convolution_param { num_output: 4 kernel_size: 3 pad: 1 group: 2
                                stride: 2 } }
    layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }
    layer { name: "sc" type: "Scale" bottom: "c" top: "c"
            scale_param { bias_term: true } }
    layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
    layer { name: "p" type: "Pooling" bottom: "c" top: "p"
            pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "ip" type: "InnerProduct" bottom: "p" top: "ip"
            inner_product_param { num_output: 3 } }
    layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" })",
                    ""};
  CaffemodelBuilder file;
  file.Layer("c", {Blob({4, 1, 3, 3}), Blob({4})});
  file.Layer("bn", {Blob({4}), {{4}, {1, 2, 3, 4}}, {{1}, {2}}});
  file.Layer("sc", {Blob({4}), Blob({4})});
  file.Layer("ip", {Blob({3, 16}), Blob({3})});
  model.caffemodel = file.bytes();
  return model;
}

// A caffemodel that contains the whole net, so that no prototxt is needed.
SampleModel Whole() {
  NetParameter net;
  net.set_name("whole");
  net.add_input("data");
  for (const int dim : {1, 2, 4, 4}) net.add_input_dim(dim);
  LayerParameter& conv = *net.add_layer();
  conv.set_name("up");
  conv.set_type("Deconvolution");
  conv.add_bottom("data");
  conv.add_top("up");
  conv.mutable_convolution_param()->set_num_output(3);
  conv.mutable_convolution_param()->add_kernel_size(2);
  conv.mutable_convolution_param()->add_stride(2);
  SetBlob(Blob({2, 3, 2, 2}), *conv.add_blobs());
  SetBlob(Blob({3}), *conv.add_blobs());
  LayerParameter& prelu = *net.add_layer();
  prelu.set_name("prelu");
  prelu.set_type("PReLU");
  prelu.add_bottom("up");
  prelu.add_top("up");
  SetBlob(Blob({3}), *prelu.add_blobs());
  return {"whole", "", net.SerializeAsString()};
}

// Nets of the two older formats, whose layers' types are not text.
SampleModel Old() {
  NetParameter net;
  net.add_input("data");
  for (const int dim : {1, 1, 4, 4}) net.add_input_dim(dim);
  V1LayerParameter& pad = *net.add_layers();
  pad.mutable_layer()->set_name("pad");
  pad.mutable_layer()->set_type("padding");
  pad.mutable_layer()->set_pad(1);
  pad.add_bottom("data");
  pad.add_top("padded");
  V1LayerParameter& conv = *net.add_layers();
  V0LayerParameter& v0 = *conv.mutable_layer();
  v0.set_name("conv");
  v0.set_type("conv");
  v0.set_num_output(2);
  v0.set_kernelsize(3);
  conv.add_bottom("padded");
  conv.add_top("conv");
  BlobProto& weights = *v0.add_blobs();
  weights.set_num(2);
  weights.set_channels(1);
  weights.set_height(3);
  weights.set_width(3);
  for (int i = 0; i < 18; ++i) weights.add_data(static_cast<float>(i));
  BlobProto& bias = *v0.add_blobs();
  bias.set_num(1);
  bias.set_channels(1);
  bias.set_height(1);
  bias.set_width(2);
  bias.add_data(1);
  bias.add_data(2);
  V1LayerParameter& pool = *net.add_layers();
  pool.set_name("pool");
  pool.set_type(V1LayerParameter::POOLING);
  pool.add_bottom("conv");
  pool.add_top("pool");
  pool.mutable_pooling_param()->set_kernel_size(3);
  pool.mutable_pooling_param()->set_stride(2);
  return {"old", "", net.SerializeAsString()};
}

SampleModel Detector() {
  return {"detector", R"(
    input: "data" input_shape { dim: 1 dim: 3 dim: 32 dim: 32 }
    input: "loc" input_shape { dim: 1 dim: 32 }
    input: "conf" input_shape { dim: 1 dim: 16 }
    layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
            pooling_param { pool: AVE kernel_size: 16 stride: 16 } }
    layer { name: "prior" type: "PriorBox" bottom: "pool" bottom: "data"
            top: "prior"
            prior_box_param { min_size: 8 max_size: 16 variance: 0.1 } }
    layer { name: "out" type: "DetectionOutput" bottom: "loc" bottom: "conf"
            bottom: "prior" top: "out"
            detection_output_param { num_classes: 2 keep_top_k: 3
              code_type: CENTER_SIZE confidence_threshold: 0.1
              nms_param { nms_threshold: 0.4 top_k: 10 } } })",
          ""};
}

SampleModel Recurrent() {
  SampleModel model{"recurrent", R"(
    input: "x" input_shape { dim: 3 dim: 2 dim: 2 }
    input: "cont" input_shape { dim: 3 dim: 2 }
    layer { name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "h"
            recurrent_param { num_output: 2 } }
    layer { name: "best" type: "ArgMax" bottom: "h" top: "best"
            argmax_param { axis: -1 } })",
                    ""};
  CaffemodelBuilder file;
  file.Layer("lstm", {Blob({8, 2}), Blob({8}), Blob({8, 2})});
  model.caffemodel = file.bytes();
  return model;
}

}  // namespace

void CaffemodelBuilder::Layer(const std::string& name,
                              const std::vector<TestBlob>& blobs) {
  NetParameter net;
  LayerParameter& layer = *net.add_layer();
  layer.set_name(name);
  for (const TestBlob& blob : blobs) SetBlob(blob, *layer.add_blobs());
  bytes_ += net.SerializeAsString();
}

const std::vector<SampleModel>& SampleModels() {
  static const auto* const kModels = new std::vector<SampleModel>{
      Convolutional(), Whole(), Old(), Detector(), Recurrent()};
  return *kModels;
}

}  // namespace ember::caffe

// Fuzzes tensor files from strangers, .npy and .pb: reading them must not do
// harm. A tensor that was read as .npy must be the same after it is written and
// read again.
//
//   ./dev fuzz --seconds=3600 //tests/onnx:tensor_file_fuzz_test
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "tests/import_fuzzing/import_fuzzing.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/lib/tensors/npy.h"

namespace ember::tests {
namespace {

std::string NpyOf(DType type, std::vector<int64_t> dims) {
  return tools::SerializeNpy(
             vm::Tensor::Allocate(type, std::move(dims)).value())
      .value();
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples = {
      {"f32.npy", NpyOf(DType::kF32, {2, 3})},
      {"bool.npy", NpyOf(DType::kBool, {5})},
      {"scalar.npy", NpyOf(DType::kI64, {})},
      {"empty.npy", NpyOf(DType::kU8, {0, 4})},
  };
  onnx::TensorProto proto;
  proto.set_name("x");
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.add_dims(2);
  proto.add_float_data(1.5F);
  proto.add_float_data(-2);
  samples.emplace_back("floats.pb", proto.SerializeAsString());
  proto.set_data_type(onnx::TensorProto::INT4);
  proto.clear_float_data();
  proto.set_raw_data("\x21");
  samples.emplace_back("int4.pb", proto.SerializeAsString());
  proto.set_data_type(onnx::TensorProto::STRING);
  proto.clear_raw_data();
  proto.add_string_data("one");
  proto.add_string_data("two");
  samples.emplace_back("strings.pb", proto.SerializeAsString());
  return samples;
}

}  // namespace
}  // namespace ember::tests

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  ember::tests::StartFromSamples(ember::tests::Samples(), argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  (void)onnx::ParseTensor({data, size}).ok();
  const StatusOr<vm::Tensor> tensor =
      tools::ParseNpy({reinterpret_cast<const char*>(data), size}, "input.npy");
  if (!tensor.ok()) return 0;
  const StatusOr<std::string> written = tools::SerializeNpy(*tensor);
  EMBER_CHECK(written.ok()) << written.status().ToString();
  const StatusOr<vm::Tensor> again = tools::ParseNpy(*written, "again.npy");
  EMBER_CHECK(again.ok()) << again.status().ToString();
  EMBER_CHECK(again->type == tensor->type);
  EMBER_CHECK(again->dims == tensor->dims);
  EMBER_CHECK(again->byte_size == tensor->byte_size);
  EMBER_CHECK(tensor->byte_size == 0 ||
              std::memcmp(again->data, tensor->data,
                          static_cast<size_t>(tensor->byte_size)) == 0);
  return 0;
}

// Loads and runs modules that earlier versions of the compiler and the writer
// wrote. However the format changes, these modules must load and give the same
// results. Never write these files again; add new files for a new format.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/ember.h"

namespace {

const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

struct Fixture {
  const char* name;
  // For each result, the expected weighted sum of its elements. It is empty if
  // the module has strings, which this library does not support.
  std::vector<double> sums;
  // The expected metadata under the key "labels"; null if the module has no
  // metadata.
  const char* labels = nullptr;
};

// The following modules have format 1, from November 2026.
const Fixture kFixtures[] = {
    {"calls", {6, 19, 8, 5}},
    {"digits", {21.9693083}},
    {"loop", {542.5}},
    {"shapes", {2.5, 1, 4, 2}},
    {"static", {10.875}},
    {"strings", {}},
    // This module has format 1.5, which added metadata.
    {"metadata", {10.875}, "cat\ndog"},
    // This module is signed and has kernels for x86-64-v2, aarch64 and
    // armv7+neon.
    {"digits_native", {21.9693083}},
};

size_t SizeOf(EmberType type) {
  switch (type) {
    case EMBER_BOOL:
    case EMBER_I8:
    case EMBER_U8:
    case EMBER_F8E4M3FN:
    case EMBER_F8E5M2:
      return 1;
    case EMBER_I16:
    case EMBER_U16:
    case EMBER_F16:
    case EMBER_BF16:
      return 2;
    case EMBER_I32:
    case EMBER_U32:
    case EMBER_F32:
      return 4;
    case EMBER_I64:
    case EMBER_U64:
    case EMBER_F64:
      return 8;
  }
  return 0;
}

// Returns the bytes of `count` elements. Elements of f32 have the values 0,
// 0.25, … 1.5, 0, …; those of other types are 2 as integers (their first byte
// is 2).
std::vector<uint8_t> MakeElements(EmberType type, size_t count) {
  std::vector<uint8_t> bytes(count * SizeOf(type));
  for (size_t i = 0; i < count; ++i) {
    if (type == EMBER_F32) {
      reinterpret_cast<float*>(bytes.data())[i] =
          static_cast<float>(i % 7) * 0.25f;
    } else if (type == EMBER_I64) {
      reinterpret_cast<int64_t*>(bytes.data())[i] = 2;
    } else {
      bytes[i * SizeOf(type)] = 2;
    }
  }
  return bytes;
}

double Sum(const EmberTensor& tensor) {
  const size_t count = tensor.byte_size / SizeOf(tensor.type);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    // The weight depends on the element's position, so that the sum changes if
    // elements are swapped.
    const double weight = 1 + static_cast<double>(i % 11);
    sum += weight * (tensor.type == EMBER_F32
                         ? static_cast<const float*>(tensor.data)[i]
                         : static_cast<double>(
                               static_cast<const int64_t*>(tensor.data)[i]));
  }
  return sum;
}

class FixturesTest : public testing::TestWithParam<Fixture> {};

TEST_P(FixturesTest, LoadsAndRuns) {
  const std::string path =
      std::string("vm/api/testdata/") + GetParam().name + ".vmfb";
  EmberModule* module = nullptr;
  ASSERT_EQ(Api().module_load_file(path.c_str(), &module), EMBER_OK)
      << Api().error_message();
  EXPECT_STREQ(Api().module_metadata(module, "labels"), GetParam().labels);
  EmberSession* session = nullptr;
  const EmberStatus created = Api().session_create(module, nullptr, &session);
  if (GetParam().sums.empty()) {
    EXPECT_EQ(created, EMBER_UNIMPLEMENTED) << Api().error_message();
    Api().module_release(module);
    return;
  }
  ASSERT_EQ(created, EMBER_OK) << Api().error_message();
  std::vector<std::vector<uint8_t>> memory;
  for (int32_t i = 0; i < Api().module_input_count(module); ++i) {
    EmberTensorInfo info = {};
    ASSERT_EQ(Api().module_input_info(module, i, &info), EMBER_OK);
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    size_t count = 1;
    for (int64_t& dim : dims) {
      dim = dim < 0 ? 3 : dim;
      count *= static_cast<size_t>(dim);
    }
    memory.push_back(MakeElements(info.type, count));
    const EmberTensor tensor = {info.type, info.rank, dims.data(),
                                memory.back().data(), memory.back().size()};
    ASSERT_EQ(Api().session_set_input(session, i, &tensor), EMBER_OK)
        << Api().error_message();
  }
  ASSERT_EQ(Api().session_run(session), EMBER_OK) << Api().error_message();
  ASSERT_EQ(Api().module_result_count(module),
            static_cast<int32_t>(GetParam().sums.size()));
  for (size_t i = 0; i < GetParam().sums.size(); ++i) {
    EmberTensor tensor = {};
    ASSERT_EQ(Api().session_result(session, static_cast<int32_t>(i), &tensor),
              EMBER_OK);
    const double want = GetParam().sums[i];
    EXPECT_NEAR(Sum(tensor), want, 1e-5 * (1 + std::abs(want))) << i;
  }
  Api().session_release(session);
  Api().module_release(module);
}

INSTANTIATE_TEST_SUITE_P(All, FixturesTest, testing::ValuesIn(kFixtures),
                         [](const testing::TestParamInfo<Fixture>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace

// Tests inputs and results of strings with the optional library
// libember_strings.so, refused calls, and the error if the library is missing.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/ember.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::vm {
namespace {

const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

std::vector<std::string> ResultStrings(EmberSession* session, int32_t index) {
  EmberStringTensor tensor = {};
  EXPECT_EQ(Api().session_result_strings(session, index, &tensor), EMBER_OK)
      << Api().error_message();
  std::vector<std::string> strings;
  for (size_t i = 0; i < tensor.count; ++i)
    strings.emplace_back(tensor.strings[i].data, tensor.strings[i].size);
  return strings;
}

class StringsTest : public testing::Test {
 protected:
  StringsTest() : bytes_(*SerializeModule(SampleNamed("strings"))) {
    EXPECT_EQ(Api().module_load_memory(bytes_.data(), bytes_.size(), &module_),
              EMBER_OK);
  }
  ~StringsTest() override {
    Api().session_release(session_);
    Api().module_release(module_);
  }
  EmberStatus Create(const char* folder) {
    EmberSessionOptions options = {};
    options.struct_size = sizeof(options);
    options.library_folder = folder;
    return Api().session_create(module_, &options, &session_);
  }

  const std::vector<uint8_t> bytes_;
  EmberModule* module_ = nullptr;
  EmberSession* session_ = nullptr;
};

TEST_F(StringsTest, InputsAndResults) {
  ASSERT_EQ(Create("vm/api"), EMBER_OK) << Api().error_message();
  const uint8_t e[2] = {1, 2};
  const int64_t two = 2;
  const EmberTensor bytes = {EMBER_U8, 1, &two, e, 2};
  ASSERT_EQ(Api().session_set_input(session_, 0, &bytes), EMBER_OK);
  const std::string_view zero("a\0b", 3);
  const EmberString strings[3] = {
      {"Hi, you", 7}, {zero.data(), zero.size()}, {nullptr, 0}};
  const int64_t three = 3;
  const EmberStringTensor x = {1, &three, strings, 3};
  ASSERT_EQ(Api().session_set_input_strings(session_, 1, &x), EMBER_OK);
  ASSERT_EQ(Api().session_run(session_), EMBER_OK) << Api().error_message();
  EXPECT_EQ(ResultStrings(session_, 0),
            (std::vector<std::string>{"HI, YOUhi, you",
                                      std::string("A\0Ba\0b", 6), ""}));
  EXPECT_EQ(
      ResultStrings(session_, 1),
      (std::vector<std::string>{"Hi", "you", std::string(zero), "", "", ""}));
  EmberTensor tensor = {};
  EXPECT_EQ(Api().session_result(session_, 0, &tensor), EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(),
               "result 'joined': expected session_result_strings, as it is of "
               "strings");
  ASSERT_EQ(Api().session_result(session_, 2, &tensor), EMBER_OK);
  EXPECT_EQ(tensor.type, EMBER_I64);
  EmberStringTensor wrong = {};
  EXPECT_EQ(Api().session_result_strings(session_, 2, &wrong),
            EMBER_INVALID_ARGUMENT);
}

TEST_F(StringsTest, Refusals) {
  ASSERT_EQ(Create("vm/api"), EMBER_OK) << Api().error_message();
  const EmberString strings[2] = {{"a", 1}, {nullptr, 4}};
  const int64_t two = 2;
  EmberStringTensor x = {1, &two, strings, 2};
  EXPECT_EQ(Api().session_set_input_strings(session_, 1, &x),
            EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(),
               "input 1: string 1: expected data, found NULL");
  x.count = 1;
  EXPECT_EQ(Api().session_set_input_strings(session_, 1, &x),
            EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(), "tensor: expected 2 strings, found 1");
  // The test passes numbers for an input that is declared as strings, which the
  // run must refuse.
  const int64_t numbers[2] = {};
  const EmberTensor tensor = {EMBER_I64, 1, &two, numbers, 16};
  const uint8_t e[2] = {};
  const EmberTensor bytes = {EMBER_U8, 1, &two, e, 2};
  ASSERT_EQ(Api().session_set_input(session_, 0, &bytes), EMBER_OK);
  ASSERT_EQ(Api().session_set_input(session_, 1, &tensor), EMBER_OK);
  EXPECT_EQ(Api().session_run(session_), EMBER_INVALID_ARGUMENT);
  int64_t place[2];
  EXPECT_EQ(Api().session_set_output(session_, 0, place, 16),
            EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(),
               "place of result 'joined': expected a result with elements in "
               "memory, found strings");
}

TEST_F(StringsTest, WithoutTheLibrary) {
  EXPECT_EQ(Create("/nonexistent"), EMBER_NOT_FOUND);
  EXPECT_STREQ(Api().error_message(),
               "libember_strings.so: expected it in /nonexistent, found "
               "nothing there");
}

}  // namespace
}  // namespace ember::vm

// Changes every byte of small modules, one at a time. Each changed module must
// be refused, or run without crashing or accessing memory out of bounds. The
// file's hashes are compared in one part of the test; in the other part they
// are not, so that the later checks are tested, too.
#include <cstdio>
#include <cstring>

#include "gtest/gtest.h"
#include "vm/format/container.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/testing/run_anything.h"

namespace ember::vm {
namespace {

struct Outcomes {
  int refused = 0;
  int failed = 0;  // number of changed modules whose run returned an error
  int ran = 0;
};

Outcomes ChangeEveryByte(std::string_view sample, uint8_t change,
                         const ReaderOptions& options) {
  std::vector<uint8_t> file = *SerializeModule(SampleNamed(sample));
  Outcomes outcomes;
  for (size_t i = 0; i < file.size(); ++i) {
    file[i] ^= change;
    const StatusOr<std::shared_ptr<const Module>> module =
        Module::Load(file, nullptr, options);
    if (!module.ok()) {
      ++outcomes.refused;
    } else {
      const Status status = RunAnything(*module, i);
      // The status code kInternal would mean a bug in the runtime, so no
      // changed module may cause it.
      EXPECT_NE(status.code(), StatusCode::kInternal)
          << status.ToString() << " at byte " << i;
      ++(status.ok() ? outcomes.ran : outcomes.failed);
    }
    file[i] ^= change;
  }
  std::printf("%s ^ 0x%02x: %d refused, %d failed, %d ran\n",
              std::string(sample).c_str(), change, outcomes.refused,
              outcomes.failed, outcomes.ran);
  return outcomes;
}

class DamagedModuleTest : public testing::TestWithParam<const char*> {};

TEST_P(DamagedModuleTest, EveryByteWithHashes) {
  const std::vector<uint8_t> file = *SerializeModule(SampleNamed(GetParam()));
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  const int metadata = static_cast<int>(sizeof(header) + header.metadata_size);
  for (uint8_t change : {0x01, 0xff}) {
    const Outcomes outcomes = ChangeEveryByte(GetParam(), change, {});
    EXPECT_EQ(outcomes.refused, metadata) << "all but padding and constants";
  }
}

TEST_P(DamagedModuleTest, EveryByteWithoutHashes) {
  for (uint8_t change : {0x01, 0x02, 0x10, 0x80, 0xff}) {
    const Outcomes outcomes =
        ChangeEveryByte(GetParam(), change, {.verify_checksum = false});
    EXPECT_GT(outcomes.refused, 0);
    EXPECT_GT(outcomes.ran, 0) << "names may be anything";
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, DamagedModuleTest,
                         testing::Values("loop", "static", "shapes", "calls",
                                         "strings"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace ember::vm

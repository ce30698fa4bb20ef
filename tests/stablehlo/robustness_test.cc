// Tests programs with damaged bytes: the import may succeed or fail, but must
// not crash. Meant for --config=asan, too.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::stablehlo {
namespace {

Status Try(const std::string& bytes) {
  return ImportModelContents(bytes, {}).status();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string_view name : SampleModelNames())
    EXPECT_TRUE(Try(SampleModel(name)).ok())
        << name << ": " << Try(SampleModel(name)).ToString();
}

TEST(Robustness, EveryByteChanged) {
  for (const std::string_view name : SampleModelNames())
    frontends::TryEveryByteChanged(SampleModel(name), Try);
}

TEST(Robustness, EveryTruncation) {
  for (const std::string_view name : SampleModelNames())
    frontends::TryEveryTruncation(SampleModel(name), Try);
}

}  // namespace
}  // namespace ember::stablehlo

#include "jit/registry/backends.h"

#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "hal/cpu/target.h"
#include "jit/target/testing/processors.h"

namespace ember::jit {
namespace {

TEST(Backends, EachTargetHasItsOwn) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"vulkan1.3+subgroup32+shared49152+invocations1024", "vulkan"},
      {"vulkan1.1", "vulkan"},
      {"sm_70", "cuda"},
      {"opencl3.0+cpu+f64+subgroup8+shared524288", "opencl"},
      {"metal2.4+subgroup32+shared32768+invocations1024", "metal"},
      {"sm_90a+subgroup32+shared232448", "cuda"},
      {"c11", "c"},
      {"c11+l1=16K", "c"},
      {"x86_64-linux+v3+avx2", "cpu"},
      {"aarch64-linux+dotprod", "cpu"},
  };
  for (const auto& [target, name] : kCases)
    EXPECT_EQ(BackendFor(target).name, name) << target;
  EXPECT_EQ(BackendFor(hal::HostTarget()).name, "cpu");
  for (const Processor& processor : Processors())
    EXPECT_EQ(BackendFor(processor.target).name, "cpu") << processor.target;
}

// A target that no other row serves belongs to the last row. The other rows
// must not serve it.
TEST(Backends, RowsAreApart) {
  std::set<std::string_view> names;
  int takers_of_nothing = 0;
  for (const Backend* const backend : Backends()) {
    EXPECT_TRUE(names.insert(backend->name).second) << backend->name;
    takers_of_nothing += backend->serves("");
  }
  EXPECT_EQ(takers_of_nothing, 1);
  EXPECT_TRUE(Backends().back()->serves(""));
}

}  // namespace
}  // namespace ember::jit

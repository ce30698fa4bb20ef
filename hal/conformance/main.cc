// Runs the conformance tests. Arguments: --device=NAME [--validate]
// [--separate-memory] [--may-be-missing] [--unsupported=FEATURE]...
#include <cstdio>
#include <string_view>

#include "gtest/gtest.h"
#include "hal/conformance/suite.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ember::hal::ConformanceOptions& options = ember::hal::conformance_options();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view kDevice = "--device=";
    constexpr std::string_view kUnsupported = "--unsupported=";
    if (argument.starts_with(kDevice)) {
      options.device = argument.substr(kDevice.size());
    } else if (argument.starts_with(kUnsupported)) {
      options.unsupported.emplace(argument.substr(kUnsupported.size()));
    } else if (argument == "--validate") {
      options.validate = true;
    } else if (argument == "--separate-memory") {
      options.separate_memory = true;
    } else if (argument == "--may-be-missing") {
      options.may_be_missing = true;
    } else {
      std::fprintf(stderr, "unknown argument: %s\n", argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}

#include "jit/metal/testing/run_nest.h"

#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "hal/metal/device.h"
#include "jit/metal/source.h"
#include "jit/metal/target.h"

namespace ember::jit::metal {
namespace {

constexpr char kFake[] = "hal/metal/testing/libfake_metal.so";

}  // namespace

std::string MissingCompiler() {
  static const std::string& missing = *new std::string([] {
    const char* const given = std::getenv("EMBER_TEST_CXX");
    const std::string compiler = given == nullptr ? "c++" : given;
    const bool has_it =
        std::system(Concat({compiler, " --version >/dev/null 2>&1"}).c_str()) ==
        0;
    return has_it ? "" : Concat({"no C++ compiler: ", compiler});
  }());
  return missing;
}

std::shared_ptr<hal::Device> TestDevice() {
  static const std::shared_ptr<hal::Device>& device =
      *new std::shared_ptr<hal::Device>([] {
        // The variable counts only while the library is opened, so the rest of
        // the process keeps its own.
        ::setenv("EMBER_METAL_LIBRARY", kFake, 1);
        auto made = hal::CreateMetalDevice(0, {});
        ::unsetenv("EMBER_METAL_LIBRARY");
        EMBER_CHECK(made.ok()) << made.status().ToString();
        return *std::move(made);
      }());
  return device;
}

Status RunOnFake(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, gpu::Bytes& buffers) {
  EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                         EmitProgram(nest, Target::Of(TestDevice()->target())));
  return gpu::RunNest(TestDevice(), nest, std::move(code), parameters, buffers);
}

}  // namespace ember::jit::metal

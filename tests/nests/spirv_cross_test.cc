// A second opinion about jit/metal: spirv-cross converts Ember's SPIR-V of
// random nests to MSL. That program and jit/metal's run on the fake Metal
// device, and must give equal results. It is skipped where there is no
// spirv-cross. The last line says how many nests were compared:
//
//   compared 26 of 80 nests; not converted: 0; declined: 54 spirv device-type
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/testing/random_nest.h"
#include "jit/loops/text/text.h"
#include "jit/metal/testing/run_nest.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"

namespace ember::nests {
namespace {

namespace gpu = jit::gpu;
namespace metal = jit::metal;
namespace spirv = jit::spirv;

constexpr char kTarget[] =
    "vulkan1.2+int64+int8+storage8+storage16+denorm32+nan32+rte32+subgroup32"
    "+shared32768+invocations1024";
constexpr char kPrelude[] = "tests/nests/spirv_cross.metal";

bool HasSpirvCross() {
  return std::system("spirv-cross --help >/dev/null 2>&1") == 0;
}

std::string Replaced(std::string text, std::string_view from,
                     std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// spirv-cross numbers the block of parameters like the first binding. The
// driver has parameters in the last buffer.
std::string WithParametersLast(std::string text) {
  constexpr std::string_view kArgument = "constant ";
  const size_t heading = text.find("kernel void ");
  const size_t argument = text.find(kArgument, heading);
  if (argument == std::string::npos) return text;
  const size_t end = text.find("]]", argument);
  const size_t begin = text.find("[[", argument);
  return text.replace(begin, end - begin, "[[buffer(30)");
}

// Literals of floats are f32 in MSL, and f64 in C++ if they have no suffix.
std::string WithFloatLiterals(const std::string& text) {
  static const std::regex& literal =
      *new std::regex(R"(([^\w.])(\d+\.\d+(e[-+]?\d+)?)(?![\w.]))");
  return std::regex_replace(text, literal, "$1$2f");
}

// Returns an entry point of the module as MSL, in a namespace of its own; empty
// if spirv-cross refuses it.
std::string ConvertEntry(const std::string& file, const std::string& entry) {
  const std::string result = Concat({file, ".", entry, ".metal"});
  constexpr std::string_view kOptions =
      " --msl --msl-version 20400 --msl-decoration-binding "
      "--msl-force-native-arrays --stage comp --entry ";
  const std::string command =
      Concat({"spirv-cross ", file, kOptions, entry, " --output ", result,
              " >/dev/null 2>&1"});
  const int exit_status = std::system(command.c_str());
  const StatusOr<std::string> text = ReadFile(result);
  std::remove(result.c_str());
  if (exit_status != 0 || !text.ok()) return "";
  std::string body = WithFloatLiterals(WithParametersLast(*text));
  for (const std::string_view line :
       {"#include <metal_stdlib>", "#include <metal_atomic>",
        "#include <simd/simd.h>", "using namespace metal;"})
    body = Replaced(std::move(body), line, "");
  return Concat({"namespace program_", entry, " {\n", body,
                 "}\nusing namespace program_", entry, ";\n"});
}

// Converts a module. The code of the result is empty if spirv-cross refuses it.
StatusOr<gpu::DeviceCode> Convert(const spirv::ModuleCode& module) {
  const std::string file =
      Concat({::testing::TempDir(), "/spirv_cross_", ::getpid(), ".spv"});
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      file, {reinterpret_cast<const char*>(module.words.data()),
             module.words.size() * sizeof(uint32_t)}));
  EMBER_ASSIGN_OR_RETURN(const std::string prelude, ReadFile(kPrelude));
  std::string text = Concat(
      {"#include <metal_stdlib>\n", prelude, "using namespace metal;\n"});
  gpu::DeviceCode code = {
      .format = "msl", .prologue = module.prologue, .phases = module.phases};
  bool is_converted = true;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const gpu::PhaseCode& phase : *phases) {
      const std::string entry = ConvertEntry(file, phase.entry_point);
      is_converted &= !entry.empty();
      text += entry;
    }
  }
  std::remove(file.c_str());
  if (is_converted) code.code.assign(text.begin(), text.end());
  return code;
}

// Returns the name of the reason in "loops @name: reason: text".
std::string ReasonOf(const Status& status) {
  std::string_view text = status.message();
  if (text.starts_with("loops @")) text.remove_prefix(text.find(':') + 2);
  return std::string(text.substr(0, text.find(':')));
}

TEST(SpirvCross, GivesEqualResults) {
  if (!HasSpirvCross())
    GTEST_SKIP() << "no spirv-cross: apt-get install spirv-cross";
  if (!metal::MissingCompiler().empty())
    GTEST_SKIP() << metal::MissingCompiler();
  const SeedRange seeds = TestSeeds(80, 0);
  int compared = 0, not_converted = 0;
  std::map<std::string, int> declined;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = false,
               .simplify = seed % 2 == 0,
               .matrices = std::vector<loops::MatrixType>()});
    SCOPED_TRACE(Concat({"replay: EMBER_SEED=", seed,
                         " bazel-bin/tests/nests/spirv_cross_test\n",
                         loops::ToText(random.nest)}));
    const auto module =
        spirv::EmitModule(random.nest, spirv::Target::Of(kTarget));
    if (!module.ok()) {
      ++declined["spirv " + ReasonOf(module.status())];
      continue;
    }
    gpu::Bytes ours = random.MakeBuffers(), theirs = ours;
    const Status our_status =
        metal::RunOnFake(random.nest, random.parameters, ours);
    if (our_status.code() == StatusCode::kUnimplemented) {
      ++declined["metal " + ReasonOf(our_status)];
      continue;
    }
    StatusOr<gpu::DeviceCode> code = Convert(*module);
    ASSERT_TRUE(code.ok()) << code.status().ToString();
    not_converted += code->code.empty();
    if (code->code.empty()) continue;
    const Status their_status =
        gpu::RunNest(metal::TestDevice(), random.nest, *std::move(code),
                     random.parameters, theirs);
    EXPECT_EQ(our_status.code(), their_status.code())
        << our_status.ToString() << "\n"
        << their_status.ToString();
    if (our_status.ok() && their_status.ok()) {
      EXPECT_EQ(FirstDifference(random, ours, theirs), "");
    }
    ++compared;
    if (HasFailure()) return;
  }
  const auto count = static_cast<int>(seeds.end - seeds.begin);
  std::printf("compared %d of %d nests; not converted: %d; declined:", compared,
              count, not_converted);
  for (const auto& [reason, times] : declined)
    std::printf(" %d %s", times, reason.c_str());
  std::printf("\n");
  EXPECT_GE(8 * compared, count);
}

}  // namespace
}  // namespace ember::nests

#include "tune/space/model_samples.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/concat.h"
#include "base/target_text.h"
#include "jit/registry/backends.h"
#include "jit/target/cpu_model.h"

namespace ember::tune {
namespace {

// Probability with which each property of a machine model, such as a cache
// size, is changed.
constexpr double kChange = 0.3;

void ScaleCache(std::string_view name, int64_t& bytes, Random& random,
                std::string& what) {
  if (!random.Chance(kChange)) return;
  static const std::vector<int64_t> kEighths = {1, 2, 4, 16, 32, 128};
  bytes = std::max<int64_t>(bytes / 8 * random.Pick(kEighths), 1 << 10);
  what += Concat({" ", name, "=", bytes >> 10, "K"});
}

void DropFeature(std::string_view name, bool& feature, Random& random,
                 std::string& what) {
  if (!feature || !random.Chance(kChange / 2)) return;
  feature = false;
  what += Concat({" no-", name});
}

jit::CpuModel SampleCpu(jit::CpuModel cpu, Random& random, std::string& what) {
  static const std::vector<int> kRegisters = {8, 12, 16, 20, 24, 32, 48};
  if (random.Chance(kChange)) {
    const int widest = std::max(cpu.vector_bytes, 16);
    cpu.vector_bytes = random.Chance(0.5) ? widest / 2 : widest * 2;
    cpu.vector_bytes = std::clamp(cpu.vector_bytes, 16, 64);
    what += Concat({" vectors=", cpu.vector_bytes});
  }
  if (random.Chance(2 * kChange)) {
    cpu.vector_registers = random.Pick(kRegisters);
    what += Concat({" registers=", cpu.vector_registers});
  }
  ScaleCache("l1", cpu.l1_bytes, random, what);
  ScaleCache("l2", cpu.l2_bytes, random, what);
  ScaleCache("l3", cpu.l3_bytes, random, what);
  if (random.Chance(kChange)) {
    static const std::vector<int> kCores = {1, 2, 4, 16, 64};
    cpu.cores = random.Pick(kCores);
    what += Concat({" cores=", cpu.cores});
  }
  if (random.Chance(kChange)) {
    cpu.has_masks = !cpu.has_masks;
    what += Concat({" masks=", cpu.has_masks ? 1 : 0});
  }
  DropFeature("byte-dots", cpu.has_byte_dots, random, what);
  DropFeature("short-dots", cpu.has_short_dots, random, what);
  DropFeature("small-byte-dots", cpu.has_small_byte_dots, random, what);
  DropFeature("bfloat-dots", cpu.has_bfloat_dots, random, what);
  return cpu;
}

// Returns the target text of a device with less memory, fewer invocations or
// fewer features than the given target. A schedule for that device can also be
// compiled for the given target.
std::string SampleDevice(std::string_view target, Random& random,
                         std::string& what) {
  std::string text(TargetText(target).name());
  TargetText(target).ForEachFeature([&](std::string_view feature) {
    const size_t digits = feature.find_first_of("0123456789");
    const std::string_view name = feature.substr(0, digits);
    const bool is_size = name == "shared" || name == "invocations";
    if (is_size && random.Chance(2 * kChange)) {
      const int64_t number = TargetText(target).Number(name).value_or(0);
      const int64_t less =
          std::max<int64_t>(number >> (1 + random.Below(3)), 32);
      what += Concat({" ", name, "=", less});
      text += Concat({"+", name, less});
    } else if ((name == "matrix" || name == "dot") && random.Chance(kChange)) {
      what += Concat({" no-", feature});
    } else {
      text += Concat({"+", feature});
    }
  });
  return text;
}

}  // namespace

StatusOr<std::string> ScheduleBySampledModel(std::string_view target,
                                             bool is_exact, Random& random,
                                             schedule::Schedule& schedule) {
  std::string what = "model";
  const jit::Backend& backend = jit::BackendFor(target);
  const bool is_device = &backend != &jit::BackendFor("x86_64-linux");
  if (is_device) {
    const std::string sampled = SampleDevice(target, random, what);
    EMBER_RETURN_IF_ERROR(
        backend.schedule(sampled, {.is_exact = is_exact}, schedule));
    return what;
  }
  const jit::CpuModel cpu = SampleCpu(jit::CpuModel::Of(target), random, what);
  EMBER_RETURN_IF_ERROR(
      backend.schedule(target, {.is_exact = is_exact, .cpu = &cpu}, schedule));
  return what;
}

}  // namespace ember::tune

#include "hal/device_target.h"

#include <charconv>
#include <cstdint>

#include "base/target_text.h"

namespace ember::hal {
namespace {

constexpr std::string_view kEmulated = "emulated";

// A feature of a target text that is a name with a number ("shared49152"), and
// the rule by which the code's number is compared with the device's.
struct Value {
  std::string_view name;
  enum class Kind : uint8_t { kAtLeast, kEqual, kLimit, kDescription } kind;
};
constexpr Value kValues[] = {
    {"shared", Value::Kind::kAtLeast},
    {"invocations", Value::Kind::kAtLeast},
    {"texels", Value::Kind::kAtLeast},
    {"subgroup", Value::Kind::kEqual},
    // A device may silently end a loop after this number of iterations, so only
    // code that was compiled for this limit, or a smaller one, runs on it.
    {"iterations", Value::Kind::kLimit},
    {"processors", Value::Kind::kDescription},
};

// The feature of code that is permitted to multiply f32 as tf32. No device
// reports it, and it is ignored in the comparison.
constexpr std::string_view kPermission = "tf32";

// The first part of a target text: a family of devices with its version.
// "vulkan1.3" is the family "vulkan" with the version 1.3, "sm_90a" the family
// "sm_" with the version 90 and the suffix "a".
struct Family {
  explicit Family(std::string_view name)
      : text(name.substr(0, name.find_first_of("0123456789"))) {
    const char* at = name.data() + text.size();
    const char* const end = name.data() + name.size();
    at = std::from_chars(at, end, major).ptr;
    if (at != end && *at == '.') at = std::from_chars(at + 1, end, minor).ptr;
    suffix = {at, static_cast<size_t>(end - at)};
  }
  bool Runs(const Family& code) const {
    if (text != code.text) return false;
    if (!code.suffix.empty())
      return suffix == code.suffix && major == code.major;
    return major != code.major ? major > code.major : minor >= code.minor;
  }
  std::string_view text;
  int64_t major = 0;
  int64_t minor = 0;
  std::string_view suffix;
};

bool HasFeature(const TargetText& device, std::string_view feature) {
  if (feature == kPermission) return true;
  for (const Value& value : kValues) {
    if (!feature.starts_with(value.name)) continue;
    const auto number = device.Number(value.name);
    int64_t count = 0;
    const std::string_view digits = feature.substr(value.name.size());
    const auto [at, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || at != digits.data() + digits.size()) continue;
    switch (value.kind) {
      case Value::Kind::kAtLeast:
        return number && *number >= count;
      case Value::Kind::kEqual:
        return number == count;
      case Value::Kind::kLimit:
        return !number || *number >= count;
      case Value::Kind::kDescription:
        return true;
    }
  }
  bool has = false;
  device.ForEachFeature(
      [&](std::string_view found) { has |= found == feature; });
  return has;
}

}  // namespace

std::string MissingOnDevice(std::string_view wanted, std::string_view device) {
  const TargetText code(wanted), target(device);
  if (!Family(target.name()).Runs(Family(code.name())))
    return std::string(code.name());
  std::string missing;
  const auto add = [&](std::string_view feature) {
    if (!missing.empty()) missing += ", ";
    missing += feature;
  };
  code.ForEachFeature([&](std::string_view feature) {
    if (!HasFeature(target, feature)) add(feature);
  });
  // A device that limits the number of loop iterations cannot run code that was
  // compiled without such a limit.
  if (target.Number("iterations") && !code.Number("iterations"))
    add("loops of any length");
  if (target.Has(kEmulated) && !code.Has(kEmulated)) add("a real device");
  return missing;
}

}  // namespace ember::hal

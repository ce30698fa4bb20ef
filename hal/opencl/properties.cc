#include "hal/opencl/properties.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstddef>
#include <string_view>

#include "base/concat.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {
namespace {

// Required alignment in bytes of the offsets of bindings. No element has more
// bytes.
constexpr int64_t kBindingAlignment = 16;
// Subgroup size that is assumed for a GPU that does not report one. Only
// schedules depend on it.
constexpr int64_t kUsualSubgroup = 32;
constexpr int kOldestMajor = 1, kOldestMinor = 2;

class Query {
 public:
  Query(const Functions& cl, cl_device_id device) : cl_(cl), device_(device) {}

  template <typename Value>
  Value Get(cl_uint property) {
    Value value = {};
    Check("clGetDeviceInfo",
          cl_.GetDeviceInfo(device_, property, sizeof value, &value, nullptr));
    return value;
  }
  // Returns the value of a property of the device; 0 if the device does not
  // know the property.
  template <typename Value>
  Value GetIfKnown(cl_uint property) {
    Value value = {};
    const cl_int result =
        cl_.GetDeviceInfo(device_, property, sizeof value, &value, nullptr);
    return result == kSuccess ? value : Value{};
  }
  std::string Text(cl_uint property) {
    return TextOf(
        "clGetDeviceInfo", [&](size_t size, void* value, size_t* actual) {
          return cl_.GetDeviceInfo(device_, property, size, value, actual);
        });
  }
  std::string PlatformText(cl_platform_id platform, cl_uint property) {
    return TextOf(
        "clGetPlatformInfo", [&](size_t size, void* value, size_t* actual) {
          return cl_.GetPlatformInfo(platform, property, size, value, actual);
        });
  }
  const Status& status() const { return status_; }

 private:
  template <typename Get>
  std::string TextOf(std::string_view call, const Get& get) {
    size_t size = 0;
    Check(call, get(0, nullptr, &size));
    std::string text(size, '\0');
    if (size > 0) Check(call, get(size, text.data(), nullptr));
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }
  void Check(std::string_view call, cl_int result) {
    if (status_.ok()) status_ = ResultStatus(call, result);
  }

  const Functions& cl_;
  const cl_device_id device_;
  Status status_;
};

// Sets the version's numbers from the version text, such as "OpenCL 3.0 PoCL
// …".
void ReadVersion(DeviceProperties& properties) {
  constexpr std::string_view kBegin = "OpenCL ";
  const std::string_view text = properties.version;
  if (!text.starts_with(kBegin)) return;
  const char* at = text.data() + kBegin.size();
  const char* const end = text.data() + text.size();
  at = std::from_chars(at, end, properties.major).ptr;
  if (at != end && *at == '.') std::from_chars(at + 1, end, properties.minor);
}

int64_t SubgroupSize(Query& query, bool is_cpu) {
  const auto multiple =
      query.GetIfKnown<size_t>(kDevicePreferredWorkGroupSizeMultiple);
  if (multiple > 1) return static_cast<int64_t>(multiple);
  if (!is_cpu) return kUsualSubgroup;
  return std::max<int64_t>(
      1, query.GetIfKnown<cl_uint>(kDevicePreferredVectorWidthFloat));
}

int64_t Bounded(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
}

}  // namespace

StatusOr<DeviceProperties> QueryProperties(const Functions& cl,
                                           cl_platform_id platform,
                                           cl_device_id device) {
  Query query(cl, device);
  DeviceProperties p;
  p.name = query.Text(kDeviceName);
  p.vendor = query.Text(kDeviceVendor);
  p.driver_version = query.Text(kDriverVersion);
  p.platform_version = query.PlatformText(platform, kPlatformVersion);
  p.version = query.Text(kDeviceVersion);
  p.profile = query.Text(kDeviceProfile);
  ReadVersion(p);
  const auto type = query.Get<cl_bitfield>(kDeviceType);
  p.is_cpu = (type & kDeviceTypeCpu) != 0;
  p.is_gpu = (type & kDeviceTypeGpu) != 0;
  p.is_available = query.Get<cl_bool>(kDeviceAvailable) != 0;
  p.has_compiler = query.Get<cl_bool>(kDeviceCompilerAvailable) != 0;
  p.is_little_endian = query.Get<cl_bool>(kDeviceEndianLittle) != 0;
  p.has_f64 = query.GetIfKnown<cl_bitfield>(kDeviceDoubleFpConfig) != 0;
  p.rounds_quotients = (query.Get<cl_bitfield>(kDeviceSingleFpConfig) &
                        kFpCorrectlyRoundedDivideSqrt) != 0;
  p.has_shared_addresses =
      cl.SVMAlloc != nullptr && cl.SVMFree != nullptr &&
      cl.SetKernelArgSVMPointer != nullptr && cl.EnqueueSVMMemcpy != nullptr &&
      cl.EnqueueSVMMemFill != nullptr &&
      (query.GetIfKnown<cl_bitfield>(kDeviceSvmCapabilities) &
       kSvmFineGrainBuffer) != 0;
  p.is_unified =
      p.is_cpu || query.GetIfKnown<cl_bool>(kDeviceHostUnifiedMemory) != 0;
  p.memory_bytes = Bounded(query.Get<cl_ulong>(kDeviceGlobalMemSize));
  p.allocation_bytes = Bounded(query.Get<cl_ulong>(kDeviceMaxMemAllocSize));
  p.shared_bytes = Bounded(query.Get<cl_ulong>(kDeviceLocalMemSize));
  p.argument_bytes = Bounded(query.Get<size_t>(kDeviceMaxParameterSize));
  p.invocations = Bounded(query.Get<size_t>(kDeviceMaxWorkGroupSize));
  const auto sizes = query.Get<std::array<size_t, 3>>(kDeviceMaxWorkItemSizes);
  std::ranges::transform(sizes, p.workgroup.begin(), Bounded);
  p.subgroup_size = SubgroupSize(query, p.is_cpu);
  if (!query.status().ok()) {
    return query.status().WithContext(Concat({"opencl device '", p.name, "'"}));
  }
  return p;
}

std::string DeviceProperties::Target() const {
  return Concat({"opencl", major, ".", minor, is_cpu ? "+cpu" : "",
                 has_f64 ? "+f64" : "", "+subgroup", subgroup_size, "+shared",
                 shared_bytes, "+invocations",
                 std::min(invocations, workgroup[0])});
}

DeviceLimits DeviceProperties::Limits(bool separate_memory) const {
  DeviceLimits limits;
  limits.shares_memory = is_unified && has_shared_addresses && !separate_memory;
  limits.binding_alignment = kBindingAlignment;
  limits.binding_bytes = allocation_bytes;
  limits.binding_count =
      static_cast<int>(argument_bytes / kBindingArgumentBytes);
  limits.parameter_count =
      static_cast<int>(argument_bytes / kParameterArgumentBytes);
  return limits;
}

std::string DeviceProperties::WhatItLacks() const {
  const std::string device = Concat({"device '", name, "': expected "});
  if (major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor)) {
    constexpr std::string_view kAdvice = "'; a newer driver may have it";
    return Concat({device, "version ", kOldestMajor, ".", kOldestMinor,
                   " or newer, found '", version, kAdvice});
  }
  if (profile != "FULL_PROFILE")
    return Concat({device, "the profile FULL_PROFILE, found ", profile});
  if (!is_little_endian) return Concat({device, "little-endian numbers"});
  if (!has_compiler)
    return Concat({device, "a compiler of OpenCL C, found none"});
  if (!is_available) return Concat({device, "that it is available"});
  return "";
}

}  // namespace ember::hal::opencl

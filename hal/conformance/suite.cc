#include "hal/conformance/suite.h"

#include <cstring>

#include "hal/registry/drivers.h"

namespace ember::hal {

ConformanceOptions& conformance_options() {
  static ConformanceOptions options;
  return options;
}

Support SupportOf(const Status& status, const std::string& feature) {
  const bool listed = conformance_options().unsupported.count(feature) > 0;
  if (status.code() == StatusCode::kUnimplemented && listed)
    return Support::kSkip;
  if (status.ok() && !listed) return Support::kWorks;
  ADD_FAILURE()
      << feature << ": "
      << (listed ? "listed as unsupported, expected UNIMPLEMENTED, found "
                 : "expected OK, found ")
      << status.ToString();
  return Support::kWrong;
}

void Conformance::SetUp() {
  const ConformanceOptions& options = conformance_options();
  StatusOr<std::shared_ptr<Device>> device = CreateDevice(
      options.device, {.threads = 2,
                       .memory_limit = 1 << 24,
                       .validate = options.validate,
                       .separate_memory = options.separate_memory});
  if (options.may_be_missing && device.status().code() == StatusCode::kNotFound)
    GTEST_SKIP() << device.status().ToString();
  ASSERT_TRUE(device.ok()) << device.status().ToString();
  device_ = *std::move(device);
}

StatusOr<std::unique_ptr<Executable>> Conformance::Load(Kernel kernel) {
  Status refused;
  for (std::string_view format : kFormats) {
    const KernelCode code(kernel, format);
    auto executable = device().LoadExecutable(code.definition());
    refused = executable.status();
    if (refused.code() != StatusCode::kUnimplemented) return executable;
  }
  return refused;
}

Status Conformance::Write(Buffer& buffer, std::span<const uint8_t> bytes) {
  EMBER_ASSIGN_OR_RETURN(
      auto staging, device().Allocate(buffer.size(), MemoryKind::kHostVisible));
  if (!bytes.empty())
    std::memcpy(staging->host_data(), bytes.data(), bytes.size());
  EMBER_ASSIGN_OR_RETURN(auto list, device().CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Copy({staging.get(), 0, buffer.size()},
                                   {&buffer, 0, buffer.size()}));
  EMBER_ASSIGN_OR_RETURN(auto fence, device().Submit(*list));
  return fence->Wait();
}

StatusOr<std::vector<uint8_t>> Conformance::Read(Buffer& buffer) {
  EMBER_ASSIGN_OR_RETURN(
      auto staging, device().Allocate(buffer.size(), MemoryKind::kHostVisible));
  EMBER_ASSIGN_OR_RETURN(auto list, device().CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Copy({&buffer, 0, buffer.size()},
                                   {staging.get(), 0, buffer.size()}));
  EMBER_ASSIGN_OR_RETURN(auto fence, device().Submit(*list));
  EMBER_RETURN_IF_ERROR(fence->Wait());
  const uint8_t* const bytes =
      static_cast<const uint8_t*>(staging->host_data());
  return std::vector<uint8_t>(bytes, bytes + buffer.size());
}

}  // namespace ember::hal

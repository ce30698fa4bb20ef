#include "tests/faults/api_scenarios.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "vm/api/ember.h"
#include "vm/format/module_identity.h"
#include "vm/format/overlay.h"
#include "vm/format/reader.h"

namespace ember::tests {
namespace {

// Sizes of the model's input and result. There are so many images that each
// tensor has more than kDataBytes, and so counts as tensor data.
constexpr int64_t kImages = 32, kPixels = 28 * 28, kDigits = 10;

struct Files {
  std::string module;  // Path of a module with native sections.
  // Path of an overlay that was made of one of the module's native sections.
  std::string overlay;
  std::vector<float> images, scores;
};

Status Check(EmberStatus status) {
  const EmberApi* const api = ember_get_api(EMBER_API_VERSION);
  return status == EMBER_OK
             ? OkStatus()
             : Status(static_cast<StatusCode>(status), api->error_message());
}

int64_t ReadPart(void* context, uint64_t offset, void* buffer, size_t size) {
  const auto& file = *static_cast<const std::string*>(context);
  const size_t count = std::min(size, file.size() - offset);
  std::memcpy(buffer, file.data() + offset, count);
  return static_cast<int64_t>(count);
}

class WholeApiScenario final : public Scenario {
 public:
  explicit WholeApiScenario(Files& files)
      : files_(files), output_(static_cast<size_t>(kImages * kDigits)) {}
  ~WholeApiScenario() override {
    api_->fence_release(fence_);
    api_->session_release(session_);
    api_->module_release(module_);
  }

  Status Run() override {
    if (module_ == nullptr) EMBER_RETURN_IF_ERROR(Load());
    EMBER_RETURN_IF_ERROR(Query());
    if (session_ == nullptr) EMBER_RETURN_IF_ERROR(CreateSession());
    EMBER_RETURN_IF_ERROR(RefuseWrongInputs());
    const int64_t dims[4] = {kImages, 1, 28, 28};
    const EmberTensor tensor = {EMBER_F32, 4, dims, files_.images.data(),
                                files_.images.size() * sizeof(float)};
    EMBER_RETURN_IF_ERROR(Check(api_->session_set_input(session_, 0, &tensor)));
    EMBER_RETURN_IF_ERROR(
        Check(api_->session_set_output(session_, 0, nullptr, 0)));
    EMBER_RETURN_IF_ERROR(Check(api_->session_run(session_)));
    EmberTensor result;
    EMBER_RETURN_IF_ERROR(Check(api_->session_result(session_, 0, &result)));
    EMBER_RETURN_IF_ERROR(CheckScores(static_cast<const float*>(result.data),
                                      result.byte_size / sizeof(float)));
    EMBER_RETURN_IF_ERROR(RunBeside());
    return ReadProfile();
  }
  Status RunAgain() override { return Run(); }

 private:
  Status Load() {
    const EmberReader reader = {sizeof(reader), &files_.module,
                                files_.module.size(), ReadPart};
    const EmberProgress progress = {
        sizeof(progress), nullptr,
        [](void*, const EmberProgressEvent*) { return int32_t{1}; }};
    EmberModuleOptions options = {};
    options.struct_size = sizeof(options);
    options.reader = &reader;
    options.verify_constants = 1;
    options.progress = &progress;
    EMBER_RETURN_IF_ERROR(Check(api_->module_load(&options, &module_)));
    const Status status =
        Check(api_->module_add_overlay(module_, files_.overlay.c_str()));
    if (status.ok()) return OkStatus();
    api_->module_release(std::exchange(module_, nullptr));
    return status;
  }

  Status Query() {
    EmberTensorInfo info;
    EMBER_RETURN_IF_ERROR(Check(api_->module_input_info(module_, 0, &info)));
    if (std::strcmp(info.name, "image") != 0 || info.rank != 4 ||
        std::strcmp(api_->module_input_dim(module_, 0, 0), "N") != 0)
      return InternalError("a wrong input");
    const int64_t dims[4] = {kImages, 1, 28, 28};
    const EmberShape shape = {4, dims};
    int64_t found[2] = {};
    EMBER_RETURN_IF_ERROR(
        Check(api_->module_result_shape(module_, &shape, 1, 0, found)));
    return found[0] == kImages && found[1] == kDigits
               ? OkStatus()
               : InternalError("a wrong shape of a result");
  }

  Status CreateSession() {
    EmberSessionOptions options = {};
    options.struct_size = sizeof(options);
    options.threads = 2;
    options.profile = 1;
    options.allow_native = 1;
    return Check(api_->session_create(module_, &options, &session_));
  }

  // Passes a tensor that is too short and expects an error. Making the error's
  // message allocates memory, which may fail, too.
  Status RefuseWrongInputs() {
    const int64_t dims[4] = {1, 1, 28, 28};
    const EmberTensor tensor = {EMBER_F32, 4, dims, files_.images.data(), 12};
    const EmberStatus status = api_->session_set_input(session_, 0, &tensor);
    if (status == EMBER_INVALID_ARGUMENT &&
        std::strlen(api_->error_message()) > 0)
      return OkStatus();
    const Status found = Check(status);
    return found.ok() ? InternalError("a wrong input was taken") : found;
  }

  // Runs asynchronously on the session's own thread, with an output in memory
  // of the caller.
  Status RunBeside() {
    std::ranges::fill(output_, 0.0f);
    EMBER_RETURN_IF_ERROR(Check(api_->session_set_output(
        session_, 0, output_.data(), output_.size() * sizeof(float))));
    api_->fence_release(std::exchange(fence_, nullptr));
    EMBER_RETURN_IF_ERROR(
        Check(api_->session_run_async(session_, nullptr, nullptr, &fence_)));
    EMBER_RETURN_IF_ERROR(Check(api_->fence_wait(fence_, -1)));
    return CheckScores(output_.data(), output_.size());
  }

  Status ReadProfile() {
    const int32_t rows = api_->session_profile(session_);
    if (rows == 0) return InternalError("no profile");
    EmberProfileRow row = {};
    row.struct_size = sizeof(row);
    EMBER_RETURN_IF_ERROR(Check(api_->session_profile_row(session_, 0, &row)));
    if (row.calls < 2) return InternalError("calls were not counted");
    return Check(api_->session_profile_reset(session_));
  }

  Status CheckScores(const float* found, size_t count) const {
    if (count != static_cast<size_t>(kImages * kDigits))
      return InternalError("a result of another size");
    if (files_.scores.empty()) {
      files_.scores.assign(found, found + count);
      return OkStatus();
    }
    for (size_t i = 0; i < count; ++i) {
      if (!(std::abs(found[i] - files_.scores[i]) <= 1e-5f))
        return InternalError("wrong results");
    }
    return OkStatus();
  }

  const EmberApi* const api_ = ember_get_api(EMBER_API_VERSION);
  Files& files_;
  std::vector<float> output_;
  EmberModule* module_ = nullptr;
  EmberSession* session_ = nullptr;
  EmberFence* fence_ = nullptr;
};

Files* MakeFiles() {
  auto* const files = new Files;
  auto module = ReadFile("vm/api/testdata/digits_native.vmfb");
  EMBER_CHECK(module.ok()) << module.status().ToString();
  files->module = *std::move(module);
  const auto definition = vm::ReadModule("vm/api/testdata/digits_native.vmfb");
  EMBER_CHECK(definition.ok()) << definition.status().ToString();
  vm::Overlay overlay;
  overlay.module = vm::IdentityOf(*definition);
  overlay.section = definition->natives[0];
  files->overlay = (std::filesystem::temp_directory_path() /
                    ("faults" + std::to_string(::getpid()) + ".vmfb-overlay"))
                       .string();
  const Status written =
      WriteFileAtomically(files->overlay, vm::SerializeOverlay(overlay));
  EMBER_CHECK(written.ok()) << written.ToString();
  for (int64_t i = 0; i < kImages * kPixels; ++i)
    files->images.push_back(static_cast<float>(i % 17) / 16);
  // Without faults the scenario must succeed.
  const Status right = WholeApiScenario(*files).Run();
  EMBER_CHECK(right.ok()) << right.ToString();
  return files;
}

Files& PreparedFiles() {
  static Files* const files = MakeFiles();
  return *files;
}

}  // namespace

void PrepareApiScenarios() { PreparedFiles(); }

std::unique_ptr<Scenario> NewWholeApiScenario() {
  return std::make_unique<WholeApiScenario>(PreparedFiles());
}

}  // namespace ember::tests

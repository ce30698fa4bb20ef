#include "tests/faults/tensor_scenarios.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "hal/cpu/device.h"
#include "jit/jit.h"
#include "vm/api/ember.h"
#include "vm/format/writer.h"
#include "vm/isa/text.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

using vm::Tensor;

constexpr int64_t kDepth = 256, kWidth = 128, kMaxRows = 256;

constexpr std::string_view kProgram = R"(
dispatch @product<N>(%x: f32[N, 256], %w: f32[256, 128]) -> (%y: f32[N, 128]) {
  %y[i, j] = sum(k<256) %x[i, k] * %w[k, j]
}
dispatch @turn<N>(%x: f32[N, 128]) -> (%y: f32[N, 128]) {
  temp %t: f32[N, 128]
  %t[i, j] = max(%x[i, j], -1.5)
  %y[i, j] = %t[i, j] + %t[N - 1 - i, 127 - j]
}
program main<N, "?">(x: f32[N, 256]) -> (y: f32[N, 128], found: i64[$1], top: f32[N, 128], order: i64[N, 128]) {
  i0 = input_dim x, 0
  b0 = input x
  b1 = constant 0 (w)
  b2 = arena 131072
  i1 = integer 512
  i2 = mul i0, i1
  b3 = view b2, i2, 0
  dispatch @product(i0; b0, b1 -> b3)
  b4 = allocate i2
  dispatch @turn(i0; b3 -> b4)
  i3 = integer 128
  i4 = mul i0, i3
  i5 = integer 11
  call non_zero(i5, i4, b4, b5, i6)
  b6 = allocate i2
  i7 = integer 1024
  i8 = mul i0, i7
  b7 = allocate i8
  i9 = integer 1
  call top_k(i5, i0, i3, i9, i3, i9, b4, b6, b7)
  result y = b4 [i0, i3]
  result found = b5 [i6]
  result top = b6 [i0, i3]
  result order = b7 [i0, i3]
  return
}
)";

std::vector<uint8_t> MakeFile() {
  std::string text =
      "module \"by hand\" from \"faults\"\nconstant w: f32[256, 128] = [";
  for (int64_t i = 0; i < kDepth * kWidth; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string((i * 37 % 17 - 8) / 8.0);
  text += "]\n";
  auto module = vm::ParseModule(text + std::string(kProgram));
  EMBER_CHECK(module.ok()) << module.status().ToString();
  auto file = vm::SerializeModule(*module);
  EMBER_CHECK(file.ok()) << file.status().ToString();
  return *std::move(file);
}

const std::vector<uint8_t>& File() {
  static const std::vector<uint8_t> file = MakeFile();
  return file;
}

Tensor Rows(int64_t rows) {
  Tensor x = *Tensor::Allocate(DType::kF32, {rows, kDepth});
  for (int64_t i = 0; i < rows * kDepth; ++i)
    x.elements<float>()[static_cast<size_t>(i)] =
        static_cast<float>(i * 29 % 23 - 11) / 16;
  return x;
}

// Computes the result of the scenarios' module with plain loops.
std::vector<float> ExpectedRows(std::span<const float> x, int64_t rows) {
  std::vector<float> t(static_cast<size_t>(rows * kWidth));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        const double w =
            static_cast<double>((k * kWidth + j) * 37 % 17 - 8) / 8;
        sum += static_cast<double>(x[static_cast<size_t>(i * kDepth + k)]) * w;
      }
      t[static_cast<size_t>(i * kWidth + j)] =
          std::max(static_cast<float>(sum), -1.5f);
    }
  }
  std::vector<float> y(t.size());
  for (size_t i = 0; i < t.size(); ++i) y[i] = t[i] + t[t.size() - 1 - i];
  return y;
}

Status CheckRows(std::span<const float> found, int64_t rows) {
  const Tensor x = Rows(rows);
  const std::vector<float> expected = ExpectedRows(x.elements<float>(), rows);
  if (found.size() != expected.size())
    return InternalError("a result of another size");
  for (size_t i = 0; i < found.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= 1e-3f)) {
      return InternalError("element " + std::to_string(i) + ": expected " +
                           std::to_string(expected[i]) + ", found " +
                           std::to_string(found[i]));
    }
  }
  return OkStatus();
}

Status CheckResults(const std::vector<Tensor>& results, int64_t rows) {
  if (results.size() != 4) return InternalError("expected four results");
  EMBER_RETURN_IF_ERROR(CheckRows(results[0].elements<float>(), rows));
  const auto y = results[0].elements<float>();
  const auto found = results[1].elements<int64_t>();
  size_t next = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == 0) continue;
    if (next >= found.size() || found[next] != static_cast<int64_t>(i))
      return InternalError("wrong positions of elements that are not zero");
    ++next;
  }
  const auto top = results[2].elements<float>();
  const auto order = results[3].elements<int64_t>();
  for (size_t i = 0; i < top.size(); ++i) {
    const size_t row = i / kWidth * kWidth;
    if (order[i] < 0 || order[i] >= kWidth ||
        top[i] != y[row + static_cast<size_t>(order[i])] ||
        (i > row && top[i] > top[i - 1]))
      return InternalError("wrong order");
  }
  return next == found.size() ? OkStatus()
                              : InternalError("positions that are no elements");
}

Status RunAndCheck(vm::Session& session, int64_t rows) {
  std::vector<Tensor> inputs = {Rows(rows)};
  std::vector<Tensor> results;
  EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
  return CheckResults(results, rows);
}

class LoadScenario final : public Scenario {
 public:
  LoadScenario() {
    // The copy begins at an address that is not a multiple of 64, so that
    // loading it from memory must copy its constants.
    bytes_.resize(File().size() + 4);
    std::memcpy(bytes_.data() + 4, File().data(), File().size());
    std::string name =
        (std::filesystem::temp_directory_path() / "faultsXXXXXX").string();
    const int file = ::mkstemp(name.data());
    EMBER_CHECK(file >= 0 && ::write(file, File().data(), File().size()) ==
                                 static_cast<ssize_t>(File().size()))
        << "cannot write " << name;
    ::close(file);
    path_ = name;
  }
  ~LoadScenario() override { ::unlink(path_.c_str()); }

  Status Run() override {
    EMBER_RETURN_IF_ERROR(vm::Module::Load(path_).status());
    return vm::Module::Load(std::span<const uint8_t>(bytes_).subspan(4),
                            nullptr)
        .status();
  }
  Status RunAgain() override { return Run(); }

 private:
  std::vector<uint8_t> bytes_;
  std::string path_;
};

class SessionScenario : public Scenario {
 public:
  explicit SessionScenario(bool has_kernels) {
    module_ = *vm::Module::Load(File(), nullptr);
    options_.device = *hal::CreateCpuDevice({.threads = 2});
    if (!has_kernels) return;
    auto jit = jit::NewJit({.threads = 0});
    EMBER_CHECK(jit.ok()) << jit.status().ToString();
    jit_ = *std::move(jit);
    options_.tiering =
        std::make_shared<vm::Tiering>(module_, jit_, vm::Tiering::Eager(2));
  }
  Status Run() override {
    if (session_ == nullptr) {
      EMBER_ASSIGN_OR_RETURN(session_, vm::Session::Create(module_, options_));
    }
    const Status status = session_->Run(inputs_, &results_);
    has_results_ = status.ok();
    return status;
  }
  Status RunAgain() override {
    if (has_results_) EMBER_RETURN_IF_ERROR(CheckResults(results_, rows_));
    EMBER_RETURN_IF_ERROR(Run());
    EMBER_RETURN_IF_ERROR(CheckResults(results_, rows_));
    return RunAndCheck(*session_, 3);
  }

 protected:
  std::shared_ptr<const vm::Module> module_;
  std::shared_ptr<jit::Jit> jit_;
  vm::SessionOptions options_;
  std::unique_ptr<vm::Session> session_;
  int64_t rows_ = kMaxRows;
  std::vector<Tensor> inputs_ = {Rows(kMaxRows)};
  std::vector<Tensor> results_;
  bool has_results_ = false;
};

class OtherShapesScenario final : public SessionScenario {
 public:
  OtherShapesScenario() : SessionScenario(/*has_kernels=*/false) {
    session_ = *vm::Session::Create(module_, options_);
    const Status status = RunAndCheck(*session_, 5);
    EMBER_CHECK(status.ok()) << status.ToString();
  }
};

class ApiScenario final : public Scenario {
 public:
  ~ApiScenario() override { Release(); }
  Status Run() override {
    const EmberSessionOptions options = {
        .struct_size = sizeof(options), .threads = 2, .memory_limit = 0};
    if (module_ == nullptr) {
      EMBER_RETURN_IF_ERROR(Check(
          api_->module_load_memory(File().data(), File().size(), &module_)));
    }
    if (session_ == nullptr) {
      EMBER_RETURN_IF_ERROR(
          Check(api_->session_create(module_, &options, &session_)));
    }
    const int64_t dims[] = {kMaxRows, kDepth};
    const EmberTensor tensor = {EMBER_F32, 2, dims, input_.data,
                                static_cast<size_t>(input_.byte_size)};
    EMBER_RETURN_IF_ERROR(Check(api_->session_set_input(session_, 0, &tensor)));
    EMBER_RETURN_IF_ERROR(Check(api_->session_run(session_)));
    EmberTensor result;
    EMBER_RETURN_IF_ERROR(Check(api_->session_result(session_, 0, &result)));
    found_ = {static_cast<const float*>(result.data),
              result.byte_size / sizeof(float)};
    return OkStatus();
  }
  Status RunAgain() override {
    EMBER_RETURN_IF_ERROR(Run());
    return CheckRows(found_, kMaxRows);
  }

 private:
  void Release() {
    api_->session_release(session_);
    api_->module_release(module_);
  }
  Status Check(EmberStatus status) const {
    return status == EMBER_OK
               ? OkStatus()
               : Status(static_cast<StatusCode>(status), api_->error_message());
  }
  const EmberApi* const api_ = ember_get_api(EMBER_API_VERSION);
  EmberModule* module_ = nullptr;
  EmberSession* session_ = nullptr;
  const Tensor input_ = Rows(kMaxRows);
  std::span<const float> found_;
};

}  // namespace

void PrepareTensorScenarios() { File(); }

std::unique_ptr<Scenario> NewLoadScenario() {
  return std::make_unique<LoadScenario>();
}
std::unique_ptr<Scenario> NewFirstRunScenario() {
  return std::make_unique<SessionScenario>(/*has_kernels=*/false);
}
std::unique_ptr<Scenario> NewOtherShapesScenario() {
  return std::make_unique<OtherShapesScenario>();
}
std::unique_ptr<Scenario> NewKernelScenario() {
  return std::make_unique<SessionScenario>(/*has_kernels=*/true);
}
std::unique_ptr<Scenario> NewApiScenario() {
  return std::make_unique<ApiScenario>();
}

}  // namespace ember::tests

#include "tools/lib/models/golden.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <sstream>

#include "frontends/frontend.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/report/placement.h"
#include "tools/lib/report/statistics.h"
#include "tools/lib/tensors/onnx_data.h"
#include "tools/lib/tensors/spec.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

struct DataSet {
  std::vector<vm::Tensor> inputs, outputs;
};

std::string NumberedFile(const std::string& prefix, size_t number) {
  return prefix + std::to_string(number) + ".pb";
}

bool Exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

// Reads the files prefix + "0.pb", prefix + "1.pb" and so on, up to the first
// that does not exist. Each file holds one value of the model, which may be
// several tensors of the module. Files whose numbers are in `left_out` are
// skipped.
StatusOr<std::vector<vm::Tensor>> ReadTensors(
    const std::string& prefix, std::span<const vm::TensorSignature> signatures,
    const std::set<size_t>& left_out) {
  std::vector<vm::Tensor> tensors;
  for (size_t number = 0;; ++number) {
    const std::string path = NumberedFile(prefix, number);
    if (!Exists(path)) return tensors;
    if (left_out.contains(number)) continue;
    const size_t first = tensors.size();
    if (first >= signatures.size()) {
      return InvalidArgumentError(path + ": expected " +
                                  std::to_string(number) +
                                  " files, as the model says, found more");
    }
    EMBER_ASSIGN_OR_RETURN(
        std::vector<vm::Tensor> parts,
        ReadDataFile(path,
                     signatures.subspan(first, PartCount(signatures, first))));
    tensors.insert(tensors.end(), parts.begin(), parts.end());
  }
}

// Reads a data set. `known` holds the numbers of inputs that are constants in
// the compiled module; their files are skipped.
StatusOr<DataSet> ReadDataSet(const std::string& folder,
                              const vm::Module& module,
                              const std::set<size_t>& known) {
  DataSet set;
  EMBER_ASSIGN_OR_RETURN(
      set.inputs, ReadTensors(folder + "/input_", module.inputs(), known));
  EMBER_RETURN_IF_ERROR(AddInitialState(module, set.inputs));
  EMBER_ASSIGN_OR_RETURN(
      set.outputs, ReadTensors(folder + "/output_", module.results(), {}));
  if (set.outputs.empty())
    return NotFoundError(folder + ": expected output_0.pb, found none");
  return set;
}

// True if the result is state, which is the value of an input in the next run.
bool IsState(const vm::Module& module, size_t result) {
  return module.results()[result].logical_type == frontends::kStateType;
}

class GoldenCheck {
 public:
  GoldenCheck(const GoldenCase& golden, const GoldenOptions& options)
      : golden_(golden), options_(options) {}

  StatusOr<GoldenResult> Run() {
    // The model is opened before its data is read. So an unsupported operator
    // is reported, and not an element type of the data that is unsupported,
    // too.
    if (const Status status = Open({});
        status.code() == StatusCode::kUnimplemented &&
        status.message().find("unsupported operator") !=
            std::string_view::npos) {
      return status;
    }
    session_ = nullptr;
    for (const std::string& folder : golden_.data_sets) {
      EMBER_RETURN_IF_ERROR(
          RunSet(folder, folder.substr(folder.rfind('/') + 1)));
    }
    CountCalls();
    if (wrong_kernels_ > 0) {
      result_.passed = false;
      result_.note = std::to_string(wrong_kernels_) + " kernels were wrong";
    }
    return result_;
  }

 private:
  // Adds the current session's number of calls to the result. It must be called
  // before the session is destroyed.
  void CountCalls() {
    if (session_ == nullptr) return;
    const Placement placement = PlacementOf(session_->Profile());
    result_.calls += placement.calls;
    result_.device_calls += placement.device_calls;
    for (const vm::SiteProfile& site : session_->Profile())
      result_.kernel_calls += site.tier_calls[1] + site.tier_calls[2];
    if (tier_.oracle != nullptr) wrong_kernels_ += tier_.oracle->totals().wrong;
  }

  Status Open(const std::vector<NamedShape>& shapes,
              const std::vector<NamedTensor>& values = {}) {
    EMBER_ASSIGN_OR_RETURN(const LoadedModel model,
                           LoadModel(golden_.model, {.shapes = shapes,
                                                     .values = values,
                                                     .entry = golden_.entry,
                                                     .compile = {}}));
    EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                           OpenDevice(options_.device, options_.threads));
    CountCalls();
    session_ = nullptr;
    PreparedModule prepared{model.module, nullptr};
    if (options_.prepare != nullptr) {
      EMBER_ASSIGN_OR_RETURN(prepared, options_.prepare(model.module));
      tier_ = {prepared.tiering, nullptr};
    } else if (options_.provider != nullptr) {
      tier_ = {EagerTiering(model.module, options_.provider), nullptr};
    } else {
      EMBER_ASSIGN_OR_RETURN(
          tier_, OpenTier({.tier = options_.tier, .checks = options_.checks},
                          device, model.module));
    }
    EMBER_ASSIGN_OR_RETURN(
        session_, vm::Session::Create(prepared.module,
                                      {.device = std::move(device),
                                       .device_support = vm::NewDeviceSupport,
                                       .strings = vm::NewStringSupport,
                                       .images = DecodeImage,
                                       .tiering = tier_.tiering}));
    return OkStatus();
  }

  // Compiles and opens the model with the shapes of a data set. Before a model
  // is open, its input names are not known; so they come from the graph, whose
  // inputs are in the order of the data set's files. If `with_values` is true,
  // integers and booleans without dims become constants, because a model may
  // branch on them.
  Status OpenPinned(const std::string& folder, bool with_values = false) {
    known_.clear();
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<std::string> names,
        ModelInputNames(golden_.model,
                        {.entry = golden_.entry, .compile = {}}));
    std::vector<NamedShape> shapes;
    std::vector<NamedTensor> values;
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string path = NumberedFile(folder + "/input_", i);
      if (!Exists(path)) break;
      EMBER_ASSIGN_OR_RETURN(auto pins, ReadPins(path));
      if (with_values && pins.empty()) {
        EMBER_ASSIGN_OR_RETURN(vm::Tensor value, ReadTensorProto(path));
        if (!IsFloat(value.type)) {
          known_.insert(i);
          values.push_back({names[i], std::move(value)});
          continue;
        }
      }
      shapes.push_back({names[i], std::move(pins)});
    }
    if (with_values && values.empty())
      return InvalidArgumentError("no input is a number to give");
    return Open(shapes, values);
  }

  Status RunSet(const std::string& folder, const std::string& name) {
    if (session_ == nullptr || pinned_) {
      Status status = pinned_ ? OpenPinned(folder, has_values_) : Open({});
      if (!status.ok() && !pinned_) {
        // If compiling with fixed shapes fails, too, the error of compiling
        // with open shapes is returned, because it says why shapes cannot stay
        // open.
        const Status open_error = status;
        status = OpenPinned(folder);
        if (status.ok()) {
          pinned_ = true;
          result_.note = "shapes pinned";
        } else if (OpenPinned(folder, true).ok()) {
          status = OkStatus();
          pinned_ = has_values_ = true;
          result_.note = "shapes pinned, numbers given";
        } else {
          status = open_error;
        }
      }
      EMBER_RETURN_IF_ERROR(status);
    }
    EMBER_ASSIGN_OR_RETURN(DataSet set,
                           ReadDataSet(folder, session_->module(), known_));
    CarryState(set.inputs);
    std::vector<vm::Tensor> results;
    Status status = session_->Run(set.inputs, &results);
    if (!status.ok() && !pinned_) {
      // The compiler assumed that some open dims are equal, and in this data
      // set they are not: one of them may be a 1 that broadcasts. So the model
      // is compiled for the shapes of this set.
      if (const Status again = OpenPinned(folder); again.ok()) {
        pinned_ = true;
        result_.note = "shapes pinned";
        // The data set is read again, because the fixed shapes can change the
        // number of tensors into which a sequence is split.
        EMBER_ASSIGN_OR_RETURN(set,
                               ReadDataSet(folder, session_->module(), known_));
        CarryState(set.inputs);
        status = session_->Run(set.inputs, &results);
      }
    }
    EMBER_RETURN_IF_ERROR(status.WithContext(name));
    Check(set, name, results);
    last_results_ = results;
    if (result_.milliseconds == 0) EMBER_RETURN_IF_ERROR(Time(set));
    return OkStatus();
  }

  // If the case carries state, sets the inputs that are state (the last ones)
  // to the state that the previous run returned (its last results).
  void CarryState(std::vector<vm::Tensor>& inputs) const {
    if (!golden_.carries_state) return;
    size_t result = last_results_.size();
    size_t input = inputs.size();
    while (result > 0 && input > 0 && IsState(session_->module(), result - 1))
      inputs[--input] = last_results_[--result];
  }

  void Check(const DataSet& set, const std::string& name,
             const std::vector<vm::Tensor>& results) {
    // Data sets do not record state. So state among the last results of the
    // module is not compared.
    size_t count = results.size();
    while (count > set.outputs.size() && IsState(session_->module(), count - 1))
      --count;
    if (count != set.outputs.size()) {
      Fail(name + ": got " + std::to_string(count) + " results, want " +
           std::to_string(set.outputs.size()));
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const Comparison comparison =
          Compare(results[i], set.outputs[i], golden_.tolerance);
      result_.max_absolute =
          std::max(result_.max_absolute, comparison.max_absolute);
      result_.max_relative =
          std::max(result_.max_relative, comparison.max_relative);
      if (!comparison.equal) {
        Fail(name + ", result '" + session_->module().results()[i].name + "' " +
             comparison.message);
      }
    }
  }

  void Fail(std::string note) {
    if (result_.passed) result_.note = std::move(note);
    result_.passed = false;
  }

  Status Time(const DataSet& set) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    const std::chrono::duration<double> limit(options_.seconds);
    const Clock::time_point begin = Clock::now();
    std::vector<vm::Tensor> results;
    while (times.size() < 3 ||
           (times.size() < 200 && Clock::now() - begin < limit)) {
      const Clock::time_point start = Clock::now();
      EMBER_RETURN_IF_ERROR(session_->Run(set.inputs, &results));
      times.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count());
    }
    result_.milliseconds = Quantiles(std::move(times)).At(0.5);
    return OkStatus();
  }

  const GoldenCase& golden_;
  GoldenOptions options_;
  bool pinned_ = false, has_values_ = false;
  // Numbers of the inputs that are constants in the compiled module.
  std::set<size_t> known_;
  std::vector<vm::Tensor> last_results_;
  Tier tier_;
  std::unique_ptr<vm::Session> session_;
  GoldenResult result_;
  int64_t wrong_kernels_ = 0;
};

}  // namespace

std::string GoldenResult::Serialize() const {
  std::ostringstream text;
  text.precision(9);
  // An infinite difference is written as 1e300, because operator>> of C++
  // streams cannot read an infinity.
  text << passed << ' ' << std::min(max_absolute, 1e300) << ' '
       << std::min(max_relative, 1e300) << ' ' << milliseconds << ' ' << calls
       << ' ' << device_calls << ' ' << kernel_calls << ' ' << note;
  return text.str();
}

StatusOr<GoldenResult> GoldenResult::Parse(const std::string& text) {
  GoldenResult result;
  std::istringstream fields(text);
  fields >> result.passed >> result.max_absolute >> result.max_relative >>
      result.milliseconds >> result.calls >> result.device_calls >>
      result.kernel_calls;
  if (!fields) return InternalError("unexpected answer '" + text + "'");
  fields >> std::ws;
  std::getline(fields, result.note);
  return result;
}

StatusOr<GoldenResult> RunGolden(const GoldenCase& golden,
                                 const GoldenOptions& options) {
  return GoldenCheck(golden, options).Run();
}

}  // namespace ember::tools

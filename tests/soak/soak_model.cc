#include "tests/soak/soak_model.h"

#include <filesystem>
#include <random>
#include <utility>

#include "hal/cpu/device.h"
#include "tools/lib/tensors/compare.h"
#include "tools/lib/tensors/random.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

using vm::Tensor;

constexpr int64_t kMaxOpenDim = 24;
// Factor by which the tolerance for one dispatch is multiplied, because a whole
// model rounds more often than one dispatch.
constexpr double kToleranceFactor = 20;

StatusOr<Tensor> Strings(std::vector<int64_t> dims, std::mt19937_64& random) {
  constexpr const char* kTexts[] = {"", "a, b", "Ab c", "12", "\xc3\xa4", ","};
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i)
    strings.emplace_back(kTexts[random() % std::size(kTexts)]);
  return Tensor::OfStrings(std::move(dims), std::move(strings));
}

StatusOr<std::vector<Tensor>> MakeInputs(const vm::Module& module,
                                         std::mt19937_64& random) {
  std::vector<int64_t> symbols(module.entry().symbols.size());
  for (int64_t& symbol : symbols)
    symbol = 1 + static_cast<int64_t>(random() % kMaxOpenDim);
  tools::RandomTensors values(random() | 1);
  std::vector<Tensor> inputs;
  for (const vm::TensorSignature& signature : module.inputs()) {
    std::vector<int64_t> dims;
    for (const int64_t dim : signature.dims)
      dims.push_back(dim >= 0 ? dim : symbols[static_cast<size_t>(-1 - dim)]);
    EMBER_ASSIGN_OR_RETURN(Tensor input,
                           signature.logical_type == vm::kStringType
                               ? Strings(std::move(dims), random)
                               : values.Next(signature.type, std::move(dims)));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

StatusOr<SoakModel> SoakModel::Load(const std::string& path, int64_t variants,
                                    uint64_t seed) {
  SoakModel model;
  model.name_ = std::filesystem::path(path).stem().string();
  EMBER_ASSIGN_OR_RETURN(model.module_, vm::Module::Load(path));
  vm::SessionOptions options;
  EMBER_ASSIGN_OR_RETURN(options.device, hal::CreateCpuDevice({.threads = 1}));
  options.strings = vm::NewStringSupport;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(model.module_, options));
  std::mt19937_64 random(seed);
  bool runs = false;
  // Largest number of random variants that are tried: random shapes seldom suit
  // a model with several inputs.
  const int64_t most_variants = 100 * variants;
  for (int64_t i = 0; i < (runs ? variants : most_variants); ++i) {
    Variant variant;
    EMBER_ASSIGN_OR_RETURN(variant.inputs, MakeInputs(*model.module_, random));
    variant.status = session->Run(variant.inputs, &variant.results);
    runs |= variant.status.ok();
    model.variants_.push_back(std::move(variant));
  }
  if (runs) return model;
  return model.variants_.front().status.WithContext(path);
}

Status SoakModel::Check(size_t i, const Status& status,
                        const std::vector<Tensor>& results) const {
  const Variant& expected = variants_[i];
  const std::string where = name_ + ", inputs " + std::to_string(i) + ": ";
  if (status.code() != expected.status.code()) {
    return InternalError(where + "expected " + expected.status.ToString() +
                         ", found " + status.ToString());
  }
  if (!status.ok()) return OkStatus();
  if (results.size() != expected.results.size())
    return InternalError(where + "another number of results");
  for (size_t k = 0; k < results.size(); ++k) {
    const tools::Comparison comparison =
        tools::CompareTiers(results[k], expected.results[k], kToleranceFactor);
    if (!comparison.equal) {
      return InternalError(where + "result " + std::to_string(k) + ": " +
                           comparison.message);
    }
  }
  return OkStatus();
}

}  // namespace ember::tests

// A module for a soak, with inputs of many shapes and tier 0's results for
// them.
//
//   EMBER_ASSIGN_OR_RETURN(SoakModel model, SoakModel::Load(path, 24, seed));
//   Status status = session->Run(model.variant(3).inputs, &results);
//   EMBER_RETURN_IF_ERROR(model.Check(3, status, results));
//
// Thread-safe once it is loaded.
#ifndef EMBER_TESTS_SOAK_SOAK_MODEL_H_
#define EMBER_TESTS_SOAK_SOAK_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

class SoakModel {
 public:
  struct Variant {
    std::vector<vm::Tensor> inputs;
    // The status with which tier 0 ran the variant. It may be an error, because
    // a model does not accept all values and shapes.
    Status status;
    std::vector<vm::Tensor> results;
  };

  // Loads a module and makes variants of its inputs. Open dims are from 1 to
  // 24. Error: tier 0 runs none of the variants.
  static StatusOr<SoakModel> Load(const std::string& path, int64_t variants,
                                  uint64_t seed);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const vm::Module>& module() const { return module_; }
  size_t size() const { return variants_.size(); }
  const Variant& variant(size_t i) const { return variants_[i]; }

  // Compares a run of variant i with tier 0's. OK if it ended in the same way.
  Status Check(size_t i, const Status& status,
               const std::vector<vm::Tensor>& results) const;

 private:
  std::string name_;
  std::shared_ptr<const vm::Module> module_;
  std::vector<Variant> variants_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_SOAK_SOAK_MODEL_H_

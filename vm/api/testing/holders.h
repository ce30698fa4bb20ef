// Helpers for tests of the C API: modules and sessions that release their
// handles.
#ifndef EMBER_VM_API_TESTING_HOLDERS_H_
#define EMBER_VM_API_TESTING_HOLDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/ember.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::vm {

inline const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

inline std::string LastError() { return Api().error_message(); }

// Holds a module that is loaded from bytes, and these bytes. The module is null
// if loading it failed.
class LoadedModule {
 public:
  explicit LoadedModule(const ModuleDefinition& definition)
      : bytes_(*SerializeModule(definition)) {
    EXPECT_EQ(Api().module_load_memory(bytes_.data(), bytes_.size(), &module_),
              EMBER_OK)
        << LastError();
  }
  ~LoadedModule() { Api().module_release(module_); }
  EmberModule* get() const { return module_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  EmberModule* module_ = nullptr;
};

inline EmberSessionOptions Options(int threads = 1) {
  EmberSessionOptions options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  return options;
}

class NewSession {
 public:
  NewSession(const LoadedModule& module, const EmberSessionOptions& options) {
    status_ = Api().session_create(module.get(), &options, &session_);
  }
  ~NewSession() { Api().session_release(session_); }
  EmberStatus status() const { return status_; }
  operator EmberSession*() const { return session_; }

 private:
  EmberStatus status_;
  EmberSession* session_ = nullptr;
};

inline constexpr float kX[6] = {1, 2, 3, -1, 0, 1};
inline const std::vector<float> kZ = {0, 6.25f, 0, 1.75f};

inline EmberStatus SetX(EmberSession* session, const float* x,
                        std::vector<int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  const EmberTensor tensor = {EMBER_F32, static_cast<int32_t>(dims.size()),
                              dims.data(), x, count * sizeof(float)};
  return Api().session_set_input(session, 0, &tensor);
}

inline EmberStatus RunStatic(EmberSession* session) {
  EXPECT_EQ(SetX(session, kX, {2, 3}), EMBER_OK) << LastError();
  return Api().session_run(session);
}

inline std::vector<float> Result(EmberSession* session) {
  EmberTensor tensor = {};
  EXPECT_EQ(Api().session_result(session, 0, &tensor), EMBER_OK) << LastError();
  const auto* const data = static_cast<const float*>(tensor.data);
  return {data, data + tensor.byte_size / sizeof(float)};
}

}  // namespace ember::vm

#endif  // EMBER_VM_API_TESTING_HOLDERS_H_

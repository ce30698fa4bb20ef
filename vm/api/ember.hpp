// A C++17 wrapper of the C API: objects that release their handles, and results
// as spans.
//
//   ember::Module module = ember::Module::Load("model.vmfb").value();
//   ember::Session session = ember::Session::Create(module).value();
//   const int64_t dims[] = {1, 3};
//   session.SetInput(0, ember::View<float>(pixels, dims)).value();
//   session.Run().value();
//   for (float p : session.Get<float>(0).value()) printf("%f\n", p);
//
// The wrapper is header-only. It needs ember.h and a library of version 7 or
// later.
//
// Functions that can fail return a Result: ok(), status(), message(), value().
// value() of an error throws ember::Error. Without exceptions, or if
// EMBER_NO_EXCEPTIONS is defined, it prints the message and aborts, so in such
// programs call ok() first.
//
// Ownership, threads and errors: each member follows the rules of the function
// of ember.h with the same name. All names are in ember::api_v7, so that a
// program can use this header together with the runtime's own headers.
#ifndef EMBER_VM_API_EMBER_HPP_
#define EMBER_VM_API_EMBER_HPP_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ember.h"  // ember.h is in the same folder, both in the source tree
                    // and in an installed package.

#if !defined(EMBER_NO_EXCEPTIONS) && defined(__cpp_exceptions)
#define EMBER_HAS_EXCEPTIONS 1
#include <stdexcept>
#else
#define EMBER_HAS_EXCEPTIONS 0
#endif

namespace ember {
inline namespace api_v7 {

// Returns the library's table of functions. Ends the process if the library is
// older than this header.
inline const EmberApi& Api() {
  static const EmberApi* const api = ember_get_api(7);
  if (api == nullptr) {
    std::fputs("ember: expected a library of version 7 or later\n", stderr);
    std::abort();
  }
  return *api;
}

#if EMBER_HAS_EXCEPTIONS
class Error : public std::runtime_error {
 public:
  Error(EmberStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  EmberStatus status() const { return status_; }

 private:
  EmberStatus status_;
};
#endif

[[noreturn]] inline void Fail(EmberStatus status, const std::string& message) {
#if EMBER_HAS_EXCEPTIONS
  throw Error(status, message);
#else
  std::fprintf(stderr, "ember: %s (%d)\n", message.c_str(),
               static_cast<int>(status));
  std::abort();
#endif
}

// Holds either a value, or the status and the message of an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(EmberStatus status, std::string message)
      : status_(status), message_(std::move(message)) {}

  bool ok() const { return status_ == EMBER_OK; }
  EmberStatus status() const { return status_; }
  const std::string& message() const { return message_; }
  T& value() & {
    Check();
    return *value_;
  }
  const T& value() const& {
    Check();
    return *value_;
  }
  T&& value() && {
    Check();
    return std::move(*value_);
  }

 private:
  void Check() const {
    if (!ok()) Fail(status_, message_);
  }

  EmberStatus status_ = EMBER_OK;
  std::string message_;
  std::optional<T> value_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(EmberStatus status, std::string message)
      : status_(status), message_(std::move(message)) {}
  // Makes a result from the status that a function of the table returned. It
  // must be called on the same thread as that function, because error_message()
  // is per thread.
  static Result Of(EmberStatus status) {
    return status == EMBER_OK ? Result()
                              : Result(status, Api().error_message());
  }

  bool ok() const { return status_ == EMBER_OK; }
  EmberStatus status() const { return status_; }
  const std::string& message() const { return message_; }
  void value() const {
    if (!ok()) Fail(status_, message_);
  }

 private:
  EmberStatus status_ = EMBER_OK;
  std::string message_;
};

// A view of contiguous elements that another object owns: a small version of
// C++20's std::span.
template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t n>
  constexpr Span(T (&array)[n]) : data_(array), size_(n) {}
  // Makes a view of a std::vector, std::array or similar container.
  template <typename Container,
            typename = std::enable_if_t<
                !std::is_same_v<std::decay_t<Container>, Span> &&
                std::is_convertible_v<
                    decltype(std::declval<Container&>().data()), T*>>>
  constexpr Span(Container&& container)
      : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Maps a C++ type to its EmberType. F16, BF16 and the 8-bit floats have no C++
// type: for these, fill an EmberTensor with their bits.
template <typename T>
constexpr EmberType TypeOf() {
  if constexpr (std::is_same_v<T, bool>) return EMBER_BOOL;
  if constexpr (std::is_same_v<T, int8_t>) return EMBER_I8;
  if constexpr (std::is_same_v<T, int16_t>) return EMBER_I16;
  if constexpr (std::is_same_v<T, int32_t>) return EMBER_I32;
  if constexpr (std::is_same_v<T, int64_t>) return EMBER_I64;
  if constexpr (std::is_same_v<T, uint8_t>) return EMBER_U8;
  if constexpr (std::is_same_v<T, uint16_t>) return EMBER_U16;
  if constexpr (std::is_same_v<T, uint32_t>) return EMBER_U32;
  if constexpr (std::is_same_v<T, uint64_t>) return EMBER_U64;
  if constexpr (std::is_same_v<T, float>) return EMBER_F32;
  if constexpr (std::is_same_v<T, double>) return EMBER_F64;
}

// Makes a tensor for an input. The elements and dims are not copied; both must
// stay valid.
template <typename T>
EmberTensor View(Span<const T> elements, Span<const int64_t> dims) {
  return {TypeOf<T>(), static_cast<int32_t>(dims.size()), dims.data(),
          elements.data(), elements.size() * sizeof(T)};
}

struct ModuleReleaser {
  void operator()(EmberModule* module) const { Api().module_release(module); }
};
struct SessionReleaser {
  void operator()(EmberSession* session) const {
    Api().session_release(session);
  }
};
struct FenceReleaser {
  void operator()(EmberFence* fence) const { Api().fence_release(fence); }
};

// Returns options with struct_size set, for the caller to fill.
inline EmberModuleOptions ModuleOptions() {
  EmberModuleOptions options = {};
  options.struct_size = sizeof(options);
  return options;
}

class Module {
 public:
  static Result<Module> Load(const char* path) {
    EmberModule* module = nullptr;
    const EmberStatus status = Api().module_load_file(path, &module);
    return Made(status, module);
  }
  static Result<Module> Load(const std::string& path) {
    return Load(path.c_str());
  }
  static Result<Module> Load(Span<const uint8_t> bytes) {
    EmberModule* module = nullptr;
    const EmberStatus status =
        Api().module_load_memory(bytes.data(), bytes.size(), &module);
    return Made(status, module);
  }
  // Loads a module and passes its progress to report(event), which returns
  // false to stop loading.
  static Result<Module> Load(
      EmberModuleOptions options,
      const std::function<bool(const EmberProgressEvent&)>& report) {
    using Told = std::function<bool(const EmberProgressEvent&)>;
    EmberProgress progress = {};
    progress.struct_size = sizeof(progress);
    progress.context = const_cast<Told*>(&report);
    progress.report = [](void* context, const EmberProgressEvent* event) {
      return int32_t{(*static_cast<const Told*>(context))(*event)};
    };
    if (report) options.progress = &progress;
    EmberModule* module = nullptr;
    const EmberStatus status = Api().module_load(&options, &module);
    return Made(status, module);
  }
  // Loads a module by calls of read(offset, buffer, size), which must behave as
  // EmberReader::read.
  static Result<Module> Load(
      uint64_t size,
      const std::function<int64_t(uint64_t, void*, size_t)>& read) {
    using Read = std::function<int64_t(uint64_t, void*, size_t)>;
    EmberReader reader = {};
    reader.struct_size = sizeof(reader);
    reader.context = const_cast<Read*>(&read);
    reader.size = size;
    reader.read = [](void* context, uint64_t offset, void* buffer,
                     size_t bytes) {
      return (*static_cast<Read*>(context))(offset, buffer, bytes);
    };
    EmberModule* module = nullptr;
    const EmberStatus status = Api().module_load_reader(&reader, &module);
    return Made(status, module);
  }

  // Adds kernels that the program has linked or loaded. It must be called
  // before the first session is created.
  Result<void> AddKernels(const EmberKernels* kernels) {
    return Result<void>::Of(Api().module_add_kernels(get(), kernels));
  }
  // Adds kernels from an overlay file. Sessions need permission to use them
  // (allow_native or native_key).
  Result<void> AddOverlay(const char* path) {
    return Result<void>::Of(Api().module_add_overlay(get(), path));
  }

  EmberModule* get() const { return handle_.get(); }
  int32_t input_count() const { return Api().module_input_count(get()); }
  int32_t result_count() const { return Api().module_result_count(get()); }
  Result<EmberTensorInfo> input_info(int32_t index) const {
    EmberTensorInfo info = {};
    const EmberStatus status = Api().module_input_info(get(), index, &info);
    return Told(status, info);
  }
  Result<EmberTensorInfo> result_info(int32_t index) const {
    EmberTensorInfo info = {};
    const EmberStatus status = Api().module_result_info(get(), index, &info);
    return Told(status, info);
  }
  // Returns metadata of the model: the text of a key (null if the key is
  // missing), or all keys and texts, sorted by key. Texts are valid as long as
  // the module exists.
  const char* metadata(const char* key) const {
    return Api().module_metadata(get(), key);
  }
  std::vector<std::pair<std::string_view, std::string_view>> metadata() const {
    std::vector<std::pair<std::string_view, std::string_view>> entries;
    const int32_t count = Api().module_metadata_count(get());
    for (int32_t i = 0; i < count; ++i)
      entries.emplace_back(Api().module_metadata_key(get(), i),
                           Api().module_metadata_value(get(), i));
    return entries;
  }
  // Returns the shape of result `index` for inputs of these shapes. An extent
  // that depends on data is -1.
  Result<std::vector<int64_t>> ResultShape(
      const std::vector<std::vector<int64_t>>& inputs, int32_t index) const {
    const Result<EmberTensorInfo> info = result_info(index);
    if (!info.ok()) return {info.status(), info.message()};
    std::vector<EmberShape> shapes;
    for (const std::vector<int64_t>& dims : inputs)
      shapes.push_back({static_cast<int32_t>(dims.size()), dims.data()});
    // The vector has one element more than the result has dims, so that data()
    // is not null for a scalar.
    std::vector<int64_t> dims(static_cast<size_t>(info.value().rank) + 1);
    const EmberStatus status = Api().module_result_shape(
        get(), shapes.data(), static_cast<int32_t>(shapes.size()), index,
        dims.data());
    dims.pop_back();
    return Told(status, std::move(dims));
  }

 private:
  explicit Module(EmberModule* handle) : handle_(handle) {}
  static Result<Module> Made(EmberStatus status, EmberModule* module) {
    if (status == EMBER_OK) return Module(module);
    return {status, Api().error_message()};
  }
  template <typename T>
  static Result<T> Told(EmberStatus status, T value) {
    if (status == EMBER_OK) return value;
    return {status, Api().error_message()};
  }

  std::unique_ptr<EmberModule, ModuleReleaser> handle_;
};

// A result of a run. Its elements are in the session's memory, or in the
// caller's (SetOutput).
template <typename T>
class Elements {
 public:
  Elements(Span<const T> elements, Span<const int64_t> dims)
      : elements_(elements), dims_(dims) {}
  Span<const int64_t> dims() const { return dims_; }
  size_t size() const { return elements_.size(); }
  const T* data() const { return elements_.data(); }
  const T* begin() const { return elements_.begin(); }
  const T* end() const { return elements_.end(); }
  const T& operator[](size_t i) const { return elements_[i]; }

 private:
  Span<const T> elements_;
  Span<const int64_t> dims_;
};

class Fence {
 public:
  // Waits until the run has ended, at most `seconds` seconds; a negative number
  // means no limit. Returns EMBER_NOT_READY if the run has not ended in this
  // time.
  Result<void> Wait(double seconds = -1) {
    const EmberStatus status = Api().fence_wait(handle_.get(), seconds);
    if (status == EMBER_NOT_READY) return {status, "the run is not over"};
    return Result<void>::Of(status);
  }
  bool is_signalled() const {
    return Api().fence_is_signalled(handle_.get()) != 0;
  }

 private:
  friend class Session;
  explicit Fence(EmberFence* handle) : handle_(handle) {}
  std::unique_ptr<EmberFence, FenceReleaser> handle_;
};

// Returns options with struct_size set, for the caller to fill.
inline EmberSessionOptions SessionOptions() {
  EmberSessionOptions options = {};
  options.struct_size = sizeof(options);
  return options;
}

class Session {
 public:
  static Result<Session> Create(
      const Module& module,
      const EmberSessionOptions& options = SessionOptions()) {
    EmberSession* session = nullptr;
    const EmberStatus status =
        Api().session_create(module.get(), &options, &session);
    if (status == EMBER_OK) return Session(session);
    return {status, Api().error_message()};
  }

  EmberSession* get() const { return handle_.get(); }

  Result<void> SetInput(int32_t index, const EmberTensor& tensor) {
    return Result<void>::Of(Api().session_set_input(get(), index, &tensor));
  }
  Result<void> SetInput(int32_t index, Span<const std::string> strings,
                        Span<const int64_t> dims) {
    std::vector<EmberString> views;
    for (const std::string& string : strings)
      views.push_back({string.data(), string.size()});
    const EmberStringTensor tensor = {static_cast<int32_t>(dims.size()),
                                      dims.data(), views.data(), views.size()};
    return Result<void>::Of(
        Api().session_set_input_strings(get(), index, &tensor));
  }
  // Makes runs write the result to `elements`. If elements.data() is null, as
  // for Span<T>(), runs write to the session's memory again.
  template <typename T>
  Result<void> SetOutput(int32_t index, Span<T> elements) {
    return Result<void>::Of(Api().session_set_output(
        get(), index, elements.data(), elements.size() * sizeof(T)));
  }
  Result<void> Run() { return Result<void>::Of(Api().session_run(get())); }
  Result<Fence> RunAsync(EmberRunDone done = nullptr, void* context = nullptr) {
    EmberFence* fence = nullptr;
    const EmberStatus status =
        Api().session_run_async(get(), done, context, &fence);
    if (status == EMBER_OK) return Fence(fence);
    return {status, Api().error_message()};
  }
  void Cancel() { Api().session_cancel(get()); }

  Result<EmberTensor> Get(int32_t index) const {
    EmberTensor tensor = {};
    const EmberStatus status = Api().session_result(get(), index, &tensor);
    if (status == EMBER_OK) return tensor;
    return {status, Api().error_message()};
  }
  template <typename T>
  Result<Elements<T>> Get(int32_t index) const {
    const Result<EmberTensor> tensor = Get(index);
    if (!tensor.ok()) return {tensor.status(), tensor.message()};
    const EmberTensor& got = tensor.value();
    if (got.type != TypeOf<T>()) {
      return {EMBER_INVALID_ARGUMENT,
              "result " + std::to_string(index) + ": expected EmberType " +
                  std::to_string(TypeOf<T>()) + ", found " +
                  std::to_string(got.type)};
    }
    return Elements<T>(
        {static_cast<const T*>(got.data), got.byte_size / sizeof(T)},
        {got.dims, static_cast<size_t>(got.rank)});
  }
  Result<std::vector<std::string_view>> GetStrings(int32_t index) const {
    EmberStringTensor tensor = {};
    const EmberStatus status =
        Api().session_result_strings(get(), index, &tensor);
    if (status != EMBER_OK) return {status, Api().error_message()};
    std::vector<std::string_view> strings;
    for (size_t i = 0; i < tensor.count; ++i)
      strings.emplace_back(tensor.strings[i].data, tensor.strings[i].size);
    return strings;
  }

 private:
  explicit Session(EmberSession* handle) : handle_(handle) {}
  std::unique_ptr<EmberSession, SessionReleaser> handle_;
};

}  // namespace api_v7
}  // namespace ember

#endif  // EMBER_VM_API_EMBER_HPP_

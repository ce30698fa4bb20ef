// The state of the fake functions of Metal: live objects, counted calls, the
// fault to inject, and misuse.
//
//   const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
//   if (Fails("NewBuffer")) return nullptr;
//   const std::shared_ptr<Buffer> buffer = Get<Buffer>(ref, "ContentsOf");
//
// Every function that uses the state holds its mutex.
#ifndef EMBER_HAL_METAL_TESTING_FAKE_STATE_H_
#define EMBER_HAL_METAL_TESTING_FAKE_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace ember::hal::metal::fake {

// An object that a handle names. kind is that of its class.
struct Object {
  explicit Object(std::string_view of_kind) : kind(of_kind) {}
  virtual ~Object() = default;
  const std::string_view kind;
};

struct State {
  std::recursive_mutex mutex;  // guards all members
  // The objects that were given out and not released. Other objects may keep a
  // released one alive, as in Metal.
  std::map<const void*, std::shared_ptr<Object>> live;
  std::string calls;
  std::map<std::string, int64_t, std::less<>> count_of;
  int64_t call_count = 0;
  int64_t faults = 0;
  int64_t builds = 0;
  std::string misuse;
  // The variables of the environment (fake_metal.h).
  bool is_read = false;
  std::string variant;
  std::string fault_function;
  int64_t fault_call = 0;
  int64_t fault_result = 0;
};

State& TheState();
void ReadEnvironment();

// Counts a call that can fail. True if it must.
bool Fails(std::string_view function);
void NoteMisuse(std::string_view function, std::string_view what);

// Gives out an object; the result is its handle.
template <typename Ref, typename Class>
Ref Give(std::shared_ptr<Class> object) {
  const void* const handle = object.get();
  TheState().live.emplace(handle, std::move(object));
  return reinterpret_cast<Ref>(const_cast<void*>(handle));
}

// Returns the object of a handle. If it does not exist, or is of another class,
// notes the misuse and returns null.
template <typename Class>
std::shared_ptr<Class> Get(const void* handle, std::string_view function) {
  const auto found = TheState().live.find(handle);
  if (found == TheState().live.end() || found->second->kind != Class::kKind) {
    NoteMisuse(function, "an object that does not exist");
    return nullptr;
  }
  return std::static_pointer_cast<Class>(found->second);
}

}  // namespace ember::hal::metal::fake

#endif  // EMBER_HAL_METAL_TESTING_FAKE_STATE_H_

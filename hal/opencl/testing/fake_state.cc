#include "hal/opencl/testing/fake_state.h"

#include <charconv>
#include <cstdlib>

namespace ember::hal::opencl::fake {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void ReadEnvironment(State& state) {
  state.is_read = true;
  state.variant = Variable("EMBER_OPENCL_FAKE");
  state.fault_call = 0;
  const std::string text = Variable("EMBER_OPENCL_FAULT");
  const size_t first = text.find(':');
  const size_t second = text.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return;
  state.fault_function = text.substr(0, first);
  std::from_chars(&text[first + 1], &text[second], state.fault_call);
  std::from_chars(&text[second + 1], text.data() + text.size(),
                  state.fault_result);
}

}  // namespace

State& TheState() {
  static State& state = *new State;
  return state;
}

cl_int Begin(std::string_view function) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (!state.is_read) ReadEnvironment(state);
  state.calls.append(function).push_back('\0');
  const int64_t total = ++state.call_count;
  const int64_t own = ++state.count_of[std::string(function)];
  const bool is_it =
      (state.fault_function == "*" && total == state.fault_call) ||
      (state.fault_function == function && own == state.fault_call);
  if (!is_it) return 0;
  ++state.faults;
  return state.fault_result;
}

bool Dies(const void* object, std::string_view function) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (state.live.erase(object) == 1) return true;
  NoteMisuse(function, "an object that does not exist");
  return false;
}

bool IsLive(const void* object, std::string_view function) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (state.live.contains(object)) return true;
  NoteMisuse(function, "an object that does not exist");
  return false;
}

void NoteMisuse(std::string_view function, std::string_view what) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (!state.misuse.empty()) return;
  state.misuse.append(function).append(": ").append(what);
}

bool IsVariant(std::string_view name) {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return state.variant == name;
}

}  // namespace ember::hal::opencl::fake

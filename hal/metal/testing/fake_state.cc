#include "hal/metal/testing/fake_state.h"

#include <charconv>
#include <cstdlib>

namespace ember::hal::metal::fake {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

State& TheState() {
  static State& state = *new State;
  return state;
}

void ReadEnvironment() {
  State& state = TheState();
  state.is_read = true;
  state.variant = Variable("EMBER_METAL_FAKE");
  state.fault_call = state.fault_result = 0;
  const std::string text = Variable("EMBER_METAL_FAULT");
  const char* const end = text.data() + text.size();
  const size_t first = text.find(':');
  if (first == std::string::npos) return;
  state.fault_function = text.substr(0, first);
  const auto call =
      std::from_chars(text.data() + first + 1, end, state.fault_call);
  if (call.ptr != end && *call.ptr == ':')
    std::from_chars(call.ptr + 1, end, state.fault_result);
}

bool Fails(std::string_view function) {
  State& state = TheState();
  if (!state.is_read) ReadEnvironment();
  state.calls.append(function).push_back('\0');
  const int64_t total = ++state.call_count;
  const int64_t own = ++state.count_of[std::string(function)];
  const bool is_it =
      (state.fault_function == "*" && total == state.fault_call) ||
      (state.fault_function == function && own == state.fault_call);
  if (is_it) ++state.faults;
  return is_it;
}

void NoteMisuse(std::string_view function, std::string_view what) {
  State& state = TheState();
  if (state.misuse.empty())
    state.misuse.append(function).append(": ").append(what);
}

}  // namespace ember::hal::metal::fake

#include "tools/lib/tensors/elements.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "base/float_format.h"

namespace ember::tools {
namespace {

// Calls function(value), where value has the type by which an element of `type`
// is stored.
template <typename Function>
decltype(auto) WithStorage(DType type, Function&& function) {
  switch (type) {
#define EMBER_ROW(name, text, storage, bits, kind) \
  case DType::k##name:                             \
    return function(storage{});
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  EMBER_CHECK(false) << "unknown dtype";
  std::abort();
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

// Returns the text in quotes. Quotes, backslashes and ASCII control characters,
// such as line feeds, are escaped; non-ASCII characters stay as they are.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\t' || c == '\r') {
      quoted += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x", c);
      quoted += code;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

Status NotA(DType type, std::string_view text) {
  return InvalidArgumentError("expected a value of type " +
                              std::string(DTypeName(type)) + ", found '" +
                              std::string(text) + "'");
}

}  // namespace

double FloatElement(const vm::Tensor& tensor, int64_t index) {
  return WithStorage(tensor.type, [&](auto zero) -> double {
    using T = decltype(zero);
    const T value = static_cast<const T*>(tensor.data)[index];
    if constexpr (NarrowFloat<T>) {
      return ToFloat(value);
    } else {
      return static_cast<double>(value);
    }
  });
}

int64_t IntegerElement(const vm::Tensor& tensor, int64_t index) {
  return WithStorage(tensor.type, [&](auto zero) -> int64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(static_cast<const T*>(tensor.data)[index]);
    } else {
      EMBER_CHECK(false) << "a float tensor has no integer elements";
      return 0;
    }
  });
}

void SetFloatElement(vm::Tensor& tensor, int64_t index, double value) {
  WithStorage(tensor.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (NarrowFloat<T>) {
      static_cast<T*>(tensor.data)[index] = ToNarrowFloat<T>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      static_cast<T*>(tensor.data)[index] = static_cast<T>(value);
    } else {
      EMBER_CHECK(false) << "an integer tensor has no float elements";
    }
  });
}

void SetIntegerElement(vm::Tensor& tensor, int64_t index, int64_t value) {
  WithStorage(tensor.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      static_cast<T*>(tensor.data)[index] = static_cast<T>(value);
    } else {
      EMBER_CHECK(false) << "a float tensor has no integer elements";
    }
  });
}

std::string ElementText(const vm::Tensor& tensor, int64_t index) {
  if (tensor.strings != nullptr)
    return Quoted((*tensor.strings)[static_cast<size_t>(index)]);
  if (tensor.type == DType::kBool)
    return IntegerElement(tensor, index) != 0 ? "true" : "false";
  if (tensor.type == DType::kF64) return Shortest(FloatElement(tensor, index));
  if (IsFloat(tensor.type))
    return Shortest(static_cast<float>(FloatElement(tensor, index)));
  const int64_t value = IntegerElement(tensor, index);
  if (tensor.type == DType::kU64) return Shortest(static_cast<uint64_t>(value));
  return Shortest(value);
}

Status ParseElement(std::string_view text, vm::Tensor& tensor, int64_t index) {
  const std::string copy(text);
  if (IsFloat(tensor.type)) {
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    const bool is_number = !copy.empty() && *end == '\0';
    const bool is_held =
        !std::isinf(value) || FloatFormatOf(tensor.type).has_infinity();
    if (!is_number || !is_held) return NotA(tensor.type, text);
    SetFloatElement(tensor, index, value);
    return OkStatus();
  }
  if (tensor.type == DType::kBool) {
    if (text != "0" && text != "1" && text != "true" && text != "false") {
      return NotA(tensor.type, text);
    }
    SetIntegerElement(tensor, index, text == "1" || text == "true" ? 1 : 0);
    return OkStatus();
  }
  return WithStorage(tensor.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      T value{};
      const auto [end, error] =
          std::from_chars(copy.data(), copy.data() + copy.size(), value);
      if (error != std::errc() || end != copy.data() + copy.size())
        return NotA(tensor.type, text);
      static_cast<T*>(tensor.data)[index] = value;
    }
    return OkStatus();
  });
}

std::string IndexText(std::span<const int64_t> dims, int64_t flat_index) {
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    text.insert(0, (i == 0 ? "" : ", ") + std::to_string(flat_index % dims[i]));
    flat_index /= dims[i];
  }
  return "[" + text + "]";
}

}  // namespace ember::tools

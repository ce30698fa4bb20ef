#include "tune/measure/random_elements.h"

#include <cstring>

namespace ember::tune {
namespace {

template <typename T, typename Next>
void FillAs(uint8_t* data, size_t bytes, Next&& next) {
  for (size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    const T element = T(next());
    std::memcpy(data + i, &element, sizeof(T));
  }
}

}  // namespace

void FillRandom(DType type, uint8_t* data, size_t bytes,
                std::mt19937_64& engine) {
  const auto real = [&] {
    return static_cast<float>(engine() >> 40) / static_cast<float>(1 << 23) -
           1.0f;
  };
  const auto bit = [&] { return engine() & 1; };
  switch (type) {
    case DType::kF32:
      return FillAs<float>(data, bytes, real);
    case DType::kF64:
      return FillAs<double>(data, bytes, real);
    case DType::kF16:
      return FillAs<Float16>(data, bytes, [&] { return ToFloat16(real()); });
    case DType::kBF16:
      return FillAs<BFloat16>(data, bytes, [&] { return ToBFloat16(real()); });
    case DType::kF8E4M3FN:
      return FillAs<Float8E4M3FN>(
          data, bytes, [&] { return ToNarrowFloat<Float8E4M3FN>(real()); });
    case DType::kF8E5M2:
      return FillAs<Float8E5M2>(
          data, bytes, [&] { return ToNarrowFloat<Float8E5M2>(real()); });
    default:
      break;
  }
  switch (DTypeByteSize(type)) {
    case 1:
      return FillAs<uint8_t>(data, bytes, bit);
    case 2:
      return FillAs<uint16_t>(data, bytes, bit);
    case 4:
      return FillAs<uint32_t>(data, bytes, bit);
    default:
      return FillAs<uint64_t>(data, bytes, bit);
  }
}

}  // namespace ember::tune

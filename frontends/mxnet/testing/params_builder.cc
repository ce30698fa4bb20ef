#include "frontends/mxnet/testing/params_builder.h"

namespace ember::mxnet {
namespace {

std::string Number(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

uint64_t FlagOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1;
    case DType::kF16:
      return 2;
    case DType::kU8:
      return 3;
    case DType::kI32:
      return 4;
    case DType::kI8:
      return 5;
    case DType::kI64:
      return 6;
    default:
      return 0;
  }
}

}  // namespace

void ParamsBuilder::Add(const std::string& name, DType dtype,
                        const std::vector<int64_t>& dims,
                        const std::string& bytes, ArrayVersion version) {
  const int width = version == ArrayVersion::kFirst ? 4 : 8;
  if (version != ArrayVersion::kFirst) {
    arrays_ += Number(0xf993fac7 + static_cast<uint64_t>(version), 4);
    if (version != ArrayVersion::kV1) arrays_ += Number(0, 4);
  }
  arrays_ += Number(dims.size(), 4);
  for (const int64_t dim : dims)
    arrays_ += Number(static_cast<uint64_t>(dim), width);
  arrays_ += Number(1, 4) + Number(0, 4) + Number(FlagOf(dtype), 4) + bytes;
  names_ += Number(name.size(), 8) + name;
  ++count_;
}

std::string ParamsBuilder::Finish() const {
  return Number(0x112, 8) + Number(0, 8) + Number(count_, 8) + arrays_ +
         Number(count_, 8) + names_;
}

}  // namespace ember::mxnet

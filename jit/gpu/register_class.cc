#include "jit/gpu/register_class.h"

namespace ember::jit::gpu {
namespace {

// True if a register holds an element of the type as a float. Floats of 8 bits
// are held as integers, u8 (jit/spirv/conversions.h).
bool IsHeldAsFloat(DType type) {
  return IsFloat(type) && DTypeByteSize(type) > 1;
}

}  // namespace

int64_t BytesInRegister(DType type) { return DTypeByteSize(type) > 4 ? 8 : 4; }

bool CombinesBySubgroups(DType type, tensor::Update update,
                         const DeviceTraits& device) {
  if (!device.subgroup_arithmetic || device.subgroup_size < 2) return false;
  if (device.combines_any_type) return true;
  if (type == DType::kBool || DTypeByteSize(type) > 4) return false;
  if (!IsFloat(type)) return true;
  if (!IsHeldAsFloat(type)) return false;
  // If the instructions of subgroups combined narrow floats, sums and products
  // would be rounded to the narrow type at each step. So of the floats only f32
  // has sums and products combined in this way here.
  const bool rounds =
      update == tensor::Update::kAdd || update == tensor::Update::kMultiply;
  return type == DType::kF32 || !rounds;
}

}  // namespace ember::jit::gpu

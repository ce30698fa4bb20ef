#include "jit/llvm/dot_products.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ember::jit {

using llvm::Value;
using loops::Statement;
using tensor::Node;
using tensor::Opcode;
using tensor::Update;

namespace {

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

}  // namespace

bool DotProducts::Emit(const Statement& loop) {
  const int lanes = expressions_.scopes().lanes();
  const bool has_width = lanes == 4 || lanes == 8 || lanes == 16;
  if (!has_width || expressions_.mask() != nullptr) return false;
  if (loop.body.size() != 1) return false;
  const Statement& store = loop.body[0];
  if (store.kind != Statement::Kind::kStore || store.targets.size() != 1)
    return false;
  const NodeId extent = nest_.pool[loop.variable].operands[0];
  const int64_t count = *nest_.pool.IntegerConstant(extent);
  const int bits = count == 4   ? target_.dot_product_bits
                   : count == 2 ? target_.pair_product_bits
                                : 0;
  if (lanes * 32 > bits) return false;

  expressions_.BeginStatement();
  Scopes& scopes = expressions_.scopes();
  scopes.Enter(nullptr, loop.variable, b_.getInt64(0));
  const auto operands = Match(store.targets[0], loop.variable, count);
  if (operands) {
    MemoryAccess& memory = expressions_.memory();
    Value* sum = memory.Load(operands->target, nullptr, nullptr);
    sum =
        count == 4 ? FourProducts(*operands, sum) : TwoProducts(*operands, sum);
    memory.Store(operands->target, sum, nullptr);
  }
  scopes.Leave();
  return operands.has_value();
}

std::optional<DotProducts::Factor> DotProducts::FactorOf(NodeId id) const {
  const Node& cast = nest_.pool[id];
  if (cast.opcode != Opcode::kCast) return std::nullopt;
  const Node& load = nest_.pool[cast.operands[0]];
  if (load.opcode != Opcode::kLoad || load.operands.empty())
    return std::nullopt;
  return Factor{cast.operands[0], load.type};
}

std::optional<int64_t> DotProducts::Coefficient(NodeId index,
                                                NodeId variable) const {
  const Node& node = nest_.pool[index];
  if (index == variable) return 1;
  if (!expressions_.scopes().DependsOn(index, variable)) return 0;
  if (node.opcode == Opcode::kAdd || node.opcode == Opcode::kSubtract) {
    const auto a = Coefficient(node.operands[0], variable);
    const auto b = Coefficient(node.operands[1], variable);
    if (!a || !b) return std::nullopt;
    return node.opcode == Opcode::kAdd ? *a + *b : *a - *b;
  }
  return std::nullopt;
}

// Whether the element after the one at 0 is that at 1, and so on.
bool DotProducts::RunsWith(NodeId load, NodeId variable) const {
  const std::vector<NodeId>& indices = nest_.pool[load].operands;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const int64_t wanted = dim + 1 == indices.size();
    if (Coefficient(indices[dim], variable) != wanted) return false;
  }
  return true;
}

std::optional<DotProducts::Operands> DotProducts::Match(
    const loops::Target& target, NodeId variable, int64_t count) {
  const Node& product = nest_.pool[target.value];
  if (target.update != Update::kAdd || product.type != DType::kI32 ||
      product.opcode != Opcode::kMultiply)
    return std::nullopt;
  for (NodeId index : target.indices) {
    if (expressions_.scopes().DependsOn(index, variable)) return std::nullopt;
  }
  auto a = FactorOf(product.operands[0]);
  auto b = FactorOf(product.operands[1]);
  if (!a || !b || !RunsWith(a->load, variable) || !RunsWith(b->load, variable))
    return std::nullopt;
  const auto fits = [&](DType type) {
    return IsByte(type) || (count == 2 && type == DType::kI16);
  };
  if (!fits(a->type) || !fits(b->type)) return std::nullopt;
  if (expressions_.scopes().VariesByLane(a->load)) std::swap(a, b);
  const auto address = [&](uint32_t buffer, std::span<const NodeId> indices) {
    return expressions_.memory().AddressOf(buffer, indices);
  };
  const Node& a_load = nest_.pool[a->load];
  const Node& b_load = nest_.pool[b->load];
  Operands operands{*a, *b, address(a_load.buffer, a_load.operands),
                    address(b_load.buffer, b_load.operands),
                    address(target.buffer, target.indices)};
  const auto* stride =
      llvm::dyn_cast_or_null<llvm::ConstantInt>(operands.b_address.stride);
  if (operands.a_address.kind != Address::Kind::kUniform ||
      operands.b_address.kind != Address::Kind::kStrided ||
      operands.target.kind != Address::Kind::kContiguous || stride == nullptr ||
      stride->getSExtValue() != count)
    return std::nullopt;
  return operands;
}

// --- 4 bytes by 4 bytes

Value* DotProducts::PackedA(const Operands& operands) {
  Value* elements =
      expressions_.memory().LoadAs(operands.a_address, b_.getInt32Ty());
  return Splat(b_, elements, expressions_.scopes().lanes());
}

Value* DotProducts::PackedB(const Operands& operands) {
  return expressions_.memory().LoadAs(
      operands.b_address,
      Ramp(b_.getInt32Ty(), expressions_.scopes().lanes())->getType());
}

Value* DotProducts::SplatByte(int byte) {
  const uint32_t four = static_cast<uint32_t>(byte) * 0x01010101u;
  return Splat(b_, b_.getInt32(four), expressions_.scopes().lanes());
}

// sum + a * b, a unsigned and b signed bytes.
Value* DotProducts::UnsignedBySigned(Value* sum, Value* a, Value* b) {
  const int lanes = expressions_.scopes().lanes();
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                   : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  return b_.CreateIntrinsic(id, {}, {sum, a, b});
}

Value* DotProducts::FourProducts(const Operands& operands, Value* sum) {
  Value* a = PackedA(operands);
  Value* b = PackedB(operands);
  const bool a_signed = IsSigned(operands.a.type);
  const bool b_signed = IsSigned(operands.b.type);
  if (!a_signed && b_signed) return UnsignedBySigned(sum, a, b);
  if (a_signed && !b_signed) return UnsignedBySigned(sum, b, a);
  // Another 128 in one factor makes its sign right; what that adds to the sum
  // is taken off. It is that of one operand only, so LLVM computes it once for
  // all the others that this one meets.
  Value* flip = SplatByte(0x80);
  Value* zero = llvm::Constant::getNullValue(sum->getType());
  if (a_signed) {  // (a + 128) * b - 128 * b
    sum = UnsignedBySigned(sum, b_.CreateXor(a, flip), b);
    return b_.CreateSub(sum, UnsignedBySigned(zero, flip, b));
  }
  // a * (b - 128) - a * -128
  sum = UnsignedBySigned(sum, a, b_.CreateXor(b, flip));
  return b_.CreateSub(sum, UnsignedBySigned(zero, a, flip));
}

// --- 2 by 2, as 16-bit integers

Value* DotProducts::TwoProducts(const Operands& operands, Value* sum) {
  const int lanes = expressions_.scopes().lanes();
  const auto load = [&](const Factor& factor, const Address& address,
                        int elements) {
    llvm::Type* type = RegisterType(b_.getContext(), factor.type);
    const auto count = static_cast<unsigned>(elements);
    Value* value = expressions_.memory().LoadAs(
        address, llvm::FixedVectorType::get(type, count));
    llvm::Type* wide = llvm::FixedVectorType::get(b_.getInt16Ty(), count);
    return b_.CreateIntCast(value, wide, IsSigned(factor.type));
  };
  Value* b = load(operands.b, operands.b_address, 2 * lanes);
  Value* pair = b_.CreateBitCast(load(operands.a, operands.a_address, 2),
                                 b_.getInt32Ty());
  Value* a = b_.CreateBitCast(Splat(b_, pair, lanes), b->getType());
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                   : llvm::Intrinsic::x86_sse2_pmadd_wd;
  return b_.CreateAdd(sum, b_.CreateIntrinsic(id, {}, {a, b}));
}

}  // namespace ember::jit

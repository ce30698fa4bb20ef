#include "jit/spirv/code_builder.h"

#include <utility>

namespace ember::jit::spirv {
namespace {

uint64_t Ones(Scalar type) {
  const uint32_t bits = BitsOf(type);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace

CodeBuilder::CodeBuilder(ModuleBuilder& module) : module_(module) {
  Begin(module.NewId());
}

// --- scopes

void CodeBuilder::EnterScope(bool has_prologue) {
  Scope& scope = scopes_.emplace_back();
  scope.has_prologue = has_prologue;
  scope.conditional = conditional_;
  if (!has_prologue) return;
  conditional_ = 0;
  scope.prologue = current_;
  const Id body = module_.NewId();
  Branch(body);
  Begin(body);
}

void CodeBuilder::LeaveScope() {
  conditional_ = scopes_.back().conditional;
  scopes_.pop_back();
}

CodeBuilder::At::At(CodeBuilder& code, int depth)
    : code_(code),
      moved_(depth != kHere),
      block_(code.current_),
      at_depth_(code.at_depth_) {
  if (!moved_) return;
  code.current_ = code.scopes_[static_cast<size_t>(depth)].prologue;
  code.at_depth_ = depth;
}

CodeBuilder::At::~At() {
  if (!moved_) return;
  code_.current_ = block_;
  code_.at_depth_ = at_depth_;
}

const Id* CodeBuilder::Find(const Key& key) const {
  const size_t end =
      at_depth_ == kHere ? scopes_.size() : static_cast<size_t>(at_depth_) + 1;
  for (size_t i = 0; i < end && i < scopes_.size(); ++i) {
    const auto early = scopes_[i].prologue_values.find(key);
    if (early != scopes_[i].prologue_values.end()) return &early->second;
    if (at_depth_ != kHere) continue;
    const auto late = scopes_[i].values.find(key);
    if (late != scopes_[i].values.end()) return &late->second;
  }
  return nullptr;
}

void CodeBuilder::Remember(Key key, Id id) {
  if (at_depth_ != kHere) {
    scopes_[static_cast<size_t>(at_depth_)].prologue_values.emplace(
        std::move(key), id);
    return;
  }
  if (conditional_ != 0) return;
  // A scope without a prologue has no block of its own, so its values are
  // recorded in the surrounding scope.
  for (size_t i = scopes_.size(); i-- > 0;) {
    if (!scopes_[i].has_prologue) continue;
    scopes_[i].values.emplace(std::move(key), id);
    return;
  }
}

// --- values

Value CodeBuilder::Pure(spv::Op op, Scalar type,
                        std::initializer_list<uint32_t> operands, bool rounds) {
  Key key{op, operands};
  key.second.push_back(static_cast<uint32_t>(type));
  if (const Id* known = Find(key)) return {*known, type};
  const Value value = Result(op, type, operands);
  if (rounds) module_.Decorate(value.id, spv::Decoration::NoContraction);
  Remember(std::move(key), value.id);
  return value;
}

Value CodeBuilder::Result(spv::Op op, Scalar type,
                          std::initializer_list<uint32_t> operands) {
  const Value value = {module_.NewId(), type};
  Words all = {module_.TypeOf(type), value.id};
  all.insert(all.end(), operands);
  AppendInstruction(blocks_[current_].words, op, all);
  ++size_;
  return value;
}

void CodeBuilder::Effect(spv::Op op, std::initializer_list<uint32_t> operands) {
  AppendInstruction(blocks_[current_].words, op, operands);
  ++size_;
}

std::optional<int64_t> CodeBuilder::KnownInteger(Value value) const {
  const std::optional<uint64_t> bits = Known(value);
  if (!bits) return std::nullopt;
  return value.type == Scalar::kI32
             ? static_cast<int64_t>(static_cast<int32_t>(*bits))
             : static_cast<int64_t>(*bits);
}

Value CodeBuilder::Add(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x + *y);
  if (x && *x == 0) return b;
  if (y && *y == 0) return a;
  return Binary(spv::Op::OpIAdd, a.type, a, b);
}

Value CodeBuilder::Subtract(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x - *y);
  if (y && *y == 0) return a;
  if (a == b) return Like(a, 0);
  return Binary(spv::Op::OpISub, a.type, a, b);
}

Value CodeBuilder::Multiply(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x * *y);
  if (x && *x <= 1) return *x == 0 ? a : b;
  if (y && *y <= 1) return *y == 0 ? b : a;
  return Binary(spv::Op::OpIMul, a.type, a, b);
}

Value CodeBuilder::BitAnd(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x & *y);
  if (y && *y == Ones(a.type)) return a;
  return Binary(spv::Op::OpBitwiseAnd, a.type, a, b);
}

Value CodeBuilder::BitOr(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x | *y);
  if (y && *y == 0) return a;
  return Binary(spv::Op::OpBitwiseOr, a.type, a, b);
}

Value CodeBuilder::BitXor(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x ^ *y);
  if (y && *y == 0) return a;
  return Binary(spv::Op::OpBitwiseXor, a.type, a, b);
}

Value CodeBuilder::ShiftLeft(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x << *y);
  if (y && *y == 0) return a;
  return Binary(spv::Op::OpShiftLeftLogical, a.type, a, b);
}

Value CodeBuilder::ShiftRight(Value a, Value b) {
  const auto x = Known(a), y = Known(b);
  if (x && y) return Constant(a.type, *x >> *y);
  if (y && *y == 0) return a;
  return Binary(spv::Op::OpShiftRightLogical, a.type, a, b);
}

Value CodeBuilder::Equal(Value a, Value b) {
  if (a == b) return Bool(true);
  if (Known(a) && Known(b)) return Bool(false);
  return Binary(spv::Op::OpIEqual, Scalar::kBool, a, b);
}

std::optional<Value> CodeBuilder::WordOf(Value a) const {
  if (const auto known = KnownInteger(a)) {
    if (*known != static_cast<int32_t>(*known)) return std::nullopt;
    return module_.Constant(Scalar::kI32, static_cast<uint64_t>(*known));
  }
  const auto found = widened_.find(a.id);
  if (found == widened_.end()) return std::nullopt;
  return found->second;
}

std::optional<Value> CodeBuilder::OrderOfWords(spv::Op op, Value a, Value b) {
  if (a.type != Scalar::kI64) return std::nullopt;
  const auto x = WordOf(a), y = WordOf(b);
  if (x && y) return Binary(op, Scalar::kBool, *x, *y);
  // One operand is a sign-extended word of 32 bits, and the other a constant
  // outside of the range of words, which is larger than every word if it is
  // positive, and smaller if it is negative.
  if (x && Known(b)) return Bool(*KnownInteger(b) > 0);
  if (y && Known(a)) return Bool(*KnownInteger(a) < 0);
  return std::nullopt;
}

Value CodeBuilder::Less(Value a, Value b, bool is_signed) {
  if (a == b) return Bool(false);
  const auto x = KnownInteger(a), y = KnownInteger(b);
  if (x && y) {
    return Bool(is_signed
                    ? *x < *y
                    : static_cast<uint64_t>(*x) < static_cast<uint64_t>(*y));
  }
  if (is_signed) {
    if (const auto order = OrderOfWords(spv::Op::OpSLessThan, a, b))
      return *order;
  }
  return Binary(is_signed ? spv::Op::OpSLessThan : spv::Op::OpULessThan,
                Scalar::kBool, a, b);
}

Value CodeBuilder::LessEqual(Value a, Value b, bool is_signed) {
  if (Known(a) && Known(b)) return Not(Less(b, a, is_signed));
  if (is_signed) {
    if (const auto order = OrderOfWords(spv::Op::OpSLessThanEqual, a, b))
      return *order;
  }
  return Binary(
      is_signed ? spv::Op::OpSLessThanEqual : spv::Op::OpULessThanEqual,
      Scalar::kBool, a, b);
}

Value CodeBuilder::ToWord(Value a) {
  if (a.type == Scalar::kI32) return a;
  if (const auto known = Known(a)) return Constant(Scalar::kI32, *known);
  return Unary(spv::Op::OpUConvert, Scalar::kI32, a);
}

Value CodeBuilder::ToLong(Value a, bool is_signed) {
  if (a.type == Scalar::kI64) return a;
  if (const auto known = Known(a)) {
    return Constant(Scalar::kI64, is_signed
                                      ? static_cast<uint64_t>(*KnownInteger(a))
                                      : *known);
  }
  const Value wide = Unary(
      is_signed ? spv::Op::OpSConvert : spv::Op::OpUConvert, Scalar::kI64, a);
  if (is_signed) widened_.emplace(wide.id, a);
  return wide;
}

Value CodeBuilder::And(Value a, Value b) {
  if (a == b) return a;
  if (const auto x = Known(a)) return *x != 0 ? b : a;
  if (const auto y = Known(b)) return *y != 0 ? a : b;
  return Binary(spv::Op::OpLogicalAnd, Scalar::kBool, a, b);
}

Value CodeBuilder::Or(Value a, Value b) {
  if (a == b) return a;
  if (const auto x = Known(a)) return *x != 0 ? a : b;
  if (const auto y = Known(b)) return *y != 0 ? b : a;
  return Binary(spv::Op::OpLogicalOr, Scalar::kBool, a, b);
}

Value CodeBuilder::Not(Value a) {
  if (const auto x = Known(a)) return Bool(*x == 0);
  return Unary(spv::Op::OpLogicalNot, Scalar::kBool, a);
}

Value CodeBuilder::Select(Value condition, Value a, Value b) {
  if (const auto known = Known(condition)) return *known != 0 ? a : b;
  if (a == b) return a;
  return Pure(spv::Op::OpSelect, a.type, {condition.id, a.id, b.id});
}

Id CodeBuilder::PairOfHalves(Value word) {
  Key key{spv::Op::OpExtInst, {GLSLstd450UnpackHalf2x16, word.id}};
  if (const Id* known = Find(key)) return *known;
  const Id id = module_.NewId();
  Effect(spv::Op::OpExtInst,
         {module_.VectorType(Scalar::kF32, 2), id, module_.Library(),
          static_cast<uint32_t>(GLSLstd450UnpackHalf2x16), word.id});
  Remember(std::move(key), id);
  return id;
}

// --- memory

Id CodeBuilder::Local(Id type, std::string_view name) {
  const Id id = module_.NewId();
  AppendInstruction(locals_, spv::Op::OpVariable,
                    {module_.PointerType(spv::StorageClass::Function, type), id,
                     static_cast<uint32_t>(spv::StorageClass::Function)});
  module_.Name(id, name);
  return id;
}

Id CodeBuilder::Pointer(spv::StorageClass storage, Id type, Id base,
                        std::initializer_list<Value> indices) {
  const Id pointer = module_.PointerType(storage, type);
  // The pointer's type is part of the key, because access chains with equal
  // operands may have different types.
  Key key{spv::Op::OpAccessChain, {pointer, base}};
  for (const Value& index : indices) key.second.push_back(index.id);
  if (const Id* known = Find(key)) return *known;
  const Id id = module_.NewId();
  Words all = {pointer, id, base};
  for (const Value& index : indices) all.push_back(index.id);
  AppendInstruction(blocks_[current_].words, spv::Op::OpAccessChain, all);
  ++size_;
  Remember(std::move(key), id);
  return id;
}

Id CodeBuilder::LoadOf(Id type, Id pointer, uint32_t version, uint32_t access) {
  Key key{spv::Op::OpLoad, {pointer, version}};
  if (const Id* known = Find(key)) return *known;
  const Id id = module_.NewId();
  if (access != 0) {
    Effect(spv::Op::OpLoad, {type, id, pointer, access});
  } else {
    Effect(spv::Op::OpLoad, {type, id, pointer});
  }
  Remember(std::move(key), id);
  return id;
}

Id CodeBuilder::LoadMatrix(Id type, Id pointer, MatrixLayout layout,
                           uint32_t stride, uint32_t version, uint32_t access) {
  Key key{kOpMatrixLoad,
          {type, pointer, static_cast<uint32_t>(layout), stride, version}};
  if (const Id* known = Find(key)) return *known;
  const Id id = module_.NewId();
  const Id layout_id = module_.ConstantId(static_cast<uint32_t>(layout)),
           stride_id = module_.ConstantId(stride);
  if (access != 0) {
    Effect(kOpMatrixLoad, {type, id, pointer, layout_id, stride_id, access});
  } else {
    Effect(kOpMatrixLoad, {type, id, pointer, layout_id, stride_id});
  }
  Remember(std::move(key), id);
  return id;
}

void CodeBuilder::StoreOf(Id pointer, Id value, uint32_t access) {
  if (access != 0) {
    Effect(spv::Op::OpStore, {pointer, value, access});
  } else {
    Effect(spv::Op::OpStore, {pointer, value});
  }
}

Id CodeBuilder::Fetch(Id variable, Id type, Value number, uint32_t version) {
  Key key{spv::Op::OpImageFetch, {variable, number.id, version}};
  if (const Id* known = Find(key)) return *known;
  const Id texels = module_.NewId(), id = module_.NewId();
  Effect(spv::Op::OpLoad, {type, texels, variable});
  Effect(spv::Op::OpImageFetch,
         {module_.VectorType(Scalar::kI32, 4), id, texels, number.id});
  Remember(std::move(key), id);
  return id;
}

Id CodeBuilder::Vector(std::span<const Value> values) {
  const auto count = static_cast<uint32_t>(values.size());
  const Id id = module_.NewId();
  Words all = {module_.VectorType(values[0].type, count), id};
  for (const Value& value : values) all.push_back(value.id);
  AppendInstruction(blocks_[current_].words, spv::Op::OpCompositeConstruct,
                    all);
  ++size_;
  return id;
}

// --- control flow

void CodeBuilder::Begin(Id label) {
  blocks_.push_back({label, {}, {}});
  current_ = blocks_.size() - 1;
}

void CodeBuilder::Branch(Id target) {
  AppendInstruction(blocks_[current_].end, spv::Op::OpBranch, {target});
}

void CodeBuilder::BranchIf(Value condition, Id then, Id otherwise, Id after) {
  Words& end = blocks_[current_].end;
  AppendInstruction(end, spv::Op::OpSelectionMerge, {after, 0});
  AppendInstruction(end, spv::Op::OpBranchConditional,
                    {condition.id, then, otherwise});
}

void CodeBuilder::LoopBranch(Value condition, Id inside, Id next, Id after) {
  Words& end = blocks_[current_].end;
  AppendInstruction(end, spv::Op::OpLoopMerge, {after, next, 0});
  AppendInstruction(end, spv::Op::OpBranchConditional,
                    {condition.id, inside, after});
}

Words CodeBuilder::Finish(Id function) {
  AppendInstruction(blocks_[current_].end, spv::Op::OpReturn, {});
  Words words;
  AppendInstruction(words, spv::Op::OpFunction,
                    {module_.VoidType(), function, 0, module_.FunctionType()});
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    AppendInstruction(words, spv::Op::OpLabel, {block.label});
    if (i == 0) words.insert(words.end(), locals_.begin(), locals_.end());
    words.insert(words.end(), block.words.begin(), block.words.end());
    words.insert(words.end(), block.end.begin(), block.end.end());
  }
  AppendInstruction(words, spv::Op::OpFunctionEnd, {});
  return words;
}

}  // namespace ember::jit::spirv

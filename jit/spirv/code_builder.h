// One function of a module in the making: blocks and instructions. Constants
// are folded, equal values are computed once.
//
//   CodeBuilder code(module);
//   code.EnterScope();
//   const Value sum = code.Add(a, b);
//   code.If(code.Binary(spv::Op::OpULessThan, Scalar::kBool, sum, limit),
//           [&] { code.Store(pointer, sum); });
//   module.AddFunction(code.Finish(function_id));
//
// Scopes are the parts of structured code within each other, the function's
// first: the body of a loop, a branch. A scope may have a prologue, a block in
// front of its code, which values are put into that depend on nothing further
// in (CodeBuilder::At); a value is found again where its block dominates.
//
// Knows SPIR-V's rules of structured control flow and nothing of kernels. Not
// thread-safe.
#ifndef EMBER_JIT_SPIRV_CODE_BUILDER_H_
#define EMBER_JIT_SPIRV_CODE_BUILDER_H_

#include <spirv/unified1/GLSL.std.450.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "jit/spirv/module_builder.h"

namespace ember::jit::spirv {

// The place of code that must stay where the statement is.
inline constexpr int kHere = INT32_MAX;

class CodeBuilder {
 public:
  explicit CodeBuilder(ModuleBuilder& module);

  ModuleBuilder& module() { return module_; }
  // Instructions so far, a measure of the code's size.
  int64_t size() const { return size_; }

  // --- scopes ---

  void EnterScope(bool has_prologue = true);
  void LeaveScope();
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }

  // While it lives, instructions go to the prologue of the scope (kHere: stay).
  class At {
   public:
    At(CodeBuilder& code, int depth);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    CodeBuilder& code_;
    // Where to go back to, if it went anywhere.
    bool moved_;
    size_t block_;
    int place_;
  };

  // --- values ---

  // Without effects: equal ones are one instruction. rounds: the result must
  // not be fused with that of another.
  Value Pure(spv::Op op, Scalar type, std::initializer_list<uint32_t> operands,
             bool rounds = false);
  // A float as another type. Rounded where it says so: newer drivers otherwise
  // leave out pairs such as f64(f32(x)).
  Value ConvertFloat(Scalar type, Value a) {
    return Pure(spv::Op::OpFConvert, type, {a.id}, true);
  }
  Value Unary(spv::Op op, Scalar type, Value a) {
    return Pure(op, type, {a.id});
  }
  Value Binary(spv::Op op, Scalar type, Value a, Value b) {
    return Pure(op, type, {a.id, b.id});
  }
  // A function of GLSL.std.450; of a's type.
  Value Call(GLSLstd450 function, Value a) {
    return Pure(spv::Op::OpExtInst, a.type,
                {module_.Library(), static_cast<uint32_t>(function), a.id});
  }
  Value Call(GLSLstd450 function, Value a, Value b) {
    return Pure(
        spv::Op::OpExtInst, a.type,
        {module_.Library(), static_cast<uint32_t>(function), a.id, b.id});
  }

  Value Constant(Scalar type, uint64_t bits) {
    return module_.Constant(type, bits);
  }
  Value Bool(bool value) { return Constant(Scalar::kBool, value); }
  Value Int(int64_t value) {
    return Constant(Scalar::kI32, static_cast<uint64_t>(value));
  }
  // Of the type of another.
  Value Like(Value other, int64_t value) {
    return Constant(other.type, static_cast<uint64_t>(value));
  }
  std::optional<uint64_t> Known(Value value) const {
    return module_.BitsOfConstant(value);
  }
  // Of integers, sign-extended.
  std::optional<int64_t> KnownInteger(Value value) const;
  bool IsKnown(Value value, int64_t what) const {
    return KnownInteger(value) == what;
  }

  // Integers of one type, wrapping.
  Value Add(Value a, Value b);
  Value Subtract(Value a, Value b);
  Value Multiply(Value a, Value b);
  Value BitAnd(Value a, Value b);
  Value BitOr(Value a, Value b);
  Value BitXor(Value a, Value b);
  // By less than the number of bits.
  Value ShiftLeft(Value a, Value b);
  Value ShiftRight(Value a, Value b);  // fills up with zeros
  Value Equal(Value a, Value b);
  // Integers of 64 bits (longs) that were made of signed ones of 32 bits
  // (words) are compared as words, which takes less. It is needed, too: the
  // compiler of Mesa 22.3 takes such a long for 2^31 or more beside a constant.
  Value Less(Value a, Value b, bool is_signed);
  Value LessEqual(Value a, Value b, bool is_signed);
  // kI32 and kI64.
  Value ToWord(Value a);
  Value ToLong(Value a, bool is_signed);

  Value And(Value a, Value b);
  Value Or(Value a, Value b);
  Value Not(Value a);
  Value Select(Value condition, Value a, Value b);

  // Two f16 in a word as a vector of two f32, and back.
  Id PairOfHalves(Value word);
  Value FromHalves(Id pair) {
    return Pure(spv::Op::OpExtInst, Scalar::kI32,
                {module_.Library(),
                 static_cast<uint32_t>(GLSLstd450PackHalf2x16), pair});
  }

  // --- memory ---

  // A variable of the function.
  Id Local(Id type, std::string_view name);
  Id Pointer(spv::StorageClass storage, Id type, Id base,
             std::initializer_list<Value> indices);
  // A load that gives the same as any other of the pointer and version. access:
  // memory operands, which are the same for all of a pointer.
  Value Load(Scalar type, Id pointer, uint32_t version, uint32_t access = 0) {
    return {LoadOf(module_.TypeOf(type), pointer, version, access), type};
  }
  Id LoadOf(Id type, Id pointer, uint32_t version, uint32_t access = 0);
  // A matrix in memory, as LoadOf.
  Id LoadMatrix(Id type, Id pointer, MatrixLayout layout, uint32_t stride,
                uint32_t version, uint32_t access);
  // Texel `number` of a texel buffer, a vector of four words.
  Id Fetch(Id variable, Id type, Value number, uint32_t version);
  // A vector of the values, which are of one type; and of a vector one of them.
  Id Vector(std::span<const Value> values);
  Value Component(Scalar type, Id vector, uint32_t number) {
    return Pure(spv::Op::OpCompositeExtract, type, {vector, number});
  }
  void Store(Id pointer, Value value, uint32_t access = 0) {
    StoreOf(pointer, value.id, access);
  }
  void StoreOf(Id pointer, Id value, uint32_t access = 0);
  void Effect(spv::Op op, std::initializer_list<uint32_t> operands);
  Value Result(spv::Op op, Scalar type,
               std::initializer_list<uint32_t> operands);

  // --- control flow ---

  // Nothing may be entered into the scopes' values while the bodies are made
  // of values that are there already; or they enter scopes of their own.
  template <typename Then>
  void If(Value condition, Then&& then) {
    const Id body = module_.NewId(), after = module_.NewId();
    BranchIf(condition, body, after, after);
    Begin(body);
    ++conditional_;
    then();
    --conditional_;
    Branch(after);
    Begin(after);
  }
  template <typename Then, typename Else>
  void IfElse(Value condition, Then&& then, Else&& otherwise) {
    const Id body = module_.NewId(), other = module_.NewId(),
             after = module_.NewId();
    BranchIf(condition, body, other, after);
    ++conditional_;
    Begin(body);
    then();
    Branch(after);
    Begin(other);
    otherwise();
    Branch(after);
    Begin(after);
    --conditional_;
  }
  // The value that make() gives if the condition holds, else `otherwise`.
  template <typename Make>
  Value ValueIf(Value condition, Value otherwise, Make&& make) {
    const Id body = module_.NewId(), after = module_.NewId();
    const Id before = current_label();
    BranchIf(condition, body, after, after);
    Begin(body);
    ++conditional_;
    const Value made = make();
    const Id end = current_label();
    --conditional_;
    Branch(after);
    Begin(after);
    return Result(spv::Op::OpPhi, made.type,
                  {made.id, end, otherwise.id, before});
  }
  // body(value) for each value from 0 to end - 1.
  template <typename Body>
  void Loop(Value end, Body&& body) {
    const Id before = current_label(), header = module_.NewId(),
             inside = module_.NewId(), next = module_.NewId(),
             after = module_.NewId();
    Branch(header);
    Begin(header);
    const Value following = {module_.NewId(), end.type};
    const Value value = Result(spv::Op::OpPhi, end.type,
                               {Like(end, 0).id, before, following.id, next});
    const Value goes_on =
        Result(spv::Op::OpSLessThan, Scalar::kBool, {value.id, end.id});
    LoopBranch(goes_on, inside, next, after);
    Begin(inside);
    ++conditional_;
    body(value);
    --conditional_;
    Branch(next);
    Begin(next);
    Effect(spv::Op::OpIAdd,
           {module_.TypeOf(end.type), following.id, value.id, Like(end, 1).id});
    Branch(header);
    Begin(after);
  }

  // The function with what was written, which this is then used up by.
  Words Finish(Id function);

 private:
  struct Block {
    Id label = 0;
    Words words;
    Words end;
  };
  using Key = std::pair<spv::Op, Words>;
  struct Scope {
    size_t prologue = 0;  // a block
    bool has_prologue = false;
    int conditional = 0;
    // Computed in the prologue, and in the code behind it.
    std::map<Key, Id> prologue_values, values;
  };

  Id current_label() const { return blocks_[current_].label; }
  void Begin(Id label);
  void Branch(Id target);
  void BranchIf(Value condition, Id then, Id otherwise, Id after);
  void LoopBranch(Value condition, Id inside, Id next, Id after);
  const Id* Find(const Key& key) const;
  void Remember(Key key, Id id);
  // Of a long: the word that has its value; none where none is known.
  std::optional<Value> WordOf(Value a) const;
  // A comparison of signed longs as one of words, or as what it gives always.
  std::optional<Value> OrderOfWords(spv::Op op, Value a, Value b);

  ModuleBuilder& module_;
  std::vector<Block> blocks_;
  size_t current_ = 0;
  int place_ = kHere;
  std::vector<Scope> scopes_;
  // How many parts of If and so on the code is in since the last scope began.
  int conditional_ = 0;
  // Longs that words became with their signs, and the words.
  std::map<Id, Value> widened_;
  Words locals_;
  int64_t size_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CODE_BUILDER_H_

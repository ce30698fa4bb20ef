// Builds one function of a module from blocks and instructions. It folds
// constants and computes equal values once.
//
//   CodeBuilder code(module);
//   code.EnterScope();
//   const Value sum = code.Add(a, b);
//   code.If(code.Binary(spv::Op::OpULessThan, Scalar::kBool, sum, limit),
//           [&] { code.Store(pointer, sum); });
//   module.AddFunction(code.Finish(function_id));
//
// Scopes are nested parts of structured code: the function, the body of a loop,
// a branch. A scope may have a prologue, a block before its code, for values
// that depend on nothing further in (CodeBuilder::At). A value is reused where
// its block dominates.
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

// Depth of code that must stay at its statement.
inline constexpr int kHere = INT32_MAX;

class CodeBuilder {
 public:
  explicit CodeBuilder(ModuleBuilder& module);

  ModuleBuilder& module() { return module_; }
  // Number of instructions that were emitted so far, a measure of the code's
  // size.
  int64_t size() const { return size_; }

  // --- scopes ---

  void EnterScope(bool has_prologue = true);
  void LeaveScope();
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }

  // While an object of this class exists, instructions are put into the
  // prologue of the scope at this depth (kHere: they stay at their statement).
  class At {
   public:
    At(CodeBuilder& code, int depth);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    CodeBuilder& code_;
    // The state that the destructor restores, if the constructor changed the
    // depth.
    bool moved_;
    size_t block_;
    int at_depth_;
  };

  // --- values ---

  // Emits an instruction without effects; equal ones are emitted once. rounds:
  // true if the result must not be fused with another instruction.
  Value Pure(spv::Op op, Scalar type, std::initializer_list<uint32_t> operands,
             bool rounds = false);
  // Converts a float to another type. The result is marked as rounded: newer
  // drivers otherwise leave out pairs such as f64(f32(x)).
  Value ConvertFloat(Scalar type, Value a) {
    return Pure(spv::Op::OpFConvert, type, {a.id}, true);
  }
  Value Unary(spv::Op op, Scalar type, Value a) {
    return Pure(op, type, {a.id});
  }
  Value Binary(spv::Op op, Scalar type, Value a, Value b) {
    return Pure(op, type, {a.id, b.id});
  }
  // Calls a function of GLSL.std.450. The result has a's type.
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
  // Returns a constant of the type of `other`.
  Value Like(Value other, int64_t value) {
    return Constant(other.type, static_cast<uint64_t>(value));
  }
  std::optional<uint64_t> Known(Value value) const {
    return module_.BitsOfConstant(value);
  }
  // Returns the value of a constant integer, sign-extended.
  std::optional<int64_t> KnownInteger(Value value) const;
  bool IsKnown(Value value, int64_t what) const {
    return KnownInteger(value) == what;
  }

  // These functions compute with integers of one type, wrapping.
  Value Add(Value a, Value b);
  Value Subtract(Value a, Value b);
  Value Multiply(Value a, Value b);
  Value BitAnd(Value a, Value b);
  Value BitOr(Value a, Value b);
  Value BitXor(Value a, Value b);
  // These functions shift by less than the number of bits.
  Value ShiftLeft(Value a, Value b);
  Value ShiftRight(Value a, Value b);  // fills the upper bits with zeros
  Value Equal(Value a, Value b);
  // These functions compare integers. Integers of 64 bits (longs) that were
  // made of signed ones of 32 bits (words) are compared as words, which is
  // cheaper. Comparing words is also necessary: Mesa 22.3's compiler takes such
  // a long for 2^31 or more in a comparison with a constant.
  Value Less(Value a, Value b, bool is_signed);
  Value LessEqual(Value a, Value b, bool is_signed);
  // These functions convert between kI32 and kI64.
  Value ToWord(Value a);
  Value ToLong(Value a, bool is_signed);

  Value And(Value a, Value b);
  Value Or(Value a, Value b);
  Value Not(Value a);
  Value Select(Value condition, Value a, Value b);

  // These functions convert two f16 in a word to a vector of two f32, and back.
  Id PairOfHalves(Value word);
  Value FromHalves(Id pair) {
    return Pure(spv::Op::OpExtInst, Scalar::kI32,
                {module_.Library(),
                 static_cast<uint32_t>(GLSLstd450PackHalf2x16), pair});
  }

  // --- memory ---

  // Creates a variable of the function.
  Id Local(Id type, std::string_view name);
  Id Pointer(spv::StorageClass storage, Id type, Id base,
             std::initializer_list<Value> indices);
  // Loads a value. Two loads of the same pointer and version give the same
  // value. version: a number that changes with the memory's contents. access:
  // memory operands, which are the same for all accesses of a pointer.
  Value Load(Scalar type, Id pointer, uint32_t version, uint32_t access = 0) {
    return {LoadOf(module_.TypeOf(type), pointer, version, access), type};
  }
  Id LoadOf(Id type, Id pointer, uint32_t version, uint32_t access = 0);
  // Loads a matrix from memory. `version` and `access` have the same meaning as
  // for Load.
  Id LoadMatrix(Id type, Id pointer, MatrixLayout layout, uint32_t stride,
                uint32_t version, uint32_t access);
  // Loads texel `number` of a texel buffer, a vector of four words.
  Id Fetch(Id variable, Id type, Value number, uint32_t version);
  // Vector makes a vector of values of one type; Component extracts one of
  // them.
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

  // Emits then() under the condition. While the bodies are built from existing
  // values, no values may be added to the scopes. Bodies that add values enter
  // scopes of their own.
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
  // Returns the value that make() gives if the condition holds, else
  // `otherwise`.
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
  // Runs body(value) for each value from 0 to end - 1.
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

  // Returns the complete function and consumes the builder's code.
  Words Finish(Id function);

 private:
  struct Block {
    Id label = 0;
    Words words;
    Words end;
  };
  using Key = std::pair<spv::Op, Words>;
  struct Scope {
    size_t prologue = 0;  // number of the prologue's block
    bool has_prologue = false;
    int conditional = 0;
    // The values that were computed in the prologue, and those that were
    // computed in the scope's code after it.
    std::map<Key, Id> prologue_values, values;
  };

  Id current_label() const { return blocks_[current_].label; }
  void Begin(Id label);
  void Branch(Id target);
  void BranchIf(Value condition, Id then, Id otherwise, Id after);
  void LoopBranch(Value condition, Id inside, Id next, Id after);
  const Id* Find(const Key& key) const;
  void Remember(Key key, Id id);
  // Returns the word whose sign-extension is the long; nothing if none is
  // known.
  std::optional<Value> WordOf(Value a) const;
  // Compares signed longs as words, if they are sign-extended words. The result
  // may be a constant.
  std::optional<Value> OrderOfWords(spv::Op op, Value a, Value b);

  ModuleBuilder& module_;
  std::vector<Block> blocks_;
  size_t current_ = 0;
  int at_depth_ = kHere;
  std::vector<Scope> scopes_;
  // Number of bodies of If and similar functions around the code, within the
  // last scope.
  int conditional_ = 0;
  // For each long that is a sign-extended word, by its id: that word.
  std::map<Id, Value> widened_;
  Words locals_;
  int64_t size_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CODE_BUILDER_H_

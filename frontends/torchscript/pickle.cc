#include "frontends/torchscript/pickle.h"

#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace ember::torchscript {

using Kind = PickleValue::Kind;

const PickleValue* PickleValue::Find(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i]->kind == Kind::kString && items[i]->text == key)
      return items[i + 1];
  }
  return nullptr;
}

class PickleReader {
 public:
  explicit PickleReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  StatusOr<Pickle> Read() {
    while (error_.empty() && result_ == nullptr) {
      start_ = at_;
      Step(Byte());
    }
    if (!error_.empty()) {
      return DataLossError("pickle, offset " + std::to_string(start_) + ": " +
                           error_);
    }
    pickle_.root_ = result_;
    return std::move(pickle_);
  }

 private:
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  // The following functions read the operands of an instruction. After an error
  // they return zeros and empty texts.
  uint8_t Byte() {
    if (at_ >= bytes_.size()) {
      Fail("expected an instruction or its operand, found the end");
      return 0;
    }
    return bytes_[at_++];
  }
  uint64_t Number(int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= uint64_t{Byte()} << (8 * i);
    return value;
  }
  std::string_view Text(uint64_t size) {
    if (size > bytes_.size() - at_) {
      Fail("expected " + std::to_string(size) + " bytes of text, found " +
           std::to_string(bytes_.size() - at_));
      return "";
    }
    const std::string_view text(
        reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return text;
  }
  std::string_view Line() {
    const size_t first = at_;
    while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
    const std::string_view line(
        reinterpret_cast<const char*>(bytes_.data()) + first, at_ - first);
    Byte();
    return line;
  }

  PickleValue* Make(Kind kind) {
    if (pickle_.values_.size() >= Pickle::kMaxValues)
      Fail("expected at most " + std::to_string(Pickle::kMaxValues) +
           " values, found more");
    // After an error, instructions get the value nothing_ instead of a new one.
    if (!error_.empty()) return &nothing_;
    PickleValue& value = pickle_.values_.emplace_back();
    value.kind = kind;
    return &value;
  }
  void Push(PickleValue* value) { stack_.push_back(value); }
  void PushInteger(int64_t number) {
    PickleValue* value = Make(Kind::kInteger);
    value->integer = number;
    Push(value);
  }
  void PushBool(bool is_true) {
    PickleValue* value = Make(Kind::kBool);
    value->integer = is_true ? 1 : 0;
    Push(value);
  }
  void PushText(Kind kind, std::string_view text) {
    PickleValue* value = Make(kind);
    if (error_.empty()) value->text = text;
    Push(value);
  }
  void PushFloat(double number) {
    PickleValue* value = Make(Kind::kFloat);
    value->number = number;
    Push(value);
  }

  PickleValue* Top() {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) {
      Fail("expected a value on the stack, found none");
      return &nothing_;
    }
    return stack_.back();
  }
  PickleValue* Pop() {
    PickleValue* top = Top();
    if (error_.empty()) stack_.pop_back();
    return top;
  }
  // Removes the values above the last mark from the stack, and returns them. An
  // instruction MARK sets a mark; without one, it fails.
  std::vector<const PickleValue*> PopToMark() {
    if (marks_.empty()) {
      Fail("expected a mark on the stack, found none");
      return {};
    }
    std::vector<const PickleValue*> items(
        stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
        stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void Collect(Kind kind, std::vector<const PickleValue*> items) {
    PickleValue* value = Make(kind);
    if (error_.empty()) value->items = std::move(items);
    Push(value);
  }
  void CollectTop(size_t count) {
    std::vector<const PickleValue*> items(count);
    for (size_t i = count; i-- > 0;) items[i] = Pop();
    Collect(Kind::kTuple, std::move(items));
  }
  // Appends items to the list or dict on top of the stack, which must be of
  // this kind.
  void Extend(Kind kind, const std::vector<const PickleValue*>& items) {
    PickleValue* container = Top();
    // A pickle makes an OrderedDict by a call of collections.OrderedDict
    // without arguments, and then appends items. The call becomes a dict.
    if (container->kind == Kind::kCall && kind == Kind::kDict &&
        container->callee->text == "collections.OrderedDict") {
      container->kind = Kind::kDict;
      container->items.clear();
    }
    if (error_.empty() && container->kind != kind) {
      Fail(kind == Kind::kDict
               ? "expected a dict to add to, found another value"
               : "expected a list to add to, found another "
                 "value");
    }
    if (kind == Kind::kDict && items.size() % 2 != 0)
      Fail("expected pairs of keys and values, found an odd number of values");
    if (!error_.empty()) return;
    container->items.insert(container->items.end(), items.begin(), items.end());
  }

  void Call(const PickleValue* callee, const PickleValue* arguments) {
    if (!error_.empty()) return;
    if (callee->kind != Kind::kGlobal || arguments->kind != Kind::kTuple) {
      Fail("expected a call of a class with a tuple, found other values");
      return;
    }
    // Each call copies its arguments. One tuple may be the arguments of many
    // calls, so a small file could need much memory without this limit.
    copied_ += arguments->items.size();
    if (copied_ > Pickle::kMaxValues) {
      Fail("expected at most " + std::to_string(Pickle::kMaxValues) +
           " arguments of calls, found more");
      return;
    }
    // A tensor with Python attributes is a call of _rebuild_from_type_v2 with
    // four arguments: the function that makes the tensor, its type, the
    // arguments of the function, and the attributes. It is replaced by the call
    // of that function.
    if (callee->text == "torch._tensor._rebuild_from_type_v2" &&
        arguments->items.size() == 4 &&
        arguments->items[0]->kind == Kind::kGlobal &&
        arguments->items[1]->kind == Kind::kGlobal &&
        arguments->items[1]->text == "torch.Tensor" &&
        arguments->items[2]->kind == Kind::kTuple) {
      callee = arguments->items[0];
      arguments = arguments->items[2];
    }
    PickleValue* value = Make(Kind::kCall);
    value->callee = callee;
    value->items = arguments->items;
    Push(value);
  }

  void Global(std::string_view module, std::string_view name) {
    PickleValue* value = Make(Kind::kGlobal);
    if (error_.empty()) {
      value->text = std::string(module) + "." + std::string(name);
    }
    Push(value);
  }

  void Memoize(uint64_t key) { memo_[key] = Top(); }
  void Recall(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) {
      Fail("expected a memoized value of number " + std::to_string(key) +
           ", found none");
      return;
    }
    Push(found->second);
  }

  template <typename T>
  T Decimal(std::string_view text) {
    T value{};
    if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
    const auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size())
      Fail("expected a number of at most 64 bits, found other text");
    return value;
  }
  // Reads a little-endian integer in two's complement, of up to 8 bytes.
  void Long(uint64_t size) {
    const std::string_view text = Text(size);
    if (text.size() > 8) {
      Fail("expected an integer of at most 8 bytes, found " +
           std::to_string(text.size()));
      return;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < text.size(); ++i)
      value |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
    if (!text.empty() && text.size() < 8 && (text.back() & 0x80) != 0)
      value |= ~uint64_t{0} << (8 * text.size());
    PushInteger(static_cast<int64_t>(value));
  }

  void Step(uint8_t instruction) {
    if (!error_.empty()) return;
    switch (instruction) {
      case 0x80:  // PROTO
        if (Byte() > 5) Fail("expected a protocol of at most 5, found another");
        return;
      case 0x95:  // FRAME
        Number(8);
        return;
      case '.': {
        const PickleValue* top = Pop();
        if (error_.empty()) result_ = top;
        return;
      }
      case '(':
        marks_.push_back(stack_.size());
        return;
      case '0':
        Pop();
        return;
      case '1':
        PopToMark();
        return;
      case '2':
        Push(Top());
        return;
      case 'N':
        return Push(Make(Kind::kNone));
      case 0x88:
        return PushBool(true);
      case 0x89:
        return PushBool(false);
      case 'K':
        return PushInteger(static_cast<int64_t>(Number(1)));
      case 'M':
        return PushInteger(static_cast<int64_t>(Number(2)));
      case 'J':
        return PushInteger(static_cast<int32_t>(Number(4)));
      case 'I': {
        const std::string_view line = Line();
        if (line == "00" || line == "01") return PushBool(line == "01");
        return PushInteger(Decimal<int64_t>(line));
      }
      case 'L':
        return PushInteger(Decimal<int64_t>(Line()));
      case 0x8a:
        return Long(Number(1));
      case 0x8b:
        return Long(Number(4));
      case 'F':
        return PushFloat(Decimal<double>(Line()));
      case 'G': {
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8 | Byte();
        double number = 0;
        std::memcpy(&number, &bits, sizeof(number));
        return PushFloat(number);
      }
      case 'X':
      case 'T':
      case 'B':
        return PushText(Kind::kString, Text(Number(4)));
      case 'U':
      case 0x8c:
      case 'C':
        return PushText(Kind::kString, Text(Number(1)));
      case 0x8d:
      case 0x8e:
        return PushText(Kind::kString, Text(Number(8)));
      case 'V':
        return PushText(Kind::kString, Line());
      case ')':
        return Collect(Kind::kTuple, {});
      case 't':
        return Collect(Kind::kTuple, PopToMark());
      case 0x85:
        return CollectTop(1);
      case 0x86:
        return CollectTop(2);
      case 0x87:
        return CollectTop(3);
      case ']':
      case 0x8f:
        return Collect(Kind::kList, {});
      case 'l':
        return Collect(Kind::kList, PopToMark());
      case '}':
        return Collect(Kind::kDict, {});
      case 'd': {
        std::vector<const PickleValue*> items = PopToMark();
        if (items.size() % 2 != 0) Fail("expected pairs of keys and values");
        return Collect(Kind::kDict, std::move(items));
      }
      case 'a': {
        const PickleValue* item = Pop();
        return Extend(Kind::kList, {item});
      }
      case 'e':
      case 0x90:
        return Extend(Kind::kList, PopToMark());
      case 's': {
        const PickleValue* value = Pop();
        const PickleValue* key = Pop();
        return Extend(Kind::kDict, {key, value});
      }
      case 'u':
        return Extend(Kind::kDict, PopToMark());
      case 'c': {
        const std::string_view module = Line();
        return Global(module, Line());
      }
      case 0x93: {
        const PickleValue* name = Pop();
        const PickleValue* module = Pop();
        return Global(module->text, name->text);
      }
      case 'R':
      case 0x81: {
        const PickleValue* arguments = Pop();
        return Call(Pop(), arguments);
      }
      case 0x92: {
        // The keyword arguments of the call are dropped; models have no data in
        // them.
        Pop();
        const PickleValue* arguments = Pop();
        return Call(Pop(), arguments);
      }
      case 'b': {
        const PickleValue* state = Pop();
        PickleValue* object = Top();
        if (error_.empty() && object->kind != Kind::kCall) {
          // The state of a dict holds attributes of an OrderedDict, which are
          // ignored.
          if (object->kind != Kind::kDict)
            Fail("expected an object to set the state of, found another value");
          return;
        }
        if (error_.empty()) object->state = state;
        return;
      }
      case 'Q':
        return Collect(Kind::kPersistent, {Pop()});
      case 'P': {
        PushText(Kind::kString, Line());
        return Collect(Kind::kPersistent, {Pop()});
      }
      case 'q':
        return Memoize(Number(1));
      case 'r':
        return Memoize(Number(4));
      case 0x94:
        return Memoize(memo_.size());
      case 'p':
        return Memoize(Decimal<uint64_t>(Line()));
      case 'h':
        return Recall(Number(1));
      case 'j':
        return Recall(Number(4));
      case 'g':
        return Recall(Decimal<uint64_t>(Line()));
      default: {
        static constexpr char kDigits[] = "0123456789abcdef";
        Fail(std::string("expected an instruction of plain data, found 0x") +
             kDigits[instruction >> 4] + kDigits[instruction & 15]);
      }
    }
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0, start_ = 0;
  std::string error_;
  Pickle pickle_;
  PickleValue nothing_;  // A dummy value that functions return after an error.
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, PickleValue*> memo_;
  // Total number of arguments that have been copied to calls.
  size_t copied_ = 0;
  const PickleValue* result_ = nullptr;
};

StatusOr<Pickle> Pickle::Read(std::span<const uint8_t> bytes) {
  return PickleReader(bytes).Read();
}

}  // namespace ember::torchscript

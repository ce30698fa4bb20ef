// Accepts JSON byte by byte.
//
//   JsonMachine machine({});
//   for (char c : text) if (!machine.Push(c)) ...;   // text is no begin of JSON
//   machine.IsComplete();                            // text is JSON
//
// The accepted language is JSON (RFC 8259) in UTF-8 with these limits, which
// keep generated texts finite and readable by every parser: nesting, white
// space in a row, digits of a number and of its exponent; and \u escapes name
// no surrogates. A state is a small value: copying it is a way to try bytes.
// Thread-compatible.
#ifndef EMBER_LLM_GRAMMAR_JSON_MACHINE_H_
#define EMBER_LLM_GRAMMAR_JSON_MACHINE_H_

#include <cstdint>

namespace ember::llm {

struct JsonLimits {
  // The text is an object, not any value.
  bool is_object = false;
  uint8_t depth = 64;        // Nested arrays and objects, at most 64.
  uint8_t white_space = 32;  // Bytes of white space in a row.
  uint8_t digits = 32;       // Characters of a number without its exponent.
};

class JsonMachine {
 public:
  explicit JsonMachine(const JsonLimits& limits) : limits_(limits) {}

  // Accepts a byte, or returns false and stays as it is.
  bool Push(uint8_t byte);
  // True if the bytes so far are a JSON text. A number may continue.
  bool IsComplete() const;

  // Texts of equal states have the same continuations, if their limits are the
  // same.
  bool operator==(const JsonMachine& other) const {
    return mode_ == other.mode_ && count_ == other.count_ &&
           low_ == other.low_ && high_ == other.high_ &&
           is_key_ == other.is_key_ && depth_ == other.depth_ &&
           stack_ == other.stack_;
  }
  uint64_t Hash() const;

 private:
  enum class Mode : uint8_t {
    kValue,       // A value must follow.
    kFirstItem,   // Behind [: a value or ].
    kFirstKey,    // Behind {: a key or }.
    kKey,         // Behind a comma in an object.
    kColon,       // Behind a key.
    kAfterValue,  // A comma, an end, or the end of the text.
    kText,        // In a text; is_key_ says what kind.
    kEscape,      // Behind a backslash.
    kHex1,
    kHex2,
    kHex3,
    kHex4,             // Digits of \uXXXX.
    kHex2NoSurrogate,  // Behind \ud.
    kUtf8,             // In a character; count_: bytes that are left.
    kMinus,            // Behind the - of a number; count_: its characters.
    kZero,
    kDigits,  // In the integer part.
    kPoint,   // Behind the point.
    kFraction,
    kExponent,       // Behind e.
    kExponentSign,   // Behind e+ or e-.
    kExponentDigit,  // Behind the first digit of the exponent.
    kExponentEnd,    // Behind its second digit.
    kWord,           // In true, false or null; count_: position in kWords.
  };

  bool PushValue(uint8_t byte);
  bool PushText(uint8_t byte);
  bool PushEscape(uint8_t byte);
  bool PushHex(uint8_t byte);
  bool PushUtf8(uint8_t byte);
  bool PushNumber(uint8_t byte);
  bool PushAfterValue(uint8_t byte);
  bool PushWhiteSpace();
  bool Open(bool is_object);
  bool Close(bool is_object);
  bool Go(Mode mode, uint8_t count = 0) {
    mode_ = mode;
    count_ = count;
    return true;
  }
  bool IsInObject() const { return depth_ > 0 && (stack_ & 1) != 0; }
  bool EndsNumber() const;

  JsonLimits limits_;
  Mode mode_ = Mode::kValue;
  uint8_t count_ = 0;
  uint8_t low_ = 0, high_ = 0;  // Bounds of the next byte in kUtf8.
  bool is_key_ = false;         // The text is a key.
  uint8_t depth_ = 0;
  uint64_t stack_ = 0;  // The lowest bit is the innermost: 1 for an object.
};

}  // namespace ember::llm

#endif  // EMBER_LLM_GRAMMAR_JSON_MACHINE_H_

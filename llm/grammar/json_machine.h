// Accepts JSON byte by byte.
//
//   JsonMachine machine({});
//   for (char c : text) if (!machine.Push(c)) ...;   // text is no begin of JSON
//   machine.IsComplete();                            // text is JSON
//
// The accepted language is JSON (RFC 8259) in UTF-8 with limits that keep
// generated texts finite and readable by every parser: on nesting, on
// consecutive white space, and on the digits of a number and of its exponent.
// \u escapes of surrogates are not accepted. A JsonMachine is small, so a
// caller can try bytes on a copy. Thread-compatible.
#ifndef EMBER_LLM_GRAMMAR_JSON_MACHINE_H_
#define EMBER_LLM_GRAMMAR_JSON_MACHINE_H_

#include <cstdint>

namespace ember::llm {

struct JsonLimits {
  // True: the text must be a JSON object. False: it may be any JSON value.
  bool is_object = false;
  uint8_t depth = 64;        // largest number of nested arrays and objects, at
                             // most 64
  uint8_t white_space = 32;  // largest number of consecutive bytes of white
                             // space
  uint8_t digits = 32;       // largest number of characters of a JSON number
                             // before its exponent
};

class JsonMachine {
 public:
  explicit JsonMachine(const JsonLimits& limits) : limits_(limits) {}

  // Accepts the next byte of the text and returns true, or returns false and
  // does not change.
  bool Push(uint8_t byte);
  // True if the bytes so far are a complete JSON text. If it ends with a
  // number, more digits may follow all the same.
  bool IsComplete() const;

  // Two machines that compare equal accept the same continuations, if they have
  // the same limits.
  bool operator==(const JsonMachine& other) const {
    return mode_ == other.mode_ && count_ == other.count_ &&
           low_ == other.low_ && high_ == other.high_ &&
           is_key_ == other.is_key_ && depth_ == other.depth_ &&
           stack_ == other.stack_;
  }
  uint64_t Hash() const;

 private:
  enum class Mode : uint8_t {
    // Each mode is a state of the machine between two bytes. kValue: a value
    // must follow.
    kValue,
    kFirstItem,   // Mode after '[': a value or ']' must follow.
    kFirstKey,    // Mode after '{': a key or '}' must follow.
    kKey,         // Mode after ',' in an object: a key must follow.
    kColon,       // Mode after a key: ':' must follow.
    kAfterValue,  // Mode after a value: ',' or a closing bracket must follow,
                  // or the text ends.
    kText,        // Mode inside of a string; is_key_ says if it is a key.
    kEscape,      // Mode after a backslash in a string.
    kHex1,
    kHex2,
    kHex3,
    kHex4,             // The modes kHex1 to kHex4 expect the four hex digits
                       // after \u.
    kHex2NoSurrogate,  // Mode after \ud: the digit must not make the code of a
                       // surrogate.
    kUtf8,             // Mode inside of a UTF-8 character; count_: number of
                       // its bytes that are missing.
    kMinus,            // Mode after the '-' of a number; count_: number of
                       // characters of the number so far.
    kZero,
    kDigits,  // Mode among the digits before the point of a number.
    kPoint,   // Mode after the point of a number.
    kFraction,
    kExponent,       // Mode after the 'e' of a number.
    kExponentSign,   // Mode after the sign of an exponent.
    kExponentDigit,  // Mode after the first digit of an exponent.
    kExponentEnd,    // Mode after the second and last digit of an exponent.
    kWord,           // Mode inside of true, false or null; count_: number of
                     // characters of the word (kWords) that have been read.
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
  uint8_t low_ = 0, high_ = 0;  // bounds of the next byte of a UTF-8 character,
                                // in mode kUtf8
  bool is_key_ = false;         // true: the string that is being read is a key
  uint8_t depth_ = 0;
  uint64_t stack_ = 0;  // a stack of open brackets, one bit each: 1 for an
                        // object, 0 for an array; the lowest bit is the
                        // innermost
};

}  // namespace ember::llm

#endif  // EMBER_LLM_GRAMMAR_JSON_MACHINE_H_

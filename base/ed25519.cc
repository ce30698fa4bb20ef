#include "base/ed25519.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/sha512.h"

namespace ember {
namespace {

// --- numbers modulo p = 2^255 - 19, as 16 digits of 16 bits; until Carry() is
// called, a digit may be larger or negative
class Field {
 public:
  Field() = default;
  explicit Field(int64_t small) { digits_[0] = small; }
  // Reads a little-endian number of 32 bytes. The highest bit is ignored: in
  // encoded points it is not part of the number.
  static Field OfBytes(const uint8_t* bytes) {
    Field result;
    for (size_t i = 0; i < 16; ++i)
      result.digits_[i] = bytes[2 * i] | int64_t{bytes[2 * i + 1]} << 8;
    result.digits_[15] &= 0x7fff;
    return result;
  }

  friend Field operator+(const Field& a, const Field& b) {
    Field result;
    for (size_t i = 0; i < 16; ++i)
      result.digits_[i] = a.digits_[i] + b.digits_[i];
    return result;
  }
  friend Field operator-(const Field& a, const Field& b) {
    Field result;
    for (size_t i = 0; i < 16; ++i)
      result.digits_[i] = a.digits_[i] - b.digits_[i];
    return result;
  }
  friend Field operator*(const Field& a, const Field& b) {
    int64_t products[31] = {};
    for (size_t i = 0; i < 16; ++i) {
      for (size_t j = 0; j < 16; ++j)
        products[i + j] += a.digits_[i] * b.digits_[j];
    }
    // Digits from 2^256 on are multiplied by 38, because 2^256 equals 38 modulo
    // p.
    Field result;
    for (size_t i = 0; i < 15; ++i)
      result.digits_[i] = products[i] + 38 * products[i + 16];
    result.digits_[15] = products[15];
    result.Carry();
    result.Carry();
    return result;
  }

  // Returns the number, fully reduced to 0..p - 1, as 32 little-endian bytes.
  std::array<uint8_t, 32> Bytes() const {
    Field reduced = *this;
    for (int i = 0; i < 3; ++i) reduced.Carry();
    // After the carries the number is below 2^256, which is less than 3 p, so p
    // is subtracted at most twice.
    for (int round = 0; round < 2; ++round) {
      int64_t difference[16];
      int64_t borrow = 0;
      for (size_t i = 0; i < 16; ++i) {
        const int64_t digit = i == 0 ? 0xffed : i == 15 ? 0x7fff : 0xffff;
        const int64_t value = reduced.digits_[i] - digit - borrow;
        borrow = value < 0 ? 1 : 0;
        difference[i] = value + borrow * 0x10000;
      }
      if (borrow == 0) std::copy_n(difference, 16, reduced.digits_);
    }
    std::array<uint8_t, 32> bytes;
    for (size_t i = 0; i < 16; ++i) {
      bytes[2 * i] = static_cast<uint8_t>(reduced.digits_[i]);
      bytes[2 * i + 1] = static_cast<uint8_t>(reduced.digits_[i] >> 8);
    }
    return bytes;
  }
  bool is_odd() const { return (Bytes()[0] & 1) != 0; }
  friend bool operator==(const Field& a, const Field& b) {
    return a.Bytes() == b.Bytes();
  }

  // Returns this number to the power 2^bits - 1 - cleared: an exponent of
  // `bits` ones, of which those in the mask `cleared` are 0.
  Field Power(int bits, uint32_t cleared) const {
    Field result(1);
    for (int bit = bits - 1; bit >= 0; --bit) {
      result = result * result;
      if (bit >= 32 || (cleared >> bit & 1) == 0) result = result * *this;
    }
    return result;
  }
  // Returns the inverse by Fermat's theorem: the power p - 2 = 2^255 - 1 - 20.
  Field Inverse() const { return Power(255, 20); }

 private:
  void Carry() {
    for (size_t i = 0; i < 16; ++i) {
      const int64_t carry = digits_[i] >> 16;
      digits_[i] -= carry * 0x10000;
      if (i < 15) {
        digits_[i + 1] += carry;
      } else {
        digits_[0] += 38 * carry;
      }
    }
  }

  int64_t digits_[16] = {};
};

// --- points of the curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates: x
// = X / Z, y = Y / Z, x y = T / Z

const Field& CurveD() {
  static const Field d = Field(-121665) * Field(121666).Inverse();
  return d;
}

struct Point {
  // initially the neutral element of the addition of points
  Field x, y = Field(1), z = Field(1), t;
};

// Adds two points (RFC 8032, 5.1.4).
Point operator+(const Point& p, const Point& q) {
  const Field a = (p.y - p.x) * (q.y - q.x);
  const Field b = (p.y + p.x) * (q.y + q.x);
  const Field c = p.t * q.t * (CurveD() + CurveD());
  const Field d = p.z * q.z * Field(2);
  const Field e = b - a, f = d - c, g = d + c, h = b + a;
  return {e * f, g * h, f * g, e * h};
}

// Returns the point multiplied by a scalar, which is given as little-endian
// bytes.
Point Multiply(const Point& point, std::span<const uint8_t, 32> scalar) {
  Point result;
  for (int bit = 255; bit >= 0; --bit) {
    result = result + result;
    if ((scalar[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1) != 0)
      result = result + point;
  }
  return result;
}

std::array<uint8_t, 32> BytesOf(const Point& point) {
  const Field inverse = point.z.Inverse();
  std::array<uint8_t, 32> bytes = (point.y * inverse).Bytes();
  if ((point.x * inverse).is_odd()) bytes[31] |= 0x80;
  return bytes;
}

// Decodes a point (RFC 8032, 5.1.3); nullopt if the bytes encode no point.
std::optional<Point> PointOf(const std::array<uint8_t, 32>& bytes) {
  const Field y = Field::OfBytes(bytes.data());
  std::array<uint8_t, 32> canonical = y.Bytes();
  canonical[31] |= bytes[31] & 0x80;
  if (canonical != bytes) return std::nullopt;
  const Field u = y * y - Field(1);
  const Field v = CurveD() * y * y + Field(1);
  const Field v3 = v * v * v;
  // The exponent of the square root is (p - 5) / 8 = 2^252 - 1 - 2.
  Field x = u * v3 * (u * v3 * v3 * v).Power(252, 2);
  const Field square = v * x * x;
  if (!(square == u)) {
    if (!(square == Field(0) - u)) return std::nullopt;
    // The square root of -1 is 2 to the power of (p - 1) / 4 = 2^253 - 1 - 4.
    x = x * Field(2).Power(253, 4);
  }
  const bool is_odd = (bytes[31] & 0x80) != 0;
  if (x == Field(0) && is_odd) return std::nullopt;
  if (x.is_odd() != is_odd) x = Field(0) - x;
  return Point{x, y, Field(1), x * y};
}

// --- numbers modulo the order of the base point,
// 2^252 + 27742317777372353535851937790883648493

constexpr uint8_t kOrder[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                0,    0,    0,    0,    0,    0,    0,    0,
                                0,    0,    0,    0,    0,    0,    0,    0x10};

bool IsBelowOrder(std::span<const uint8_t, 32> number) {
  for (size_t i = 32; i-- > 0;) {
    if (number[i] != kOrder[i]) return number[i] < kOrder[i];
  }
  return false;
}

// Returns the digest, read as a little-endian number, modulo the order of the
// base point. The number is reduced bit by bit.
std::array<uint8_t, 32> ModuloOrder(const Sha512Digest& digest) {
  std::array<uint8_t, 32> rest = {};
  for (int bit = 511; bit >= 0; --bit) {
    int carry = digest[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1;
    for (uint8_t& byte : rest) {
      const int doubled = 2 * byte + carry;
      byte = static_cast<uint8_t>(doubled);
      carry = doubled >> 8;
    }
    if (IsBelowOrder(rest)) continue;
    int borrow = 0;
    for (size_t i = 0; i < 32; ++i) {
      const int value = rest[i] - kOrder[i] - borrow;
      rest[i] = static_cast<uint8_t>(value);
      borrow = value < 0 ? 1 : 0;
    }
  }
  return rest;
}

}  // namespace

// The signature is R and S. It is valid if S B = R + k A, where B is the base
// point, A the public key, and k the hash of R, A and the message.
bool VerifyEd25519(const Ed25519Key& key, std::span<const uint8_t> message,
                   const Ed25519Signature& signature) {
  const std::span<const uint8_t> r = std::span(signature).first<32>();
  const std::span<const uint8_t, 32> s = std::span(signature).last<32>();
  if (!IsBelowOrder(s)) return false;
  std::optional<Point> a = PointOf(key);
  if (!a) return false;
  // The y coordinate of the base point is 4 / 5.
  std::array<uint8_t, 32> base;
  base.fill(0x66);
  base[0] = 0x58;
  Sha512 hash;
  hash.Add(r);
  hash.Add(key);
  hash.Add(message);
  const std::array<uint8_t, 32> k = ModuloOrder(hash.Finish());
  a->x = Field(0) - a->x;
  a->t = Field(0) - a->t;
  const std::array<uint8_t, 32> expected =
      BytesOf(Multiply(*PointOf(base), s) + Multiply(*a, k));
  return std::equal(expected.begin(), expected.end(), r.begin());
}

}  // namespace ember

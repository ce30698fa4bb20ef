"""Reads Universal Binary JSON (https://ubjson.org), draft 12, in which XGBoost writes .ubj files."""

from __future__ import annotations

import struct
from typing import Any

from ..errors import DataLoss

_NUMBERS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_LITERALS: dict[str, Any] = {"Z": None, "T": True, "F": False}
_MAX_DEPTH = 100


def loads(data: bytes) -> Any:
    """Returns the value; raises DataLoss if the data is truncated or corrupt."""
    try:
        reader = _Reader(data)
        return reader.value(reader.marker(), 0)
    except (struct.error, UnicodeDecodeError, IndexError) as error:
        raise DataLoss(f"UBJSON: the data is truncated or corrupt: {error}") from error


class _Reader:
    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    def marker(self) -> str:
        while True:
            found = chr(self._data[self._at])
            self._at += 1
            if found != "N":  # a no-op
                return found

    def _number(self, kind: str) -> Any:
        found = struct.unpack_from(_NUMBERS[kind], self._data, self._at)[0]
        self._at += struct.calcsize(_NUMBERS[kind])
        return found

    def _length(self) -> int:
        kind = self.marker()
        if kind not in "iUIlL":
            raise DataLoss(f"UBJSON: expected a length at byte {self._at}, found {kind!r}")
        length = self._number(kind)
        if not 0 <= length <= len(self._data):
            raise DataLoss(f"UBJSON: expected a length of at most {len(self._data)}, found {length}")
        return int(length)

    def _text(self) -> str:
        length = self._length()
        found = self._data[self._at : self._at + length]
        if len(found) != length:
            raise DataLoss("UBJSON: a text is truncated")
        self._at += length
        return found.decode("utf-8")

    def value(self, kind: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise DataLoss(f"UBJSON: expected at most {_MAX_DEPTH} levels, found more")
        if kind in _NUMBERS:
            return self._number(kind)
        if kind in _LITERALS:
            return _LITERALS[kind]
        if kind in "SH":
            text = self._text()
            return float(text) if kind == "H" else text
        if kind == "C":
            return chr(self._number("U"))
        if kind == "[":
            return self._array(depth)
        if kind == "{":
            return self._object(depth)
        raise DataLoss(f"UBJSON: expected a value at byte {self._at}, found {kind!r}")

    def _header(self) -> tuple[str | None, int | None]:
        """Returns the type and the number of a container's items, if they are given."""
        kind = None
        if self._peek() == "$":
            self._at += 1
            kind = self.marker()
        if self._peek() == "#":
            self._at += 1
            return kind, self._length()
        return None, None

    def _peek(self) -> str:
        return chr(self._data[self._at])

    def _array(self, depth: int) -> list[Any]:
        kind, count = self._header()
        if count is None:
            items = []
            while (marker := self.marker()) != "]":
                items.append(self.value(marker, depth + 1))
            return items
        if kind in _NUMBERS:
            form = _NUMBERS[kind]
            found = struct.unpack_from(f">{count}{form[1]}", self._data, self._at)
            self._at += struct.calcsize(form) * count
            return list(found)
        # Arrays of null, true or false are refused: their items take no bytes,
        # so each of many arrays in a file could state as many items as the
        # file has bytes.
        if kind in _LITERALS:
            raise DataLoss(f"UBJSON: expected no array of type {kind!r}, found one")
        return [self.value(kind or self.marker(), depth + 1) for _ in range(count)]

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._header()
        items: dict[str, Any] = {}
        while count is None or len(items) < count:
            if count is None and self._peek() == "}":
                self._at += 1
                break
            key = self._text()
            items[key] = self.value(kind or self.marker(), depth + 1)
        return items

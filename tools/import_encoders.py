"""Encoders of the containers that model files are in: protobuf messages, FlatBuffers, ZIP archives, pickles, checkpoints.

    message(text(1, "x"), integer(2, 7), floats(5, array))      bytes of a protobuf message, of parts in order
    FlatBuffer({0: ("I", 3), 3: "name", 4: [{...}]}, b"TFL3")   a table of fields by their numbers
    Archive(path).add("net/data/0", bytes)                      a ZIP whose entries begin at multiples of 64
    sorted_table([(b"key", b"value")])                          the index of TensorFlow's checkpoint
"""

import struct
import zipfile

import numpy as np


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*parts):
    return b"".join(parts)


def integer(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    """Encodes a string, bytes, an array's bytes or another message."""
    data = value.encode() if isinstance(value, str) else value
    size = data.nbytes if isinstance(data, np.ndarray) else len(data)
    return varint(field << 3 | 2) + varint(size) + (data.tobytes() if isinstance(data, np.ndarray) else data)


def integers(field, values):
    return text(field, b"".join(varint(value) for value in values))


def tagged_floats(field, values):
    """Encodes floats as writers of proto2 do, with a tag before each number."""
    pairs = np.empty(values.size, dtype=[("tag", "u1"), ("value", "<f4")])
    pairs["tag"] = field << 3 | 5
    pairs["value"] = values.ravel()
    return pairs.tobytes()


class FlatBuffer:
    """Builds a FlatBuffer. Tables are dicts of fields by number: (FORMAT, NUMBER) of struct, a table, a str, a list of tables, an array.

    A table is written in front of all that it refers to, so that offsets point forwards as they must.
    """

    def __init__(self, root, identifier):
        self.data = bytearray(struct.pack("<I4s", 0, identifier))
        self.refer(0, self.write(root))

    def refer(self, place, target):
        struct.pack_into("<I", self.data, place, target - place)

    def align(self, alignment, before=0):
        self.data += bytes(-(len(self.data) + before) % alignment)

    def write(self, value):
        if isinstance(value, dict):
            return self.write_table(value)
        if isinstance(value, list):
            self.align(4)
            start = len(self.data)
            self.data += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for i, item in enumerate(value):
                self.refer(start + 4 + 4 * i, self.write(item))
            return start
        items = np.frombuffer(value.encode(), dtype="u1") if isinstance(value, str) else value
        self.align(16, before=4)
        start = len(self.data)
        self.data += struct.pack("<I", items.size)
        self.data += items.data.cast("B") if items.size else b""
        self.data += b"\0"  # FlatBuffers strings are followed by a zero byte.
        return start

    def write_table(self, fields):
        last = max(fields, default=-1)
        slots = [8 + 8 * i if i in fields else 0 for i in range(last + 1)]
        self.align(8)
        table = self.data
        vtable = len(table)
        table += struct.pack(f"<{3 + last}H", 2 * (3 + last), 8 + 8 * (last + 1), *slots)
        self.align(8)
        start = len(table)
        table += struct.pack("<ii", start - vtable, 0) + bytes(8 * (last + 1))
        for i, value in fields.items():
            place = start + slots[i]
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], table, place, value[1])
            else:
                self.refer(place, self.write(value))
        return start


class Archive:
    """Writes a ZIP archive. As in PyTorch, entries are padded so that weights are at multiples of 64."""

    def __init__(self, path):
        self.file = zipfile.ZipFile(path, "w", zipfile.ZIP_STORED)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def add(self, name, data):
        entry = zipfile.ZipInfo(name)
        padding = -(self.file.fp.tell() + 30 + len(name) + 4) % 64
        entry.extra = struct.pack("<HH", 0x4246, padding) + bytes(padding)
        self.file.writestr(entry, data)


def pickle_text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def pickle_tensor(key, dims):
    """Encodes a contiguous f32 tensor in the storage `key`."""
    number = lambda value: b"\x8a\x08" + struct.pack("<q", value)
    row = lambda values: b"(" + b"".join(number(value) for value in values) + b"t"
    strides = [int(np.prod(dims[i + 1:])) for i in range(len(dims))]
    storage = b"(" + pickle_text("storage") + b"ctorch\nFloatStorage\n" + pickle_text(key) + pickle_text("cpu") + number(0) + b"tQ"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + row(dims) + row(strides) + b"\x89" +
            b"ccollections\nOrderedDict\n)RtR")


def masked_checksum(rows):
    """Returns the CRC-32C of the bytes of an array's rows, one row after the other, rotated as in TensorFlow's files."""
    table = np.arange(256, dtype="u4")
    for _ in range(8):
        table = table >> 1 ^ np.where(table & 1, np.uint32(0x82f63b78), np.uint32(0))
    # The checksums of all rows are computed at once, as a vector. Each of the 32 extra columns
    # starts with one bit of the checksum set and is fed zeros. So they show what each bit becomes
    # while a row is processed, by which the checksums of the rows are combined.
    count, length = rows.shape
    columns = np.zeros((length, count + 32), dtype="u1")
    columns[:, :count] = rows.T
    states = np.zeros(count + 32, dtype="u4")
    states[count:] = np.uint32(1) << np.arange(32, dtype="u4")
    for column in columns:
        states = table[(states ^ column) & 255] ^ states >> 8
    bits = [int(state) for state in states[count:]]
    total = 0xffffffff
    for state in states[:count]:
        after = int(state)
        for bit in range(32):
            after ^= bits[bit] if total >> bit & 1 else 0
        total = after
    total ^= 0xffffffff
    return ((total >> 15 | total << 17) + 0xa282ead8) & 0xffffffff


def sorted_table(entries):
    """Encodes a table of pairs that are sorted by their keys: one block of pairs, and the blocks and footer that the format puts after it."""
    file = bytearray()

    def add(pairs):
        block = b"".join(b"\0" + varint(len(key)) + varint(len(value)) + key + value for key, value in pairs)
        block += struct.pack("<IIB", 0, 1, 0)  # The block's trailer: one restart point, at offset
                                               # 0, and type 0, which means that the block is not
                                               # compressed.
        handle = varint(len(file)) + varint(len(block) - 1)
        file.extend(block + struct.pack("<I", masked_checksum(np.frombuffer(block, dtype="u1")[np.newaxis])))
        return handle

    values = add(entries)
    footer = add([]) + add([(entries[-1][0], values)])
    return bytes(file) + footer.ljust(40, b"\0") + struct.pack("<Q", 0xdb4775248b80fb57)

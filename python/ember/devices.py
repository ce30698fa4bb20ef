"""The devices that a session can use.

>>> import ember
>>> ember.devices()[0].name
'cpu'
"""

from __future__ import annotations

from dataclasses import dataclass

from ._native import ffi, lib, text


@dataclass(frozen=True)
class Device:
    """A device: `name` is for ember.Session(device=…), `text` for display. memory_bytes 0: not known."""

    name: str
    text: str
    target: str
    memory_bytes: int


def devices() -> tuple[Device, ...]:
    """Returns the devices of this machine, the CPU first."""
    found: list[Device] = []
    info = ffi.new("EmberDeviceInfo*", {"struct_size": ffi.sizeof("EmberDeviceInfo")})
    while lib.ember_device_info(len(found), info) == 0:
        found.append(Device(text(info.name), text(info.text), text(info.target), info.memory_bytes))
    return tuple(found)

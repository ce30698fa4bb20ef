"""The profile of a session as a table: `print(session.profile())`, or the last line of a notebook's cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

from ._native import check, ffi, lib, text
from .html import Share, table


@dataclass(frozen=True)
class ProfileRow:
    """The counters of one dispatch of a program. `tier` ran the last call; `tier_calls` are the calls by tier."""

    dispatch: str
    origin: str
    program: str
    plan: str
    calls: int
    total_ns: int
    tier_calls: tuple[int, int, int]
    tier: int

    @property
    def mean_us(self) -> float:
        return self.total_ns / self.calls / 1000 if self.calls else 0.0


@dataclass(frozen=True)
class TraceEvent:
    """One call of a dispatch. Times are in nanoseconds of the steady clock."""

    dispatch: str
    begin_ns: int
    end_ns: int
    thread: int


class Profile:
    """Rows by time, the longest first. Iterate over it, or index it; str() and notebooks show a table."""

    HEAD = ("dispatch", "share", "ms", "calls", "us per call", "tier", "model's nodes")

    def __init__(self, rows: list[ProfileRow]):
        self.rows = sorted(rows, key=lambda row: -row.total_ns)

    @property
    def total_ns(self) -> int:
        return sum(row.total_ns for row in self.rows)

    def __iter__(self) -> Iterator[ProfileRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> ProfileRow:
        return self.rows[index]

    def _cells(self) -> list[tuple[str, str, str, str, str, str, str]]:
        total = max(1, self.total_ns)
        return [
            (
                row.dispatch,
                f"{100 * row.total_ns / total:.1f}%",
                f"{row.total_ns / 1e6:.3f}",
                str(row.calls),
                f"{row.mean_us:.1f}",
                str(row.tier),
                row.origin,
            )
            for row in self.rows
        ]

    def _foot(self) -> str:
        if not self.rows:
            return "no dispatches: make the session with profile=True, and run it"
        return f"{len(self.rows)} dispatches, {self.total_ns / 1e6:.3f} ms"

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(h), *(len(row[i]) for row in cells)) if cells else len(h) for i, h in enumerate(self.HEAD)]
        lines = []
        for row in [self.HEAD, *cells]:
            # Names are aligned to the left, numbers to the right. The last column is not padded.
            parts = [row[0].ljust(widths[0])] + [row[i].rjust(widths[i]) for i in range(1, 6)] + [row[6]]
            lines.append("  ".join(parts).rstrip())
        return "\n".join([*lines, self._foot()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        total = max(1, self.total_ns)
        rows = [
            (r.dispatch, Share(r.total_ns / total), r.total_ns / 1e6, r.calls, r.mean_us, r.tier, r.origin)
            for r in self.rows
        ]
        return table([head.replace("us", "μs") for head in self.HEAD], rows, self._foot())


def read_profile(session: Any) -> Profile:
    """Returns the profile of a session of the C API, which no other thread uses."""
    rows = []
    row = ffi.new("EmberProfileRow*", {"struct_size": ffi.sizeof("EmberProfileRow")})
    for i in range(lib.ember_session_profile(session)):
        check(lib.ember_session_profile_row(session, i, row))
        rows.append(
            ProfileRow(
                text(row.dispatch),
                text(row.origin),
                text(row.program),
                text(row.plan),
                row.calls,
                row.total_ns,
                (row.tier_calls[0], row.tier_calls[1], row.tier_calls[2]),
                row.tier,
            )
        )
    return Profile(rows)


def read_trace(session: Any) -> list[TraceEvent]:
    """Returns the trace of a session of the C API, which no other thread uses."""
    event = ffi.new("EmberTraceEvent*", {"struct_size": ffi.sizeof("EmberTraceEvent")})
    events = []
    for i in range(lib.ember_session_trace(session)):
        check(lib.ember_session_trace_event(session, i, event))
        events.append(TraceEvent(text(event.dispatch), event.begin_ns, event.end_ns, event.thread))
    return events

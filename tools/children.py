"""Processes that a script starts and that must not go on without it.

    subprocess.Popen(command, preexec_fn=children.end_with_parent)

When the script ends in any way, SIGKILL included, the process is killed: a stopped one (turns.py), too.
"""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def end_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

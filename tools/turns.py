"""Runs processes of vm-bench that take turns to call their models, so that all see the same load of other programs.

    turns.run([["vm-bench", "a.vmfb", "--life=a.json"], ["vm-bench", "b.vmfb", "--life=b.json"]])

Each process makes one call, round after round, until the first process has ended, which ends the others. The waiting
processes are stopped (SIGSTOP) with all their threads. So call i in the files that --life writes was made directly before or
after call i of the others. When a process continues, its threads compete anew: a thread that works during the calls (the
compiler's) then gets more of the processors than between consecutive calls, and workers wake up. So processes that are not
settled take turns of several calls, the first of which does not count, and they settle in fewer calls than they would alone.
"""

import os
import signal
import socket
import subprocess

import children


class Player:
    def __init__(self, command):
        self.here, there = socket.socketpair()
        with there:
            self.process = subprocess.Popen(
                command + [f"--turns={there.fileno()}"], pass_fds=[there.fileno()], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=children.end_with_parent)
        self.calls = 0
        self.wait()

    def wait(self, stop=True):
        """Waits until the process asks for its next call, or ends."""
        try:
            self.is_alive = self.here.recv(1) != b""
        except ConnectionResetError:  # the process ended without reading all bytes
            self.is_alive = False
        if self.is_alive:
            if stop:
                os.killpg(self.process.pid, signal.SIGSTOP)
            return
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError((errors.strip().splitlines() or ["no message"])[-1])

    def call(self, count):
        """Lets the process make `count` calls, or fewer if it ends."""
        os.killpg(self.process.pid, signal.SIGCONT)
        self.here.send(b"\0" * count)
        while count > 0 and self.is_alive:
            self.calls += 1
            count -= 1
            self.wait(stop=count == 0)

    def finish(self):
        """Lets the process end without another call."""
        if self.is_alive:
            os.killpg(self.process.pid, signal.SIGCONT)
            self.here.shutdown(socket.SHUT_WR)
            self.wait()

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
        self.here.close()


def run(commands, order=None, calls=1):
    """Runs the commands in this order of indices, with `calls` calls in a turn. Returns the turns: (index, calls made before)."""
    players, turns = [], []
    try:
        for command in commands:
            players.append(Player(command))
        while players[0].is_alive:
            for i in order or range(len(players)):
                if players[i].is_alive:
                    turns.append((i, players[i].calls))
                    players[i].call(calls)
        for player in players:
            player.finish()
    finally:
        for player in players:
            player.end()
    return turns

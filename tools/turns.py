"""Processes of vm-bench that call their models in turns, so that all see the same load of others on the machine.

    turns.run([["vm-bench", "a.vmfb", "--life=a.json"], ["vm-bench", "b.vmfb", "--life=b.json"]])

One call each, round after round, until the first has ended, which ends the others; those whose turn it is not are
stopped (SIGSTOP), with all their threads. Call i of the files that --life writes was made right beside call i of the
others. When a process goes on, its threads compete anew: what runs beside the calls (the compiler's thread) gets more of
the processors then than it would between calls that follow each other, and workers wake up. So processes that are not
settled take turns of several calls, of which the first does not count, and get on faster than they would alone.
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
        """Until it asks for its next call, or ends."""
        try:
            self.is_alive = self.here.recv(1) != b""
        except ConnectionResetError:  # It left bytes unread.
            self.is_alive = False
        if self.is_alive:
            if stop:
                os.killpg(self.process.pid, signal.SIGSTOP)
            return
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError((errors.strip().splitlines() or ["no message"])[-1])

    def call(self, count):
        """Makes so many calls, if it makes so many."""
        os.killpg(self.process.pid, signal.SIGCONT)
        self.here.send(b"\0" * count)
        while count > 0 and self.is_alive:
            self.calls += 1
            count -= 1
            self.wait(stop=count == 0)

    def finish(self):
        """It makes no further call."""
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
    """In that order (of indices), so many calls in a turn; the turns: whose, and the calls that it had made before."""
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

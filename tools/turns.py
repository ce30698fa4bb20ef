"""Processes of vm-bench that call their models in turns, so that all see the same load of others on the machine.

    turns.run([["vm-bench", "a.vmfb", "--life=a.json"], ["vm-bench", "b.vmfb", "--life=b.json"]])

One call each, round after round, until the first has ended, which ends the others; those whose turn it is not are
stopped (SIGSTOP), with all their threads. Call i of the files that --life writes was made right beside call i of the
others. When a process goes on, its threads compete anew: what runs beside the calls (the compiler's thread) gets more of
the processors then than it would between calls that follow each other, and workers wake up. So this is for processes
that are settled.
"""

import os
import signal
import socket
import subprocess


class Player:
    def __init__(self, command):
        self.here, there = socket.socketpair()
        with there:
            self.process = subprocess.Popen(
                command + [f"--turns={there.fileno()}"], pass_fds=[there.fileno()], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.wait()

    def wait(self):
        """Until it asks for its next turn, or ends."""
        self.is_alive = self.here.recv(1) != b""
        if self.is_alive:
            os.killpg(self.process.pid, signal.SIGSTOP)
            return
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError((errors.strip().splitlines() or ["no message"])[-1])

    def call(self):
        os.killpg(self.process.pid, signal.SIGCONT)
        self.here.send(b"\0")
        self.wait()

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


def run(commands):
    players = []
    try:
        for command in commands:
            players.append(Player(command))
        while players[0].is_alive:
            for player in players:
                if player.is_alive:
                    player.call()
        for player in players:
            player.finish()
    finally:
        for player in players:
            player.end()

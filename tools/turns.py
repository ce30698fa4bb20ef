"""Processes of vm-bench that call their models in turns, so that all see the same load of others on the machine.

    turns.run([["vm-bench", "a.vmfb", "--life=a.json"], ["vm-bench", "b.vmfb", "--life=b.json"]], calls=(5, 15))

From so many to so many calls each, as many for all, round after round, until the first has ended, which ends the others;
those whose turn it is not are stopped (SIGSTOP), with all their threads. Call i of the files that --life writes was made
near call i of the others. When a process goes on, its threads compete anew: what runs beside the calls (the compiler's
thread) gets more of the processors at first than it would between calls that follow each other. So turns are longer where
there is such a thread, and of random length, that it is not always the same calls that begin one.
"""

import os
import random
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

    def wait(self, goes_on=False):
        """Until it asks for its next call, or ends."""
        self.is_alive = self.here.recv(1) != b""
        if self.is_alive:
            if not goes_on:
                os.killpg(self.process.pid, signal.SIGSTOP)
            return
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError((errors.strip().splitlines() or ["no message"])[-1])

    def turn(self, calls):
        os.killpg(self.process.pid, signal.SIGCONT)
        for i in range(calls):
            if self.is_alive:
                self.here.send(b"\0")
                self.wait(goes_on=i + 1 < calls)

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


def run(commands, calls=(1, 1)):
    players = []
    try:
        for command in commands:
            players.append(Player(command))
        while players[0].is_alive:
            count = random.randint(*calls)
            for player in players:
                if player.is_alive:
                    player.turn(count)
        for player in players:
            player.finish()
    finally:
        for player in players:
            player.end()

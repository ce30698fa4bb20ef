"""Starts the servers of a fleet in a temporary folder: NATS with JetStream, and Slurm with one node. For tools/tune_fleet.py.

    with NatsServer(folder) as server:
        server.url            # nats://127.0.0.1:4321
    with Slurm(folder) as slurm:
        slurm.environment     # PATH and SLURM_CONF for sbatch

Programs: nats-server; munged, slurmctld and slurmd, which have to run as root (./dev setup --for=fleet installs all of them).
"""

import os
import shutil
import socket
import subprocess
import time

SLURM_CONF = """ClusterName=ember
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def has(*programs):
    """Returns True if all programs are installed; the folders of servers are looked at, too."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return all(shutil.which(program, path=path) for program in programs)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(what, is_ready, seconds=30):
    end = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > end:
            raise SystemExit(f"fleet: {what} is not ready after {seconds} s")
        time.sleep(0.1)


class Servers:
    """Processes that end with the `with` block."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []

    def start(self, *command, **options):
        with open(os.path.join(self.folder, os.path.basename(command[0]) + ".out"), "ab") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


class NatsServer(Servers):
    def __init__(self, folder, host="127.0.0.1"):
        super().__init__(folder)
        port = free_port()
        self.url = f"nats://{host}:{port}"
        self.start("nats-server", "-js", "-a", host, "-p", str(port), "-sd", os.path.join(folder, "nats"))

        def is_ready():
            with socket.socket() as one:
                return one.connect_ex((host, port)) == 0

        wait_for("nats-server", is_ready)


class Slurm(Servers):
    def __init__(self, folder):
        super().__init__(folder)
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        conf = os.path.join(folder, "slurm.conf")
        self.environment = dict(os.environ, PATH=path, SLURM_CONF=conf)
        key = os.path.join(folder, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as file:
            file.write(os.urandom(1024))
        for part in ("state", "spool"):
            os.makedirs(os.path.join(folder, part))
        with open(conf, "w", encoding="ascii") as file:
            file.write(SLURM_CONF.format(host=socket.gethostname().split(".")[0], folder=folder, port=free_port(),
                                         node_port=free_port(), cores=os.cpu_count()))
        # The daemon munged refuses to start if other users can write to its
        # folder.
        os.chmod(folder, 0o755)
        names = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munged.pid", "log-file": "munged.log",
                 "seed-file": "munged.seed"}
        self.start("munged", "--foreground", "--force", *(f"--{flag}={folder}/{name}" for flag, name in names.items()),
                   env=self.environment)
        wait_for("munged", lambda: os.path.exists(os.path.join(folder, "munge.socket")))
        self.start("slurmctld", "-D", "-f", conf, env=self.environment)
        self.start("slurmd", "-D", "-f", conf, env=self.environment)
        wait_for("Slurm", lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T"))

    def run(self, *command):
        return subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout

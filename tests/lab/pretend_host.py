# SPDX-License-Identifier: GPL-3.0-or-later
"""One pretend host: network, clock, processes, files, users and name of its own, and an sshd that is its first process. All of it lives as long
as that process does, whatever becomes of who made it."""
import os
import select
import shutil
import signal
import socket
import sys
import time

import host_root
from namespaces import NEW_IPC, NEW_MOUNT, NEW_NET, NEW_PID, NEW_TIME, NEW_UTS, shift_clocks, unshare

DEADLINE_S = 20


def start(folder, clock_ns, settings, note):
    """Calls note(pid) with the process id, seen from here, of the host's first process, which goes on only then: so whoever is killed meanwhile
    leaves none that is not noted. folder is its own, outside: its sshd's log is written there.
    settings: see host_root.enter. Raises OSError with what was not to be had."""
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not os.access(sshd, os.X_OK):
        raise FileNotFoundError(f"{sshd} is not there: install openssh-server")
    answer_from, answer_to = os.pipe()  # the pid, and why it failed, if it did: exec closes it
    go_from, go_to = os.pipe()  # one byte once it is noted; its end: it never will be
    sys.stdout.flush()
    middle = os.fork()
    if middle == 0:
        try:
            unshare(NEW_NET | NEW_MOUNT | NEW_UTS | NEW_IPC | NEW_PID | NEW_TIME)
            shift_clocks(clock_ns)
            first = os.fork()
            if first == 0:
                os.close(go_to)
                if not os.read(go_from, 1):
                    os._exit(1)
                _become_host(folder, settings, sshd, answer_to)
            os.write(answer_to, f"pid {first}\n".encode())
        except OSError as error:
            os.write(answer_to, f"{error}\n".encode())
        finally:
            os._exit(0)
    os.close(answer_to)
    os.close(go_from)
    try:
        os.waitpid(middle, 0)
        with os.fdopen(answer_from) as answer:
            first_line = answer.readline().strip()
            if first_line.startswith("pid "):
                note(int(first_line[4:]))
                os.write(go_to, b"g")
            trouble = [line for line in [first_line, *answer.read().splitlines()] if not line.startswith("pid ")]
    finally:
        os.close(go_to)
    if trouble:
        raise OSError(f"no pretend host {settings['name']}: {trouble}")


def _become_host(folder, settings, sshd, answer_to):
    try:
        os.setsid()
        log = os.open(os.path.join(folder, "sshd.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open("/dev/null", os.O_RDONLY)
        for target, source in enumerate((nothing, log, log)):
            os.dup2(source, target)
        os.set_inheritable(answer_to, False)
        os.umask(0o022)
        socket.sethostname(settings["name"])
        host_root.enter(os.path.join(folder, "root"), settings)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        os.execve(sshd, [sshd, "-D", "-e"], environment)
    except BaseException as error:  # whatever it was: there is nobody above to tell
        os.write(answer_to, f"{error!r}\n".encode())
    os._exit(1)


def born(pid):
    """When the process began, in clock ticks: with it a process id means one process only. None: there is none."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            state, *values = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else int(values[18])


def end(pid, born_at):
    """Kills the process and waits until it is gone; a host's first process takes all of its others along."""
    if born(pid) != born_at or born_at is None:
        return
    handle = os.pidfd_open(pid)
    try:
        if born(pid) == born_at:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            if not select.select([handle], [], [], DEADLINE_S)[0]:
                raise OSError(f"process {pid} does not end")
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def wait_for_sshd(address, deadline):
    """Until an sshd there greets. deadline: of time.monotonic(). Raises OSError."""
    while True:
        try:
            with socket.create_connection((address, 22), timeout=max(0.1, deadline - time.monotonic())) as connection:
                said = connection.recv(4)
                if said == b"SSH-":
                    return
                why = f"it says {said}"
        except OSError as error:
            why = error
        if time.monotonic() > deadline:
            raise OSError(f"no sshd answers at {address}: {why}")
        time.sleep(0.02)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The file system of a pretend host: this machine's programs, read-only, and everything else its own, in memory. Nothing that is written there
is seen outside, and it is gone with the host's last process."""
import os
import pathlib

from namespaces import BIND, NO_EXEC, NO_SUID, PRIVATE, READ_ONLY, RECURSIVE, enter_root, make_read_only, mount

USER, USER_ID = "lab", 20077
SSHD_ID = 20078
BYTES_MAX = "4g"  # taken as files are written

_FROM_HERE = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

_SSHD_CONFIG = """\
UsePAM yes
PermitRootLogin prohibit-password
PasswordAuthentication yes
KbdInteractiveAuthentication yes
UseDNS no
PrintMotd no
PrintLastLog no
LogLevel VERBOSE
PidFile none
Subsystem sftp internal-sftp
"""

_PAM = """\
auth     required pam_unix.so
account  required pam_nologin.so
account  required pam_permit.so
session  required pam_permit.so
password required pam_deny.so
"""


def enter(folder, settings):
    """Builds the root in the folder and goes there. To be called in mount, PID and network namespaces of one's own.
    settings: name, client_key (public, of who may log in), password_hash, host_key (private), host_key_public, known (lines for /etc/hosts)."""
    root = pathlib.Path(folder)
    mount(None, "/", flags=PRIVATE | RECURSIVE)
    mount("tmpfs", root, "tmpfs", NO_SUID, f"mode=755,size={BYTES_MAX}")
    for name in _FROM_HERE:
        _take_over(pathlib.Path("/", name), root / name)
    for name in ("proc", "sys", "dev", "etc", "run/sshd", "var/log"):
        (root / name).mkdir(parents=True)
    for name in ("tmp", "var/tmp"):
        (root / name).mkdir()
        (root / name).chmod(0o1777)
    mount("proc", root / "proc", "proc", NO_SUID | NO_EXEC)
    mount("sysfs", root / "sys", "sysfs", NO_SUID | NO_EXEC | READ_ONLY)
    _make_devices(root / "dev")
    _write_etc(root / "etc", settings)
    _make_home(root / "root", 0, settings["client_key"])
    _make_home(root / "home" / USER, USER_ID, settings["client_key"])
    enter_root(root)


def _take_over(here, there):
    if here.is_symlink():
        there.symlink_to(os.readlink(here))
    elif here.is_dir():
        there.mkdir()
        mount(here, there, flags=BIND | RECURSIVE)
        make_read_only(there)


def _make_devices(dev):
    mount("tmpfs", dev, "tmpfs", NO_SUID | NO_EXEC, "mode=755,size=1m")
    for name in _DEVICES:
        (dev / name).touch()
        mount(f"/dev/{name}", dev / name, flags=BIND)
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (dev / name).symlink_to(target)
    for name in ("pts", "shm"):
        (dev / name).mkdir()
    mount("devpts", dev / "pts", "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", dev / "shm", "tmpfs", NO_SUID, "mode=1777,size=128m")


def _write_etc(etc, settings):
    accounts = (("root", 0, "/root", "/bin/bash", "*"), (USER, USER_ID, f"/home/{USER}", "/bin/bash", settings["password_hash"]),
                ("sshd", SSHD_ID, "/run/sshd", "/usr/sbin/nologin", "*"), ("nobody", 65534, "/", "/usr/sbin/nologin", "*"))
    texts = {
        "passwd": "".join(f"{name}:x:{number}:{number}::{home}:{shell}\n" for name, number, home, shell, _ in accounts),
        "group": "".join(f"{name}:x:{number}:\n" for name, number, _, _, _ in accounts) + "tty:x:5:\n",
        "shadow": "".join(f"{name}:{secret}:19000:0:99999:7:::\n" for name, _, _, _, secret in accounts),
        "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
        "hosts": "127.0.0.1 localhost\n" + settings["known"],
        "hostname": settings["name"] + "\n",
        "profile": "export PATH=/usr/local/bin:/usr/bin:/bin\n",
        "ssh/sshd_config": _SSHD_CONFIG,
        "ssh/ssh_host_ed25519_key": settings["host_key"],
        "ssh/ssh_host_ed25519_key.pub": settings["host_key_public"],  # whose fingerprint a person may look up there
        "pam.d/sshd": _PAM,
        "pam.d/other": _PAM,
    }
    for name, text in texts.items():
        path = etc / name
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600 if name.endswith("_key") or name == "shadow" else 0o644)
        path.write_text(text)
    for name in ("ld.so.cache", "alternatives"):
        here = pathlib.Path("/etc", name)
        if here.is_dir():
            _take_over(here, etc / name)
        elif here.exists():
            (etc / name).write_bytes(here.read_bytes())


def _make_home(home, owner, key):
    ssh = home / ".ssh"
    ssh.mkdir(parents=True)
    (ssh / "authorized_keys").write_text(key)
    for path, mode in ((home, 0o700), (ssh, 0o700), (ssh / "authorized_keys", 0o600)):
        os.chown(path, owner, owner)
        path.chmod(mode)

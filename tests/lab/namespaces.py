# SPDX-License-Identifier: GPL-3.0-or-later
"""The few system calls that pretend hosts are made of, and what runs inside of them. Errors are OSError, with what was tried."""
import ctypes
import os
import subprocess

NEW_MOUNT, NEW_UTS, NEW_IPC, NEW_PID, NEW_NET, NEW_TIME = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000, 0x00000080
READ_ONLY, NO_SUID, NO_EXEC, BIND, RECURSIVE, PRIVATE = 1, 2, 8, 4096, 16384, 1 << 18
DETACH = 2
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000  # the same on all machines

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags):
    _checked(_libc.unshare(flags), "unshare")


def mount(source, target, kind=None, flags=0, options=None):
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(_libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]), f"mount {source} on {target}")


def make_read_only(mounted):
    """A mount, and whatever is mounted below it."""
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY)  # to be set; none to be cleared
    _checked(_libc.syscall(ctypes.c_long(_MOUNT_SETATTR), ctypes.c_int(_AT_FDCWD), os.fsencode(mounted), ctypes.c_uint(_AT_RECURSIVE),
                           ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes))), f"mount_setattr {mounted}")


def enter_root(folder):
    """Makes the folder, which must be a mount, the root of this process' mount namespace, and forgets the old one."""
    os.chdir(folder)
    _checked(_libc.syscall({"x86_64": 155, "aarch64": 41}[os.uname().machine], b".", b"."), f"pivot_root {folder}")
    _checked(_libc.umount2(b".", DETACH), "umount of the old root")
    os.chdir("/")


def shift_clocks(offset_ns):
    """Of the time namespace that was just made: before anybody is in it."""
    seconds, nanoseconds = divmod(offset_ns, 1_000_000_000)
    with open("/proc/self/timens_offsets", "w") as offsets:
        offsets.write("".join(f"{clock} {seconds} {nanoseconds}\n" for clock in ("monotonic", "boottime")))


def ip(*arguments, pid=None):
    """The command ip, in the network namespace of that process."""
    prefix = [] if pid is None else ["nsenter", f"--net=/proc/{pid}/ns/net"]
    done = subprocess.run([*prefix, "ip", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def crypt(password):
    """As it stands in a shadow file."""
    function = ctypes.CDLL("libcrypt.so.1").crypt
    function.restype = ctypes.c_char_p
    return function(password.encode(), b"$6$" + os.urandom(6).hex().encode()).decode()

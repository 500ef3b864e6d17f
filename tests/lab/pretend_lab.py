# SPDX-License-Identifier: GPL-3.0-or-later
"""A lab of pretend hosts on this machine: they stand around a bridge that this machine is plugged into as well. Lab K has the network
10.77.K.0/24, .1 is this machine, .10+i is host i. All that is known of a lab stands in its folder; take_down() leaves neither."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import time

import host_root
import links
import namespaces
import pretend_host
from namespaces import ip

# Commands that a lab is made with, and the Debian packages that have them. (pretend_host looks for sshd.)
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "ssh-keygen": "openssh-client"}
# What kernels say that know no such namespace or device, or do not let this process have one.
REFUSALS = ("Operation not permitted", "Permission denied", "Operation not supported", "Function not implemented", "Invalid argument",
            "No space left on device", "Unknown device type")
HOSTS_MAX = 40
NUMBERS_MAX = 100
DEADLINE_S = 30


class Impossible(Exception):
    """There can be no lab on this machine, and why."""


class Stands(Exception):
    """There is a lab of that number already."""


def names_of(count):
    return [f"h{i}" for i in range(1, count + 1)]


def folder_of(number):
    # One place, whatever the environment says: who takes it down may have another one, by sudo for example.
    return pathlib.Path("/tmp", f"n2nq-lab-{number}")


def bridge_of(number):
    return f"n2nq{number}"


def refuse(why):
    """Where N2NQ_NEED_LAB is set no test may be skipped for want of a lab."""
    raise OSError(f"{why} (N2NQ_NEED_LAB is set)") if os.environ.get("N2NQ_NEED_LAB") else Impossible(why)


def check_possible():
    """Raises Impossible where this process may not make one, OSError where it could if something were not missing or broken, and with
    N2NQ_NEED_LAB always."""
    if os.geteuid() != 0:
        refuse("pretend hosts need root: they are made of namespaces, devices and an sshd each")
    probe = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--time", "--fork", "ip", "link", "add", "n2nq-probe", "type", "bridge"]
    missing = {tool: package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    if missing:
        raise OSError(f"{', '.join(missing)} missing: apt install {' '.join(sorted(set(missing.values())))}")
    done = subprocess.run(probe, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode == 0:
        return
    said = done.stderr.strip()
    if any(refusal in said for refusal in REFUSALS):
        refuse(f"namespaces or bridges are forbidden here: {said}")
    raise OSError(f"{' '.join(probe)} failed with {done.returncode}: {said}")


def take_up(number, names, clocks_ns=(0,), shape=None, bad_key=(), unknown_key=(), owner=None):
    """Makes lab `number` of hosts of these names and returns its facts, as in lab.json. clocks_ns: how far ahead the hosts' clocks are, from the
    start again when there are more hosts. shape: of all links at first (see links.py); None: plain ones, without emulator. bad_key,
    unknown_key: names of hosts whose key known_hosts has wrong, or not at all. owner: id of the process without which nobody needs the lab; one
    that lost its owner is taken down first. Raises Stands, Impossible or OSError, and leaves nothing then."""
    check_possible()
    _take_down_abandoned(number)
    folder = folder_of(number)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise Stands(f"lab {number} stands already, in {folder}") from None
    facts = {"number": number, "folder": str(folder), "bench_address": f"10.77.{number}.1", "user": host_root.USER, "password": os.urandom(9).hex(),
             "hosts": [], "emulator": None, "processes": [], "devices": [], "owner": owner and {"pid": owner, "born": pretend_host.born(owner)}}
    try:
        _write_facts(facts)
        _make_bridge(facts)
        _make_hosts(facts, names, clocks_ns)
        links.connect(facts, shape is not None, lambda: _write_facts(facts))
        _write_files(facts, bad_key, unknown_key)
        deadline = time.monotonic() + DEADLINE_S
        for host in facts["hosts"]:
            pretend_host.wait_for_sshd(host["address"], deadline)
        if shape is not None:
            links.set_shape(facts, shape)  # only now: through what lets nothing pass no sshd is seen
    except BaseException:
        take_down(number)
        raise
    return facts


def keep_results(number):
    """What a bench with the lab's home folder has made (runs, presets, test cases) goes beside the lab's folder, before take_down(). Returns
    where to; None: there is nothing."""
    made = folder_of(number) / "home/.local/share/n2nq"
    if not made.is_dir() or not any(made.iterdir()):
        return None
    kept = folder_of(number).with_name(f"{folder_of(number).name}-results-{time.strftime('%Y-%m-%dT%H-%M-%S')}")
    made.rename(kept)
    return kept


def take_down(number):
    """What of lab `number` is there, all of it. Says whether there was one. Raises OSError."""
    folder = folder_of(number)
    if not folder.is_dir():
        return False
    if folder.stat().st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    try:
        facts = read_facts(number)
    except FileNotFoundError:  # whoever made it came no further than the folder
        facts = {"processes": [], "devices": []}
    for process in facts["processes"]:
        pretend_host.end(process["pid"], process["born"])
        _forget_child(process["pid"])
    for device in facts["devices"]:
        _remove_device(device)
    shutil.rmtree(folder)
    return True


def _remove_device(name):
    """The kernel takes what led into a namespace away with it, in its own time: between a look and the deletion, say."""
    there = pathlib.Path("/sys/class/net", name)
    if not there.exists():
        return
    try:
        ip("link", "delete", name)
    except OSError:
        if there.exists():
            raise


def _take_down_abandoned(number):
    """Takes lab `number` down if it had an owner and that is gone. Where several want to, the first does: what it then makes under this number
    stays."""
    lock = os.open(folder_of(number).parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_abandoned(number):
            take_down(number)
    finally:
        os.close(lock)


def _is_abandoned(number):
    try:
        owner = read_facts(number)["owner"]
    except FileNotFoundError:  # is being made, or taken down
        return False
    return owner is not None and pretend_host.born(owner["pid"]) != owner["born"]


def _forget_child(pid):
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # somebody else's
        pass


def read_facts(number):
    return json.loads((folder_of(number) / "lab.json").read_text())


def _write_facts(facts):
    path = pathlib.Path(facts["folder"], "lab.json")
    path.with_suffix(".new").write_text(json.dumps(facts, indent=1))
    path.with_suffix(".new").replace(path)


def _make_bridge(facts):
    bridge = bridge_of(facts["number"])
    facts["devices"].append(bridge)
    _write_facts(facts)
    ip("link", "add", bridge, "type", "bridge", "stp_state", 0, "forward_delay", 0)
    ip("address", "add", f"{facts['bench_address']}/24", "dev", bridge)
    ip("link", "set", bridge, "up")


def _make_hosts(facts, names, clocks_ns):
    folder, number = pathlib.Path(facts["folder"]), facts["number"]
    addresses = [f"10.77.{number}.{11 + i}" for i in range(len(names))]
    client_key = make_key(folder / "client_key")
    known = "".join(f"{address} {name}\n" for address, name in zip([facts["bench_address"], *addresses], ["bench", *names]))
    password_hash = namespaces.crypt(facts["password"])
    for i, (name, address) in enumerate(zip(names, addresses)):
        (folder / "hosts" / name / "root").mkdir(parents=True)
        host_key = make_key(folder / "hosts" / name / "host_key")
        clock_ns = clocks_ns[i % len(clocks_ns)]
        settings = {"name": name, "client_key": client_key, "password_hash": password_hash,
                    "host_key": (folder / "hosts" / name / "host_key").read_text(), "host_key_public": host_key, "known": known}
        host = {"name": name, "address": address, "clock_ns": clock_ns, "host_key": host_key.strip(),
                "sshd_log": str(folder / "hosts" / name / "sshd.log")}

        def note(pid, host=host):
            facts["processes"].append({"pid": pid, "born": pretend_host.born(pid)})
            facts["hosts"].append({**host, "pid": pid})
            _write_facts(facts)

        pretend_host.start(folder / "hosts" / name, clock_ns, settings, note)


def make_key(path):
    """A key pair without passphrase; returns the public line."""
    made = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "n2nq-lab", "-f", path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if made.returncode != 0:
        raise OSError(f"ssh-keygen could not make {path}: {(made.stderr or made.stdout).strip()}")
    return path.with_name(path.name + ".pub").read_text()


def _write_files(facts, bad_key, unknown_key):
    """What a person, ssh and the bench need: ssh_config, known_hosts, hosts.yaml, and a home folder whose .ssh has the first two."""
    folder = pathlib.Path(facts["folder"])
    config, known, hosts = [], [], ["format: 1", f"local_data_address: {facts['bench_address']}", "hosts:"]
    for host in facts["hosts"]:
        name, address = host["name"], host["address"]
        config += [f"Host {name} {address}", f"  HostName {address}", "  Port 22", f"  User {facts['user']}", f"  IdentityFile {folder}/client_key",
                   "  IdentitiesOnly yes", f"  UserKnownHostsFile {folder}/known_hosts", "  StrictHostKeyChecking yes", ""]
        key = make_key(folder / "hosts" / name / "another_key") if name in bad_key else host["host_key"]
        if name not in unknown_key:
            known.append(f"{name},{address} {' '.join(key.split()[:2])}")
        hosts += [f"  - name: {name}", f"    address: {address}", "    port: 22", f"    user: {facts['user']}",
                  f"    identity_file: {folder}/client_key", f"    data_address: {address}"]
    for name, lines in (("ssh_config", config), ("known_hosts", known), ("hosts.yaml", hosts)):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    ssh = folder / "home/.ssh"
    ssh.mkdir(parents=True, mode=0o700)
    (ssh / "config").symlink_to("../../ssh_config")
    (ssh / "known_hosts").symlink_to("../../known_hosts")

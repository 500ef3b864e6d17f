# SPDX-License-Identifier: GPL-3.0-or-later
"""The links between a lab's hosts and its bridge."""
from namespaces import ip


def connect(facts, shape, write_facts):
    """Gives each host its eth0."""
    for host in facts["hosts"]:
        host["device"] = f"{facts['devices'][0]}-{host['name']}"
    for host in facts["hosts"]:
        facts["devices"].append(host["device"])
        write_facts()
        ip("link", "add", host["device"], "type", "veth", "peer", "name", "eth0", "netns", str(host["pid"]))
    for host in facts["hosts"]:
        ip("link", "set", host["device"], "master", facts["devices"][0], "up")
        ip("link", "set", "lo", "up", pid=host["pid"])
        ip("address", "add", f"{host['address']}/24", "dev", "eth0", pid=host["pid"])
        ip("link", "set", "eth0", "up", pid=host["pid"])
    write_facts()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that look names up where a test says."""
# Arguments: a folder, and what is run with its files in place of those in /etc. systemd-resolved and nscd, which may be asked over a socket,
# know nothing of those: here they are not.
_IN_PLACE = """
for file in hosts resolv.conf nsswitch.conf; do
  [ ! -e "$0/$file" ] || [ ! -e "/etc/$file" ] || mount --bind "$0/$file" "/etc/$file" || exit
done
[ ! -d /run/nscd ] || mount --bind "$0/nscd" /run/nscd || exit
exec "$@"
"""


def with_names(folder, files):
    """What stands before a command, which begins in a mount namespace of its own, as its root: it finds names by these files of /etc alone.
    files: texts of hosts and resolv.conf, by name. The folder is made for them."""
    (folder / "nscd").mkdir(parents=True)
    for name, text in {**files, "nsswitch.conf": "hosts: files dns\n"}.items():
        (folder / name).write_text(text)
    return ["sh", "-c", _IN_PLACE, str(folder)]

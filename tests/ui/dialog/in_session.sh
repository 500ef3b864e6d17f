#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a program in a desktop session of its own with an unlocked keyring (N2NQ_KEYRING=1), in a home folder that is removed afterwards.
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_RUNTIME_DIR="$home" XDG_DATA_HOME="$home/data"
unset DISPLAY WAYLAND_DISPLAY
if command -v dbus-run-session >/dev/null && command -v gnome-keyring-daemon >/dev/null; then
  dbus-run-session -- sh -c 'echo test | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 && export N2NQ_KEYRING=1; exec "$@"' sh "$@"
else
  "$@"
fi

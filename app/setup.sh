# SPDX-License-Identifier: GPL-3.0-or-later
# What app/run and tests/run have in common: install what is missing, configure, build. Sourced, not run.
# Everything is said on stderr, so that the stdout of what runs afterwards stays its own.

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Each with what it is needed for.
packages_build=(
  g++ cmake ninja-build ccache  # compiler and build
  libc6-dev nlohmann-json3-dev  # broker and workers
  liburing-dev                  # the broker's io_uring
)
packages_bench=(
  qt6-base-dev qt6-charts-dev libqt6opengl6-dev  # the window; qt6-charts-dev needs the OpenGL headers but does not ask for them
  libyaml-cpp-dev                                # settings files
  libssh-dev                                     # runs on lab machines
  qtkeychain-qt6-dev                             # passwords in the desktop's keyring, for who wants that
  qt6-svg-dev                                    # figures as SVG
  libxlsxwriter-dev                              # tables as XLSX
  libqt6sql6-sqlite                              # the index of the results
  fonts-dejavu-core                              # a machine without any font shows boxes
)
packages_test=(
  libgtest-dev  # unit tests
  python3       # the scripts that check the arithmetic from outside
  xvfb xauth    # a display where there is none
  procps iproute2
  openssh-server openssh-client libpam-google-authenticator  # pretend hosts (tests/lab)
  dbus gnome-keyring  # a keyring
)

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# need_packages NAME...: installs those that are missing; says which before it does.
need_packages() {
  local missing=() name installed
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    [ "${N2NQ_SKIP_INSTALL:-}" = 1 ] && return
    say "This script installs with apt, which is not here. Needed, under Debian 12's names:"
    say "  $*"
    fail "Install what corresponds to them, then call again with N2NQ_SKIP_INSTALL=1."
  fi
  # dpkg also knows packages that others merely name, and removed ones whose settings stay: those are not installed.
  installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null | sed -n 's/^.i. *//p' | tr '\n' ' ') "
  for name in "$@"; do
    case "$installed" in *" $name "*) ;; *) missing+=("$name") ;; esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "Missing packages: ${missing[*]}" "Neither root nor sudo: install them, then call again."
    as_root=(sudo)
  fi
  say "Installing with apt: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0)
  "${apt[@]}" update >&2 || fail "apt-get update failed (see above): is there a network?"
  "${apt[@]}" install --no-install-recommends "${missing[@]}" >&2 || fail "apt-get install failed (see above)."
}

# configure PRESET [CMAKE ARGUMENT...]: only when there is nothing configured yet, or it was configured with other arguments or presets.
configure() {
  local preset=$1 folder="$project_root/build/$1" output
  if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/configured-with" 2>/dev/null)" = "$*" ] &&
    [ "$folder/configured-with" -nt "$project_root/CMakePresets.json" ]; then return; fi
  say "Configuring $preset"
  shift
  output=$(cd "$project_root" && cmake --preset "$preset" "$@" 2>&1) || fail "$output" "cmake failed (see above)."
  printf '%s\n' "$preset${*:+ $*}" >"$folder/configured-with"
}

# build PRESET [TARGET]: what changed. Says nothing when there is nothing to do.
build() {
  local folder="$project_root/build/$1" target=${2:-all} quiet=--quiet
  case "$(ninja -C "$folder" -n "$target" 2>/dev/null)" in *"no work to do"*) return ;; esac
  say "Building $1 (the first time takes some minutes)"
  [ -t 2 ] && quiet=
  ninja -C "$folder" $quiet "$target" >&2 || fail "The build failed (see above)."
}

# SPDX-License-Identifier: GPL-3.0-or-later
# What app/run and tests/run have in common: install what is missing, configure, build. Sourced, not run.
# Everything is said on stderr, so that the stdout of what runs afterwards stays its own.

project_root=$(CDPATH= cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

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
  qt6-wayland                                    # the window on a desktop with Wayland alone
  fonts-dejavu-core                              # a machine without any font shows boxes
)
packages_test=(
  libgtest-dev  # unit tests
  python3       # the scripts that check the arithmetic from outside
  procps iproute2
  openssh-server openssh-client libpam-google-authenticator  # pretend hosts (tests/lab)
  dbus gnome-keyring  # a keyring
)
packages_fuzz=(clang libclang-rt-14-dev)  # libFuzzer, for tests/run --all
# For configure, of what may have been configured by hand without one of them.
all_parts=(-DN2NQ_BUILD_BROKER=ON -DN2NQ_BUILD_WORKERS=ON -DN2NQ_BUILD_BENCH=ON -DN2NQ_BUILD_UI=ON)

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# lock: waits until no other app/run or tests/run installs, configures or builds in this tree, and keeps others waiting until unlock, or the end
# of this script. What is started meanwhile gets no descriptor 9 (9>&-), for it could outlive the script and hold the lock.
lock() {
  mkdir -p "$project_root/build" && exec 9>"$project_root/build/.lock" || fail "Cannot write to $project_root/build."
  flock -n 9 && return
  say "Another app/run or tests/run is building in this tree: waiting for it."
  flock 9
}
unlock() { exec 9>&-; }

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
    as_root=(sudo ${http_proxy:+--preserve-env=http_proxy,https_proxy,no_proxy})
  fi
  say "Installing with apt: ${missing[*]}"
  # Another apt that installs is waited for; one that updates its lists it would not wait for itself.
  local apt=("${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  local output tries_left=60
  until output=$("${apt[@]}" update 2>&1 9>&-); do
    [[ $output == *"Could not get lock"* && $tries_left -gt 0 ]] || fail "$output" "apt-get update failed (see above)."
    [ $tries_left -lt 60 ] || say "Another apt updates its lists: waiting for it."
    tries_left=$((tries_left - 1))
    sleep 5
  done
  say "$output"
  if [[ " ${missing[*]} " == *" openssh-server "* ]]; then
    say "openssh-server starts no SSH server: /etc/ssh/sshd_not_to_be_run keeps it from that (remove that file if you want one)."
    "${as_root[@]}" mkdir -p /etc/ssh && "${as_root[@]}" touch /etc/ssh/sshd_not_to_be_run || fail "Cannot make /etc/ssh/sshd_not_to_be_run."
  fi
  "${apt[@]}" install --no-install-recommends "${missing[@]}" >&2 9>&- || fail "apt-get install failed: what it says stands above."
}

# is_of_another_tree PRESET: it was configured for the tree that this one was copied or moved from, and would build that. Sets other_tree.
is_of_another_tree() {
  other_tree=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$project_root/build/$1/CMakeCache.txt" 2>/dev/null)
  [ -n "$other_tree" ] && [ ! "$other_tree" -ef "$project_root" ]
}

# configure PRESET [CMAKE ARGUMENT...]: only when there is nothing configured yet, or it was configured with other arguments or presets, by hand
# since, or for another tree.
configure() {
  local preset=$1 folder="$project_root/build/$1" fresh=() output
  if is_of_another_tree "$preset"; then
    say "build/$preset was configured for $other_tree: it is made anew for this tree."
    fresh=(--fresh)
    rm -f "$folder/build.ninja"  # so that nobody builds by it, if this is interrupted
  elif [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/configured-with" 2>/dev/null)" = "$*" ] &&
    [ "$folder/configured-with" -nt "$project_root/CMakePresets.json" ] && [ ! "$folder/CMakeCache.txt" -nt "$folder/configured-with" ]; then return; fi
  say "Configuring $preset"
  shift
  output=$(cd "$project_root" && cmake "${fresh[@]}" --preset "$preset" "$@" 2>&1 9>&-) || fail "$output" "cmake failed (see above)."
  printf '%s\n' "$preset${*:+ $*}" >"$folder/configured-with"
}

# build PRESET [TARGET]: what changed. Says nothing when there is nothing to do, as far as the files' times tell (ninja -n cannot: it would look
# for new files first).
build() {
  local folder="$project_root/build/$1" target=${2:-all} quiet=--quiet why=
  local built="$folder/built-$target"  # made when the last build that succeeded began
  if [ ! -e "$built" ]; then
    why="the first time takes some minutes"
  elif [ -n "$(cd "$project_root" && find CMakeLists.txt app broker resources tests ui workers "$folder/configured-with" -type f ! -name '*.py*' \
    -newer "$built" -print -quit 2>/dev/null)" ]; then
    why="something has changed"
  fi
  if [ -n "$why" ]; then
    say "Building $1 ($why)"
    [ -t 2 ] && quiet=
  fi
  touch "$built.begun"
  if [ -n "$quiet" ]; then  # and it says all the same that it has nothing to do
    (set -o pipefail; ninja -C "$folder" $quiet "$target" 2>&1 9>&- | sed '/^ninja: no work to do\.$/d' >&2)
  else
    ninja -C "$folder" "$target" >&2 9>&-
  fi || fail "The build failed (see above)."
  mv -f "$built.begun" "$built"  # -f: without a question, where it is another user's
  [ "$target" != all ] || cp -pf "$built" "$folder/built-programs"  # they are among all
}

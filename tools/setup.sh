# shellcheck shell=bash
# What run, test and lint share: they source this file, which makes the machine ready and builds a preset.
# Progress and trouble go to stderr; stdout is left to the command.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck disable=SC2034  # read by the scripts that source this file
{
  build_packages=(cmake g++ libcli11-dev libfmt-dev libhwy-dev ninja-build nlohmann-json3-dev)
  test_packages=(ccache fish libgtest-dev man-db pkg-config python3 python3-pytest zsh)
  lint_packages=(clang-format pycodestyle pyflakes3 shellcheck)
  tidy_packages=(clang clang-tidy)
}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# quietly COMMAND...: runs it without input; its output is shown only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $status
}

# need PACKAGE...: installs the Debian packages that are missing. Silent, and without any network, if none is.
need() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: CMake will name what it does not find
  local installed package missing=() as_root=()
  installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "these packages are missing, and only root may install them: ${missing[*]}
  As root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  # One unreachable source need not matter: whether the packages can be had is what the next step finds out.
  quietly "${apt[@]}" update || say "apt-get update failed; going on with the package lists at hand"
  quietly "${apt[@]}" install --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]} (its words are above)
  Check the network and /etc/apt/sources.list*, or install them by hand, then start again."
}

# build PRESET TARGET...: brings the targets in build/PRESET up to date.
build() {
  local preset=$1 dir=$root/build/$1
  shift
  mkdir -p "$dir"
  (
    flock 9 # the two sides of a pipe may both be ./run
    # Also where the checkout was moved, or the presets changed, after the last time.
    if [ ! "$dir/build.ninja" -nt "$root/CMakePresets.json" ] ||
      ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
      quietly cmake --fresh -S "$root" --preset "$preset" || die "cmake could not configure the preset $preset"
    fi
    [[ $(ninja -C "$dir" -n "$@" 2>&1 </dev/null) != *"no work to do"* ]] || exit 0
    say "building build/$preset"
    quietly ninja -C "$dir" "$@" || die "the build of the preset $preset failed"
  ) 9>"$dir/.lock"
}

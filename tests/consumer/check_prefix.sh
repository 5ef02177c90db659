#!/usr/bin/env bash
# usage: check_prefix.sh PREFIX PROGRAM.cpp COMPILER...
# Looks at an installed firstlayer: its command, manual page and completions; pkg-config's flags build a program; and a
# shared library shows no names but its own.
set -euo pipefail
prefix=$1 program=$2
shift 2

fail() {
  echo "$prefix: $*" >&2
  exit 1
}

ids=$("$prefix/bin/firstlayer" encode --text hi)
[ "$ids" = 5303 ] || fail "bin/firstlayer encode --text hi: expected 5303, received $ids"
for file in share/man/man1/firstlayer.1 share/bash-completion/completions/firstlayer \
  share/zsh/site-functions/_firstlayer share/fish/vendor_completions.d/firstlayer.fish share/doc/firstlayer/LICENSE; do
  [ -s "$prefix/$file" ] || fail "$file: expected a file that is not empty"
done
bash -n "$prefix/share/bash-completion/completions/firstlayer" || fail "the completion is no bash"

pc=$(find "$prefix" -name firstlayer.pc)
export PKG_CONFIG_PATH=${pc%/*}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
read -ra flags <<<"$(pkg-config --cflags --libs firstlayer)"
"$@" -std=c++20 "$program" -o "$build/program" "${flags[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir firstlayer) "$build/program"

library=$(find "$prefix" -name 'libfirstlayer.so')
if [ -n "$library" ]; then
  strangers=$(nm --dynamic --defined-only --demangle "$library" | cut -d' ' -f3- | grep -v 'firstlayer::' || true)
  [ -z "$strangers" ] || fail "libfirstlayer.so exports names of others: $strangers"
fi

#!/bin/sh
# What the library is for, shown and verified: demo.sh BUILD-DIRECTORY
# Nothing is measured for the record here; ./run perf does that.
set -u

# A collective that never ends must not leave the user waiting.
limit=120

step() { printf '\ndemo: %s\n' "$*"; }

fail() {
  printf 'demo: failed: %s\n' "$*"
  exit 1
}

# verify NAME COMMAND...: the demo ends here if the command does not succeed
verify() {
  name=$1
  shift
  timeout --foreground -k 10 "$limit" "$@"
  status=$?
  case $status in
    0) ;;
    124 | 137) fail "$name did not end within $limit seconds" ;;
    *) fail "$name ended with status $status" ;;
  esac
}

# Shows an MPI of this machine beside the library; the demo does not fail for the lack of one.
show_twin() {
  openmpi=$build/examples/independence_openmpi
  mpich=$build/examples/independence_mpich
  if [ -x "$openmpi" ] && command -v mpirun.openmpi >/dev/null; then
    set -- --bind-to none --oversubscribe
    [ "$(id -u)" != 0 ] || set -- "$@" --allow-run-as-root
    step "the same with Open MPI"
    verify "independence with Open MPI" mpirun.openmpi "$@" -n 2 "$openmpi"
  elif [ -x "$mpich" ] && command -v mpirun.mpich >/dev/null; then
    step "the same with MPICH"
    verify "independence with MPICH" mpirun.mpich -n 2 "$mpich"
  else
    step "no MPI is here to be shown beside it"
  fi
}

[ $# = 1 ] || fail "usage: demo.sh BUILD-DIRECTORY"
build=$1
weft=$build/bin/weft
ft=$build/examples/ft
[ -x "$weft" ] || fail "$weft is not there: build first, or use ./run demo"
[ -x "$ft" ] ||
  fail "$ft is not there: install libfftw3-dev, libcli11-dev and nlohmann-json3-dev, then build again"

for class in S W; do
  step "NAS FT class $class on 4 threads, with a blocking and with a pipelined exchange"
  verify "ft class $class" "$weft" run -n 4 "$ft" --class "$class"
done

step "who waits while rank 0 computes: weft"
verify "independence" "$weft" run -n 2 "$build/examples/independence"
show_twin

printf '\ndemo: verified\n'

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

# Sets `twin` to the command that measures the independence of an MPI of this machine, or to nothing.
find_twin() {
  twin=
  if [ -x "$build/examples/independence_openmpi" ] && command -v mpirun.openmpi >/dev/null; then
    twin="mpirun.openmpi --bind-to none --oversubscribe"
    [ "$(id -u)" != 0 ] || twin="$twin --allow-run-as-root"
    twin="$twin -n 2 $build/examples/independence_openmpi"
  elif [ -x "$build/examples/independence_mpich" ] && command -v mpirun.mpich >/dev/null; then
    twin="mpirun.mpich -n 2 $build/examples/independence_mpich"
  fi
}

[ $# = 1 ] || fail "usage: demo.sh BUILD-DIRECTORY"
build=$1
run="$build/tools/weft run"
[ -x "$build/tools/weft" ] || fail "$build/tools/weft is not there: build first, or use ./run demo"

if [ -x "$build/examples/ft" ]; then
  for class in S W; do
    step "NAS FT class $class on 4 threads, blocking and pipelined"
    verify "ft class $class" $run -n 4 "$build/examples/ft" --class "$class"
  done
else
  fail "$build/examples/ft is not there: install libfftw3-dev, libcli11-dev and nlohmann-json3-dev, then build again"
fi

step "who waits while rank 0 computes: weft"
verify "independence" $run -n 2 "$build/examples/independence"

find_twin
if [ -n "$twin" ]; then
  step "the same with the MPI of this machine"
  verify "the MPI twin of independence" $twin
else
  step "no MPI is here to be shown beside it"
fi

printf '\ndemo: verified\n'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages, installed into a root of their own by dpkg or apt: README's program is compiled there and run, the
# doctor finds nothing wrong, and nothing is left when the packages are removed.
# usage: packages_test.sh SOURCE BUILD overlay|empty
#   overlay  a scratch layer over this system's files, where the packages that ours depend on are installed
#   empty    a new Debian 12 with nothing but apt, by mmdebstrap, from where this system has its packages
set -eu
source=$1 build=$2 kind=$3
fail() { echo "packages_test: $*"; exit 1; }
skip() { echo "packages_test: skipped: $*"; exit 77; }

if [ "${PACKAGES_TEST_APART:-}" != yes ]; then
  [ "$(id -u)" = 0 ] || skip "only root can mount a root of its own"
  command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null || skip "dpkg-dev and file are not installed"
  [ "$kind" != empty ] || command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  unshare -m true 2>/dev/null || skip "no namespaces can be made here"
  # All mounts and the scratch files end with the namespace.
  PACKAGES_TEST_APART=yes exec unshare -m --propagation private "$0" "$@"
fi

work=$(mktemp -d)
trap 'umount -l "$work"; rmdir "$work"' EXIT
trap 'exit 1' HUP INT TERM
mount -t tmpfs none "$work"

# Nothing is compiled that the build under test has compiled already.
cmake -S "$source" --preset packages -B "$work/build" -DCMAKE_CXX_COMPILER_LAUNCHER="$source/tests/install/take_object.sh;$build" \
  >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake could not configure"; }
cmake --build "$work/build" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; fail "the build failed"; }
(cd "$work/build" && cpack -G DEB) >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack failed"; }

root=$work/root
mkdir "$root"
case $kind in
overlay)
  mkdir "$work/upper" "$work/own"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/own" "$root" || skip "no overlay can be mounted here"
  ;;
empty)
  mmdebstrap --quiet --variant=apt --mode=root bookworm "$root" "$(ls /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1)" ||
    fail "mmdebstrap could not make a root"
  cp /etc/resolv.conf "$root/etc"
  cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d"
  ;;
esac
for folder in proc dev sys; do
  mount --rbind "/$folder" "$root/$folder"
done
mkdir "$root/tmp/weft"
cp "$work"/build/*.deb "$root/tmp/weft"
awk '/^```cpp/ { on = 1; next } /^```/ { if (on && program ~ /main/) { printf "%s", program; exit } on = 0; program = "" } on { program = program $0 "\n" }' \
  "$source/README.md" >"$root/tmp/weft/program.cpp"
grep -q main "$root/tmp/weft/program.cpp" || fail "README.md has no program"

inside() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" sh -euc "$1"; }
begun=$(date +%s)
if [ "$kind" = empty ]; then
  inside 'apt-get -qq update
    apt-get -qq install -y --no-install-recommends /tmp/weft/libweft*.deb /tmp/weft/weft-tools*.deb g++ pkgconf >/dev/null 2>&1'
else
  # Without this file the index of all man pages of this system is not made anew.
  inside 'rm -f /var/lib/man-db/auto-update; dpkg -i /tmp/weft/*.deb >/dev/null'
fi
inside 'weft doctor
  cd /tmp/weft
  c++ -std=c++20 -O2 -o program program.cpp $(pkg-config --cflags --libs weft)
  weft run -n 4 ./program
  weft help upc_all_exchange | grep -q nbytes
  test -s /usr/share/man/man1/weft.1* || test -n "$(cat /etc/dpkg/dpkg.cfg.d/* 2>/dev/null | grep path-exclude)"'
if [ "$kind" = overlay ] && command -v mpicc.openmpi >/dev/null; then
  inside 'weft mpi --print mpirun.openmpi -n 2 python3 | grep -q libweft-mpi-openmpi.so'
fi
echo "packages_test: installed, compiled and run in $(($(date +%s) - begun)) s"
inside 'dpkg --purge weft-mpi weft-tools libweft-dev libweft0.1 >/dev/null 2>&1
  left=$(find /usr/bin /usr/lib /usr/include /usr/share -xdev -name "*weft*" ! -path "*/weft-*/*" ! -name "*.pyc")
  test -z "$left" || { echo "left: $left"; exit 1; }' || fail "something is left when the packages are removed"

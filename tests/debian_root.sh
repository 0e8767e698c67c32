#!/bin/sh
# tests/debian_root.sh SUITE FOLDER: kcli on the Python of another Debian: a minimal root made by debootstrap, in it
# `make demo` with nothing but Python and make, then the client's tests on the plain record core. Needs root.
# MIRROR in the environment names another mirror of Debian.
# SUITE: trixie (Debian 13, Python 3.13), forky (Debian 14, Python 3.14), sid.
set -eu
suite=$1 root=$2
script=$suite
[ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid  # an older debootstrap knows no newer names
if [ ! -e "$root/usr/bin/make" ]; then
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv,make,ca-certificates \
        "$suite" "$root" "${MIRROR-}" "/usr/share/debootstrap/scripts/$script"
fi
for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do cp -L "$file" "$root$file"; done
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
rm -rf "$root/root/kcli"
git clone --quiet --depth 1 "file://$(pwd)" "$root/root/kcli"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -eu -c '
    cd /root/kcli
    python3 --version
    make demo
    .venv/bin/kcli --version
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "pytest>=8.3,<9.2" pytest-asyncio pytest-timeout \
        pytest-xdist pytest-randomly hypothesis cryptography botocore kafka-python python-snappy
    .venv/bin/python -m pytest -q -n 2 -p no:cacheprovider tests/proto tests/broker tests/cluster tests/producer \
        tests/consumer tests/admin tests/system \
        -m "not kafka and not spark and not process and not terminal and not registry"
'

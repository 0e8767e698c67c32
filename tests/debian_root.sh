#!/bin/sh
# tests/debian_root.sh SUITE FOLDER: kcli on the Python of another Debian. Makes a minimal root with debootstrap, which has
# Python, make and no optional program, and there runs `make demo`, the first minute of README.md and `make quick`.
# Needs root. MIRROR in the environment names another mirror of Debian.
# SUITE: trixie (Debian 13, Python 3.13), sid (the newest Python that Debian offers).
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
mountpoint -q "$root/dev/pts" || mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
trap 'umount "$root/proc" "$root/dev/pts"' EXIT
rm -rf "$root/root/kcli"
git clone --quiet --depth 1 "file://$(pwd)" "$root/root/kcli"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -eu -c '
    cd /root/kcli
    python3 --version
    make demo
    sed -n "/^## The first minute/,/^## Read/p" README.md | sed -n "/^\`\`\`sh/,/^\`\`\`/p" | grep -v "^\`\`\`" > /tmp/minute
    echo "kill \$!" >> /tmp/minute  # the sandbox
    mkdir -p /tmp/empty
    (cd /tmp/empty; PATH=/root/kcli/.venv/bin:$PATH timeout 60 sh -eux /tmp/minute > /tmp/printed)
    [ "$(wc -l < /tmp/printed)" -ge 1005 ]
    make quick
'

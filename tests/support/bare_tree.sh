# bare_tree.sh: a bare Debian in a folder, for scripts that try things as a user's machine would see them. As root, with debootstrap.
# shellcheck shell=bash

# What the host needs to reach its mirror (sources, proxy, certificates) goes in too.
bare_tree_make() { # FOLDER SUITE
    local mirror
    # shellcheck disable=SC2016 # apt-get expands it
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $2" | head -n 1)
    mkdir -p "$1"
    debootstrap --variant=minbase "$2" "$1" ${mirror:+"$mirror"} >"$1.log" 2>&1 || { tail "$1.log" >&2; exit 1; }
    rm "$1.log"
    apt-config dump Acquire >"$1/etc/apt/apt.conf.d/90host"
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    printf '127.0.0.1 localhost\n' >"$1/etc/hosts" # as Debian's installer does
    cp -r /usr/local/share/ca-certificates "$1/usr/local/share/" 2>/dev/null || true
}

bare_tree_mount() { # FOLDER: the sanitizers read /proc/self
    local part
    for part in proc dev; do
        mount --rbind "/$part" "$1/$part"
        mount --make-rslave "$1/$part"
    done
}

# What still runs in it first, which would hold its mounts; then these: a folder of the host must not be emptied through one.
bare_tree_remove() { # FOLDER
    local pid
    for pid in /proc/[0-9]*; do
        if [[ $(readlink "$pid/root" || true) == "$(realpath "$1")" ]]; then kill -9 "${pid#/proc/}" || true; fi
    done
    umount -R "$1/dev" "$1/proc" 2>/dev/null || true
    mountpoint -q "$1/dev" || mountpoint -q "$1/proc" || rm -rf --one-file-system "$1"
}

# A clean environment: nothing of the host's may help.
bare_tree_run() { # FOLDER COMMAND [a command in front of chroot]
    "${@:3}" chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 bash -c "$2"
}

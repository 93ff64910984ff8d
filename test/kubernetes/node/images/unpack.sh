#!/usr/bin/env bash
# unpack.sh BIN LAYOUT ROOT: fills ROOT, a containerd root, with every image of the OCI layout, unpacked. Run in new mount and
# pid namespaces, with which the containerd in it ends.
set -eu
bin=$1 layout=$2 root=$3
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /mnt
cat >/mnt/config.toml <<CONFIG
version = 3
root = "$root"
state = "/mnt/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "/mnt/socket"
CONFIG
export PATH="$bin:$PATH"
containerd --config /mnt/config.toml &
ctr() { command ctr --address /mnt/socket --namespace k8s.io "$@"; }
for _ in $(seq 100); do
  ! ctr version >/dev/null 2>&1 || break
  sleep 0.1
done
tar -C "$layout" -cf - . | ctr images import -
# An orderly end: the databases are copied from here for every node.
kill %1
wait %1 || true

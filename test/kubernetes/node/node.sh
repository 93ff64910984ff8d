#!/usr/bin/env bash
# node.sh FOLDER: process 1 of a node, in new mount, network, host name, ipc, pid and cgroup namespaces. Sets them up like a
# machine, then starts the node's programs: FOLDER/programs.sh, written by programs.ts. Ends only when killed.
set -eu
folder=$1
# Reads from the machine, before anything is mounted over it: this script's variables, and this process's pid outside.
. "$folder/variables.sh"
read -r pid _ </proc/self/stat

# Mounts must not propagate to the outside; later they must propagate between kubelet, containerd and pods.
mount --make-rprivate /
# At paths that the mounts below do not hide, regardless of the cache's location.
mount --bind "$folder" /mnt
mount --bind "$BIN" /usr/local/bin
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
umount -R -l /sys/fs/cgroup
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
while read -r directory options; do
  mkdir -p "/sys/fs/cgroup/$directory"
  mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/$directory"
done <<<"$HIERARCHIES"
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/lock
for directory in var/lib var/log tmp; do mount --bind "/mnt/$directory" "/$directory"; done
cp -r /mnt/kubernetes /run/kubernetes
mount --make-rshared /

hostname "$NAME"
echo "$pid" >/mnt/pid.new
mv /mnt/pid.new /mnt/pid # signals that the network can be attached
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip address add "$ADDRESS/24" dev eth0
ip link set eth0 up
# Packets to a service are rewritten before they leave, but only if there is a route for them.
ip route add "$SERVICES" via "$HOST"
while read -r range address; do
  [ -z "$range" ] || ip route add "$range" via "$address"
done <<<"$ROUTES"
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.forwarding=1 \
  net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
# Pods have their own addresses towards pods, and the node's towards everything else.
nft -f - <<RULES
table ip pods {
  chain postrouting {
    type nat hook postrouting priority 100
    ip saddr $PODS ip daddr != $PODS masquerade
  }
}
RULES

# Restarts programs that end, like a machine's init. On a busy machine a kubelet may give up on a slow runtime.
keep_running() { # NAME COMMAND...
  local log=/mnt/logs/$1.log
  shift
  while true; do
    "$@" >>"$log" 2>&1 || echo "ended with $?, starting again" >>"$log"
    sleep 1
  done
}
until_succeeds() { until "$@" >/dev/null 2>&1; do sleep 0.1; done; }
cd /run/kubernetes
. ./programs.sh
# Meanwhile bash reaps orphans.
sleep infinity &
wait $!

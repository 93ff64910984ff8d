#!/usr/bin/env bash
# fabric.sh PID_FILE COMMAND...: process 1 of the fabric, a pid and a network namespace around all nodes of a cluster. The network
# contains the bridge to which nodes are attached. When this process ends, the kernel ends everything in the namespace.
set -eu
read -r pid _ </proc/self/stat # /proc is still the machine's, so this is the pid outside
ip link set lo up
ip link add bridge type bridge
ip link set bridge up
echo "$pid" >"$1.new"
mv "$1.new" "$1"
shift
exec "$@"

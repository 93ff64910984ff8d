#!/usr/bin/env bash
# Runs functions of upstream's test/cmd as its hack/make-rules/test-cmd.sh would, against a server that is there already.
# The working directory is Kubernetes' source. Arguments: the functions; runTests: what is checked between them all.
#   SECURE_API_PORT   of the server, on 127.0.0.1, with the token admin-token
#   PROGRAMS          folder of kubectl
#   KUBE_TEMP         folder for what is written

set -o errexit
set -o nounset
set -o pipefail
exec 2>&1

source hack/lib/init.sh
source hack/lib/test.sh
export THIS_PLATFORM_BIN="${PROGRAMS}"
source test/cmd/legacy-script.sh

HOME="${KUBE_TEMP}"
CONTEXT="test"
export SUPPORTED_RESOURCES=("*")
kube::util::ensure-gnu-sed
trap stop-proxy EXIT

kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:${SECURE_API_PORT}"
kubectl config set-context "${CONTEXT}" --user test-admin --cluster local
kubectl config use-context "${CONTEXT}"

if [[ "$*" == runTests ]]; then
  record_command() { :; }
  echo "Recording: runTests"
  runTests
  echo "+++ exit code: 0"
  exit
fi

# Sets the variables that the functions read, and runs none of them.
WHAT=" " runTests
# Some work in the namespace that an earlier one has left.
create_and_use_new_namespace
for name in "$@"; do
  record_command "${name}"
done
